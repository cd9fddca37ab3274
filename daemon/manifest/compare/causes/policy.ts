import type { Change } from '../fields.ts'
import {
  byItem,
  type CauseContext,
  type Draft,
  eachSide,
  type Influence,
  type Pool,
  say,
  short,
  textField,
  valueEvidence,
} from './draft.ts'

/** Permission rules, mode, sandbox and managed policy that no settings key explains. */
export const policyCauses = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const drafts: Draft[] = []
  const rules = byItem(
    pool.take(({ item, unknown_on }) => unknown_on === null && item?.list.startsWith('policy.permissions.') === true),
  )
  for (const group of rules) {
    const item = group[0]?.item
    if (!item) continue
    const list = item.list.replace('policy.permissions.', '')
    const rule = textField(item.b ?? item.a, 'rule') ?? item.key
    const source = textField(item.b ?? item.a, 'source')
    const verb = item.a === null ? 'is new' : item.b === null ? 'is gone' : 'changed'
    drafts.push({
      ...base(context, group),
      kind: 'permission',
      title: `Permission rule ${list} ${rule} ${verb}${source === null ? '' : ` (${short(item.b === null ? context.a : context.b, source)})`}`,
      before: item.a === null ? null : say(item.a.rule),
      after: item.b === null ? null : say(item.b.rule),
      ...ruleInfluence(context, rule),
    })
  }
  for (const change of pool.take(({ plain, unknown_on }) => unknown_on === null && plain === 'policy.permissions.mode'))
    drafts.push({
      ...base(context, [change]),
      kind: 'permission',
      title: `Permission mode: ${say(change.before)} → ${say(change.after)}`,
      influence: 'in force',
      because: 'the mode decides about every call',
    })
  const sandbox = pool.take(({ plain, unknown_on }) => unknown_on === null && plain.startsWith('execution.sandbox'))
  if (sandbox.length > 0)
    drafts.push({
      ...base(context, sandbox),
      kind: 'sandbox',
      title: `Sandbox: ${sandbox.map(({ plain, before, after }) => `${plain.split('.').at(-1)?.replace('_', ' ')} ${say(before)} → ${say(after)}`).join(', ')}`,
      influence: 'in force',
      because: 'it confines every command',
    })
  for (const change of pool.take(({ plain, unknown_on }) => unknown_on === null && plain === 'policy.managed'))
    drafts.push({
      ...base(context, [change]),
      kind: 'permission',
      title: `Managed policy: ${say(change.before)} → ${say(change.after)}`,
      influence: 'in force',
      because: 'managed policy beats every other layer',
    })
  return drafts
}

const base = (context: CauseContext, changes: readonly Change[]) => ({
  class: 'configuration' as const,
  category: 'permissions, trust and sandbox' as const,
  before: changes[0]?.before ?? null,
  after: changes[0]?.after ?? null,
  first: { a: null, b: null } as Draft['first'],
  evidence: changes.slice(0, 6).flatMap((change) => valueEvidence(context, change)),
  changes,
})

/** A rule matters when its tool was called or refused; one that kept a call from being tried leaves no trace. */
const ruleInfluence = (
  context: CauseContext,
  rule: string,
): { influence: Influence; because: string; first: Draft['first'] } => {
  const tool = rule.replace(/\(.*$/s, '')
  const denied = eachSide(
    context,
    (side) => side.use?.find(['denied'], (name) => name === tool || name.startsWith(tool))?.first ?? null,
  )
  if (denied.a !== null || denied.b !== null)
    return { influence: 'used', because: `a call of ${tool} was refused`, first: denied }
  const called = eachSide(
    context,
    (side) => side.use?.find(['tool', 'mcp tool'], (name) => name === tool || name.startsWith(tool))?.first ?? null,
  )
  if (called.a !== null || called.b !== null)
    return { influence: 'in force', because: `${tool} was called`, first: called }
  return {
    influence: 'in force',
    because: 'the rule was in force; whether it kept the agent from trying leaves no trace',
    first: { a: null, b: null },
  }
}
