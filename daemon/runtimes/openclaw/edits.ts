import { createHash } from 'node:crypto'
import { isAbsolute, resolve } from 'node:path'
import type { ReadEffect, ReadEvent } from '../adapter.ts'
import { asName, asNames, asRow, asText, type Row } from '../shared/fields.ts'
import type { OpenCall } from './tool-calls.ts'

/** Tools that change no file by themselves; of any other tool without a file result the effects are simply not captured (B04). */
const changesNoFile = new Set([
  'read',
  'ls',
  'grep',
  'find',
  'glob',
  'web_search',
  'web_fetch',
  'memory_search',
  'memory_get',
  'sessions_list',
  'sessions_history',
  'sessions_search',
  'sessions_send',
  'sessions_spawn',
  'sessions_yield',
  'session_status',
  'agents_list',
  'agents_wait',
  'subagents',
  'conversations_list',
  'conversations_send',
  'conversations_turn',
  'get_goal',
  'create_goal',
  'update_goal',
  'ask_user',
  'progress_card',
  'tool_search',
  'tool_describe',
])
const editsFiles = new Set(['write', 'edit', 'apply_patch'])

type Effects = Pick<ReadEvent, 'effects' | 'effectsState'>

/** What a call changed, as its arguments and the details of its result tell (runtime page 6.2, 2026.9.6). */
export function effectsOf(
  call: OpenCall,
  details: Row | null,
  outcome: 'done' | 'failed' | 'denied',
  cwd: string | null,
): Effects {
  if (changesNoFile.has(call.name)) return { effects: [], effectsState: 'not_applicable' }
  const edits = editsFiles.has(call.name)
  // What was refused did not run; an edit that failed wrote nothing. A patch or command that failed may have changed something before.
  if (outcome === 'denied' || (outcome === 'failed' && edits && call.name !== 'apply_patch'))
    return { effects: [], effectsState: 'complete' }
  if (!edits || outcome === 'failed') return { effects: [], effectsState: 'none' }
  if (call.name === 'apply_patch') return patchEffects(call, details, cwd)
  const path = asName(call.input?.path) ?? asName(call.input?.file_path)
  if (path === null) return { effects: [], effectsState: 'none' }
  if (details?.changed === false) return { effects: [], effectsState: 'complete' }
  const effect = call.name === 'write' ? writeEffect(call, details) : editEffect(details)
  return {
    effects: [{ path: pathIn(cwd, path), by: 'edit tool', ...effect }],
    effectsState: effect.change === 'add' ? 'complete' : 'partial',
  }
}

/** `write` gives the whole content; whether the file was there before, only its details say. */
function writeEffect(call: OpenCall, details: Row | null): Omit<ReadEffect, 'path' | 'by'> {
  const content = asText(call.input?.content)
  const created = details?.created
  const counts = countPatch(asText(details?.patch))
  return {
    change: created === true ? 'add' : created === false || details?.changed === true ? 'change' : 'unknown',
    before: null,
    after: content === null ? null : digest(content),
    addedLines: counts?.added ?? (created === true && content !== null ? countLines(content) : null),
    removedLines: counts?.removed ?? null,
  }
}

/** `edit` gives a patch: how many lines, not what the file was. */
function editEffect(details: Row | null): Omit<ReadEffect, 'path' | 'by'> {
  const counts = countPatch(asText(details?.patch))
  return {
    change: 'change',
    before: null,
    after: null,
    addedLines: counts?.added ?? null,
    removedLines: counts?.removed ?? null,
  }
}

/** `apply_patch` names its files in its details, older versions only in the patch itself. */
function patchEffects(call: OpenCall, details: Row | null, cwd: string | null): Effects {
  const summary = asRow(details?.summary) ?? details
  const told = (['added', 'modified', 'deleted'] as const).flatMap((list) =>
    asNames(summary?.[list]).map((path) => ({ path, change: changes[list] })),
  )
  const found = told.length > 0 ? told : filesOfPatch(asText(call.input?.input) ?? asText(call.input?.patch) ?? '')
  if (found.length === 0) return { effects: [], effectsState: 'none' }
  return {
    effects: found.map(({ path, change }) => ({
      path: pathIn(cwd, path),
      change,
      by: 'edit tool',
      before: null,
      after: null,
      addedLines: null,
      removedLines: null,
    })),
    effectsState: 'partial',
  }
}

const changes = { added: 'add', modified: 'change', deleted: 'delete' } as const
const verbs = { Add: 'add', Update: 'change', Delete: 'delete' } as const

export function filesOfPatch(
  patch: string,
): readonly { readonly path: string; readonly change: ReadEffect['change'] }[] {
  return [...patch.matchAll(/^\*\*\* (Add|Update|Delete) File: (.+)$/gm)].map(([, verb = '', path = '']) => ({
    path: path.trim(),
    change: verbs[verb as keyof typeof verbs],
  }))
}

/** Lines of a unified patch; null when there is none. */
export function countPatch(patch: string | null): { readonly added: number; readonly removed: number } | null {
  if (patch === null) return null
  let [added, removed] = [0, 0]
  let inHunk = false
  for (const line of patch.split('\n')) {
    if (line.startsWith('@@')) inHunk = true
    else if (!inHunk) continue
    else if (line.startsWith('+')) added++
    else if (line.startsWith('-')) removed++
  }
  return { added, removed }
}

const digest = (text: string): string => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`

/** Lines as an editor counts them: a final line end begins no further line. */
function countLines(text: string): number {
  if (text === '') return 0
  const ends = text.split('\n').length - 1
  return text.endsWith('\n') ? ends : ends + 1
}

/** A path of a tool call as an absolute one; the tools run in the directory of the session. */
export const pathIn = (cwd: string | null, path: string): string =>
  isAbsolute(path) || cwd === null || path.startsWith('~') ? path : resolve(cwd, path)
