import type { Change, Item, Row } from '../fields.ts'
import { mcpServerOf, mcpToolOf, sameServer } from '../use.ts'
import {
  byItem,
  type CauseContext,
  changed,
  type Draft,
  eachSide,
  eventEvidence,
  fieldEvidence,
  type Influence,
  isOneSided,
  type Pool,
  say,
  short,
  shortDigest,
  sourceEvidence,
  textField,
} from './draft.ts'
import { enumerate } from './umbrellas.ts'

/** MCP servers with their tools, then the tools of the program itself. */
export const toolCauses = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const servers = new Map<string, Change[]>()
  const add = (name: string, changes: readonly Change[]): void => {
    servers.set(name, [...(servers.get(name) ?? []), ...changes])
  }
  for (const group of byItem(
    pool.take(({ item, unknown_on }) => unknown_on === null && item?.list === 'capabilities.mcp_servers'),
  ))
    add(textField((group[0]?.item?.b ?? group[0]?.item?.a) as Row, 'name') ?? '', group)
  for (const group of byItem(
    pool.take(
      ({ item, unknown_on }) =>
        unknown_on === null && item?.list === 'capabilities.tools' && mcpServerOf(toolName(item)) !== null,
    ),
  )) {
    const inTool = mcpServerOf(toolName(group[0]?.item as Item)) as string
    const known = [...context.a.body.capabilities.mcp_servers, ...context.b.body.capabilities.mcp_servers].find(
      ({ name }) => sameServer(inTool, name) || sameServer(inTool, name.replaceAll(':', '_')),
    )
    add(known?.name ?? inTool, group)
  }
  const drafts = [...servers].map(([name, changes]) => serverCause(pool, context, name, changes))
  const own = byItem(pool.take(({ item, unknown_on }) => unknown_on === null && item?.list === 'capabilities.tools'))
  if (own.length > 0) drafts.push(ownTools(context, own))
  for (const group of byItem(
    pool.take(
      ({ item, unknown_on }) =>
        unknown_on === null && item?.list === 'instructions.sources' && (item.b ?? item.a)?.kind === 'mcp',
    ),
  )) {
    const item = group[0]?.item as Item
    drafts.push({
      kind: 'mcp server',
      class: 'configuration',
      category: 'mcp servers and tools',
      title: `${short(context.b, item.key)} ${item.a === null ? 'is new' : item.b === null ? 'is gone' : 'changed'}, with the same servers`,
      before: shortDigest(textField(item.a, 'digest')),
      after: shortDigest(textField(item.b, 'digest')),
      influence: 'not used',
      because: 'no server it names differs',
      first: { a: null, b: null },
      evidence: [sourceEvidence(context.a, item.a), sourceEvidence(context.b, item.b)],
      changes: group,
    })
  }
  return drafts
}

const toolName = (item: Item): string => textField(item.b ?? item.a, 'name') ?? item.key

interface ToolChange {
  readonly name: string
  readonly state: 'new' | 'gone' | 'changed'
}

/** Tools by what happened to them, those of the server's own list and those the model was given. */
const toolChanges = (changes: readonly Change[]): readonly ToolChange[] => {
  const found = new Map<string, ToolChange['state']>()
  for (const change of changes) {
    const { item, field } = change
    if (item?.list === 'capabilities.tools') {
      const state = isOneSided(change) ? (item.a === null ? 'new' : 'gone') : 'changed'
      if (state !== 'changed' || changed([change], 'schema_digest') || changed([change], 'removed_by'))
        found.set(mcpToolOf(toolName(item)), state)
      continue
    }
    const inner = /^tools\[(.+?)\](.*)$/.exec(field) ?? /^\[(.+?)\](.*)$/.exec(field)
    if (!field.startsWith('tools') || !inner?.[1]) continue
    found.set(mcpToolOf(inner[1]), inner[2] !== '' ? 'changed' : change.before === null ? 'new' : 'gone')
  }
  return [...found].map(([name, state]) => ({ name, state }))
}

