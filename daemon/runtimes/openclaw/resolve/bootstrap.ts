import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import type { SessionKey } from './session-key.ts'
import { makeSource, type Source, type Unknown, VERIFIED_VERSION } from './sources.ts'
import { cutBootstrapFile, headOf } from './truncate.ts'
import { hasExactName, readWorkspaceFile, type WorkspaceFile } from './workspace-file.ts'

/** In the order that decides who gets the budget. */
export const BOOTSTRAP_FILES = ['AGENTS.md', 'SOUL.md', 'IDENTITY.md', 'USER.md', 'BOOTSTRAP.md', 'MEMORY.md'] as const

const RENDER_RANK: Readonly<Record<string, number>> = {
  'agents.md': 10,
  'soul.md': 20,
  'identity.md': 30,
  'user.md': 40,
  'tools.md': 50,
  'bootstrap.md': 60,
  'memory.md': 70,
}
const LARGEST_USER = 4000
const LEAST_BUDGET = 64
const SEEDED = 'seeding is on: the run writes it from the template of its own version before it reads'

export interface BootstrapRequest {
  readonly disk: Disk
  readonly workspace: string
  readonly session: SessionKey
  readonly perFile: number
  readonly total: number
  readonly injection: string
  /** Null, or why no file enters at all (no run starts). */
  readonly off: string | null
  /** Files that the runtime writes from its templates before it reads, with their text as far as it is known. */
  readonly seeded: ReadonlyMap<string, string | null>
  /** BOOTSTRAP.md is deleted before it is read; null when that cannot be told. */
  readonly dropsBootstrap: boolean | null
  /** Files of the `bootstrap-extra-files` hook, absolute. */
  readonly extra: readonly string[]
}

export interface ResolvedBootstrap {
  /** In the order of the prompt. */
  readonly loaded: readonly Source[]
  readonly leftOut: readonly Source[]
  readonly unknown: readonly Unknown[]
  /** Some file was cut or dropped: the prompt says so in a notice of its own. */
  readonly hasNotice: boolean
}

interface Candidate {
  readonly name: string
  readonly file: string
  readonly scope: string
  readonly found: WorkspaceFile
}

export function resolveBootstrap(request: BootstrapRequest): ResolvedBootstrap {
  const { disk, workspace, session } = request
  const loaded: Source[] = []
  const leftOut: Source[] = []
  const unknown: Unknown[] = []
  const budget = { left: Math.max(1, Math.floor(request.total)), isOver: false, loads: 0 }
  let hasNotice = false
  const rule = `bootstrap files of the workspace, in a fixed order under one budget (${VERIFIED_VERSION})`

  const candidates: Candidate[] = []
  for (const name of BOOTSTRAP_FILES) {
    const file = path.join(workspace, name)
    const isOptional = name === 'USER.md' || name === 'MEMORY.md'
    if (isOptional && !request.seeded.has(name) && !hasExactName(disk, workspace, name)) continue
    candidates.push({ name, file, scope: 'workspace', found: readWorkspaceFile(disk, file) })
  }
  for (const file of request.extra) {
    const found = readWorkspaceFile(disk, file)
    if (found.state !== 'missing' && !candidates.some((one) => one.file === file))
      candidates.push({ name: path.basename(file), file, scope: 'extra files hook', found })
  }

  const leave = (one: Candidate, reason: string, draft: Partial<Source> = {}): void => {
    if (one.found.state === 'missing') return
    leftOut.push(
      makeSource({
        path: one.file,
        scope: one.scope,
        kind: kindOf(one.name),
        status: 'not_loaded',
        reason,
        rule,
        raw: rawOf(one.found),
        ...draft,
      }),
    )
  }
  const take = (one: Candidate, text: string, draft: Partial<Source>): void => {
    budget.left = Math.max(0, budget.left - text.length)
    budget.loads += 1
    const shown = asShown(text)
    loaded.push(
      makeSource({
        path: one.file,
        scope: one.scope,
        kind: kindOf(one.name),
        status: 'loaded',
        rule,
        raw: rawOf(one.found),
        text: shown,
        ...draft,
        extra: {
          load_position: budget.loads - 1,
          raw_chars: 0,
          injected_chars: text.length,
          ...draft.extra,
        },
      }),
    )
  }

  for (const one of candidates) {
    const withheld =
      request.off ??
      (request.injection === 'never' ? 'contextInjection is never: no file enters the context' : null) ??
      withheldFrom(session, one, workspace) ??
      (request.dropsBootstrap && one.name === 'BOOTSTRAP.md'
        ? 'seeding is on and the other files are already the user’s own: the run deletes it before it reads'
        : null)
    if (withheld !== null) {
      leave(one, withheld)
      continue
    }
    if (one.name === 'BOOTSTRAP.md' && request.dropsBootstrap === null && one.found.state !== 'missing') {
      const why =
        'seeding is on: if the other files are not the templates any more, the run deletes it before it reads; the templates are not at hand'
      leftOut.push(
        makeSource({
          path: one.file,
          scope: one.scope,
          kind: 'instructions',
          status: 'unknown',
          reason: why,
          rule,
          raw: rawOf(one.found),
        }),
      )
      continue
    }
    const template = one.found.state === 'missing' ? request.seeded.get(one.name) : undefined
    if (template === null) {
      loaded.push(
        makeSource({
          path: one.file,
          scope: one.scope,
          kind: kindOf(one.name),
          status: 'loaded',
          reason: SEEDED,
          rule,
          extra: { seeded: true },
        }),
      )
      unknown.push({
        field: 'instructions.effective_digest',
        why: `${one.file} is written from a template of the runtime at start; its text is not known before`,
      })
      continue
    }
    if (budget.left <= 0) budget.isOver = true
    if (one.found.state === 'missing' && template === undefined) {
      if (budget.isOver) continue
      const marker = clamp(`[MISSING] Expected at: ${one.file}`, budget.left)
      // Not shown, but paid for: how much of MEMORY.md survives depends on the length of the path.
      if (one.name === 'BOOTSTRAP.md') budget.left = Math.max(0, budget.left - marker.length)
      else take(one, marker, { reason: 'the file is missing: the runtime says so in its place' })
      continue
    }
    if (budget.isOver || budget.left < LEAST_BUDGET) {
      budget.isOver = true
      hasNotice = true
      leave(
        one,
        `fewer than ${LEAST_BUDGET} characters of the total budget of ${request.total} are left: dropped without a word`,
        {
          truncated: { at: 0, unit: 'utf16' },
        },
      )
      continue
    }
    const most = Math.max(
      1,
      Math.min(one.name === 'USER.md' ? Math.min(request.perFile, LARGEST_USER) : request.perFile, budget.left),
    )
    if (one.found.state === 'unreadable') {
      if (one.found.isLink === true && (one.name === 'USER.md' || one.name === 'MEMORY.md')) {
        // Where these two came from cannot be told through a link, and the runtime leaves them out without a marker.
        leave(one, one.found.why)
        continue
      }
      if (one.found.marker === null) {
        leftOut.push(
          makeSource({
            path: one.file,
            scope: one.scope,
            kind: kindOf(one.name),
            status: 'unknown',
            reason: one.found.why,
            rule,
            raw: one.found.raw,
          }),
        )
        continue
      }
      take(one, cutBootstrapFile(one.found.marker, one.name, most).text, {
        reason: `${one.found.why}: the runtime puts a marker in its place`,
        extra: { raw_chars: one.found.marker.length },
      })
      continue
    }
    const content = one.found.state === 'text' ? one.found.text : (template ?? '')
    const cut = cutBootstrapFile(content, one.name, most)
    const text = clamp(cut.text, budget.left)
    if (text === '') {
      leave(one, 'nothing but blanks in it')
      continue
    }
    if (cut.isCut) hasNotice = true
    take(one, text, {
      ...(cut.isCut
        ? { truncated: { at: most, unit: 'utf16' }, reason: `longer than the ${most} characters it may have` }
        : template === undefined
          ? {}
          : { reason: SEEDED }),
      extra: { raw_chars: content.trimEnd().length, ...(template === undefined ? {} : { seeded: true }) },
    })
  }
  return { loaded: inRenderOrder(loaded), leftOut, unknown, hasNotice }
}

