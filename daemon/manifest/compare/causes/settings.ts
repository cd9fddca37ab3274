import type { CauseClass, CompareCategory } from '../../../../contract/index.ts'
import type { Change, Item, Row } from '../fields.ts'
import {
  byItem,
  type CauseContext,
  changed,
  type Draft,
  fieldEvidence,
  type Influence,
  type Pool,
  say,
  short,
  shortDigest,
  textField,
} from './draft.ts'

/** Each settings key that differs, with the environment it sets, the permission or the model it decides. */
export const settingCauses = (pool: Pool, context: CauseContext): readonly Draft[] => [
  ...environmentCauses(pool, context),
  ...byItem(pool.take(({ item, unknown_on }) => item?.list === 'settings' && unknown_on === null)).map((group) =>
    settingCause(pool, context, group[0]?.item as Item, group),
  ),
]

const settingValue = (row: Row | null): unknown => (row === null ? null : (row.value ?? row.value_ref ?? null))

const settingCause = (pool: Pool, context: CauseContext, item: Item, group: readonly Change[]): Draft => {
  const { key, a, b } = item
  const [before, after] = [settingValue(a), settingValue(b)]
  const isSameValue = JSON.stringify(before) === JSON.stringify(after)
  // What the key decides stands in the manifest a second time.
  const followers = pool.take(
    ({ unknown_on, item: other, plain }) => unknown_on === null && other === null && decides(key, plain),
  )
  const permissions = key.startsWith('permissions.')
    ? pool.take(
        ({ item: other, unknown_on }) =>
          unknown_on === null &&
          other?.list.startsWith('policy.permissions') === true &&
          inLists(other.key, before, after),
      )
    : []
  const mode = /(^|\.)(default_?mode|approval_policy)$/i.test(key)
    ? pool.take(({ plain, unknown_on }) => unknown_on === null && plain === 'policy.permissions.mode')
    : []
  const sandbox = /(^|\.)sandbox/i.test(key)
    ? pool.take(({ plain, unknown_on }) => unknown_on === null && plain.startsWith('execution.sandbox'))
    : []
  const hooks = key.startsWith('hooks')
    ? pool.take(({ item: other, unknown_on }) => unknown_on === null && other?.list === 'capabilities.hooks')
    : []
  const plugins = /^(enabledPlugins|plugins)[.:]/.test(key) ? takePlugin(pool, key) : []
  const kind =
    mode.length + permissions.length > 0 || key.startsWith('permissions.')
      ? 'permission'
      : sandbox.length > 0
        ? 'sandbox'
        : hooks.length > 0
          ? 'hook'
          : plugins.length > 0
            ? 'plugin'
            : 'setting'
  const { influence, because } = isSameValue
    ? { influence: 'not used' as Influence, because: 'the value in force is the same on both sides' }
    : settingInfluence(context, key, plugins)
  const [shownA, shownB] = [shownValue(a), shownValue(b)]
  return {
    kind,
    class: 'configuration',
    category:
      kind === 'permission' || kind === 'sandbox'
        ? 'permissions, trust and sandbox'
        : kind === 'hook' || kind === 'plugin'
          ? 'skills, plugins and hooks'
          : 'settings',
    title: titleOf(context, item, isSameValue),
    before: shownA,
    after: shownB,
    influence,
    because,
    first: { a: null, b: null },
    evidence: [context.a, context.b].map((side) => {
      const row = item[side.letter]
      const source = textField(row, 'source')
      return fieldEvidence(
        side,
        `settings[${key}]`,
        row === null
          ? 'not set'
          : `${say(shownValue(row))}${source === null ? '' : `, from ${short(side, source)}`}${losers(row)}`,
      )
    }),
    changes: [...group, ...followers, ...permissions, ...mode, ...sandbox, ...hooks, ...plugins],
  }
}

