import { z } from 'zod'
import { asRunId, RepriseError, type RunId } from '../../contract/index.ts'
import type { ObjectReader } from '../git/cat-file-batch.ts'
import type { CommitRequest, TreeChange } from '../git/fast-import.ts'
import { requireSeal, sealed } from './archive-format.ts'
import { CommitView } from './objects.ts'
import { EMPTY_TREE } from './state-trees.ts'
import type { AgentCommit, AgentCommitRequest, AgentCommits, TreeId } from './states.ts'
import type { CommitWriter } from './writer.ts'

export const RUNS = 'refs/runs/'
/** Commits that become durable together. */
const TOGETHER = 500
const TOGETHER_BYTES = 16 * 1024 * 1024

/** What stands in `event.json` beside the envelope, so that a run can be gone on with, and read, from its commits alone. */
const headSchema = z.looseObject({
  v: z.literal(1),
  run: z.string(),
  seq: z.number().int().min(0),
  event_id: z.string(),
  parent_event: z.string().nullable(),
  at: z.string(),
  manifest: z.string().nullable(),
  post_state: z.string().nullable(),
  mac: z.string(),
})

interface Tip {
  readonly commit: string
  readonly seq: number
  readonly tree: TreeId | null
  readonly manifest: string | null
  readonly exchange: boolean
}

export interface AgentCommitsParts {
  readonly writer: Pick<CommitWriter, 'commitChain'>
  readonly reader: ObjectReader
  readonly hmacKey: Uint8Array
  readonly tips: {
    get(ref: string): string | undefined
    set(ref: string, commit: string): void
    keys(): Iterable<string>
  }
}

/**
 * One commit per action on `refs/runs/<run>`, its parent the action before:
 *
 *     event.json      the envelope: observed, decided, called, answered, changed
 *     manifest.json   the configuration of the stretch
 *     external.json   what Git cannot hold, and why it is not here
 *     exchange/…      crossings of boundaries in this action
 *     workspace/…     the workspace after the action, the same tree as in its state
 */
export class GitAgentCommits implements AgentCommits {
  private readonly known = new Map<RunId, Tip>()
  /** Appends to one run follow each other. */
  private readonly busy = new Map<RunId, Promise<unknown>>()
  /** Where each commit of a run stands, for the newest tip it was read from. */
  private readonly places = new Map<RunId, { readonly tip: string; readonly commits: ReadonlyMap<number, string> }>()

  constructor(private readonly parts: AgentCommitsParts) {}

  async list(): Promise<readonly RunId[]> {
    return [...this.parts.tips.keys()]
      .filter((ref) => ref.startsWith(RUNS))
      .map((ref) => asRunId(ref.slice(RUNS.length)))
  }

  async tip(run: RunId): Promise<Tip | null> {
    const commit = this.parts.tips.get(RUNS + run)
    if (commit === undefined) return null
    const known = this.known.get(run)
    if (known?.commit === commit) return known
    const { event, tree, entries } = await this.open(run, commit)
    const tip = {
      commit,
      seq: event.seq,
      tree,
      manifest: event.manifest,
      exchange: entries.some(({ name }) => name === 'exchange'),
    }
    this.known.set(run, tip)
    return tip
  }

  async append(
    requests: readonly AgentCommitRequest[],
  ): Promise<readonly { readonly seq: number; readonly commit: string }[]> {
    const byRun = new Map<RunId, AgentCommitRequest[]>()
    for (const request of requests) byRun.set(request.run, [...(byRun.get(request.run) ?? []), request])
    const written = await Promise.all([...byRun].map(([run, all]) => this.inTurn(run, () => this.appendTo(run, all))))
    return written.flat()
  }

  private inTurn<T>(run: RunId, work: () => Promise<T>): Promise<T> {
    const turn = (this.busy.get(run) ?? Promise.resolve()).then(work, work)
    this.busy.set(run, turn)
    void turn.catch(() => {}).then(() => this.busy.get(run) === turn && this.busy.delete(run))
    return turn
  }

  private async appendTo(run: RunId, requests: readonly AgentCommitRequest[]) {
    const written: { seq: number; commit: string }[] = []
    for (const batch of inBatches(requests)) {
      let tip = await this.tip(run)
      const parent = tip?.commit ?? null
      const commits: Omit<CommitRequest, 'parent'>[] = []
      for (const request of batch) {
        if (tip !== null && request.seq <= tip.seq)
          throw new RepriseError('conflict', `Event ${request.seq} of ${run} is sealed already.`)
        commits.push(this.commitOf(request, tip))
        tip = tipAfter(request, tip)
      }
      const [first, ...others] = commits
      if (!first || tip === null) continue
      const made = await this.parts.writer.commitChain([{ ...first, parent }, ...others])
      for (const [index, { seq }] of batch.entries()) written.push({ seq, commit: made[index]?.id ?? '' })
      const newest = made.at(-1)?.id ?? ''
      this.parts.tips.set(RUNS + run, newest)
      this.known.set(run, { ...tip, commit: newest })
    }
    return written
  }

