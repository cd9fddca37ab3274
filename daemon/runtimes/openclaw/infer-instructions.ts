import { pathToFileURL } from 'node:url'
import type { ManifestBody, ManifestSource } from '../../../contract/index.ts'
import type { OpenClawRecord, ReportedFile } from './evidence.ts'

type Unknown = ManifestBody['unknown'][number]

const RULE = "as the program's own report on the prompt names it"

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

export function inferInstructions(
  { report }: OpenClawRecord,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): ManifestBody['instructions'] {
  unknown.push({
    field: 'instructions.effective_digest',
    why: 'the record names sizes of the files that entered the context, not their texts',
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
    resolved_order: entering.map(({ path }) => path),
    sources: [
      ...entering.map((file, position) => sourceOf(file, position)),
      ...report.files.filter(({ injected }) => injected === 0).map((file) => sourceOf(file, null)),
    ],
  }
}

function sourceOf(file: ReportedFile, position: number | null): ManifestSource {
  const { path, missing, raw, injected, truncated } = file
  return {
    uri: path.startsWith('/') ? pathToFileURL(path).href : `record:${path}`,
    path,
    scope: 'workspace',
    kind: nameOf(path) === 'MEMORY.md' ? 'memory' : 'instructions',
    label: null,
    position,
    status: position === null ? 'not_loaded' : 'loaded',
    reason: missing
      ? position === null
        ? 'the file is missing'
        : 'the file is missing: the runtime says so in its place'
      : position === null
        ? 'nothing of it entered the context'
        : null,
    rule: RULE,
    digest: null,
    text_digest: null,
    bytes: null,
    imported_by: [],
    trigger: null,
    truncated: truncated ? { at: injected, unit: 'utf16' } : null,
    scan: null,
    used: position === null ? null : true,
    classification: 'private',
    raw_chars: raw,
    injected_chars: injected,
  }
}
