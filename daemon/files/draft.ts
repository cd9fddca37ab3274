import { type FileProblem, RepriseError } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { applyKeyEdits } from './structured/apply-key-edits.ts'
import { isStructured } from './structured/format.ts'
import { isRefused } from './structured/key-path.ts'
import { readTextForm, type TextForm, toBytes, withWholeText } from './text-form.ts'

export interface DraftRequest {
  readonly text?: string | undefined
  readonly edits?: readonly { readonly key: readonly (string | number)[]; readonly value?: unknown }[] | undefined
}

/** The bytes a file would have: only what differs from `before` is another; null: it is not there yet. */
export function draftBytes(
  path: string,
  format: Parameters<typeof isStructured>[0],
  before: Uint8Array | null,
  request: DraftRequest,
  redactor: Pick<Redactor, 'redact'>,
): Buffer {
  if (request.text !== undefined && request.edits !== undefined)
    throw new RepriseError('wrong_usage', 'text and edits: give one of them')
  const form = before === null ? EMPTY : readTextForm(before)
  if (form === null) throw new RepriseError('refused', `${path} is not text`, 'it can be looked at only')
  if (request.text !== undefined) {
    const made = withWholeText(form, request.text, redactor)
    if ('coveredLine' in made)
      throw new RepriseError(
        'refused',
        `line ${made.coveredLine}: a placeholder would be written in the place of a secret`,
        'leave that line as it was shown, or write the value anew',
      )
    return toBytes(made.text, form.bom)
  }
  if (request.edits === undefined) return before === null ? Buffer.alloc(0) : Buffer.from(before)
  if (!isStructured(format)) throw new RepriseError('refused', `${path} has no keys`, 'save its text instead')
  const base = before === null && format.startsWith('json') ? '{}\n' : form.raw
  const edited = applyKeyEdits(base, format, request.edits)
  if (isRefused(edited))
    throw new RepriseError(
      'refused',
      `${path}${edited.line === undefined ? '' : `:${edited.line}`}: ${edited.refused}`,
      'change its text instead',
    )
  return toBytes(edited.text, form.bom)
}

const EMPTY: TextForm = { raw: '', text: '', bom: false, lineEnd: 'none' }

/** Secrets of a new text that the old one did not hold, by line. */
export function newSecrets(before: Uint8Array | null, after: Uint8Array, redactor: Redactor): readonly FileProblem[] {
  const form = readTextForm(after)
  if (form === null) return []
  const old = before === null ? null : readTextForm(before)
  const known = new Set(old === null ? [] : redactor.find(old.text).map(({ start, end }) => old.text.slice(start, end)))
  return redactor.find(form.text).flatMap(({ start, end, family }) => {
    if (known.has(form.text.slice(start, end))) return []
    const above = form.text.slice(0, start)
    return [
      {
        line: above.split('\n').length,
        column: start - above.lastIndexOf('\n'),
        severity: 'error' as const,
        code: 'secret',
        message: `a secret (${family}) in plain text`,
        repair: 'keep it in an environment variable or a key store, or save with the secret on purpose',
      },
    ]
  })
}