/** Why this kind of session is not given the file; null when it is. */
function withheldFrom({ kind }: SessionKey, { name, file }: Candidate, workspace: string): string | null {
  const isRootMemory = file === path.join(workspace, 'MEMORY.md')
  if (kind === 'subagent' && name !== 'AGENTS.md') return 'a subagent session is given AGENTS.md only'
  if (kind === 'cron' && (isRootMemory || !['AGENTS.md', 'SOUL.md', 'IDENTITY.md', 'USER.md'].includes(name)))
    return 'a cron session is given AGENTS, SOUL, IDENTITY and USER only'
  if ((kind === 'group' || kind === 'channel') && isRootMemory)
    return `MEMORY.md of the workspace is withheld from ${kind} sessions`
  return null
}

const kindOf = (name: string): Source['kind'] => (name === 'MEMORY.md' ? 'memory' : 'instructions')

const rawOf = (found: WorkspaceFile): Buffer | null => (found.state === 'missing' ? null : found.raw)

function clamp(text: string, most: number): string {
  if (most <= 0) return ''
  if (text.length <= most) return text
  return most <= 3 ? headOf(text, most) : `${headOf(text, most - 1)}…`
}

/**
 * What of the counted text is on the wire: more than two line ends in a row become two, a heartbeat instruction of older templates is
 * taken out, and only then CRLF becomes LF (2026.9.6).
 */
const asShown = (text: string): string =>
  text
    .replace(/Default heartbeat prompt:\r?\n`[^`\r\n]*HEARTBEAT_OK\.`/gu, '')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/\r\n/g, '\n')

function inRenderOrder(loaded: readonly Source[]): readonly Source[] {
  const rank = (source: Source): number =>
    RENDER_RANK[path.basename(source.path ?? '').toLowerCase()] ?? Number.MAX_SAFE_INTEGER
  const base = (source: Source): string => path.basename(source.path ?? '').toLowerCase()
  return [...loaded].sort((a, b) => {
    if (rank(a) !== rank(b)) return rank(a) - rank(b)
    if (base(a) !== base(b)) return base(a).localeCompare(base(b))
    return base(a) === 'user.md' ? 0 : (a.path ?? '').localeCompare(b.path ?? '')
  })
}
