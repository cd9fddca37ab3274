import type { CollectionLevel, Digest, Settings } from '../../../contract/index.ts'
import { RepriseError } from '../../../contract/index.ts'
import type { Redactor } from '../../secrets/redactor.ts'
import type { Vault } from '../../secrets/vault.ts'
import type {
  FileMode,
  LargeObjects,
  StateAbout,
  WorkspaceId,
  WorkspaceState,
  WorkspaceStates,
} from '../../store/states.ts'
import { toLatin1 } from './bytes.ts'
import { loadMemory, type Memory, saveMemory } from './memory.ts'
import { identifyWorkspace, refuseWorkspace, type Surroundings, type WorkspacePlace } from './places.ts'
import { createQueues } from './queues.ts'
import { searchSeeded } from './search-seeded.ts'
import type { SeedPlace } from './seed.ts'
import { takeState } from './take-state.ts'

export type { WorkspacePlace } from './places.ts'

export interface LookParts {
  readonly states: WorkspaceStates
  readonly large: LargeObjects
  readonly vault: Vault
  readonly redactor: Redactor
  /** How much is kept of a workspace; its path as an ordinary string. */
  readonly collection: (workspacePath: string) => CollectionLevel
  /** For the derived stat caches; made when needed. */
  readonly cacheFolder: string
  readonly now: () => Date
  /** Milliseconds that never go back. */
  readonly clock: () => number
  /** Our own object store, to take over what the user's repository has; null: everything is read from the disk. */
  readonly seed: SeedPlace | null
  readonly settings: () => Pick<Settings, 'workspace_budget' | 'workspace_excludes'>
  readonly surroundings: () => Surroundings
  readonly log: (message: string) => void
}

/** What became of one path between two states. */
export interface PathChange {
  /** Relative, latin1. */
  readonly path: string
  readonly change: 'add' | 'change' | 'delete' | 'mode' | 'type'
  /** SHA-256 of the content; null: there was none, it is not told (a secret), or it is not known. */
  readonly before: Digest | null
  readonly after: Digest | null
  readonly beforeMode: FileMode | null
  readonly afterMode: FileMode | null
  /** Of the file as it is now; null when it is gone. */
  readonly mtimeMs: number | null
  readonly bytes: number | null
}

export interface Look {
  readonly state: WorkspaceState
  /** The newest state before; null: this is the first, and `changes` is empty, as everything is new. */
  readonly before: WorkspaceState | null
  readonly changes: readonly PathChange[]
  readonly about: StateAbout
  readonly ms: number
  /** Paths that were looked at. */
  readonly walked: number
}

export interface LookRequest {
  /** Paths that may have changed, relative, latin1; null: everything is looked at. */
  readonly hint: readonly string[] | null
  /** On `clock`; what is not done by then follows with a later look. Null: the budget alone decides. */
  readonly deadline: number | null
}

export interface WorkspaceLooks {
  /** Why a directory may not be a workspace; null when it may. */
  refuse(path: string): string | null
  /** By real path. */
  identify(path: string): WorkspacePlace
  /**
   * Compares the disk with the newest state and stores what differs; durable when it resolves. Looks at one workspace follow each other.
   * Throws `refused` for what may not be a workspace and `not_found` when the directory is gone.
   */
  look(workspace: WorkspacePlace, request: LookRequest): Promise<Look>
  /** Writes down what is remembered of a workspace and lets go of it. */
  forget(workspace: WorkspaceId): Promise<void>
  /** Resolves when nothing is done in the background for a workspace any more. */
  settled(workspace: WorkspaceId): Promise<void>
  /** Workspaces something is remembered of. */
  remembered(): readonly WorkspaceId[]
}

/** The memory is written down this often while a workspace is looked at, never once per look. */
const SAVE_EVERY_MS = 5 * 60_000
/** Not at once: whoever looked goes on first. */
const SAVE_AFTER_MS = 3_000

export function createWorkspaceLooks(parts: LookParts): WorkspaceLooks {
  const memories = new Map<WorkspaceId, Memory>()
  const inTurn = createQueues<WorkspaceId>()
  const searches = new Map<WorkspaceId, Promise<void>>()

  const refuse = (path: string) => refuseWorkspace(path, parts.surroundings())

  const lookNow = async (place: WorkspacePlace, request: LookRequest): Promise<Look> => {
    const why = refuse(place.path)
    if (why !== null) throw new RepriseError('refused', `${place.path} is not captured: ${why}.`)
    const root = toLatin1(place.path)
    for (let attempt = 0; ; attempt += 1) {
      const memory = memories.get(place.id) ?? (await loadMemory(parts, place.id, root))
      memories.set(place.id, memory)
      try {
        const look = await takeState(parts, memory, place, request)
        if (memory.savedAt === null || parts.clock() - memory.savedAt > SAVE_EVERY_MS) saveLater(memory)
        if (memory.unsearched && !searches.has(place.id)) search(place, memory)
        return look
      } catch (error) {
        // What is remembered may be ahead of the store: the next look begins from what is really there.
        memories.delete(place.id)
        if (attempt === 0 && error instanceof RepriseError && error.code === 'conflict') continue
        throw error
      }
    }
  }

  const save = (memory: Memory): Promise<void> =>
    saveMemory(parts, memory).catch((error: unknown) => parts.log(`stat cache of ${memory.id}: ${error}`))

  const saving = new Set<WorkspaceId>()
  const saveLater = (memory: Memory): void => {
    if (saving.has(memory.id)) return
    saving.add(memory.id)
    void rest(SAVE_AFTER_MS).then(() => {
      saving.delete(memory.id)
      return inTurn(memory.id, async () => {
        if (memories.get(memory.id) === memory) await save(memory)
      })
    })
  }

  /** What came from the user's own objects is searched afterwards; what is found changes the next state. */
  const search = (place: WorkspacePlace, memory: Memory): void => {
    const wanted = () => memories.get(place.id) === memory
    const work = async (): Promise<void> => {
      const due = await searchSeeded({ redactor: parts.redactor, clock: parts.clock, rest, wanted }, memory)
      if (!wanted()) return
      memory.unsearched = false
      memory.savedAt = null
      if (due.length > 0) await inTurn(place.id, () => lookNow(place, { hint: due, deadline: null }))
    }
    const running = work()
      .catch((error: unknown) => parts.log(`searching ${place.id} for secrets: ${error}`))
      .finally(() => searches.delete(place.id))
    searches.set(place.id, running)
  }

  return {
    refuse,
    identify: (path) => identifyWorkspace(path, parts.surroundings().platform),
    look: (place, request) => inTurn(place.id, () => lookNow(place, request)),
    forget: (id) =>
      inTurn(id, async () => {
        const memory = memories.get(id)
        memories.delete(id)
        if (memory !== undefined) await save(memory)
      }),
    settled: (id) => searches.get(id) ?? Promise.resolve(),
    remembered: () => [...memories.keys()],
  }
}

const rest = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
