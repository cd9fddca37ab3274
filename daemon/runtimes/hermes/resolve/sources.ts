import { pathToFileURL } from 'node:url'
import type { ManifestSource } from '../../../../contract/index.ts'
import { textDigest } from '../../../manifest/effective-text.ts'
import { bytesDigest } from '../../shared/disk.ts'

/** One source while it is being resolved. */
export interface Source {
  readonly uri: string
  readonly path: string | null
  readonly scope: string
  readonly kind: ManifestSource['kind']
  readonly label: string | null
  readonly status: ManifestSource['status']
  readonly reason: string | null
  readonly rule: string | null
  /** Bytes on disk; null where there are none or they are never read. */
  readonly raw: Uint8Array | null
  /** What enters the context; null when nothing does. */
  readonly text: string | null
  readonly trigger: string | null
  readonly truncated: ManifestSource['truncated']
  readonly scan: ManifestSource['scan']
  readonly classification: ManifestSource['classification']
  /** More that a reader may want, JSON. */
  readonly extra: Readonly<Record<string, unknown>>
}

export type SourceDraft = Pick<Source, 'path' | 'scope' | 'kind' | 'status'> & Partial<Source>

export function makeSource(draft: SourceDraft): Source {
  return {
    uri: draft.uri ?? (draft.path === null ? `record:${draft.kind}` : pathToFileURL(draft.path).href),
    label: null,
    reason: null,
    rule: null,
    raw: null,
    text: null,
    trigger: null,
    truncated: null,
    scan: null,
    classification: 'private',
    extra: {},
    ...draft,
  }
}

export function toManifestSource(source: Source, order: readonly string[]): ManifestSource {
  const position = order.indexOf(source.uri)
  const { extra, raw, text, ...rest } = source
  return {
    ...extra,
    ...rest,
    position: position < 0 ? null : position,
    // The bytes of a secret have no digest that anybody could try words against.
    digest: raw === null || source.classification === 'secret' ? null : bytesDigest(raw),
    text_digest: text === null ? null : textDigest(text),
    bytes: raw?.byteLength ?? null,
    imported_by: [],
    used: null,
  }
}

const STRENGTH: Readonly<Record<Source['status'], number>> = { loaded: 3, lazy: 2, unknown: 1, not_loaded: 0 }

/** One source per URI, in the order they were met. What loads wins over a reason why the same file did not load elsewhere. */
export function withoutRepeats(sources: readonly Source[]): readonly Source[] {
  const byUri = new Map<string, Source>()
  for (const source of sources) {
    const known = byUri.get(source.uri)
    if (known === undefined || STRENGTH[source.status] > STRENGTH[known.status]) byUri.set(source.uri, source)
  }
  return [...byUri.values()]
}
