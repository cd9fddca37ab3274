import { parseDocument } from 'yaml'
import type { Disk } from '../../shared/disk.ts'
import { asRow, type Row } from '../../shared/fields.ts'

export type ConfigRead =
  | { readonly state: 'ok'; readonly raw: Uint8Array; readonly value: Row }
  | { readonly state: 'missing' }
  /** The runtime goes on with its defaults (runtime page 4.2). */
  | { readonly state: 'broken'; readonly raw: Uint8Array; readonly why: string }
  | { readonly state: 'unreadable'; readonly why: string }

export function readConfig(disk: Disk, file: string): ConfigRead {
  const found = disk.read(file)
  switch (found.state) {
    case 'missing':
      return { state: 'missing' }
    case 'directory':
      return { state: 'unreadable', why: 'it is a directory' }
    case 'too_large':
      return { state: 'unreadable', why: `it has ${found.size} bytes and was not read` }
    case 'unreadable':
      return { state: 'unreadable', why: found.why }
    case 'ok': {
      const parsed = parseYaml(found.bytes.toString('utf8'))
      return 'why' in parsed
        ? { state: 'broken', raw: found.bytes, why: parsed.why }
        : { state: 'ok', raw: found.bytes, value: parsed.value }
    }
  }
}

/** YAML 1.1, as the runtime's parser has it: `yes` and `off` are switches, the last of two equal keys counts. */
export function parseYaml(text: string): { readonly value: Row } | { readonly why: string } {
  const document = parseDocument(text.replace(/^\ufeff/, ''), { version: '1.1', uniqueKeys: false, logLevel: 'error' })
  const [error] = document.errors
  if (error !== undefined) {
    const place = error.linePos?.[0]
    return { why: `not valid YAML${place === undefined ? '' : ` (line ${place.line})`}` }
  }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch {
    return { why: 'its YAML aliases lead too far' }
  }
  if (value === null || value === undefined) return { value: {} }
  const row = asRow(value)
  return row === null ? { why: 'it is no mapping of keys' } : { value: row }
}
