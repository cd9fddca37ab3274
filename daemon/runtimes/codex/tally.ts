import { Names } from '../shared/names.ts'

/** What is counted and remembered over all records of a session, whatever became of each. */
export class Tally {
  readonly types = new Names()
  readonly unknown = new Names()
  readonly versions = new Names()
  readonly workspaces = new Names()
  readonly models = new Names()
  /** Thread ids in the heads of the session's files, in order. */
  readonly threads = new Names()
  rows = 0
  checkpoints = 0
  conversation = false
  /** The last thing that happened is an error the record names. */
  failed = false
  /** Responses that this thread asked for; null while no record of that kind was seen. */
  requests: number | null = null
  firstPrompt: string | null = null
  firstCommand: string | null = null
  title: string | null = null
  clockStepsBack = 0
  earliest: string | null = null
  latest: string | null = null
  #before: string | null = null

  /** Order is file order; a time that steps back is counted and changes nothing (R30). */
  clock(at: string | null): void {
    if (at === null) return
    if (this.#before !== null && at < this.#before) this.clockStepsBack++
    this.#before = at
    if (this.earliest === null || at < this.earliest) this.earliest = at
    if (this.latest === null || at > this.latest) this.latest = at
  }
}
