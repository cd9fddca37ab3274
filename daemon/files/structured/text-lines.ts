export interface Cut {
  readonly start: number
  readonly end: number
}

export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
}

/** Begin of the next line; the end of the text when there is none. An `end` that is at the begin of a line is that place already. */
export function lineAfter(text: string, end: number): number {
  if (end > 0 && text.charAt(end - 1) === '\n') return end
  const next = text.indexOf('\n', end)
  return next < 0 ? text.length : next + 1
}

/** What to cut so that `[start, end)` goes away: whole lines when nothing else is on them; a remark on the last one stays. */
export function lineSpan(text: string, start: number, end: number): Cut {
  const line = lineStart(text, start)
  if (text.charAt(end - 1) === '\n') return { start: line, end }
  const next = text.indexOf('\n', end)
  const rest = text.slice(end, next < 0 ? text.length : next)
  if (rest.trim() !== '') return { start, end: end + (/^[ \t]*/.exec(rest)?.[0].length ?? 0) }
  if (next >= 0) return { start: line, end: next + 1 }
  // The last line without a line end: the one before takes its place.
  if (line === 0) return { start: 0, end: text.length }
  return { start: text.charAt(line - 2) === '\r' ? line - 2 : line - 1, end: text.length }
}
