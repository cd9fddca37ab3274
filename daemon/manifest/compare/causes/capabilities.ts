import type { Change, Item, Row } from '../fields.ts'
import type { UseKind } from '../use.ts'
import {
  byItem,
  type CauseContext,
  changed,
  type Draft,
  eachSide,
  eventEvidence,
  fieldEvidence,
  type Influence,
  type Pool,
  say,
  short,
  shortDigest,
  sourceEvidence,
  textField,
} from './draft.ts'

interface Capability {
  readonly list: string
  readonly kind: string
  readonly noun: string
  readonly body: string
  readonly uses: readonly UseKind[]
}
const kinds: readonly Capability[] = [
  { list: 'capabilities.skills', kind: 'skill', noun: 'Skill', body: 'SKILL body of', uses: ['skill'] },
  {
    list: 'capabilities.commands',
    kind: 'command',
    noun: 'Command',
    body: 'Text of command',
    uses: ['command', 'skill'],
  },
  { list: 'capabilities.agents', kind: 'agent', noun: 'Agent', body: 'Text of agent', uses: ['agent'] },
  { list: 'capabilities.plugins', kind: 'plugin', noun: 'Plugin', body: 'Content of plugin', uses: ['plugin'] },
  { list: 'capabilities.hooks', kind: 'hook', noun: 'Hook', body: 'Hook', uses: ['hook'] },
]
const ofSource = new Set(['skill', 'agent', 'command', 'plugin', 'hook'])

/** Skills, commands, agents, plugins, hooks: one cause for each by name, with the file it stands in. */
export const capabilityCauses = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const drafts: Draft[] = []
  // Whatever a later version lists beside the five is treated like a skill nobody can be seen to use.
  const lists = new Set(
    pool
      .peek(({ item }) => item?.list.startsWith('capabilities.') === true && !/\.(tools|mcp_servers)$/.test(item.list))
      .map(({ item }) => (item as Item).list),
  )
  for (const list of [...lists].sort(
    (x, y) => kinds.findIndex((one) => one.list === y) - kinds.findIndex((one) => one.list === x),
  )) {
    const known = kinds.find((one) => one.list === list) ?? {
      list,
      kind: list
        .replace(/^capabilities\./, '')
        .replace(/s$/, '')
        .replaceAll('_', ' '),
      noun: list
        .replace(/^capabilities\./, '')
        .replace(/s$/, '')
        .replaceAll('_', ' '),
      body: 'Content of',
      uses: [],
    }
    // The same thing found at two places is one: it moved, or one shadows the other.
    const groups = new Map<string, (readonly Change[])[]>()
    for (const group of byItem(pool.take(({ item, unknown_on }) => unknown_on === null && item?.list === list))) {
      const name = textField((group[0]?.item?.b ?? group[0]?.item?.a) as Row, 'name') ?? String(group[0]?.item?.key)
      groups.set(name, [...(groups.get(name) ?? []), group])
    }
    for (const [name, same] of groups) drafts.push(capabilityCause(pool, context, known, name, same.flat()))
  }
  // Files of a capability that the capability itself does not show (a script beside a skill, a disabled plugin's file).
  for (const group of byItem(
    pool.take(
      ({ item, unknown_on }) =>
        unknown_on === null && item?.list === 'instructions.sources' && ofSource.has(String((item.b ?? item.a)?.kind)),
    ),
  )) {
    const item = group[0]?.item as Item
    const row = (item.b ?? item.a) as Row
    const file = textField(row, 'path')
    const name = file === null ? item.key : short(item.b === null ? context.a : context.b, file)
    drafts.push({
      kind: String(row.kind),
      class: 'configuration',
      category: 'skills, plugins and hooks',
      title: `File ${name} of a ${String(row.kind)} ${item.a === null ? 'is new' : item.b === null ? 'is gone' : 'changed'}`,
      before: shortDigest(textField(item.a, 'digest')),
      after: shortDigest(textField(item.b, 'digest')),
      ...fileInfluence(context, row, item),
      evidence: [sourceEvidence(context.a, item.a), sourceEvidence(context.b, item.b)],
      changes: group,
      text: { a: textField(item.a, 'text_digest'), b: textField(item.b, 'text_digest') },
    })
  }
  return drafts
}

/** A file beside a capability was used when a run names it, or the thing whose folder it lies in. */
const fileInfluence = (context: CauseContext, row: Row, item: Item): Pick<Draft, 'influence' | 'because' | 'first'> => {
  const file = textField(row, 'path') ?? item.key
  const name = file.split(/[\\/]/).at(-2) ?? file
  const first = eachSide(
    context,
    (side) =>
      side.use?.find(['skill', 'agent', 'command', 'plugin'], (one) => one === name)?.first ??
      side.mentions?.(file) ??
      null,
  )
  if (first.a !== null || first.b !== null) return { influence: 'used', because: 'a run names it', first }
  if (context.a.mentions === null || context.b.mentions === null)
    return { influence: 'cannot be told', because: 'whether a run came to it cannot be told', first }
  return { influence: 'not used', because: 'nothing in either run names it', first }
}

