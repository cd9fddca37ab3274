import type { Digest, RollbackRecord, RunId } from '../../contract/index.ts'

/**
 * States of the world in the store: what a workspace held, and the agent commits that seal an action with its effect (architecture §5).
 * Paths are bytes, carried as latin1, relative, `/` between parts. No part is ever `.git`. Modes are Git's.
 */
export type WorkspaceId = string & { readonly workspaceId: unique symbol }
/** Id of a Git tree that is exactly the files of a workspace: what `pre_state` and `post_state` of an event name. */
export type TreeId = string & { readonly treeId: unique symbol }
export type FileMode = '100644' | '100755' | '120000'

/** What becomes of a path. `content` of a link is its target. */
export type StateChange =
  | { readonly path: string; readonly mode: FileMode; readonly content: Uint8Array | readonly Uint8Array[] }
  /** An object that is in the store already (a seed, an earlier state). */
  | { readonly path: string; readonly mode: FileMode; readonly oid: string }
  /** Too large for a Git object: kept by hash in the large-object store, where it was put before. */
  | { readonly path: string; readonly mode: FileMode; readonly large: Digest; readonly bytes: number }
  /** Holds a secret: kept in the vault, where it was put before. `mark` is a keyed digest of the content. */
  | {
      readonly path: string
      readonly mode: FileMode
      readonly vault: string
      readonly mark: string
      readonly bytes: number
    }
  /** Not kept at all, by the collection level or by design; `mark` is its digest, keyed where it is a credential. */
  | {
      readonly path: string
      readonly mode: FileMode
      readonly unkept: string
      readonly mark: string
      readonly bytes: number
    }
  /** The path, or everything below it, is not there any more. */
  | { readonly path: string; readonly gone: true }

/** How an entry's content is kept. A pointer is a small sealed blob; a file that looks like one is itself kept as a large object. */
export type Kept =
  | { readonly as: 'blob' }
  | { readonly as: 'large'; readonly digest: Digest; readonly bytes: number }
  | { readonly as: 'vault'; readonly ref: string; readonly mark: string; readonly bytes: number }
  | { readonly as: 'unkept'; readonly why: string; readonly mark: string; readonly bytes: number }

export interface StateEntry {
  readonly path: string
  readonly mode: FileMode
  readonly oid: string
}

export interface StateDifference {
  readonly path: string
  readonly before: StateEntry | null
  readonly after: StateEntry | null
}

/** What stands beside the files of a state, in `state.json`. */
export interface StateAbout {
  readonly v: 1
  readonly workspace: WorkspaceId
  /** Absolute path, latin1. */
  readonly path: string
  readonly at: string
  /** What the state does not hold, and why; at most some thousand are named, `leftOutCount` counts all. */
  readonly leftOut: readonly {
    readonly path: string
    readonly reason: string
    readonly why: string
    readonly bytes: number | null
  }[]
  readonly leftOutCount: number
  /** Some of what should be here is not: limits were met, or files could not be read. */
  readonly partial: string | null
  readonly units: readonly {
    readonly path: string
    readonly kind: 'repository' | 'submodule' | 'worktree' | 'plain'
    readonly head: string | null
    readonly branch: string | null
    readonly dirty: boolean | null
  }[]
  readonly emptyFolders: readonly string[]
  readonly files: number
  readonly bytes: number
}

export interface WorkspaceState {
  readonly commit: string
  readonly tree: TreeId
  /** From 1, growing by one with each state of the workspace. */
  readonly n: number
  readonly about: StateAbout
}

export interface WorkspaceStates {
  list(): Promise<readonly WorkspaceId[]>
  /** Newest state; null when none was taken. */
  tip(workspace: WorkspaceId): Promise<WorkspaceState | null>
  /**
   * The state after `changes` to the newest one, which must be `parent` (else `conflict`). Durable when it resolves. Cost follows the changes,
   * not the tree. Paths are applied in order.
   */
  append(
    workspace: WorkspaceId,
    parent: string | null,
    changes: readonly StateChange[],
    about: StateAbout,
  ): Promise<WorkspaceState>
  /** All states, newest first. */
  history(workspace: WorkspaceId): AsyncIterable<WorkspaceState>

  entry(tree: TreeId, path: string): Promise<StateEntry | null>
  /** Every file and link below `under` (default: all), in the order of the tree. */
  entries(tree: TreeId, under?: string): AsyncIterable<StateEntry>
  /** What differs; folders with equal ids are not looked into. */
  differences(before: TreeId | null, after: TreeId | null): AsyncIterable<StateDifference>
  /** How the content is kept; one small read. */
  kept(entry: StateEntry): Promise<Kept>
  /** The content in full, checked; throws `damaged` when it is not what was stored, `refused` (with the reason) when it is not kept. */
  read(entry: StateEntry): AsyncIterable<Uint8Array>
  /** SHA-256 of the content, `sha256:<hex>`; null when it is not kept. Cached by oid. */
  digest(entry: StateEntry): Promise<Digest | null>
}

