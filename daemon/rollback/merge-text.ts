import { diffArrays } from 'diff'

/** A difference between what is on the disk and what the target had, as a person chooses among them. */
export interface Hunk {
  readonly n: number
  /** 1-based; where a side has no lines, the line before which they would stand. */
  readonly disk_line: number
  readonly target_line: number
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** The places where two texts differ, numbered from 1. Lines carry their ends: another line end is a difference. */
export function hunksBetween(disk: string, target: string): readonly Hunk[] {
  const hunks: Hunk[] = []
  let [diskLine, targetLine] = [1, 1]
  let open: { removed: string[]; added: string[] } | null = null
  for (const { value, added, removed } of diffArrays(splitLines(disk), splitLines(target))) {
    if (!added && !removed) {
      diskLine += value.length
      targetLine += value.length
      open = null
      continue
    }
    if (open === null) {
      open = { removed: [], added: [] }
      hunks.push({ n: hunks.length + 1, disk_line: diskLine, target_line: targetLine, ...open })
    }
    ;(added ? open.added : open.removed).push(...value)
    if (added) targetLine += value.length
    else diskLine += value.length
  }
  return hunks
}

/** The text on the disk with some of the differences taken from the target. */
export function takeHunks(disk: string, target: string, chosen: readonly number[]): string {
  const lines = splitLines(disk)
  const hunks = hunksBetween(disk, target).filter(({ n }) => chosen.includes(n))
  for (const { disk_line, removed, added } of [...hunks].reverse())
    lines.splice(disk_line - 1, removed.length, ...added)
  return lines.join('')
}

const splitLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

export function countLines(disk: string, target: string): { readonly added: number; readonly removed: number } {
  const hunks = hunksBetween(disk, target)
  return {
    added: hunks.reduce((sum, { added }) => sum + added.length, 0),
    removed: hunks.reduce((sum, { removed }) => sum + removed.length, 0),
  }
}
