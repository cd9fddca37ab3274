export interface PatchHunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly lines: readonly string[]
}

/** One hunk with three lines around what differs, in the form of `structuredPatch` (runtime page of Claude Code 5.2, 2.1.332). */
export function patchOf(before: string, after: string): readonly PatchHunk[] {
  if (before === after) return []
  const old = linesOf(before)
  const now = linesOf(after)
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1
  let tail = 0
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail += 1
  const from = Math.max(0, head - 3)
  const after3 = Math.min(3, tail)
  const oldEnd = old.length - tail + after3
  const lines = [
    ...old.slice(from, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail, oldEnd).map((line) => ` ${line}`),
  ]
  const oldLines = oldEnd - from
  return [{ oldStart: from + 1, oldLines, newStart: from + 1, newLines: oldLines + now.length - old.length, lines }]
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
