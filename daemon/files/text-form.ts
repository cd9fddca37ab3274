import { diffArrays } from 'diff'
import { PLACEHOLDER } from '../secrets/find-secrets.ts'
import type { Redactor } from '../secrets/redactor.ts'

/** Larger files are only looked at; no agent reads one that large as instructions or settings. */
export const LARGEST_EDITABLE = 4 * 1024 * 1024

/** A file as a person edits it: text without byte-order mark and with plain line ends, and what must be put back when it is written. */
export interface TextForm {
  /** As it stands in the file, without the mark. */
  readonly raw: string
  /** With `\n` only. */
  readonly text: string
  readonly bom: boolean
  readonly lineEnd: 'lf' | 'crlf' | 'mixed' | 'none'
}

/** Null: not UTF-8 text, so it is shown as what it is and never edited. */
export function readTextForm(bytes: Uint8Array): TextForm | null {
  if (bytes.includes(0)) return null
  let decoded: string
  try {
    decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
  const bom = decoded.startsWith('\uFEFF')
  const raw = bom ? decoded.slice(1) : decoded
  const all = raw.split('\n').length - 1
  const windows = raw.split('\r\n').length - 1
  const lineEnd = all === 0 ? 'none' : windows === 0 ? 'lf' : windows === all ? 'crlf' : 'mixed'
  return { raw, text: raw.replaceAll('\r\n', '\n'), bom, lineEnd }
}

export type NewText =
  | { readonly text: string }
  /** 1-based line of the new text that would write a placeholder in the place of a secret. */
  | { readonly coveredLine: number }

/**
 * The whole file as it must be written so that it reads `wanted`: lines that stay keep their bytes (line end, and the secret that was
 * covered when they were shown), only those that differ are written.
 */
export function withWholeText(form: TextForm, wanted: string, redactor: Pick<Redactor, 'redact'>): NewText {
  const old = linesOf(form.raw)
  // What the editor was shown; a covered secret keeps its number of lines.
  const shown = linesOf(redactor.redact(form.text).text).map(bare)
  const fresh = linesOf(wanted.replaceAll('\r\n', '\n'))
  const end = dominantEnd(form)
  const aligned = shown.length === old.length
  const before = aligned ? shown : old.map(bare)
  const out: string[] = []
  let from = 0
  let line = 0
  for (const part of diffArrays(before, fresh.map(bare))) {
    if (part.removed) from += part.count
    else if (part.added) {
      for (const text of part.value) {
        line += 1
        if (new RegExp(PLACEHOLDER.source).test(text)) return { coveredLine: line }
        out.push(text + end)
      }
    } else {
      for (let n = 0; n < part.count; n += 1) out.push(old[from + n] ?? '')
      from += part.count
      line += part.count
    }
  }
  // Whether the last line ends is what the new text says; a line that was the last one and is not any more gets an end.
  const last = out.length - 1
  const closed = out.map((one, at) => (at < last && !one.endsWith('\n') ? one + end : one))
  const final = closed[last]
  if (final !== undefined) {
    const ends = /\n$/.test(wanted)
    if (ends && !final.endsWith('\n')) closed[last] = final + end
    if (!ends) closed[last] = final.replace(/\r?\n$/, '')
  }
  return { text: closed.join('') }
}

/** Lines with their ends; an end at the very end begins no new line. */
export function linesOf(text: string): readonly string[] {
  return text === '' ? [] : (text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
}

const bare = (line: string): string => line.replace(/\r?\n$/, '')

function dominantEnd({ lineEnd, raw }: TextForm): '\n' | '\r\n' {
  if (lineEnd === 'crlf') return '\r\n'
  if (lineEnd !== 'mixed') return '\n'
  return (raw.split('\r\n').length - 1) * 2 > raw.split('\n').length - 1 ? '\r\n' : '\n'
}

export function toBytes(text: string, bom: boolean): Buffer {
  return Buffer.from((bom ? '\uFEFF' : '') + text, 'utf8')
}