/** One action sealed with its effect: a commit whose tree is `event.json`, `manifest.json`, `external.json`, `exchange/`, `workspace/`. */
export interface AgentCommitRequest {
  readonly run: RunId
  /** 0 is the state before the first action. */
  readonly seq: number
  readonly eventId: string
  readonly parentEvent: string | null
  readonly summary: string
  readonly at: string
  readonly manifest: { readonly digest: Digest; readonly json: Uint8Array } | null
  /** The workspace after the action; null: not captured, and `external` says why. */
  readonly tree: TreeId | null
  /** The whole envelope; secrets covered by the caller. */
  readonly event: Readonly<Record<string, unknown>>
  readonly external: Readonly<Record<string, unknown>>
  readonly exchange?: readonly { readonly name: string; readonly content: Uint8Array }[]
}

export interface AgentCommit {
  readonly run: RunId
  readonly seq: number
  readonly commit: string
  readonly tree: TreeId | null
  readonly at: string
  readonly event: Readonly<Record<string, unknown>>
}

export interface AgentCommits {
  list(): Promise<readonly RunId[]>
  /** Newest; null when the run has none. Cheap. */
  tip(run: RunId): Promise<{ readonly commit: string; readonly seq: number; readonly tree: TreeId | null } | null>
  /**
   * Chained in order on `refs/runs/<run>`, many in one group; durable when it resolves. `seq` grows; one that is there already is refused
   * (`conflict`): nothing that was appended is ever changed (R160).
   */
  append(requests: readonly AgentCommitRequest[]): Promise<readonly { readonly seq: number; readonly commit: string }[]>
  /** Oldest first. */
  read(run: RunId): AsyncIterable<AgentCommit>
  at(run: RunId, seq: number): Promise<AgentCommit | null>
}

/** Files of 8 MB and more, by hash, in pieces that are found again after an insertion; one copy of each piece. */
export interface LargeObjects {
  /** Reads the stream once; durable when it resolves. */
  put(content: AsyncIterable<Uint8Array>): Promise<{ readonly digest: Digest; readonly bytes: number }>
  has(digest: Digest): Promise<boolean>
  read(digest: Digest): AsyncIterable<Uint8Array>
  size(): Promise<{ readonly objects: number; readonly bytes: number; readonly contentBytes: number }>
  verifyAll(): Promise<readonly string[]>
  /** Removes what is not among `keep`; gives the bytes that became free on the disk. */
  sweep(keep: ReadonlySet<Digest>): Promise<number>
}

/** Files of configuration, byte for byte, by the digest that manifests name; those with a secret in the vault. */
export interface RawFiles {
  put(files: readonly { readonly digest: Digest; readonly bytes: Uint8Array; readonly source: string }[]): Promise<void>
  /** Null: not kept. Throws `damaged`, or `refused` when the vault cannot be opened. */
  get(digest: Digest): Promise<Buffer | null>
  has(digest: Digest): Promise<boolean>
}

/** What a rollback would destroy, kept under `refs/safety/<id>`, and the record of the rollback beside it. */
export interface SafetySnapshots {
  /** Durable when it resolves. `path` absolute, latin1; `was` null: nothing was there. */
  put(
    record: RollbackRecord,
    paths: readonly {
      readonly path: string
      readonly was: { readonly kind: 'file' | 'link'; readonly mode: number; readonly content: SafetyContent } | null
    }[],
  ): Promise<void>
  /** The record changes state; the paths stay. */
  update(record: RollbackRecord): Promise<void>
  list(): AsyncIterable<RollbackRecord>
  get(id: string): Promise<RollbackRecord | null>
  /** Each path with a way to read it. */
  paths(id: string): Promise<readonly SafetyPath[]>
}
export type SafetyContent =
  | Uint8Array
  | { readonly large: Digest; readonly bytes: number }
  | { readonly vault: string; readonly mark: string; readonly bytes: number; readonly digest: string }
export interface SafetyPath {
  readonly path: string
  readonly was: {
    readonly kind: 'file' | 'link'
    readonly mode: number
    readonly bytes: number
    readonly digest: Digest
    read(): AsyncIterable<Uint8Array>
  } | null
}

/** Names for what must be kept: `refs/pins/<name>`, `refs/cases/<name>`. What they lead to is never pruned. */
export interface KeptNames {
  set(
    kind: 'pins' | 'cases',
    name: string,
    about: Readonly<Record<string, unknown>>,
    commits: readonly string[],
  ): Promise<void>
  drop(kind: 'pins' | 'cases', name: string): Promise<void>
  list(
    kind: 'pins' | 'cases',
  ): AsyncIterable<{ readonly name: string; readonly about: Readonly<Record<string, unknown>> }>
}
