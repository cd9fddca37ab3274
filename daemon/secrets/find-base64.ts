import type { Finding } from './redactor.ts'

/** Shortest run worth decoding: the base64 form of the shortest key we know. */
const SHORTEST = 28
/** A run up to this length is covered whole; in a longer one only the characters that hold the secret. */
const COVER_WHOLE = 4096

const CLASS = new Uint8Array(65536)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') CLASS[char.charCodeAt(0)] = 1

/**
 * Secrets wrapped in base64: a config file as an attachment, a `data:` URL, a Kubernetes secret. Runs of base64 characters are found by
 * looking at every 20th place only; a run is decoded when its first bytes are text, so images, signatures and digests cost nothing
 * and are never covered.
 */
export function findInBase64(text: string, findInside: (decoded: string) => readonly Finding[]): Finding[] {
  const findings: Finding[] = []
  const { length } = text
  const step = 20
  for (let at = step - 1; at < length; at += step) {
    if (CLASS[text.charCodeAt(at)] === 0) continue
    let start = at
    while (start > 0 && CLASS[text.charCodeAt(start - 1)] === 1) start -= 1
    let end = at + 1
    while (end < length && CLASS[text.charCodeAt(end)] === 1) end += 1
    if (end - start >= SHORTEST) {
      const block = wholeBlock(text, start, end)
      inspect(block, findInside, findings)
      end = block.end
    }
    if (end > at) at += Math.floor((end - at) / step) * step
  }
  return findings
}

interface Block {
  readonly start: number
  readonly end: number
  /** The run without line ends; the same as the text between start and end when the block is one run. */
  readonly base64: string
  readonly wrapped: boolean
}

const WRAP = /\r?\n[ \t]*|(?:\\+r)?\\+n/y

/** Joins the lines of base64 wrapped at a fixed width, in raw text or escaped in JSON. */
function wholeBlock(text: string, runStart: number, runEnd: number): Block {
  let start = runStart
  // In JSON text the letter of an escape before the run looks like a part of it.
  if (start > 0 && text.charCodeAt(start - 1) === 0x5c && 'nrt'.includes(text.charAt(start))) start += 1
  const width = runEnd - start
  const lines = [text.slice(start, runEnd)]
  let end = runEnd
  if (width === 60 || width === 64 || width === 76 || width === 72) {
    for (;;) {
      WRAP.lastIndex = end
      const wrap = WRAP.exec(text)
      if (wrap === null) break
      const from = end + wrap[0].length
      let to = from
      while (to < text.length && to - from < width && CLASS[text.charCodeAt(to)] === 1) to += 1
      if (to === from) break
      lines.push(text.slice(from, to))
      end = to
      if (to - from < width) break
    }
  }
  while (end < text.length && text.charAt(end) === '=') end += 1
  return { start, end, base64: lines.join(''), wrapped: lines.length > 1 }
}

function inspect(block: Block, findInside: (decoded: string) => readonly Finding[], findings: Finding[]): void {
  const { base64 } = block
  for (let shift = 0; shift < 4; shift += 1) {
    // A run may begin with characters that are not base64 (`/path/` before it); only the true alignment reads as text.
    if (!mayBeText(base64, shift) || !readsAsText(base64.slice(shift, shift + 48))) continue
    const decoded = Buffer.from(base64.slice(shift), 'base64').toString('latin1')
    for (const { start, end, family } of findInside(decoded)) {
      if (block.wrapped || base64.length <= COVER_WHOLE) {
        findings.push({ start: block.start, end: block.end, family: `base64-${family}` })
        return
      }
      const from = block.start + shift + Math.floor((start * 8) / 6)
      findings.push({
        start: from,
        end: Math.min(block.end, block.start + shift + Math.ceil((end * 8) / 6)),
        family: `base64-${family}`,
      })
    }
    return
  }
}

/** The first character of each group of four holds the upper bits of a byte: below 128 it is one of `A`-`Z`, `a`-`f`. */
function mayBeText(base64: string, shift: number): boolean {
  let odd = 0
  for (let at = shift; at < shift + 36 && at < base64.length; at += 4) {
    const code = base64.charCodeAt(at)
    if (!((code >= 65 && code <= 90) || (code >= 97 && code <= 102))) {
      odd += 1
      if (odd > 1) return false
    }
  }
  return true
}

/** Mostly printable; a few other bytes may be UTF-8. Random bytes reach this share about once in ten million runs. */
function readsAsText(head: string): boolean {
  const bytes = Buffer.from(head, 'base64')
  let odd = 0
  for (const byte of bytes) if (byte > 126 || (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13)) odd += 1
  return bytes.length >= 12 && odd <= bytes.length * 0.15
}

/** Whether a run of base64 is that of a text, from any of its first characters on. */
export function readsAsBase64(run: string): boolean {
  for (let shift = 0; shift < 4; shift += 1)
    if (mayBeText(run, shift) && readsAsText(run.slice(shift, shift + 48))) return true
  return false
}
