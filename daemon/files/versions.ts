import fs from 'node:fs'
import {
  type Digest,
  driftSchema,
  type FileVersion,
  isDigest,
  RepriseError,
  type Writer,
} from '../../contract/index.ts'
import type { KnownHome, Parts } from '../parts.ts'
import type { RawFiles } from '../store/states.ts'
import type { FileRecords } from './file-records.ts'
import type { OnDisk } from './steering-files.ts'
import { isStructured } from './structured/format.ts'
import { isRefused, type KeyPath, showKey } from './structured/key-path.ts'
import { sameValue } from './structured/plain-value.ts'
import { readKeys } from './structured/read-keys.ts'
import { readTextForm } from './text-form.ts'
import { VERSION_ID, versionId } from './version-id.ts'

export interface FileParts {
  readonly parts: Parts
  readonly raw: Pick<RawFiles, 'get' | 'has'>
  readonly records: FileRecords
}

interface VersionRow {
  readonly id: string
  readonly at: string
  readonly digest: string | null
  readonly bytes: number | null
  readonly drift: string
}
/** A look follows an edit of our own within seconds; both tell of one and the same state. */
const SAME_EDIT_MS = 120_000

/** Every state of a file that was seen, newest first; the one on the disk now among them. */
export async function listVersions(
  { parts, raw, records }: FileParts,
  home: KnownHome,
  path: string,
  disk: OnDisk,
): Promise<readonly FileVersion[]> {
  const rows = parts
    .index()
    .sql('select id, at, digest, bytes, drift from file_versions where home = ? and path = ? order by at desc, id')
    .all(home.id, path) as VersionRow[]
  const names = new Map(records.data.named.map((one) => [one.id, one]))
  const saved = records.data.saved.filter((one) => one.home === home.id && one.path === path)
  const told = new Set<string>()
  const drafts: (VersionRow & { readonly why: string; readonly writer: Writer })[] = saved.map((one) => {
    const twin = rows.find(
      (row) =>
        row.digest === one.digest &&
        !told.has(row.id) &&
        Math.abs(Date.parse(row.at) - Date.parse(one.at)) < SAME_EDIT_MS,
    )
    if (twin) told.add(twin.id)
    const writer = { who: 'reprise' as const, run: null, seq: null, at: one.at }
    return { ...one, drift: twin?.drift ?? '', writer }
  })
  for (const row of rows) if (!told.has(row.id)) drafts.push({ ...row, ...tellWriter(parts, row) })
  const newest = [...drafts].sort(byTime)[0]
  const now = nowOf(path, disk)
  if (now !== null && (newest === undefined ? now.digest !== null : newest.digest !== now.digest))
    drafts.push({
      ...now,
      id: versionId(path, now.at, now.digest),
      drift: '',
      why: 'on disk now; who wrote it is looked into with the next look',
      writer: { who: 'unknown', run: null, seq: null, at: null },
    })
  const versions: FileVersion[] = []
  for (const { id, at, digest, bytes, drift, why, writer } of drafts.sort(byTime)) {
    const name = names.get(id)
    versions.push({
      id,
      path,
      at,
      digest,
      bytes,
      deleted: digest === null,
      writer,
      why,
      name: name?.name ?? null,
      note: name?.note ?? null,
      drift: drift === '' ? null : drift,
      restorable: digest === null || (isDigest(digest) && (await raw.has(digest))),
    })
  }
  return versions
}

const byTime = (a: { readonly at: string }, b: { readonly at: string }): number =>
  a.at < b.at ? 1 : a.at > b.at ? -1 : 0

function nowOf(path: string, disk: OnDisk): { at: string; digest: string | null; bytes: number | null } | null {
  if (disk.state === 'file') return { at: disk.stat.mtime.toISOString(), digest: disk.digest, bytes: disk.stat.size }
  if (disk.state !== 'missing') return null
  // When it went is not known; the folder changed then at the latest.
  const folder = fs.statSync(path.slice(0, path.lastIndexOf('/')) || '/', { throwIfNoEntry: false })
  return folder ? { at: folder.mtime.toISOString(), digest: null, bytes: null } : null
}

