import { pathToFileURL } from 'node:url'
import type { ManifestBody, ManifestSource } from '../../../contract/index.ts'
import { textDigest } from '../../manifest/effective-text.ts'
import type { StretchEvidence } from '../adapter.ts'
import { type ClaudeRecord, effectiveDigestOf, type SeenInstruction, type SeenLazily } from './evidence.ts'

/** Versions on which it was seen that a start without instruction files writes no row for them. */
const SEEN_WITHOUT_INSTRUCTIONS = new Set(['2.1.332'])
const RULE = 'as the session record shows it'

type Unknown = ManifestBody['unknown'][number]

/** Texts that the record shows, by the `uri` of their source, for keeping beside the manifest. */
export function textsOf(stretch: StretchEvidence): ReadonlyMap<string, string> {
  const record: ClaudeRecord = stretch.record
  const texts = new Map<string, string>()
  for (const file of [...(record.instructions ?? []), ...(record.lazy ?? [])]) texts.set(uriOf(file.path), file.text)
  return texts
}

export function inferInstructions(
  stretch: StretchEvidence,
  record: ClaudeRecord,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): ManifestBody['instructions'] {
  const files = record.instructions
  const carried = record.carried?.includes('instructions') === true
  if (files === undefined) {
    if (record.session_context === true && stretch.version !== null && SEEN_WITHOUT_INSTRUCTIONS.has(stretch.version)) {
      empty.push({ category: 'instructions', why: 'no instruction file entered the context at start' })
    } else {
      unknown.push(
        {
          field: 'instructions.effective_digest',
          why: `version ${stretch.version ?? 'not named'} does not write which instructions it loaded`,
        },
        { field: 'instructions.sources', why: 'the session record shows no instruction files' },
      )
    }
  } else if (files.length === 0)
    empty.push({ category: 'instructions', why: 'no instruction file entered the context at start' })
  else
    unknown.push(
      { field: 'instructions.sources', why: 'files that were found and not loaded leave no trace in the record' },
      {
        field: 'instructions.sources.imported_by',
        why: 'the record lists imported files without the file that named them',
      },
    )
  const rule = carried ? `${RULE}; taken over from an earlier start, a resume does not read them again (2.1.332)` : RULE
  const loaded = (files ?? []).map((file, position) =>
    sourceOf(file, { position, rule, status: 'loaded', trigger: null, scope: scopeOf(file, stretch.cwd) }),
  )
  const atStart = new Set(loaded.map(({ uri }) => uri))
  const lazy = (record.lazy ?? [])
    .filter((file) => !atStart.has(uriOf(file.path)))
    .map((file) => lazySource(file, stretch.cwd))
  return {
    effective_digest: files === undefined ? null : effectiveDigestOf(files),
    resolved_order: [...new Set(loaded.map(({ scope }) => scope))],
    sources: [...loaded, ...lazy],
  }
}

function lazySource(file: SeenLazily, cwd: string | null): ManifestSource {
  const scope = isNested(file.path, cwd) ? 'path' : scopeOf(file, cwd)
  const trigger =
    file.trigger === null
      ? 'a file below its directory or matching its paths was touched'
      : `${file.trigger} was touched`
  return { ...sourceOf(file, { position: null, rule: RULE, status: 'lazy', trigger, scope }), digest: file.raw_digest }
}

function sourceOf(
  file: SeenInstruction,
  place: Pick<ManifestSource, 'position' | 'rule' | 'status' | 'trigger' | 'scope'>,
): ManifestSource {
  return {
    uri: uriOf(file.path),
    path: file.path,
    kind: kindOf(file),
    label: file.label,
    ...place,
    reason: null,
    digest: null,
    text_digest: textDigest(file.text),
    bytes: null,
    imported_by: file.imported_by === null ? [] : [uriOf(file.imported_by)],
    truncated: null,
    scan: null,
    used: true,
    classification: 'private',
  }
}

/** Files with names of their own are loaded by themselves; any other file that is no rule was imported by one. */
function kindOf(file: SeenInstruction): ManifestSource['kind'] {
  if (file.type === 'AutoMem') return 'memory'
  if (file.imported_by !== null) return 'import'
  if (file.rule) return 'rule'
  const name = file.path.split(/[\\/]/).at(-1) ?? ''
  return name.startsWith('<') || ['CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md'].includes(name)
    ? 'instructions'
    : 'import'
}

function scopeOf({ type, path }: SeenInstruction, cwd: string | null): string {
  switch (type) {
    case 'Managed':
      return 'managed'
    case 'User':
      return 'user'
    case 'Project':
      return cwd === null || path.startsWith(`${cwd}/`) || path.startsWith(`${cwd}\\`) ? 'project' : 'parent folder'
    case 'Local':
      return 'local'
    case 'AutoMem':
      return 'memory'
    default:
      return type ?? 'unknown'
  }
}

/** Below the start directory, in a directory of its own. */
function isNested(path: string, cwd: string | null): boolean {
  if (cwd === null || !path.startsWith(`${cwd}/`)) return false
  const [first, ...rest] = path.slice(cwd.length + 1).split('/')
  return rest.length > 0 && first !== '.claude'
}

/** The same form as a resolver gives a file; paths of another platform stay as the record has them. */
function uriOf(path: string): string {
  return path.startsWith('/') ? pathToFileURL(path).href : `record:${path}`
}
