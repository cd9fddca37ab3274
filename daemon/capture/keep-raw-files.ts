import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { type Digest, isDigest, type ManifestBody } from '../../contract/index.ts'
import { isCredentialFile } from '../secrets/credential-files.ts'
import type { RawFiles } from '../store/states.ts'
import type { CollectedPlace, Collection } from './collection.ts'
import type { GapNotes } from './gap-notes.ts'

/**
 * Keeps the bytes of every file a manifest names, under the digest it is named by, so that it can be brought back byte for byte. What is a
 * credential is never kept; where only digests are collected nothing is. Costs next to nothing where all is known.
 */
export interface KeepRawFiles {
  /** `rawOf`: bytes that were read with the manifest; a file without them is read now and kept only if it is still what was named. */
  manifest(place: CollectedPlace, body: ManifestBody, rawOf?: (uri: string) => Uint8Array | null): Promise<void>
  /** Single contents, such as an edit before and after. */
  contents(
    place: CollectedPlace,
    files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
  ): Promise<readonly Digest[]>
}

interface Parts {
  readonly raw: Pick<RawFiles, 'put' | 'has'>
  readonly collection: Collection
  readonly gaps: GapNotes
}

/** Files of configuration above this are not kept; no agent reads one that large. */
export const LARGEST_RAW = 8 * 1024 * 1024
/** Bytes written at a time, so that a home with thousands of files needs little memory. */
const TOGETHER = 16 * 1024 * 1024

export const createKeepRawFiles = ({ raw, collection, gaps }: Parts): KeepRawFiles => {
  const known = new Set<string>()
  const isKnown = async (digest: Digest): Promise<boolean> => {
    if (known.has(digest)) return true
    const has = await raw.has(digest)
    if (has) known.add(digest)
    return has
  }

  const put = async (files: readonly { digest: Digest; bytes: Uint8Array; source: string }[], where: string) => {
    if (files.length === 0) return
    try {
      await raw.put(files)
      for (const { digest } of files) known.add(digest)
      gaps.drop('not_archived', `files:${where}`)
    } catch (error) {
      gaps.save({
        kind: 'not_archived',
        where: `files:${where}`,
        message: `${files.length} files of configuration of ${where} cannot be brought back later: ${messageOf(error)}`,
        hint: 'they are tried again with the next change',
      })
    }
  }

  return {
    async manifest(place, body, rawOf) {
      if (collection(place) === 'digests') return
      const wanted = new Map<Digest, { readonly path: string; readonly uri: string | null }>()
      for (const { path, digest, uri } of body.instructions.sources)
        if (path !== null && digest !== null && isDigest(digest) && !isCredentialFile(path))
          wanted.set(digest, { path, uri })
      for (const { path, digest } of body.capabilities.files ?? [])
        if (isDigest(digest)) wanted.set(digest, { path, uri: null })
      let batch: { digest: Digest; bytes: Uint8Array; source: string }[] = []
      let size = 0
      for (const [digest, { path, uri }] of wanted) {
        if (await isKnown(digest)) continue
        const bytes = fitting(digest, (uri === null ? null : rawOf?.(uri)) ?? null) ?? fitting(digest, readNow(path))
        if (bytes === null) continue
        batch.push({ digest, bytes, source: path })
        size += bytes.length
        if (size < TOGETHER) continue
        await put(batch, place.home)
        batch = []
        size = 0
      }
      await put(batch, place.home)
    },

    async contents(place, files) {
      const named = files.map(({ path, bytes }) => ({ digest: digestOf(bytes), bytes, source: path }))
      if (collection(place) === 'digests') return named.map(({ digest }) => digest)
      const fresh: typeof named = []
      for (const one of named) if (!isCredentialFile(one.source) && !(await isKnown(one.digest))) fresh.push(one)
      await put(fresh, place.home)
      return named.map(({ digest }) => digest)
    },
  }
}

/** A digest may be of a part, or of what the file was a moment ago: only what it really names is kept under it. */
function fitting(digest: Digest, bytes: Uint8Array | null): Uint8Array | null {
  return bytes !== null && digestOf(bytes) === digest ? bytes : null
}

function readNow(path: string): Uint8Array | null {
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    return stat?.isFile() && stat.size <= LARGEST_RAW ? fs.readFileSync(path) : null
  } catch {
    return null
  }
}

function digestOf(bytes: Uint8Array): Digest {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  if (!isDigest(digest)) throw new Error('no digest')
  return digest
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
