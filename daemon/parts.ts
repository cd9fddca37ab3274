import type { Gap, Progress, RollbackRecord, RuntimeName, Settings } from '../contract/index.ts'
import type { PushHub } from './api/push-hub.ts'
import type { HomeRef } from './capture/importer.ts'
import type { SessionSources } from './capture/open-session.ts'
import type { IndexWorker } from './capture/worker-client.ts'
import type { Log } from './log.ts'
import type { DataPaths } from './paths.ts'
import type { RuntimeAdapter, Surroundings } from './runtimes/adapter.ts'
import type { Egress } from './secrets/egress.ts'
import type { Redactor } from './secrets/redactor.ts'
import type { RevealLog } from './secrets/reveal-log.ts'
import type { Vault } from './secrets/vault.ts'
import type { IndexReader } from './store/index/reader.ts'
import type { StoreReader } from './store/open-store-reader.ts'

/** What the handlers of the endpoints stand on. */
export interface Parts {
  readonly paths: DataPaths
  readonly log: Log
  readonly now: () => Date
  readonly startedAt: Date
  readonly nonce: string
  readonly hub: PushHub
  readonly worker: IndexWorker
  /** Reading only: all writing is the worker's. */
  readonly store: StoreReader
  readonly index: () => IndexReader
  readonly sources: SessionSources
  readonly redactor: Redactor
  readonly egress: Egress
  readonly reveals: RevealLog
  readonly vault: Vault
  readonly adapters: ReadonlyMap<RuntimeName, RuntimeAdapter>
  readonly surroundings: Surroundings
  readonly settings: { read(): Settings; write(change: Partial<Settings>): Promise<Settings>; damage(): string | null }
  readonly homes: HomeRegistry
  readonly state: () => DaemonState
  /** Records of rollbacks, newest first. */
  readonly rollbacks: () => readonly RollbackRecord[]
  /** Homes whose sessions go on without being captured. */
  readonly stalled: () => readonly Gap[]
  /** Damage of the store that was met or found, each by its name. */
  readonly damage: DamageNotes
}

export interface DamageNotes {
  note(message: string): void
  /** What a check of the whole store found: it replaces what was noted. */
  replace(messages: readonly string[]): void
  list(): readonly string[]
}

export interface DaemonState {
  readonly phase: 'starting' | 'ready' | 'draining'
  readonly sample: boolean
  readonly url: string | null
  readonly progress: readonly Progress[]
  readonly lagMs: number
}

/** Homes that are read now: found ones and added ones, less forgotten ones. */
export interface HomeRegistry {
  list(): readonly KnownHome[]
  refs(): readonly HomeRef[]
  /** Looks again for homes; cheap. */
  refresh(): void
  isLive(homeId: string, session: string): boolean
  watchState(homeId: string): {
    readonly watched: number
    readonly wanted: number
    readonly polling: boolean
    readonly why: string | null
  }
}

export interface KnownHome extends HomeRef {
  readonly id: string
  readonly foundBy: string
}
