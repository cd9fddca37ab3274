import { createHash } from 'node:crypto'
import type { ReadEffect } from '../adapter.ts'
import { asList, asNames, asNumber, asRow, asText, type Row } from '../shared/fields.ts'

/** What one call of Write, Edit, MultiEdit or NotebookEdit did to a file, as its `toolUseResult` tells (runtime page 5.2, 2.1.332). */
export interface FileEdit {
  readonly path: string
  readonly change: 'add' | 'change'
  /** Content before and after; null when the record does not hold it. */
  readonly before: string | null
  readonly after: string | null
  readonly why: string | null
  readonly addedLines: number | null
  readonly removedLines: number | null
}

interface Hunk {
  readonly oldStart: number
  readonly lines: readonly string[]
}

/** Null when the result is of another shape. */
export function readEdit(result: Row): FileEdit | null {
  const path = asText(result.filePath) ?? asText(result.notebook_path)
  if (path === null) return null
  const hunks = hunksOf(result.structuredPatch)
  // `originalFileContents` in MultiEdit of the 1.x versions.
  const original = asText(result.originalFile) ?? asText(result.originalFileContents)
  const content = asText(result.content)
  const kind = asText(result.type)
  if (content !== null && (kind === 'create' || kind === 'update')) {
    const created = kind === 'create'
    const lines = hunks === null || created ? { added: countLines(content), removed: 0 } : countHunks(hunks)
    return {
      path,
      change: created ? 'add' : 'change',
      before: created ? null : original,
      after: content,
      why: !created && original === null ? 'the record does not hold the content before' : null,
      addedLines: created || hunks !== null ? lines.added : null,
      removedLines: created || hunks !== null ? lines.removed : null,
    }
  }
  const isEdit = 'oldString' in result || 'edits' in result || hunks !== null || 'notebook_path' in result
  if (!isEdit) return null
  const after = original === null ? null : applyEdit(original, result, hunks)
  // An Edit with an empty `oldString` and no original makes a new file.
  const creates = original === null && result.oldString === '' && asText(result.newString) !== null
  const lines = hunks === null ? null : countHunks(hunks)
  return {
    path,
    change: creates ? 'add' : 'change',
    before: original,
    after: creates ? asText(result.newString) : after,
    why: creates
      ? null
      : original === null
        ? 'the record does not hold the content before'
        : after === null
          ? 'the edit could not be applied to the content before'
          : null,
    addedLines: lines?.added ?? null,
    removedLines: lines?.removed ?? null,
  }
}

/** The effect of an edit, with digests of the content before and after. */
export function effectOf(edit: FileEdit): ReadEffect {
  return {
    path: edit.path,
    change: edit.change,
    by: 'edit tool',
    before: edit.before === null ? null : digest(edit.before),
    after: edit.after === null ? null : digest(edit.after),
    addedLines: edit.addedLines,
    removedLines: edit.removedLines,
  }
}

function digest(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`
}

/**
 * The patch is what was really written (also when the user changed the proposal); the replacement is what was asked for. The patch
 * wins when it fits the original line for line.
 */
function applyEdit(original: string, result: Row, hunks: readonly Hunk[] | null): string | null {
  const replaced = applyReplacements(original, result)
  if (replaced !== null && result.userModified !== true) return replaced
  return (hunks === null ? null : applyHunks(original, hunks)) ?? (result.userModified === true ? null : replaced)
}

function applyReplacements(original: string, result: Row): string | null {
  const edits = 'edits' in result ? asList(result.edits).map(asRow) : [result]
  let text = original
  for (const edit of edits) {
    const from = asText(edit?.oldString) ?? asText(edit?.old_string)
    const to = asText(edit?.newString) ?? asText(edit?.new_string)
    if (from === null || to === null || from === '' || !text.includes(from)) return null
    const all = edit?.replaceAll === true || edit?.replace_all === true
    text = all ? text.replaceAll(from, () => to) : text.replace(from, () => to)
  }
  return text
}

function applyHunks(original: string, hunks: readonly Hunk[]): string | null {
  const lines = original.split('\n')
  const out: string[] = []
  let at = 0
  for (const hunk of hunks) {
    const start = Math.max(0, hunk.oldStart - 1)
    if (start < at) return null
    while (at < start) {
      if (at >= lines.length) return null
      out.push(lines[at++]!)
    }
    for (const line of hunk.lines) {
      const mark = line[0]
      const text = line.slice(1)
      if (mark === '\\') continue
      if (mark === '+') out.push(text)
      else if (lines[at] !== text) return null
      else {
        if (mark !== '-') out.push(text)
        at++
      }
    }
  }
  while (at < lines.length) out.push(lines[at++]!)
  return out.join('\n')
}

function hunksOf(value: unknown): readonly Hunk[] | null {
  if (!Array.isArray(value)) return null
  const hunks: Hunk[] = []
  for (const item of value) {
    const hunk = asRow(item)
    const oldStart = asNumber(hunk?.oldStart)
    if (hunk === null || oldStart === null) return null
    hunks.push({ oldStart, lines: asNames(hunk.lines) })
  }
  return hunks
}

function countHunks(hunks: readonly Hunk[]): { added: number; removed: number } {
  let added = 0
  let removed = 0
  for (const { lines } of hunks) {
    for (const line of lines) {
      if (line.startsWith('+')) added++
      else if (line.startsWith('-')) removed++
    }
  }
  return { added, removed }
}

/** Lines as an editor counts them: a final line end begins no further line. */
function countLines(text: string): number {
  if (text === '') return 0
  let count = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
