import { pathToFileURL } from 'node:url'
import type { Digest, ManifestBody, ManifestSource } from '../../../contract/index.ts'
import { effectiveDigest, textDigest } from '../../manifest/effective-text.ts'
import type { StretchEvidence } from '../adapter.ts'
import type { InstructionText, OpenClawRecord, ReportedFile } from './evidence.ts'
import { isCovered } from './project-context.ts'

type Unknown = ManifestBody['unknown'][number]
type Instructions = ManifestBody['instructions']

const FROM_PROMPT = 'as the system prompt in the trajectory of the turn shows it'
const FROM_REPORT = "as the program's own report on the prompt names it"
/** What a record shows are files of the workspace; which of them a hook added it does not say. */
const SCOPE = 'workspace'
const MISSING = '[MISSING] Expected at: '

/** Order of the prompt (runtime page 5.2); the report lists files in the order in which they are loaded. */
const ranks: Readonly<Record<string, number>> = {
  'agents.md': 10,
  'soul.md': 20,
  'identity.md': 30,
  'user.md': 40,
  'tools.md': 50,
  'bootstrap.md': 60,
  'memory.md': 70,
}
const rankOf = ({ path }: ReportedFile): number => ranks[nameOf(path).toLowerCase()] ?? 100
const nameOf = (path: string): string => path.split(/[\\/]/).at(-1) ?? path

/** Texts of the files that entered the context, as far as the trajectory still holds the system prompt and covered nothing in them. */
export function recordedTexts(stretch: StretchEvidence): readonly { readonly digest: Digest; readonly text: string }[] {
  const { trace } = stretch.record as Readonly<Record<string, unknown>> & OpenClawRecord
  return (trace?.instructions ?? [])
    .filter(({ text }) => !isCovered(text))
    .map(({ text }) => ({ digest: textDigest(text), text }))
}

export function inferInstructions(
  { report, trace }: OpenClawRecord,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): Instructions {
  const shown = trace?.instructions ?? null
  if (shown !== null) return fromPrompt(shown, report?.files ?? [], unknown, empty)
  unknown.push({
    field: 'instructions.effective_digest',
    why: 'no trajectory of the stretch holds the system prompt; the report names sizes of the files, not their texts',
  })
  if (report === undefined) {
    unknown.push({
      field: 'instructions.sources',
      why: 'the session keeps the report of its last turn only, and that one is not of this stretch; or there is none',
    })
    return { effective_digest: null, resolved_order: [], sources: [] }
  }
  unknown.push({
    field: 'instructions.sources',
    why: `the report is of the turn at ${report.at ?? 'a time not named'}; earlier turns of the stretch may have had other files`,
  })
  if (report.files.length === 0)
    empty.push({ category: 'instructions', why: 'the report on the prompt names no file of the workspace' })
  const entering = report.files
    .filter(({ injected }) => injected > 0)
    .sort((a, b) => rankOf(a) - rankOf(b) || (a.path < b.path ? -1 : 1))
  return {
    effective_digest: null,
    resolved_order: entering.length > 0 ? [SCOPE] : [],
    sources: [...entering.map((file, position) => reported(file, position)), ...leftOut(report.files)],
  }
}

/** The prompt says what entered and in which order; the report adds raw sizes, and what did not enter. */
function fromPrompt(
  shown: readonly InstructionText[],
  files: readonly ReportedFile[],
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): Instructions {
  const covered = shown.filter(({ text }) => isCovered(text))
  if (shown.length === 0)
    empty.push({ category: 'instructions', why: 'the system prompt holds no file of the workspace' })
  if (covered.length > 0)
    unknown.push({
      field: 'instructions.effective_digest',
      why: `the program covered values in ${covered.map(({ path }) => path).join(', ')} when it wrote the trajectory`,
    })
  unknown.push({
    field: 'instructions.sources.digest',
    why: 'the record shows the text that entered, not the bytes of the files',
  })
  return {
    effective_digest:
      covered.length > 0 ? null : effectiveDigest(shown.map(({ path, text }) => ({ path, label: null, text }))),
    resolved_order: shown.length > 0 ? [SCOPE] : [],
    sources: [
      ...shown.map(({ path, text }, position) => {
        const file = files.find((one) => one.path === path && one.injected === text.length)
        const missing = text.startsWith(MISSING)
        return {
          ...sourceOf(path, position, FROM_PROMPT),
          reason: missing ? 'the file is missing: the runtime says so in its place' : null,
          text_digest: isCovered(text) ? null : textDigest(text),
          truncated: file?.truncated === true ? { at: file.injected, unit: 'utf16' } : null,
          ...(file === undefined ? {} : { raw_chars: file.raw }),
          injected_chars: text.length,
        }
      }),
      ...leftOut(files).filter(({ path }) => !shown.some((one) => one.path === path)),
    ],
  }
}

function reported(file: ReportedFile, position: number): ManifestSource {
  return {
    ...sourceOf(file.path, position, FROM_REPORT),
    reason: file.missing ? 'the file is missing: the runtime says so in its place' : null,
    truncated: file.truncated ? { at: file.injected, unit: 'utf16' } : null,
    raw_chars: file.raw,
    injected_chars: file.injected,
  }
}

const leftOut = (files: readonly ReportedFile[]): readonly ManifestSource[] =>
  files
    .filter(({ injected }) => injected === 0)
    .map(({ path, missing, raw }) => ({
      ...sourceOf(path, null, FROM_REPORT),
      reason: missing ? 'the file is missing' : 'nothing of it entered the context',
      raw_chars: raw,
      injected_chars: 0,
    }))

function sourceOf(path: string, position: number | null, rule: string): ManifestSource {
  return {
    uri: path.startsWith('/') ? pathToFileURL(path).href : `record:${path}`,
    path,
    scope: SCOPE,
    kind: nameOf(path) === 'MEMORY.md' ? 'memory' : 'instructions',
    label: null,
    position,
    status: position === null ? 'not_loaded' : 'loaded',
    reason: null,
    rule,
    digest: null,
    text_digest: null,
    bytes: null,
    imported_by: [],
    trigger: null,
    truncated: null,
    scan: null,
    used: position === null ? null : true,
    classification: 'private',
  }
}
