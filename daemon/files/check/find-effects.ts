import type { FileEffect } from '../../../contract/index.ts'
import { compareFields, type FieldSide } from '../../manifest/compare/fields.ts'
import { knowledgeOf } from '../../manifest/compare/knowledge.ts'
import type { Resolution } from '../../runtimes/adapter.ts'

/** Changes told of one workspace; the rest is told as a number. */
const MOST_CHANGES = 200

/** What differs between two resolutions of one place, with the rule by which the runtime merges it. */
export function effectOf(workspace: string | null, before: Resolution, after: Resolution): FileEffect {
  const side = ({ body }: Resolution): FieldSide => ({ body, knowledge: knowledgeOf(body), cover: (text) => text })
  const all = compareFields(side(before), side(after)).changes.filter(({ unknown_on }) => unknown_on === null)
  const changes = all.slice(0, MOST_CHANGES).map(({ path: field, before: was, after: is }) => ({
    field,
    before: shown(was),
    after: shown(is),
    rule: ruleOf(field, after) ?? ruleOf(field, before),
  }))
  return {
    workspace,
    changes,
    effective_before: before.body.instructions.effective_digest,
    effective_after: after.body.instructions.effective_digest,
    why_not: all.length > changes.length ? `${all.length - changes.length} more changes are not listed` : null,
  }
}

function shown(value: unknown): string | null {
  if (value === null || value === undefined) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 400 ? `${text.slice(0, 399)}…` : text
}

function ruleOf(field: string, { body }: Resolution): string | null {
  const name = field.replace(/^settings[.[ ]?/, '').replace(/\]?(?:\.value)?$/, '')
  if (!field.startsWith('settings')) return null
  const key = Object.keys(body.settings)
    .filter((one) => name === one || name.startsWith(`${one}.`) || name.startsWith(`${one}]`))
    .sort((a, b) => b.length - a.length)[0]
  return key === undefined ? null : (body.settings[key]?.rule ?? null)
}
