import { isUtf8 } from 'node:buffer'
import type { Disk } from '../../shared/disk.ts'

/** A text file as the runtime reads it: strict UTF-8, a byte order mark dropped, line ends made LF. */
export type TextRead =
  | { readonly state: 'text'; readonly raw: Uint8Array; readonly text: string }
  /** There, and it counts as absent all the same. */
  | { readonly state: 'ignored'; readonly raw: Uint8Array | null; readonly why: string }
  | { readonly state: 'missing' }
  | { readonly state: 'unreadable'; readonly why: string }

const LARGEST = 64 * 1024 * 1024

export function readText(disk: Disk, file: string, keepMark = false): TextRead {
  const found = disk.read(file, LARGEST)
  switch (found.state) {
    case 'missing':
      return { state: 'missing' }
    case 'directory':
      return { state: 'ignored', raw: null, why: 'it is a directory' }
    case 'too_large':
      return { state: 'unreadable', why: `it has ${found.size} bytes and was not read` }
    case 'unreadable':
      return { state: 'unreadable', why: found.why }
    case 'ok': {
      if (!isUtf8(found.bytes)) return { state: 'ignored', raw: found.bytes, why: 'it is no valid UTF-8' }
      const text = found.bytes.toString('utf8')
      const unmarked = !keepMark && text.startsWith('\ufeff') ? text.slice(1) : text
      return { state: 'text', raw: found.bytes, text: unmarked.replace(/\r\n?/g, '\n') }
    }
  }
}

/** White space as the runtime's language has it: a byte order mark is none, the separators of ASCII are. */
const isSpace = (unit: number): boolean =>
  (unit >= 0x1c && unit <= 0x1f) || unit === 0x85 || (unit !== 0xfeff && /\s/.test(String.fromCharCode(unit)))

export function strip(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

/** Lengths are counted in code points (runtime page 5.3). */
export const pointsOf = (text: string): number => {
  let points = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0xd800 && unit <= 0xdbff && at + 1 < text.length) {
      const next = text.charCodeAt(at + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        points--
        at++
      }
    }
  }
  return points
}
