import { pathToFileURL } from 'node:url'
import type { Digest, SourceKind, SourceStatus } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'

/** The version whose behaviour the code in this folder follows. */
export const VERIFIED_VERSION = '2.1.332'

/** When a lazy source comes in. */
export type LazyTrigger =
  /** A file below `directory` is touched. */
  | { readonly when: 'directory'; readonly directory: string }
  /** A touched file matches `patterns`, relative to `base`; for rules of a nested directory it must also lie below it. */
  | { readonly when: 'paths'; readonly base: string; readonly patterns: readonly string[] }

/** One source while it is being resolved; turned into a `ManifestSource` at the end. */
export interface Source {
  readonly uri: string
  readonly path: string | null
  readonly pathBytes: Buffer | null
  readonly scope: string
  readonly kind: SourceKind
  readonly label: string | null
  readonly status: SourceStatus
  readonly reason: string | null
  readonly rule: string | null
  readonly raw: Uint8Array | null
  readonly bytes: number | null
  readonly digest: Digest | null
  readonly text: string | null
  readonly importedBy: readonly string[]
  readonly trigger: string | null
  readonly lazy: LazyTrigger | null
  readonly truncated: { readonly at: number; readonly unit: string } | null
  readonly classification: 'public' | 'private' | 'secret'
  /** More that a reader may want, JSON. */
  readonly extra: Readonly<Record<string, unknown>>
}

export type SourceDraft = Pick<Source, 'path' | 'scope' | 'kind' | 'status'> & Partial<Source>

export function makeSource(draft: SourceDraft): Source {
  const raw = draft.raw ?? null
  return {
    uri: draft.uri ?? (draft.path === null ? `record:${draft.kind}` : fileUri(draft.path)),
    pathBytes: null,
    label: null,
    reason: null,
    rule: null,
    bytes: raw?.byteLength ?? null,
    digest: raw === null ? null : bytesDigest(raw),
    text: null,
    importedBy: [],
    trigger: null,
    lazy: null,
    truncated: null,
    classification: 'private',
    extra: {},
    ...draft,
    raw,
  }
}

export const fileUri = (path: string): string => pathToFileURL(path).href

const STRENGTH: Readonly<Record<SourceStatus, number>> = { loaded: 3, lazy: 2, unknown: 1, not_loaded: 0 }

/** Sources in the order they were met, one per URI. What loads wins over a reason why the same file did not load elsewhere. */
export class SourceList {
  readonly #byUri = new Map<string, Source>()

  add(source: Source): void {
    const known = this.#byUri.get(source.uri)
    if (known === undefined) {
      this.#byUri.set(source.uri, source)
      return
    }
    if (STRENGTH[source.status] <= STRENGTH[known.status]) return
    // Met again at another place: it takes the place where it loads.
    this.#byUri.delete(source.uri)
    this.#byUri.set(source.uri, source)
  }

  has(uri: string): boolean {
    return this.#byUri.has(uri)
  }

  get(uri: string): Source | undefined {
    return this.#byUri.get(uri)
  }

  all(): readonly Source[] {
    return [...this.#byUri.values()]
  }
}
