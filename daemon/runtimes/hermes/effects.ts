import { createHash } from 'node:crypto'
import path from 'node:path'
import { applyPatch, parsePatch } from 'diff'
import type { ReadEffect, ReadEvent } from '../adapter.ts'
import { asName, asNames, asNumber, asText, type Row } from '../shared/fields.ts'

/** Tools that change no file (names of 0.20.0). Of any other tool that names no file the effects are simply not captured (B04). */
const CHANGES_NOTHING =
  /^(read_file|search_files|session_search|skill_view|skills_list|todo|clarify|vision_analyze|tool_search|tool_describe|web_(search|extract)|browser_.+|image_.+|send_message)$/

export interface Made {
  readonly effects: readonly ReadEffect[]
  readonly effectsState: ReadEvent['effectsState']
}

/** One file as a call left it; texts null where the record does not hold them. */
export interface FileChange {
  readonly path: string
  readonly change: ReadEffect['change']
  readonly before: string | null
  readonly after: string | null
  readonly why: string | null
  readonly addedLines: number | null
  readonly removedLines: number | null
}

/** Contents this session wrote itself are what later patches stand on; kept for so many files of at most so many characters. */
const MOST_FILES = 64
const MOST_CHARACTERS = 256 * 1024

/** What the calls of one session did to files, as their rows tell. */
export class Effects {
  readonly #written = new Map<string, string>()
  /** Written by this session before, with contents or without. */
  readonly #seen = new Set<string>()
  readonly #home: string

  constructor(home: string) {
    this.#home = home
  }

  /** `cwd`: directory of the session; null when it is not known. */
  of(tool: string, input: Row | null, result: Row | null, ok: boolean, cwd: string | null): Made {
    if (CHANGES_NOTHING.test(tool)) return { effects: [], effectsState: 'not_applicable' }
    const edits = tool === 'write_file' || tool === 'patch' || tool === 'memory'
    // An edit that failed wrote nothing; a command that failed may have changed anything before it did.
    if (!ok) return { effects: [], effectsState: edits ? 'complete' : 'none' }
    if (!edits) return { effects: [], effectsState: 'none' }
    const changes = this.changes(tool, input, result, cwd)
    if (changes.length === 0) return { effects: [], effectsState: result?.staged === true ? 'complete' : 'none' }
    const complete = changes.every(({ why }) => why === null)
    return { effects: changes.map(effectOf), effectsState: complete ? 'complete' : 'partial' }
  }

  changes(tool: string, input: Row | null, result: Row | null, cwd: string | null): readonly FileChange[] {
    if (tool === 'memory') return result?.staged === true ? [] : [this.#memory(input, result)]
    if (tool === 'write_file') return this.#write(input, result, cwd)
    return this.#patch(input, result, cwd)
  }

  #write(input: Row | null, result: Row | null, cwd: string | null): readonly FileChange[] {
    const file = pathOf(input, result, cwd)
    if (file === null) return []
    const content = asText(input?.content)
    const before = this.#written.get(file) ?? null
    const known = this.#seen.has(file)
    // `bytes_written` is what reached the disk: a content of another length was changed on the way.
    const bytes = asNumber(result?.bytes_written)
    const after = content !== null && (bytes === null || bytes === Buffer.byteLength(content, 'utf8')) ? content : null
    this.#keep(file, after)
    return [
      {
        path: file,
        // The result does not say whether the file was there.
        change: known ? 'change' : 'unknown',
        before,
        after,
        why: before === null || after === null ? 'the record does not hold the content before' : null,
        addedLines: null,
        removedLines: null,
      },
    ]
  }

  #patch(input: Row | null, result: Row | null, cwd: string | null): readonly FileChange[] {
    const one = pathOf(input, result, cwd)
    const diffs = splitDiff(asText(result?.diff) ?? '')
    const kinds = [
      ['files_modified', 'change'],
      ['files_created', 'add'],
      ['files_deleted', 'delete'],
    ] as const
    const named = kinds.flatMap(([key, change]) => asNames(result?.[key]).map((file) => ({ file, change })))
    const files = named.length > 0 ? named : one === null ? [] : [{ file: one, change: 'change' as const }]
    return files.map(({ file: name, change }): FileChange => {
      const file = absolute(name, cwd)
      const diff = diffs.find(({ names }) => names.includes(file)) ?? (files.length === 1 ? diffs[0] : undefined)
      const before = change === 'add' ? null : (this.#written.get(file) ?? null)
      const after =
        change === 'delete' || diff === undefined ? null : applied(change === 'add' ? '' : before, diff.text)
      this.#keep(file, after)
      const isWhole = (change === 'add' || before !== null) && (change === 'delete' || after !== null)
      return {
        path: file,
        change,
        before,
        after,
        why: isWhole ? null : 'the record holds the difference, not the whole content',
        addedLines: diff?.added ?? null,
        removedLines: diff?.removed ?? null,
      }
    })
  }

  /**
   * The `memory` tool writes below the home of its process. Which home that was is not in the record: a write that landed in another
   * profile (B21) looks the same here, and shows itself by the file that changed and the one that did not.
   */
  #memory(input: Row | null, _result: Row | null): FileChange {
    const name = input?.target === 'user' ? 'USER.md' : 'MEMORY.md'
    return {
      path: path.join(this.#home, 'memories', name),
      change: 'change',
      before: null,
      after: null,
      why: 'the record holds the entries that were changed, not the file',
      addedLines: null,
      removedLines: null,
    }
  }

  #keep(file: string, content: string | null): void {
    this.#seen.add(file)
    this.#written.delete(file)
    if (content === null || content.length > MOST_CHARACTERS) return
    this.#written.set(file, content)
    if (this.#written.size > MOST_FILES) this.#written.delete(this.#written.keys().next().value as string)
  }
}

function effectOf({ path: file, change, before, after, addedLines, removedLines }: FileChange): ReadEffect {
  return { path: file, change, by: 'edit tool', before: digest(before), after: digest(after), addedLines, removedLines }
}

const digest = (text: string | null): string | null =>
  text === null ? null : `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`

function pathOf(input: Row | null, result: Row | null, cwd: string | null): string | null {
  const told = asName(result?.resolved_path) ?? asNames(result?.files_modified)[0] ?? asName(input?.path)
  return told === null || told === undefined ? null : absolute(told, cwd)
}

const absolute = (file: string, cwd: string | null): string =>
  path.isAbsolute(file) || cwd === null ? file : path.resolve(cwd, file)

interface FileDiff {
  readonly text: string
  readonly names: readonly string[]
  readonly added: number
  readonly removed: number
}

/** The parts of a unified diff, one a file. The program writes absolute paths behind `a/` and `b/` (0.20.0). */
function splitDiff(text: string): readonly FileDiff[] {
  if (text === '') return []
  return text
    .split(/^(?=--- )/m)
    .filter((part) => part.startsWith('--- '))
    .map((part) => {
      const lines = part.split('\n')
      const names = lines
        .slice(0, 2)
        .map((line) => line.replace(/^(---|\+\+\+) ([ab]\/)?/, '').replace(/\t.*$/, ''))
        .filter((name) => name !== '/dev/null')
      const body = lines.slice(2)
      return {
        text: part,
        names,
        added: body.filter((line) => line.startsWith('+')).length,
        removed: body.filter((line) => line.startsWith('-')).length,
      }
    })
}

function applied(before: string | null, diff: string): string | null {
  if (before === null) return null
  try {
    const [patch] = parsePatch(diff)
    const result = patch === undefined ? false : applyPatch(before, patch)
    return result === false ? null : result
  } catch {
    return null
  }
}