/** `policy.permissions.deny` items are named by their rule. */
const inLists = (rule: string, ...values: readonly unknown[]): boolean => {
  const bare = rule.replace(/ @ .*$/, '').replace(/ #\d+$/, '')
  return values.some((value) => Array.isArray(value) && value.includes(bare))
}
/** Whether a settings key is what a field of the execution follows, by their words. */
const decides = (key: string, plain: string): boolean => {
  const last = key.split('.').at(-1) ?? key
  if (/base_?url|endpoint|provider/i.test(last)) return /^execution\.(endpoint_profile|provider)/.test(plain)
  if (/effort|reasoning/i.test(last)) return plain === 'execution.reasoning' || plain.startsWith('execution.parameters')
  return /(^|[._])(model|primary)$/i.test(last) && /^execution\.(model|requested_model)$/.test(plain)
}

const takePlugin = (pool: Pool, key: string): readonly Change[] => {
  const name = key
    .replace(/^[^.:]+[.:]/, '')
    .replaceAll('"', '')
    .replace(/[@.].*$/, '')
  return pool.take(({ item, unknown_on }) => {
    if (unknown_on !== null || item === null || item.list === 'settings') return false
    if (item.list === 'capabilities.plugins') return item.key.replace(/@.*$/, '') === name
    return (
      (item.list.startsWith('capabilities.') && item.key.startsWith(`${name}:`)) ||
      item.key.startsWith(`plugin:${name}:`)
    )
  })
}

const titleOf = (context: CauseContext, { key, a, b }: Item, isSameValue: boolean): string => {
  const from = (row: Row): string => sourceName(context, row)
  if (a === null) return `Settings key ${key} is now set by ${from(b as Row)}: ${say(shownValue(b))}`
  if (b === null) return `Settings key ${key} is no longer set; it was ${say(shownValue(a))}`
  const isOverridden =
    a.source !== b.source &&
    Array.isArray(b.overridden) &&
    b.overridden.some(
      (one) => (one as Row).source === a.source || JSON.stringify((one as Row).value) === JSON.stringify(a.value),
    )
  if (isOverridden) return `Settings key ${key} overridden by ${from(b)}: ${say(shownValue(a))} → ${say(shownValue(b))}`
  const wasOverriding =
    a.source !== b.source && Array.isArray(a.overridden) && a.overridden.some((one) => (one as Row).source === b.source)
  if (wasOverriding)
    return `Settings key ${key} no longer overridden by ${from(a)}: ${say(shownValue(a))} → ${say(shownValue(b))}`
  if (isSameValue) return `Settings key ${key} has the same value, decided in another place`
  const lists = listChange(settingValue(a), settingValue(b))
  return `Settings key ${key} changed${lists ?? `: ${say(shownValue(a))} → ${say(shownValue(b))}`}`
}

const listChange = (a: unknown, b: unknown): string | null => {
  if (!Array.isArray(a) || !Array.isArray(b)) return null
  const [inA, inB] = [new Set(a.map((one) => JSON.stringify(one))), new Set(b.map((one) => JSON.stringify(one)))]
  const added = b.filter((one) => !inA.has(JSON.stringify(one))).map((one) => `+${say(one)}`)
  const gone = a.filter((one) => !inB.has(JSON.stringify(one))).map((one) => `−${say(one)}`)
  return added.length + gone.length === 0 ? ': another order' : `: ${[...gone, ...added].join(', ')}`
}

/** Secrets never stood in the manifest; what covers them is long and says nothing. */
const shownValue = (row: Row | null): unknown =>
  row === null
    ? null
    : row.value === undefined && typeof row.value_ref === 'string'
      ? `covered value ${row.value_ref.slice(-8)}`
      : (row.value ?? null)

const losers = (row: Row): string => {
  const count = Array.isArray(row.overridden) ? row.overridden.length : 0
  return count === 0
    ? ''
    : `, over ${(row.overridden as Row[]).map((one) => say(one.value ?? 'a covered value')).join(', ')}`
}

const SCOPES: readonly (readonly [RegExp, string])[] = [
  [/managed/i, 'managed settings'],
  [/requirements\.toml$/, 'managed requirements'],
]
const sourceName = (context: CauseContext, row: Row): string => {
  const source = textField(row, 'source') ?? 'an unknown place'
  const known = SCOPES.find(([pattern]) => pattern.test(source))?.[1]
  const file = short(context.b, source)
  return known === undefined ? file : `${known} (${file})`
}

const LOOKS =
  /(^|[._-])(theme|colou?rs?|font|ui|tui|skin|vim|keymap|keybindings?|editor\w*|notif\w*|sound|bell|spinner\w*|tips?|banner|logo|emoji|status_?line\w*|onboard\w*|telemetry|analytics|feedback\w*|survey\w*|startups?|counts?|counter|cursor|terminal\w*|history|update_?channel|auto_?updates?\w*|last_?\w+|num_?startups|cleanup_?period_?days|verbose|prefers_?reduced_?motion|show_?\w+)([._-]|$)/i
const STEERS =
  /model|permission|hook|(^|\.)env(\.|$)|mcp|plugin|effort|think|reason|output_?style|sandbox|allow|deny|approval|system|prompt|instruction|agents?|memory|tools?|skills?|context|compact|provider|base_?url|endpoint|temperature|max_?tokens|include|exclude|directories|language|profile|personality|features?|trust|web_?search|network|shell|exec|workspace|binding|channel/i

/** Camel case in parts, so that words are found in it. */
const parted = (key: string): string => key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')

/** Whether a key can steer a run, by its words: runtimes have hundreds, and new ones with every version. */
const settingInfluence = (
  context: CauseContext,
  key: string,
  plugins: readonly Change[],
): { influence: Influence; because: string } => {
  if (plugins.length > 0) {
    const name = key
      .replace(/^[^.:]+[.:]/, '')
      .replaceAll('"', '')
      .replace(/[@.].*$/, '')
    for (const side of [context.a, context.b]) {
      const used = side.use?.find(
        ['plugin', 'skill', 'mcp tool', 'agent'],
        (one) => one === name || one.startsWith(`${name}:`) || one.startsWith(`mcp__plugin_${name}_`),
      )
      if (used)
        return {
          influence: 'used',
          because: `${used.name} of this plugin was used at ${side.letter.toUpperCase()}@${used.first}`,
        }
    }
    if (context.a.use && context.b.use)
      return { influence: 'not used', because: 'nothing of this plugin was used in either run' }
  }
  const words = parted(key)
  if (LOOKS.test(words))
    return {
      influence: 'not used',
      because: 'the key is about how the program looks or keeps house, not about what it does',
    }
  if (STEERS.test(words))
    return { influence: 'in force', because: 'the key steers what the agent does and was in force from the start' }
  return { influence: 'cannot be told', because: 'whether this key bears on a run is not known' }
}

/** Variables by name: the one of the process and the one that settings set are the same variable. */
const environmentCauses = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const drafts: Draft[] = []
  const nameIn = ({ item, unknown_on }: Change): string | null => {
    if (item === null || unknown_on !== null) return null
    if (item.list === 'execution.environment') return textField(item.b ?? item.a, 'name')
    return item.list === 'settings'
      ? (/^(?:env(?:\.vars)?|shell_environment_policy\.set)\.(.+)$/.exec(item.key)?.[1] ?? null)
      : null
  }
  const names = new Set(pool.peek((change) => nameIn(change) !== null).map((change) => nameIn(change) as string))
  for (const name of names) {
    const group = pool.take((change) => nameIn(change) === name)
    const followers = /MODEL/.test(name)
      ? pool.take(({ plain, unknown_on }) => unknown_on === null && plain === 'execution.model')
      : /BASE_URL|ENDPOINT|API_HOST/.test(name)
        ? pool.take(({ plain, unknown_on }) => unknown_on === null && plain === 'execution.endpoint_profile')
        : []
    const item = (group.find((change) => change.item?.list === 'execution.environment') ?? group[0])?.item as Item
    const { influence, because, first } = environmentInfluence(context, name)
    const words = (row: Row | null): string =>
      row === null
        ? 'not set'
        : `set by ${String(row.source ?? 'the process')}, value ${shortDigest(textField(row, 'digest') ?? textField(row, 'value_ref'))}`
    const verb =
      item.a === null
        ? 'is now set'
        : item.b === null
          ? 'is no longer set'
          : changed(group, 'source') && !changed(group, 'digest')
            ? 'comes from another place'
            : 'has another value'
    drafts.push({
      kind: 'environment',
      class: 'configuration' satisfies CauseClass,
      category: 'environment' satisfies CompareCategory,
      title: `Environment variable ${name} ${verb}${item.b?.source && item.b.source !== 'process' ? ` (${short(context.b, String(item.b.source).replace(/#.*$/, ''))})` : ''}`,
      before: item.a === null ? null : words(item.a),
      after: item.b === null ? null : words(item.b),
      influence,
      because,
      first,
      evidence: [
        fieldEvidence(context.a, `${item.list}[${item.key}]`, words(item.a)),
        fieldEvidence(context.b, `${item.list}[${item.key}]`, words(item.b)),
        ...[context.a, context.b].flatMap((side) => {
          const seq = first[side.letter]
          return seq === null || side.run === null
            ? []
            : [{ side: side.letter, text: `@${seq} names it`, ref: { type: 'event' as const, run: side.run, seq } }]
        }),
      ],
      changes: [...group, ...followers],
    })
  }
  return drafts
}

/** Read by the agents or by what carries their requests, whether or not a run names them. */
const READ_BY_AGENTS =
  /^(ANTHROPIC|CLAUDE|CODEX|OPENAI|OPENCLAW|HERMES|OPENROUTER|GEMINI|GOOGLE|AWS|AZURE|VERTEX|MCP|OTEL|BASH|DISABLE|MAX)_|_(API_KEY|BASE_URL|MODEL)$|^(https?|no|all)_proxy$|^(PATH|SHELL|LANG|TZ|LC_\w+|API_TIMEOUT_MS|NODE_\w+|SSL_CERT_\w+|IS_SANDBOX)$/i

const environmentInfluence = (context: CauseContext, name: string) => {
  const first = { a: context.a.mentions?.(name) ?? null, b: context.b.mentions?.(name) ?? null }
  if (first.a !== null || first.b !== null) {
    const where = first.b !== null ? `B@${first.b}` : `A@${first.a}`
    return { influence: 'used' as Influence, because: `${where} names the variable`, first }
  }
  const none = { a: null, b: null }
  if (READ_BY_AGENTS.test(name))
    return { influence: 'in force' as Influence, because: 'the agent itself reads this variable', first: none }
  if (context.a.mentions === null || context.b.mentions === null)
    return {
      influence: 'cannot be told' as Influence,
      because: 'whether anything reads it cannot be told without a run and its texts',
      first: none,
    }
  return {
    influence: 'not used' as Influence,
    because: 'nothing in either run names it, and the agent is not known to read it',
    first: none,
  }
}
