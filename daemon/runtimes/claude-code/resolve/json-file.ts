import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import type { Disk } from '../../shared/disk.ts'

export type JsonRead =
  | { readonly state: 'ok'; readonly value: Readonly<Record<string, unknown>>; readonly raw: Buffer }
  | { readonly state: 'missing' }
  | { readonly state: 'invalid'; readonly raw: Buffer; readonly why: string }
  | { readonly state: 'unreadable'; readonly why: string }

/** A file that another process is writing is read again this often before it counts as broken (B17). */
const TRIES = 4

export interface JsonReading {
  readonly disk: Disk
  /** Waits between two tries; tests replace it. */
  readonly pause: (milliseconds: number) => void
}

/**
 * Reads a JSON object. The runtime takes strict JSON with or without a byte order mark, and an empty settings file for `{}` (2.1.332);
 * comments and trailing commas make it refuse the file. A torn or empty read is tried again, so that the moment of somebody else's
 * rewrite never counts as a change. `whenEmpty`: what an empty file means once it stays so.
 */
export function readJsonObject(
  reading: JsonReading,
  file: string,
  whenEmpty: 'invalid' | 'object' = 'invalid',
): JsonRead {
  let read = attempt(reading.disk, file)
  for (let n = 1; n < TRIES && mayBeTorn(read); n += 1) {
    reading.pause(n)
    // A fresh look: the shared one remembers what it saw.
    read = attempt(reading.disk.fresh(), file)
  }
  if (read.state === 'ok' && read.raw.length === 0 && whenEmpty === 'invalid') {
    return { state: 'invalid', raw: read.raw, why: 'not valid JSON: the file is empty' }
  }
  return read
}

function mayBeTorn(read: JsonRead): boolean {
  if (read.state === 'ok') return read.raw.length === 0
  return read.state === 'invalid' && read.why.startsWith('not valid JSON')
}

function attempt(disk: Disk, file: string): JsonRead {
  const found = disk.read(file, 64 * 1024 * 1024)
  if (found.state === 'missing') return { state: 'missing' }
  if (found.state === 'directory') return { state: 'unreadable', why: 'a directory stands where a file is expected' }
  if (found.state === 'too_large') return { state: 'unreadable', why: `too large (${found.size} bytes)` }
  if (found.state === 'unreadable') return { state: 'unreadable', why: found.why }
  const parsed = parseJsonObject(found.bytes.toString('utf8'))
  return parsed.state === 'ok' ? { ...parsed, raw: found.bytes } : { ...parsed, raw: found.bytes }
}

export function parseJsonObject(
  text: string,
):
  | { readonly state: 'ok'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly state: 'invalid'; readonly why: string } {
  const clean = text.startsWith('\uFEFF') ? text.slice(1) : text
  if (clean.trim() === '') return { state: 'ok', value: {} }
  let value: unknown
  try {
    value = JSON.parse(clean)
  } catch {
    return { state: 'invalid', why: `not valid JSON: ${whereBroken(clean)}` }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return {
      state: 'invalid',
      why: `holds ${Array.isArray(value) ? 'a list' : typeof value} where an object is expected`,
    }
  }
  return { state: 'ok', value: value as Readonly<Record<string, unknown>> }
}

/** Where and why, without quoting the text, which may hold secrets. */
function whereBroken(text: string): string {
  const errors: ParseError[] = []
  parse(text, errors, { disallowComments: true, allowTrailingComma: false })
  const first = errors[0]
  if (first === undefined) return 'unknown place'
  const before = text.slice(0, first.offset).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} (${printParseErrorCode(first.error)})`
}
