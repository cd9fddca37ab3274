import type { ErrorBody, Manifest, ManifestBody, RollbackRecord } from '../../contract/index.ts'
import type { WorkspaceState } from '../store/states.ts'
import type { CheckResult } from '../store/store.ts'
import type { CollectedPlace, CollectionRules } from './collection.ts'
import type { OwnEdit } from './drift/attribute-change.ts'
import type { HomeRef, ImportNews, SyncTotals } from './importer.ts'

/** What the main thread can ask of the index worker, the only writer of index and store. */
export interface WorkerCalls {
  sync(homes: readonly HomeRef[], watching: boolean): Promise<SyncTotals>
  hint(paths: readonly string[], homes: readonly HomeRef[]): void
  /** Completes, checks and stores a configuration that was resolved in the home just now. */
  freeze(
    home: HomeRef,
    body: ManifestBody,
    texts: readonly { readonly digest: string; readonly text: string }[],
  ): Promise<Manifest>
  /** Looks at the configuration of homes now; gives how many changes it found. */
  look(homes: readonly HomeRef[]): Promise<number>
  noteConfiguration(homes: readonly HomeRef[]): void
  /** Keeps contents that are about to be replaced, or were just written; gives their digests. */
  keepFiles(
    place: CollectedPlace,
    files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
  ): Promise<readonly string[]>
  /** Holds what a pin needs under its name. */
  setPin(name: string, about: Readonly<Record<string, unknown>>, commits: readonly string[]): Promise<void>
  dropPin(name: string): Promise<void>
  /** Reprise wrote a file of a home. */
  noteEdit(edit: OwnEdit): void
  /** What is at these paths now is kept, with the record of the rollback that is about to change them. */
  protect(
    record: RollbackRecord,
    paths: readonly { readonly path: string; readonly digest: string | null }[],
  ): Promise<void>
  updateRollback(record: RollbackRecord): Promise<void>
  /** A state of a workspace now, durable when it resolves. */
  captureWorkspace(directory: string): Promise<WorkspaceState>
  reindex(homes: readonly HomeRef[], watching: boolean): Promise<SyncTotals>
  check(): Promise<CheckResult>
  collect(rules: CollectionRules): void
  stop(): Promise<void>
}

export type WorkerMethod = keyof WorkerCalls

export interface WorkerStart {
  readonly dataDir: string
  readonly userHome: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly systemRoot: string
  readonly collection: CollectionRules
}

export interface WorkerRequest {
  readonly id: number
  readonly method: WorkerMethod
  readonly args: readonly unknown[]
}

export type WorkerReply =
  | { readonly type: 'ready'; readonly rebuilt: string | null }
  | { readonly type: 'failed'; readonly error: ErrorBody }
  | { readonly type: 'reply'; readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly type: 'reply'; readonly id: number; readonly ok: false; readonly error: ErrorBody }
  /** The index was made anew: readers must open it again. */
  | { readonly type: 'index-replaced' }
  | { readonly type: 'news'; readonly news: ImportNews }
