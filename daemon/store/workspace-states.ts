import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type Digest, RepriseError } from '../../contract/index.ts'
import type { ObjectReader } from '../git/cat-file-batch.ts'
import type { TreeChange } from '../git/fast-import.ts'
import type { Vault } from '../secrets/vault.ts'
import { requireSeal, sealed } from './archive-format.ts'
import { CommitView } from './objects.ts'
import { readPointer, writePointer } from './pointer.ts'
import { EMPTY_TREE, StateTrees } from './state-trees.ts'
import type {
  Kept,
  LargeObjects,
  StateAbout,
  StateChange,
  StateDifference,
  StateEntry,
  TreeId,
  WorkspaceId,
  WorkspaceState,
  WorkspaceStates,
} from './states.ts'
import type { CommitWriter } from './writer.ts'

export const WORKSPACES = 'refs/workspaces/'
const FILES = 'workspace'

export const stateAboutSchema = z.object({
  v: z.literal(1),
  workspace: z.string().transform((id) => id as WorkspaceId),
  path: z.string(),
  at: z.string(),
  n: z.number().int(),
  leftOut: z.array(z.object({ path: z.string(), reason: z.string(), why: z.string(), bytes: z.number().nullable() })),
  leftOutCount: z.number().int(),
  partial: z.string().nullable(),
  units: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['repository', 'submodule', 'worktree', 'plain']),
      head: z.string().nullable(),
      branch: z.string().nullable(),
      dirty: z.boolean().nullable(),
    }),
  ),
  emptyFolders: z.array(z.string()),
  files: z.number().int(),
  bytes: z.number().int(),
  mac: z.string(),
})

export interface WorkspaceStatesParts {
  readonly writer: Pick<CommitWriter, 'commitChain'>
  readonly reader: ObjectReader
  readonly hmacKey: Uint8Array
  readonly large: LargeObjects
  readonly vault: Pick<Vault, 'get'>
  readonly seconds: () => number
  /** Refs below `refs/workspaces/` and where they stand; written to by `append`. */
  readonly tips: {
    get(ref: string): string | undefined
    set(ref: string, commit: string): void
    keys(): Iterable<string>
  }
}

/** The states of each workspace, one after the other on `refs/workspaces/<id>`: `state.json` and the files below `workspace/`. */
export class GitWorkspaceStates implements WorkspaceStates {
  private readonly trees: StateTrees
  private readonly digests = new Map<string, Digest | null>()

  constructor(private readonly parts: WorkspaceStatesParts) {
    this.trees = new StateTrees(parts.reader)
  }

  async list(): Promise<readonly WorkspaceId[]> {
    return [...this.parts.tips.keys()]
      .filter((ref) => ref.startsWith(WORKSPACES))
      .map((ref) => ref.slice(WORKSPACES.length) as WorkspaceId)
  }

  async tip(workspace: WorkspaceId): Promise<WorkspaceState | null> {
    const commit = this.parts.tips.get(WORKSPACES + workspace)
    return commit === undefined ? null : this.stateOf(commit, workspace)
  }

  async append(
    workspace: WorkspaceId,
    parent: string | null,
    changes: readonly StateChange[],
    about: StateAbout,
  ): Promise<WorkspaceState> {
    const { writer, hmacKey, seconds, tips } = this.parts
    const ref = WORKSPACES + workspace
    const before = parent === null ? null : await this.stateOf(parent, workspace)
    const n = (before?.n ?? 0) + 1
    const files = changes.map((change) => this.treeChange(change))
    const state = sealed({ ...about, n }, ['state', workspace], hmacKey)
    const [made] = await writer.commitChain([
      {
        ref,
        parent,
        at: seconds(),
        message: `State ${n}: ${about.files} files\n\nWorkspace: ${workspace}\n`,
        changes: [{ path: 'state.json', content: Buffer.from(JSON.stringify(state)) }, ...files],
        treeOf: FILES,
      },
    ])
    if (!made) throw new Error('the writer gave no commit')
    tips.set(ref, made.id)
    return { commit: made.id, tree: (made.tree ?? EMPTY_TREE) as TreeId, n, about }
  }

  async *history(workspace: WorkspaceId): AsyncIterable<WorkspaceState> {
    let commit: string | null = this.parts.tips.get(WORKSPACES + workspace) ?? null
    while (commit !== null) {
      const found: { readonly state: WorkspaceState; readonly parent: string | null } = await this.open(
        commit,
        workspace,
      )
      yield found.state
      commit = found.parent
    }
  }