const capabilityCause = (
  pool: Pool,
  context: CauseContext,
  { kind, noun, body, uses }: Capability,
  name: string,
  changes: readonly Change[],
): Draft => {
  const rows = { a: rowOf(changes, 'a'), b: rowOf(changes, 'b') }
  const files = new Set(
    [rows.a, rows.b]
      .flatMap((row) => [textField(row, 'path'), textField(row, 'source')])
      .filter((file) => file?.startsWith('/')),
  )
  const beside = pool.take(
    ({ item, unknown_on }) =>
      unknown_on === null &&
      item?.list === 'instructions.sources' &&
      ofSource.has(String((item.b ?? item.a)?.kind)) &&
      files.has(textField(item.b ?? item.a, 'path')),
  )
  const source = beside[0]?.item ?? null
  const first = eachSide(context, (side) => side.use?.find(uses, (one) => matches(kind, one, name))?.first ?? null)
  const { influence, because } = influenceOf(context, kind, first, changes)
  const words = (row: Row | null): string | null =>
    row === null
      ? null
      : [
          String(row.status ?? ''),
          ...(row.version ? [`version ${String(row.version)}`] : []),
          shortDigest(textField(row, 'digest')),
        ].join(', ')
  return {
    kind,
    class: 'configuration',
    category: 'skills, plugins and hooks',
    title: titleOf(context, noun, body, name, changes, rows),
    before: words(rows.a),
    after: words(rows.b),
    influence,
    because,
    first,
    evidence: [
      ...(source === null
        ? [context.a, context.b].map((side) =>
            fieldEvidence(
              side,
              changes[0]?.item ? `${changes[0].item.list}[${changes[0].item.key}]` : 'capabilities',
              words(rows[side.letter]) ?? 'not there',
            ),
          )
        : [sourceEvidence(context.a, source.a), sourceEvidence(context.b, source.b)]),
      ...[context.a, context.b].flatMap((side) => eventEvidence(side, first[side.letter], `${name} was used`)),
    ],
    changes: [...changes, ...beside],
    text: { a: textField(source?.a ?? null, 'text_digest'), b: textField(source?.b ?? null, 'text_digest') },
  }
}

const rowOf = (changes: readonly Change[], letter: 'a' | 'b'): Row | null => {
  const all = changes.flatMap(({ item }) => (item?.[letter] ? [item[letter]] : []))
  return all.find(({ status }) => status === 'active') ?? all[0] ?? null
}

/** Hooks show their event, with or without what they match; plugins may carry the name of their market. */
const matches = (kind: string, used: string, name: string): boolean =>
  used === name ||
  (kind === 'hook' && used.split(/[: ]/)[0] === name.split(/[: ]/)[0]) ||
  (kind === 'plugin' && used === name.replace(/@.*$/, '')) ||
  (kind === 'agent' && used.startsWith(name)) ||
  (kind === 'command' && used === name.replace(/^\//, ''))

const titleOf = (
  context: CauseContext,
  noun: string,
  body: string,
  name: string,
  changes: readonly Change[],
  { a, b }: { readonly a: Row | null; readonly b: Row | null },
): string => {
  if (a === null) return `${noun} ${name} is new`
  if (b === null) return `${noun} ${name} is gone`
  const status = changed(changes, 'status')
  if (status && a.status !== b.status)
    return `${noun} ${name} is now ${String(b.status)}${b.reason ? `: ${String(b.reason)}` : ''}, it was ${String(a.status)}`
  if (a.version !== b.version) return `${noun} ${name}: version ${say(a.version)} → ${say(b.version)}`
  if (a.source !== b.source || a.path !== b.path) {
    const [from, to] = [textField(a, 'path') ?? String(a.source), textField(b, 'path') ?? String(b.source)]
    if (context.a.cover(from) !== context.b.cover(to))
      return `${noun} ${name} comes from another place: ${short(context.a, from)} → ${short(context.b, to)}`
  }
  if (changed(changes, 'digest')) return `${body} ${name} changed`
  return `${noun} ${name} changed: ${[...new Set(changes.map(({ field }) => field))].filter((field) => field !== '').join(', ')}`
}

const influenceOf = (
  context: CauseContext,
  kind: string,
  first: Draft['first'],
  changes: readonly Change[],
): { influence: Influence; because: string } => {
  if (first.a !== null || first.b !== null)
    return {
      influence: 'used',
      because: `it was used at ${[...(first.a === null ? [] : [`A@${first.a}`]), ...(first.b === null ? [] : [`B@${first.b}`])].join(' and ')}`,
    }
  if (context.a.use === null && context.b.use === null)
    return { influence: 'cannot be told', because: 'without a run nobody can say whether it is used' }
  if (
    changes.length > 0 &&
    changes.every(({ item }) =>
      [item?.a, item?.b].every((row) => !row || row.status === 'disabled' || row.status === 'shadowed'),
    )
  )
    return { influence: 'not used', because: 'it was not active on either side' }
  const words: Readonly<Record<string, string>> = {
    hook: 'its event never fired',
    skill: 'it was never invoked; at most its name and description stood in a list',
    agent: 'it was never started; at most its description stood in a list',
  }
  return { influence: 'not used', because: words[kind] ?? 'it was never used in either run' }
}
