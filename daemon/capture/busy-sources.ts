import type { GapNotes } from './gap-notes.ts'

/** Sources that are being written to and gave no consistent state: tried again, told of when it lasts, never dropped. */
export interface BusySources {
  /** `where` names the source; a later note of the same source replaces what is tried again, not when it began. */
  note(where: string, home: string, reason: string, again: () => void): void
  /** It could be read. */
  clear(where: string): void
  /** Tries again what is due; false when nothing is. */
  step(): boolean
  /** Milliseconds until something is due; null when nothing is busy. */
  dueIn(): number | null
  /** Something became busy so lately that whoever waits for everything should wait for it, too. */
  readonly hopeful: boolean
}

interface Busy {
  readonly since: number
  tries: number
  /** Null while it is being tried. */
  due: number | null
  again: () => void
}

const FIRST_MS = 150
const LONGEST_MS = 2_000
/** Longer than any transaction an agent makes for one step; then it is a gap. */
const LASTING_MS = 5_000

export const createBusySources = (gaps: GapNotes, now: () => Date): BusySources => {
  const busy = new Map<string, Busy>()
  return {
    note(where, home, reason, again) {
      const at = now().getTime()
      const known = busy.get(where) ?? { since: at, tries: 0, due: null, again }
      known.tries++
      known.again = again
      known.due = at + Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(10, known.tries - 1))
      busy.set(where, known)
      const lasting = at - known.since
      if (lasting >= LASTING_MS)
        gaps.save({
          kind: 'unreadable_file',
          home,
          where,
          message: `${where} could not be read for ${Math.round(lasting / 1000)} s (${known.tries} attempts): ${reason}`,
          hint: 'it is tried again by itself; what was read before is shown',
        })
    },
    clear(where) {
      const known = busy.get(where)
      if (!known) return
      busy.delete(where)
      gaps.drop('unreadable_file', where)
    },
    step() {
      const at = now().getTime()
      for (const one of busy.values()) {
        if (one.due === null || one.due > at) continue
        one.due = null
        one.again()
        return true
      }
      return false
    },
    dueIn() {
      const dues = [...busy.values()].flatMap(({ due }) => (due === null ? [] : [due]))
      return dues.length === 0 ? null : Math.max(0, Math.min(...dues) - now().getTime())
    },
    get hopeful() {
      const at = now().getTime()
      return [...busy.values()].some(({ since }) => at - since < LASTING_MS)
    },
  }
}