  entry(tree: TreeId, path: string): Promise<StateEntry | null> {
    return this.trees.entry(tree, path)
  }
  entries(tree: TreeId, under?: string): AsyncIterable<StateEntry> {
    return this.trees.entries(tree, under)
  }
  differences(before: TreeId | null, after: TreeId | null): AsyncIterable<StateDifference> {
    return this.trees.differences(before, after)
  }

  async kept(entry: StateEntry): Promise<Kept> {
    return readPointer(await this.blob(entry.oid), this.parts.hmacKey)
  }

  async *read(entry: StateEntry): AsyncIterable<Uint8Array> {
    const content = await this.blob(entry.oid)
    const kept = readPointer(content, this.parts.hmacKey)
    switch (kept.as) {
      case 'blob':
        yield content
        return
      case 'large':
        yield* this.parts.large.read(kept.digest)
        return
      case 'vault': {
        const original = await this.parts.vault.get(kept.ref)
        if (original === null)
          throw new RepriseError('damaged', `The vault has nothing under ${kept.ref}.`, 'Run `reprise check`.')
        yield original.content
        return
      }
      case 'unkept':
        throw new RepriseError('refused', `Its content was not kept: ${kept.why}.`)
    }
  }

  async digest(entry: StateEntry): Promise<Digest | null> {
    const known = this.digests.get(entry.oid)
    if (known !== undefined) return known
    const kept = await this.kept(entry)
    const digest = kept.as === 'large' ? kept.digest : kept.as === 'unkept' ? null : await this.hash(entry)
    if (this.digests.size > 20_000) this.digests.clear()
    this.digests.set(entry.oid, digest)
    return digest
  }

  private async hash(entry: StateEntry): Promise<Digest> {
    const hash = createHash('sha256')
    for await (const chunk of this.read(entry)) hash.update(chunk)
    return `sha256:${hash.digest('hex')}` as Digest
  }

  private async blob(oid: string): Promise<Buffer> {
    return new CommitView(this.parts.reader, '').blob(oid)
  }

  /** What does not read back as what was written: each state, and what the pointers in its newest one lead to. */
  async verify(workspace: WorkspaceId): Promise<readonly string[]> {
    const faults: string[] = []
    try {
      for await (const _ of this.history(workspace));
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error
      faults.push(error.message)
    }
    return faults
  }

  private treeChange(change: StateChange): TreeChange {
    const path = `${FILES}/${change.path}`
    if ('gone' in change) return { path, content: null }
    const { mode } = change
    if ('oid' in change) return { path, mode, oid: change.oid }
    if ('content' in change) return { path, mode, content: change.content }
    const { bytes } = change
    const kept =
      'large' in change
        ? { as: 'large' as const, digest: change.large, bytes }
        : 'vault' in change
          ? { as: 'vault' as const, ref: change.vault, mark: change.mark, bytes }
          : { as: 'unkept' as const, why: change.unkept, mark: change.mark, bytes }
    return { path, mode, content: writePointer(kept, this.parts.hmacKey) }
  }

  private async stateOf(commit: string, workspace: WorkspaceId): Promise<WorkspaceState> {
    return (await this.open(commit, workspace)).state
  }

  private async open(
    commit: string,
    workspace: WorkspaceId,
  ): Promise<{ readonly state: WorkspaceState; readonly parent: string | null }> {
    const { reader, hmacKey } = this.parts
    const view = new CommitView(reader, commit)
    const entries = await view.root()
    const where = `The state ${commit.slice(0, 12)} of ${workspace}`
    const file = await view.file(['state.json'])
    const parsed = stateAboutSchema.safeParse(parseJson(file, where))
    if (!parsed.success) throw new RepriseError('damaged', `${where} is not readable.`)
    requireSeal(parsed.data, ['state', workspace], hmacKey, where)
    const { n, mac: _, ...about } = parsed.data
    const tree = (entries.find(({ name }) => name === FILES)?.oid ?? EMPTY_TREE) as TreeId
    return { state: { commit, tree, n, about }, parent: await view.parent() }
  }
}

function parseJson(content: Buffer | null, where: string): unknown {
  if (content === null) throw new RepriseError('damaged', `${where} has no description.`)
  try {
    return JSON.parse(content.toString('utf8'))
  } catch {
    throw new RepriseError('damaged', `${where} is not readable.`)
  }
}
