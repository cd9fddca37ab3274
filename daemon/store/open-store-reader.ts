import { join } from 'node:path'
import { asDigest } from '../../contract/ids.ts'
import type { Digest, Manifest } from '../../contract/index.ts'
import { ObjectReader } from '../git/cat-file-batch.ts'
import { isolateGit } from '../git/core.ts'
import { verifyManifest } from '../manifest/sign.ts'
import type { Keys } from '../secrets/keys.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { BlobCollection } from './blob-collection.ts'
import { LiveRefs } from './live-refs.ts'
import { MANIFESTS, TEXTS } from './open-store.ts'
import { GitSessionArchive } from './session-archive.ts'
import type { SessionArchive, TextStore } from './store.ts'
import { StoreSize } from './store-size.ts'
import { GitTextStore } from './text-store.ts'

/** The store for those who only look: the index worker writes it meanwhile, in the same process. */
export interface StoreReader {
  readonly manifests: {
    /** Verified on read. Null when there is none. Throws `damaged`. */
    get(digest: Digest): Promise<Manifest | null>
    find(prefix: string): Promise<readonly Digest[]>
  }
  readonly texts: Pick<TextStore, 'get'>
  readonly sessions: Pick<SessionArchive, 'read' | 'about' | 'generations' | 'state'>
  size(): { readonly bytes: number; readonly objects: number }
  close(): Promise<void>
}

export interface StoreReaderOptions {
  readonly dir: string
  readonly key: Keys
  readonly redactor: Redactor
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: (message: string) => void
}

export const openStoreReader = ({ dir, key, redactor, env, log }: StoreReaderOptions): StoreReader => {
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
    size: () => size.measure(),
    close: () => reader.close(),
  }
}

/** There is one writer, and it is not here. */
const noWriter = {
  commit: (): never => {
    throw new Error('this view of the store is for reading only')
  },
}
