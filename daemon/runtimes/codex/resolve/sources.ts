import { pathToFileURL } from 'node:url'
import type { Digest, ManifestSource, SourceKind, SourceStatus } from '../../../../contract/index.ts'
import { textDigest } from '../../../manifest/effective-text.ts'
import { bytesDigest } from '../../shared/disk.ts'

/** The version whose behaviour the code in this folder follows. */
export const VERIFIED_VERSION = '0.171.0'

/** One source while it is being resolved; turned into a `ManifestSource` at the end. */
export interface Source {
  readonly uri: string
  readonly path: string | null
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
  readonly trigger: string | null
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
    label: null,
    reason: null,
    rule: null,
    bytes: raw?.byteLength ?? null,
    digest: raw === null ? null : bytesDigest(raw),
    text: null,
    trigger: null,
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
    if (known !== undefined && STRENGTH[source.status] <= STRENGTH[known.status]) return
    // Met again at another place: it takes the place where it loads.
    this.#byUri.delete(source.uri)
    this.#byUri.set(source.uri, source)
  }

  all(): readonly Source[] {
    return [...this.#byUri.values()]
  }
}

export function toManifestSource(source: Source, order: readonly string[]): ManifestSource {
  const position = order.indexOf(source.uri)
  return {
    ...source.extra,
    uri: source.uri,
    path: source.path,
    scope: source.scope,
    kind: source.kind,
    label: source.label,
    position: position < 0 ? null : position,
    status: source.status,
    reason: source.reason,
    rule: source.rule,
    digest: source.digest,
    text_digest: source.text === null ? null : textDigest(source.text),
    bytes: source.bytes,
    imported_by: [],
    trigger: source.trigger,
    truncated: source.truncated === null ? null : { ...source.truncated },
    scan: null,
    used: null,
    classification: source.classification,
  }
}