const toolWords = (tools: readonly ToolChange[]): string =>
  (['new', 'gone', 'changed'] as const)
    .flatMap((state) => {
      const names = tools.filter((one) => one.state === state).map(({ name }) => name)
      if (names.length === 0) return []
      const noun = names.length === 1 ? 'tool' : 'tools'
      return [
        state === 'new'
          ? `lists ${names.length} new ${noun}: ${enumerate(names)}`
          : state === 'gone'
            ? `no longer lists ${names.length} ${noun}: ${enumerate(names)}`
            : `changed the schema of ${names.length} ${noun}: ${enumerate(names)}`,
      ]
    })
    .join('; ')

const serverCause = (pool: Pool, context: CauseContext, name: string, changes: readonly Change[]): Draft => {
  const own = changes.filter(({ item }) => item?.list === 'capabilities.mcp_servers')
  const item = own[0]?.item ?? null
  const tools = toolChanges(changes)
  const configured = own.filter(({ field }) => !field.startsWith('tools') && !/^(reason|source|scope)$/.test(field))
  const external = pool.take(
    ({ item: other, unknown_on }) =>
      unknown_on === null && other?.list === 'external' && other.key.endsWith(` ${name}`),
  )
  const file = textField(item?.b ?? item?.a ?? null, 'source')
  const beside = pool.take(
    ({ item: other, unknown_on }) =>
      unknown_on === null &&
      other?.list === 'instructions.sources' &&
      (other.b ?? other.a)?.kind === 'mcp' &&
      textField(other.b ?? other.a, 'path') === file,
  )
  const isTheirs = (tool: string): boolean =>
    sameServer(mcpServerOf(tool) ?? '', name) || sameServer(mcpServerOf(tool) ?? '', name.replaceAll(':', '_'))
  const changedNames = new Set(tools.map((tool) => tool.name))
  const firstTool = eachSide(
    context,
    (side) =>
      side.use?.find(['mcp tool', 'tool'], (tool) => isTheirs(tool) && changedNames.has(mcpToolOf(tool)))?.first ??
      null,
  )
  const firstAny = eachSide(context, (side) => side.use?.find(['mcp tool', 'tool'], isTheirs)?.first ?? null)
  const isConfigured = configured.length > 0
  const first = isConfigured
    ? firstAny
    : firstTool.a !== null || firstTool.b !== null
      ? firstTool
      : { a: null, b: null }
  const isNewServer = isConfigured && own.some((change) => isOneSided(change))
  const { influence, because } = influenceOf(context, { isConfigured, isNewServer, firstAny, firstTool, tools })
  const title = isConfigured
    ? own.some(isOneSided)
      ? `MCP server ${name} is ${item?.a === null ? 'new' : 'gone'}`
      : serverWords(name, configured)
    : tools.length > 0
      ? `MCP server ${name} ${toolWords(tools)}`
      : `MCP server ${name} is found in another place`
  return {
    kind: isConfigured ? 'mcp server' : tools.length > 0 ? 'tool' : 'mcp server',
    // What a server lists under the same configuration is the server's own doing.
    class: isConfigured || tools.length === 0 ? 'configuration' : 'external state',
    category: 'mcp servers and tools',
    title: isConfigured && tools.length > 0 ? `${title}; it ${toolWords(tools)}` : title,
    before: isConfigured ? serverState(item?.a ?? null) : listOf(context.a, name),
    after: isConfigured ? serverState(item?.b ?? null) : listOf(context.b, name),
    influence,
    because,
    first,
    evidence: [
      ...(item === null
        ? [context.a, context.b].map((side) =>
            fieldEvidence(side, 'capabilities.tools', `tools of ${name}: ${enumerate(listOf(side, name)) || 'none'}`),
          )
        : [context.a, context.b].map((side) =>
            fieldEvidence(side, `capabilities.mcp_servers[${item.key}]`, serverState(item[side.letter]) ?? 'not there'),
          )),
      ...[context.a, context.b].flatMap((side) =>
        eventEvidence(side, first[side.letter], `a tool of ${name} was called`),
      ),
    ],
    changes: [...changes, ...external, ...beside],
  }
}

