import { type ParseError, parse as parseJsonc, printParseErrorCode } from 'jsonc-parser'
import { parse as parseToml, TomlError } from 'smol-toml'
import type { Disk } from '../../shared/disk.ts'
import { isTable } from './values.ts'

type Parsed =
  | { readonly state: 'ok'; readonly raw: Buffer; readonly value: Readonly<Record<string, unknown>> }
  | { readonly state: 'invalid'; readonly raw: Buffer; readonly why: string }

export type ConfigRead = Parsed | { readonly state: 'missing' } | { readonly state: 'unreadable'; readonly why: string }

export interface Reading {
  readonly disk: Disk
  readonly systemDir: string
  /** Waits between two tries; tests replace it. */
  readonly pause: (milliseconds: number) => void
}

/** A file that another process is writing is read again this often before it counts as broken (B17). */
const TRIES = 4
const LARGEST = 64 * 1024 * 1024

export const readTomlFile = (reading: Reading, file: string): ConfigRead => readConfig(reading, file, parseTomlText)
export const readJsonFile = (reading: Reading, file: string): ConfigRead => readConfig(reading, file, parseJsonText)

/** A torn read is tried again, so that the moment of somebody else's rewrite never counts as a change. */
function readConfig(reading: Reading, file: string, parse: (text: string) => TextParse): ConfigRead {
  let read = attempt(reading.disk, file, parse)
  for (let n = 1; n < TRIES && (read.state === 'invalid' || (read.state === 'ok' && read.raw.length === 0)); n += 1) {
    reading.pause(n)
    // A fresh look: the shared one remembers what it saw.
    read = attempt(reading.disk.fresh(), file, parse)
  }
  return read
}

function attempt(disk: Disk, file: string, parse: (text: string) => TextParse): ConfigRead {
  const found = disk.read(file, LARGEST)
  switch (found.state) {
    case 'missing':
      return { state: 'missing' }
    case 'directory':
      return { state: 'unreadable', why: 'a directory stands where a file is expected' }
    case 'too_large':
      return { state: 'unreadable', why: `too large (${found.size} bytes)` }
    case 'unreadable':
      return { state: 'unreadable', why: found.why }
    case 'ok': {
      const parsed = parse(found.bytes.toString('utf8'))
      return parsed.state === 'ok' ? { ...parsed, raw: found.bytes } : { ...parsed, raw: found.bytes }
    }
  }
}

type TextParse =
  | { readonly state: 'ok'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly state: 'invalid'; readonly why: string }

/** Where and why, without quoting the text, which may hold secrets. */
export function parseTomlText(text: string): TextParse {
  try {
    return { state: 'ok', value: parseToml(text, { integersAsBigInt: true }) }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const why = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '')
    return { state: 'invalid', why: `not valid TOML: line ${error.line}, column ${error.column} (${why})` }
  }
}

export function parseJsonText(text: string): TextParse {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const errors: ParseError[] = []
    parseJsonc(text, errors, { disallowComments: true, allowTrailingComma: false })
    const first = errors[0]
    const before = text.slice(0, first?.offset ?? 0).split('\n')
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
    return { state: 'invalid', why: `not valid JSON: ${place}${first ? ` (${printParseErrorCode(first.error)})` : ''}` }
  }
  if (isTable(value)) return { state: 'ok', value }
  return { state: 'invalid', why: 'not valid JSON: an object is expected' }
}

/** Line of the first `key =` or `[… key …]` in a TOML text, from 1; null when it cannot be told. */
export function lineOfKey(text: string, ...keys: readonly string[]): number | null {
  const last = keys.at(-1)
  if (last === undefined) return null
  const lines = text.split('\n')
  const name = `(?:"${literally(last)}"|'${literally(last)}'|${literally(last)})`
  const table = new RegExp(`^\\s*\\[+[^\\]]*${name}\\s*[\\].]`)
  const value = new RegExp(`^\\s*(?:[^=#]*\\.\\s*)?${name}\\s*=`)
  const found = lines.findIndex((line) => value.test(line) || table.test(line))
  return found < 0 ? null : found + 1
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
