import { createHash } from 'node:crypto'
import path from 'node:path'
import type { ReadEffect } from '../adapter.ts'
import { asName, asRow, asText, type Row } from '../shared/fields.ts'

/** One change of a file, as a record of the program or the text of a patch has it. */
export interface FileChange {
  readonly path: string
  readonly change: 'add' | 'change' | 'delete'
  /** Whole content, where the record holds it. */
  readonly before: string | null
  readonly after: string | null
  /** The changed places of a file, as a unified diff or as the lines of a patch. */
  readonly diff: string | null
  readonly why: string | null
}

const OVERWRITES = 'an "add" over a file that was there overwrites it, and the record does not keep what it held'
const PLACES_ONLY = 'the record holds the changed places only, not the whole file'

/**
 * `changes` of a `FileChange` item or a `patch_apply` event, by absolute path: `{type: 'add', content}` in 0.171, `{add: {content}}` in
 * older versions. A move is a deletion and an addition.
 */
export function readChanges(value: unknown): readonly FileChange[] {
  return Object.entries(asRow(value) ?? {}).flatMap(([file, about]) => {
    const row = asRow(about)
    const type = asName(row?.type) ?? Object.keys(row ?? {})[0] ?? ''
    const inside = asRow(row?.[type]) ?? row
    return inside === null ? [] : readChange(file, type, inside)
  })
}

function readChange(file: string, type: string, row: Row): readonly FileChange[] {
  switch (type) {
    case 'add':
      return [{ path: file, change: 'add', before: null, after: asText(row.content), diff: null, why: OVERWRITES }]
    case 'delete':
      return [{ path: file, change: 'delete', before: asText(row.content), after: null, diff: null, why: null }]
    case 'update': {
      const diff = asText(row.unified_diff)
      const moved = asName(row.move_path)
      const at = { diff, before: null, after: null, why: PLACES_ONLY }
      if (moved === null) return [{ path: file, change: 'change', ...at }]
      return [
        { path: file, change: 'delete', ...at, diff: null },
        { path: moved, change: 'add', ...at },
      ]
    }
    default:
      return []
  }
}

export function effectsOf(changes: readonly FileChange[]): readonly ReadEffect[] {
  return changes.map((change) => {
    const lines = countLines(change)
    return {
      path: change.path,
      change: change.change,
      by: 'edit tool',
      before: digestOf(change.before),
      after: digestOf(change.after),
      addedLines: lines?.added ?? null,
      removedLines: lines?.removed ?? null,
    }
  })
}

const digestOf = (text: string | null): string | null =>
  text === null ? null : `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`

function countLines({ before, after, diff }: FileChange): { readonly added: number; readonly removed: number } | null {
  if (diff !== null) {
    let added = 0
    let removed = 0
    for (const line of diff.split('\n')) {
      if (line.startsWith('+') && !line.startsWith('+++ ')) added++
      else if (line.startsWith('-') && !line.startsWith('--- ')) removed++
    }
    return { added, removed }
  }
  if (after !== null) return { added: lengthOf(after), removed: 0 }
  return before === null ? null : { added: 0, removed: lengthOf(before) }
}

/** Lines as an editor counts them: a final line end begins no further line. */
const lengthOf = (text: string): number => (text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0))

const PATCH = /\*\*\* Begin Patch\r?\n([\s\S]*?)\*\*\* End Patch/g

/** Patches in a text: the input of `apply_patch`, or a command that gives one to the program of that name. */
export function hasPatch(text: string): boolean {
  return text.includes('*** Begin Patch')
}

/** The changes a patch asks for. What it really did, only its result can tell. */
export function readPatches(text: string, directory: string | null): readonly FileChange[] {
  return [...text.matchAll(PATCH)].flatMap(([, body = '']) => readPatch(body, directory))
}

interface Section {
  readonly kind: string
  readonly path: string
  move: string | null
  readonly lines: string[]
}

function readPatch(body: string, directory: string | null): readonly FileChange[] {
  const sections: Section[] = []
  for (const line of body.split(/\r?\n/)) {
    const [, kind, file] = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line) ?? []
    const [, move] = /^\*\*\* Move to: (.+)$/.exec(line) ?? []
    const open = sections.at(-1)
    if (kind !== undefined && file !== undefined)
      sections.push({ kind, path: absolute(file, directory), move: null, lines: [] })
    else if (move !== undefined && open !== undefined) open.move = absolute(move, directory)
    else open?.lines.push(line)
  }
  return sections.flatMap(changesOf)
}

function changesOf({ kind, path: file, move, lines }: Section): readonly FileChange[] {
  if (kind === 'Add') {
    const content = lines.filter((line) => line.startsWith('+')).map((line) => `${line.slice(1)}\n`)
    return readChange(file, 'add', { content: content.join('') })
  }
  if (kind === 'Delete')
    return [
      {
        path: file,
        change: 'delete',
        before: null,
        after: null,
        diff: null,
        why: 'a patch does not say what the file held',
      },
    ]
  return readChange(file, 'update', { unified_diff: lines.join('\n'), move_path: move })
}

/** Paths of a patch are relative to the directory of its call; those of another platform stay as they are. */
const absolute = (name: string, directory: string | null): string => {
  if (directory === null || path.posix.isAbsolute(name) || path.win32.isAbsolute(name)) return name
  return directory.startsWith('/') ? path.posix.join(directory, name) : path.win32.join(directory, name)
}

/** The two sides of the changed places, so that they can be shown side by side. */
export function sidesOf(diff: string): { readonly before: string; readonly after: string } {
  const before: string[] = []
  const after: string[] = []
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('@@')) {
      if (before.length + after.length > 0) {
        before.push('…')
        after.push('…')
      }
    } else if (line.startsWith('-')) before.push(line.slice(1))
    else if (line.startsWith('+')) after.push(line.slice(1))
    else if (!line.startsWith('\\')) {
      before.push(line.slice(1))
      after.push(line.slice(1))
    }
  }
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
  return { before: text(before), after: text(after) }
}