const serverWords = (name: string, changes: readonly Change[]): string => {
  const status = changes.find(({ field }) => field === 'status')
  if (status) return `MCP server ${name} is now ${say(status.after)}, it was ${say(status.before)}`
  const version = changes.find(({ field }) => field === 'package_version')
  if (version) return `MCP server ${name}: package ${say(version.before)} → ${say(version.after)}`
  const first = changes.find(({ field }) => /^(command|url|transport|args)/.test(field))
  return first
    ? `MCP server ${name}: ${first.field} ${say(first.before)} → ${say(first.after)}`
    : `MCP server ${name} is configured differently (${[...new Set(changes.map(({ field }) => field))].join(', ')})`
}

const serverState = (row: Row | null): string | null =>
  row === null
    ? null
    : [
        String(row.status ?? ''),
        say(row.url ?? [row.command, ...(Array.isArray(row.args) ? row.args : [])].filter(Boolean).join(' ')),
        shortDigest(textField(row, 'digest')),
      ]
        .filter((part) => part !== '')
        .join(', ')

const listOf = ({ body }: CauseContext['a'], name: string): readonly string[] => {
  const own = body.capabilities.mcp_servers.find((server) => server.name === name)?.tools
  if (own) return own.map((tool) => tool.name)
  return body.capabilities.tools
    .filter(
      (tool) =>
        sameServer(mcpServerOf(tool.name) ?? '', name) ||
        sameServer(mcpServerOf(tool.name) ?? '', name.replaceAll(':', '_')),
    )
    .map((tool) => mcpToolOf(tool.name))
}

const influenceOf = (
  context: CauseContext,
  {
    isConfigured,
    isNewServer,
    firstAny,
    firstTool,
    tools,
  }: {
    isConfigured: boolean
    isNewServer: boolean
    firstAny: Draft['first']
    firstTool: Draft['first']
    tools: readonly ToolChange[]
  },
): { influence: Influence; because: string } => {
  if (firstTool.a !== null || firstTool.b !== null)
    return {
      influence: 'used',
      because: `a tool that differs was called at ${firstTool.b === null ? `A@${firstTool.a}` : `B@${firstTool.b}`}`,
    }
  if (isConfigured && (firstAny.a !== null || firstAny.b !== null))
    return {
      influence: 'used',
      because: `a tool of this server was called at ${firstAny.b === null ? `A@${firstAny.a}` : `B@${firstAny.b}`}`,
    }
  if (!isConfigured && tools.length > 0)
    return { influence: 'entered', because: 'what the server lists stands in every request' }
  if (context.a.use === null && context.b.use === null)
    return { influence: 'cannot be told', because: 'without a run nobody can say whether it is used' }
  if (isConfigured)
    return {
      influence: 'not used',
      because: isNewServer ? 'no tool of this server was called' : 'no tool of this server was called in either run',
    }
  return { influence: 'not used', because: 'the server is the same' }
}

const ownTools = (context: CauseContext, groups: readonly (readonly Change[])[]): Draft => {
  const changes = groups.flat()
  const tools = toolChanges(changes)
  const names = new Set(tools.map(({ name }) => name))
  const first = eachSide(context, (side) => side.use?.find(['tool'], (name) => names.has(name))?.first ?? null)
  const used = first.a !== null || first.b !== null
  const removed = changes.find(({ field }) => field === 'removed_by')
  return {
    kind: 'tool',
    class: 'configuration',
    category: 'mcp servers and tools',
    title:
      removed && groups.length === 1
        ? `Tool ${toolName(removed.item as Item)}: ${removed.after === null ? 'no longer removed' : `removed by ${say(removed.after)}`}`
        : `The program ${toolWords(tools) || 'describes its tools differently'}`,
    before: context.a.body.capabilities.tools.length,
    after: context.b.body.capabilities.tools.length,
    influence: used ? 'used' : 'entered',
    because: used ? 'a tool that differs was called' : 'its tools stand in every request',
    first,
    evidence: [
      ...[context.a, context.b].map((side) =>
        fieldEvidence(side, 'capabilities.tools', `${side.body.capabilities.tools.length} tools`),
      ),
      ...[context.a, context.b].flatMap((side) => eventEvidence(side, first[side.letter], 'it was called')),
    ],
    changes,
  }
}