function tellWriter(parts: Parts, row: VersionRow): { readonly why: string; readonly writer: Writer } {
  const found = parts.index().sql('select doc from drifts where id = ?').get(row.drift) as { doc: string } | undefined
  if (!found) return { why: 'its record is gone', writer: { who: 'unknown', run: null, seq: null, at: row.at } }
  const drift = driftSchema.parse(JSON.parse(found.doc))
  const { who, run, seq, why } = drift.writer
  if (drift.kind === 'first_seen')
    return { why: 'there when it was first looked at', writer: { who: 'unknown', run: null, seq: null, at: row.at } }
  return {
    why: drift.kind === 'update' ? drift.title : why,
    writer: { who: who === 'run' ? effectOf(parts, run, seq) : who, run, seq, at: row.at },
  }
}

/** How the run wrote it, as its record says. */
function effectOf(parts: Parts, run: string | null, seq: number | null): Writer['who'] {
  if (run === null || seq === null) return 'another run'
  const row = parts
    .index()
    .sql('select effects from events join runs on runs.key = events.run where runs.id = ? and events.seq = ?')
    .get(run, seq) as { effects: string | null } | undefined
  return row?.effects?.includes('"by":"shell"') ? 'shell' : 'edit tool'
}

/** The bytes of a version; null where only its digest was kept. */
export async function contentOf({ raw }: Pick<FileParts, 'raw'>, version: FileVersion): Promise<Buffer | null> {
  return version.digest === null || !isDigest(version.digest) ? null : raw.get(version.digest)
}

/** Versions in which one key has another value than before, each with what it became. */
export async function historyOfKey(
  files: FileParts,
  versions: readonly FileVersion[],
  format: string,
  given: string,
): Promise<readonly FileVersion[]> {
  const changes: FileVersion[] = []
  let before: unknown
  let known = false
  for (const version of [...versions].reverse()) {
    const bytes = await contentOf(files, version)
    const form = bytes === null ? null : readTextForm(bytes)
    if (!version.deleted && form === null) continue
    const value = form === null ? undefined : keyValue(form.raw, format, given)
    if (value === unreadable) continue
    if (known && sameValue(before, value)) continue
    const words = `${given}: ${known ? `${shortOf(before)} → ` : ''}${shortOf(value)}`
    if (known || value !== undefined)
      changes.push({ ...version, why: `${files.parts.redactor.redact(words).text}; ${version.why}` })
    before = value
    known = true
  }
  return changes.reverse()
}

const unreadable = Symbol('unreadable')

function keyValue(text: string, format: string, given: string): unknown {
  const structured = toStructured(format)
  if (structured === null) throw new RepriseError('refused', 'key: this file has no keys')
  const read = readKeys(text, structured)
  if (isRefused(read)) return unreadable
  return read.keys.find(({ key }) => isKey(key, given))?.value
}

export const isKey = (key: KeyPath, given: string): boolean => showKey(key) === given || key.join('.') === given

function toStructured(format: string) {
  const all = ['json', 'jsonc', 'json5', 'toml', 'yaml'] as const
  return all.find((one) => one === format && isStructured(one)) ?? null
}

const shortOf = (value: unknown): string => {
  if (value === undefined) return 'not there'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** A version by its id, wherever it is known from: a target of a rollback names nothing else. */
export async function findVersion(
  files: FileParts,
  id: string,
): Promise<{ readonly home: KnownHome; readonly version: FileVersion } | null> {
  if (!VERSION_ID.test(id)) return null
  const { parts, records } = files
  const record = [...records.data.saved, ...records.data.named].find((one) => one.id === id)
  const row =
    record ??
    (parts.index().sql('select home, path, at, digest, bytes from file_versions where id = ? limit 1').get(id) as
      | { home: string; path: string; at: string; digest: string | null; bytes: number | null }
      | undefined)
  if (!row) return null
  const home = parts.homes.list().find((one) => one.id === row.home)
  if (!home) return null
  const listed = await listVersions(files, home, row.path, { state: 'other', why: '' })
  // Two records of one edit have an id each; what they name is the same.
  const version = listed.find((one) => one.id === id) ?? {
    id,
    path: row.path,
    at: row.at,
    digest: row.digest,
    bytes: row.bytes,
    deleted: row.digest === null,
    writer: { who: 'unknown' as const, run: null, seq: null, at: row.at },
    why: '',
    name: null,
    note: null,
    drift: null,
    restorable: row.digest === null || (isDigest(row.digest) && (await files.raw.has(row.digest as Digest))),
  }
  return { home, version }
}