  private commitOf(request: AgentCommitRequest, before: Tip | null): Omit<CommitRequest, 'parent'> {
    const { run, seq, eventId, parentEvent, at, manifest, tree, event, external, exchange = [] } = request
    const head = { v: 1, run, seq, event_id: eventId, parent_event: parentEvent, at }
    const digest = manifest?.digest ?? null
    const sealedEvent = sealed(
      { ...event, ...head, manifest: digest, pre_state: before?.tree ?? null, post_state: tree },
      ['event', run, String(seq)],
      this.parts.hmacKey,
    )
    const changes: TreeChange[] = [
      { path: 'event.json', content: json(sealedEvent) },
      { path: 'external.json', content: json(external) },
    ]
    if (before?.manifest !== digest)
      changes.push({ path: 'manifest.json', content: manifest === null ? null : manifest.json })
    if (before?.exchange) changes.push({ path: 'exchange', content: null })
    for (const { name, content } of exchange) changes.push({ path: `exchange/${name}`, content })
    if (before?.tree !== tree || before === null) {
      if (tree === null || tree === EMPTY_TREE) {
        if (before !== null && before.tree !== null) changes.push({ path: 'workspace', content: null })
      } else changes.push({ path: 'workspace', oid: tree, mode: '40000' })
    }
    const trailers = [
      `Event: ${oneLine(eventId)}`,
      `Run: ${run}`,
      `Seq: ${seq}`,
      ...(digest === null ? [] : [`Manifest: ${digest}`]),
    ]
    return {
      ref: RUNS + run,
      at: Math.max(0, Math.floor((Date.parse(at) || 0) / 1000)),
      message: `${oneLine(request.summary) || 'no summary'}\n\n${trailers.join('\n')}\n`,
      changes,
    }
  }

  async *read(run: RunId): AsyncIterable<AgentCommit> {
    const { commits } = await this.placesOf(run)
    for (const [seq, commit] of commits) {
      const { event, tree } = await this.open(run, commit)
      if (event.seq !== seq) throw damaged(run, `commit ${commit.slice(0, 12)} is not of event ${seq}`)
      yield { run, seq, commit, tree, at: event.at, event }
    }
  }

  async at(run: RunId, seq: number): Promise<AgentCommit | null> {
    if (this.parts.tips.get(RUNS + run) === undefined) return null
    const commit = (await this.placesOf(run)).commits.get(seq)
    if (commit === undefined) return null
    const { event, tree } = await this.open(run, commit)
    return { run, seq, commit, tree, at: event.at, event }
  }

  /** Commits of a run by their event, oldest first. Read back from the newest until one that is known. */
  private async placesOf(run: RunId): Promise<{ readonly commits: ReadonlyMap<number, string> }> {
    const tip = this.parts.tips.get(RUNS + run)
    if (tip === undefined) return { commits: new Map() }
    const known = this.places.get(run)
    if (known?.tip === tip) return known
    const fresh: [number, string][] = []
    let commit: string | null = tip
    while (commit !== null && commit !== known?.tip) {
      const view: CommitView = new CommitView(this.parts.reader, commit)
      fresh.push([await this.seqOf(run, view), commit])
      commit = await view.parent()
    }
    // A chain that does not lead to what was known is another one: pruned, or put back.
    const commits = new Map([...(commit === null ? [] : (known?.commits ?? [])), ...fresh.reverse()])
    const found = { tip, commits }
    this.places.set(run, found)
    return found
  }

  private async seqOf(run: RunId, view: CommitView): Promise<number> {
    const seq = /^Seq: (\d+)$/m.exec(await view.message())?.[1]
    if (seq === undefined) throw damaged(run, `commit ${view.commit.slice(0, 12)} names no event`)
    return Number(seq)
  }

  private async open(run: RunId, commit: string) {
    const view = new CommitView(this.parts.reader, commit)
    const entries = await view.root()
    const file = entries.find(({ name }) => name === 'event.json')
    if (!file) throw damaged(run, `commit ${commit.slice(0, 12)} holds no event`)
    let value: unknown
    try {
      value = JSON.parse((await view.blob(file.oid)).toString('utf8'))
    } catch (error) {
      if (error instanceof RepriseError) throw error
      throw damaged(run, `the event of commit ${commit.slice(0, 12)} is not readable`)
    }
    const parsed = headSchema.safeParse(value)
    if (!parsed.success) throw damaged(run, `the event of commit ${commit.slice(0, 12)} has a wrong shape`)
    const event = parsed.data
    requireSeal(event, ['event', run, String(event.seq)], this.parts.hmacKey, `Event ${event.seq} of ${run}`)
    const found = entries.find(({ name, mode }) => name === 'workspace' && mode === '40000')?.oid
    const tree = (found ?? (event.post_state === EMPTY_TREE ? EMPTY_TREE : null)) as TreeId | null
    if (tree !== event.post_state)
      throw damaged(run, `the files of commit ${commit.slice(0, 12)} are not those its event names`)
    return { event, tree, entries }
  }

  /** What does not read back as what was written. */
  async verify(run: RunId): Promise<readonly string[]> {
    try {
      for await (const _ of this.read(run));
      return []
    } catch (error) {
      if (error instanceof RepriseError) return [error.message]
      throw error
    }
  }
}

function* inBatches(requests: readonly AgentCommitRequest[]): Iterable<readonly AgentCommitRequest[]> {
  let batch: AgentCommitRequest[] = []
  let bytes = 0
  for (const request of requests) {
    const size = (request.exchange ?? []).reduce((sum, { content }) => sum + content.length, 0)
    if (batch.length >= TOGETHER || (batch.length > 0 && bytes + size > TOGETHER_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(request)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

const tipAfter = (request: AgentCommitRequest, before: Tip | null): Tip => ({
  commit: before?.commit ?? '',
  seq: request.seq,
  tree: request.tree,
  manifest: request.manifest?.digest ?? null,
  exchange: (request.exchange ?? []).length > 0,
})

const json = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 1)}\n`)
/** Trailers and the first line are read by their line ends. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 200)
const damaged = (run: RunId, why: string): RepriseError =>
  new RepriseError('damaged', `${RUNS}${run}: ${why}.`, 'Run `reprise check` to see everything.')
