import { join } from 'node:path'
import { asDigest } from '../../contract/ids.ts'
import type { Digest, Manifest } from '../../contract/index.ts'
import { ObjectReader } from '../git/cat-file-batch.ts'
import { isolateGit } from '../git/core.ts'
import { verifyManifest } from '../manifest/sign.ts'
import type { Keys } from '../secrets/keys.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { openVault, type Vault } from '../secrets/vault.ts'
import { GitAgentCommits, RUNS } from './agent-commits.ts'
import { BlobCollection } from './blob-collection.ts'
import { GitKeptNames } from './kept-names.ts'
import { openLargeObjects } from './large-objects.ts'
import { LiveRefs } from './live-refs.ts'
import { MANIFESTS, TEXTS } from './open-store.ts'
import { GitRawFiles, RAW_FILES } from './raw-files.ts'
import { GitSafetySnapshots, SAFETY } from './safety-snapshots.ts'
import { GitSessionArchive } from './session-archive.ts'
import type { AgentCommits, KeptNames, LargeObjects, RawFiles, SafetySnapshots, WorkspaceStates } from './states.ts'
import type { SessionArchive, TextStore } from './store.ts'
import { StoreSize } from './store-size.ts'
import { GitTextStore } from './text-store.ts'
import { GitWorkspaceStates, WORKSPACES } from './workspace-states.ts'

/** The store for those who only look: the index worker writes it meanwhile, in the same process. */
export interface StoreReader {
  readonly manifests: {
    /** Verified on read. Null when there is none. Throws `damaged`. */
    get(digest: Digest): Promise<Manifest | null>
    find(prefix: string): Promise<readonly Digest[]>
  }
  readonly texts: Pick<TextStore, 'get'>
  readonly sessions: Pick<SessionArchive, 'read' | 'about' | 'generations' | 'state'>
  readonly states: Omit<WorkspaceStates, 'append'>
  readonly commits: Omit<AgentCommits, 'append'>
  readonly files: Omit<RawFiles, 'put'>
  readonly safety: Omit<SafetySnapshots, 'put' | 'update'>
  readonly names: Pick<KeptNames, 'list'>
  readonly large: Pick<LargeObjects, 'has' | 'read' | 'size'>
  size(): { readonly bytes: number; readonly objects: number }
  close(): Promise<void>
}

export interface StoreReaderOptions {
  readonly dir: string
  readonly key: Keys
  readonly redactor: Redactor
  readonly env: Readonly<Record<string, string | undefined>>
  /** Default: the vault of the data directory. */
  readonly vault?: Vault
  readonly log: (message: string) => void
}

export const openStoreReader = ({ dir, key, redactor, env, log, ...options }: StoreReaderOptions): StoreReader => {
  const vault = options.vault ?? openVault(dir, { platform: process.platform, env }, () => new Date())
  const gitDir = join(dir, 'store.git')
  const reader = new ObjectReader(isolateGit(env), gitDir)
  const refs = new LiveRefs(gitDir)
  const collection = (ref: string, suffix: string, what: string): BlobCollection =>
    new BlobCollection(
      noWriter,
      reader,
      { ref, suffix, what, seconds: () => 0, liveTip: () => refs.get(ref) ?? null },
      null,
    )
  const manifests = collection(MANIFESTS, '.json', 'manifests')
  const texts = new GitTextStore(collection(TEXTS, '', 'texts'), redactor, key.hmacKey, true)
  const tips = {
    get: (ref: string) => refs.get(ref),
    set: () => noWriter.commit(),
    [Symbol.iterator]: () => [][Symbol.iterator](),
  }
  const sessions = new GitSessionArchive({
    writer: noWriter,
    reader,
    redactor,
    hmacKey: key.hmacKey,
    seconds: () => 0,
    warn: log,
    tips,
  })
  const size = new StoreSize(gitDir)
  const hmacKey = key.hmacKey
  const seconds = () => 0
  const under = (prefix: string) => ({
    get: (ref: string) => refs.get(ref),
    set: () => noWriter.commit(),
    delete: () => noWriter.commit(),
    keys: () => refs.list(prefix),
  })
  const large = openLargeObjects(dir)
  const lookUp = { reader, hmacKey, seconds, writer: noWriter, large, vault, log }
  return {
    manifests: {
      async get(digest) {
        const bytes = await manifests.read(digest.slice('sha256:'.length))
        return bytes === null ? null : verifyManifest(bytes, digest, key.publicKeyOf)
      },
      async find(prefix) {
        const hex = prefix.replace(/^sha256:/, '').toLowerCase()
        const names = await manifests.names(log)
        return names
          .filter((name) => name.startsWith(hex))
          .sort()
          .map((name) => asDigest(`sha256:${name}`))
      },
    },
    texts,
    sessions,
    large,
    states: new GitWorkspaceStates({ ...lookUp, tips: under(WORKSPACES) }),
    commits: new GitAgentCommits({ ...lookUp, tips: under(RUNS) }),
    safety: new GitSafetySnapshots({ ...lookUp, tips: under(SAFETY) }),
    names: new GitKeptNames({ ...lookUp, tips: under('refs/pins/'), deleteRef: () => noWriter.commit() }),
    files: new GitRawFiles({
      blobs: collection(RAW_FILES, '', 'files of configuration'),
      vault,
      redactor,
      hmacKey,
      now: () => new Date(0),
    }),
    size: () => size.measure(),
    close: () => reader.close(),
  }
}

/** There is one writer, and it is not here. */
const noWriter = {
  commitChain: (): never => noWriter.commit(),
  commit: (): never => {
    throw new Error('this view of the store is for reading only')
  },
}
