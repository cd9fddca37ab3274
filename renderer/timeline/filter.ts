import type { RuntimeName } from '../../contract/run.ts'
import type { TimelineFilter } from '../../contract/timeline.ts'
import { words } from '../words/en.ts'

/** The filter is one text of tokens, `agent:codex since:2d retry`; it stands in the address. */

export const filterKeys = [
  'agent',
  'workspace',
  'status',
  'kind',
  'has',
  'tool',
  'model',
  'changed',
  'manifest',
  'task',
  'home',
  'since',
  'until',
] as const
export type FilterKey = (typeof filterKeys)[number]

export interface Token {
  /** null: free words. */
  readonly key: FilterKey | null
  readonly value: string
  readonly start: number
  readonly end: number
}

const isKey = (text: string): text is FilterKey => filterKeys.some((key) => key === text)
const TOKEN = /(?:([a-z]+):)?("(?:[^"\\]|\\.)*"?|[^\s"]+|(?=\s|$))/g

export function parseTokens(text: string): readonly Token[] {
  const tokens: Token[] = []
  for (const match of text.matchAll(TOKEN)) {
    const [whole, key, value = ''] = match
    if (whole === '') continue
    const plain = unquote(value)
    const start = match.index
    if (key !== undefined && isKey(key)) tokens.push({ key, value: plain, start, end: start + whole.length })
    else
      tokens.push({ key: null, value: key === undefined ? plain : `${key}:${plain}`, start, end: start + whole.length })
  }
  return tokens
}

const unquote = (text: string) => (text.startsWith('"') ? text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : text)
export const quote = (text: string) =>
  /[\s"]/.test(text) || text === '' ? `"${text.replace(/["\\]/g, '\\$&')}"` : text
export const tokenText = (key: FilterKey, value: string) => `${key}:${quote(value)}`

export const taskPath = (task: string) => `/timeline?q=${encodeURIComponent(tokenText('task', task))}`

const write = (tokens: readonly Token[]) =>
  tokens.map((token) => (token.key === null ? quote(token.value) : tokenText(token.key, token.value))).join(' ')

export const valuesOf = (text: string, key: FilterKey) =>
  parseTokens(text).flatMap((token) => (token.key === key ? [token.value] : []))
export const wordsOf = (text: string) =>
  parseTokens(text)
    .flatMap((token) => (token.key === null ? [token.value] : []))
    .join(' ')

/** Adds a value, or takes it away when it is there. */
export function toggleToken(text: string, key: FilterKey, value: string): string {
  const tokens = parseTokens(text)
  const kept = tokens.filter((token) => token.key !== key || token.value !== value)
  return kept.length < tokens.length ? write(kept) : `${write(tokens)} ${tokenText(key, value)}`.trim()
}

/** Replaces every value of a key; null removes it. */
export function setToken(text: string, key: FilterKey, value: string | null): string {
  const kept = write(parseTokens(text).filter((token) => token.key !== key))
  return value === null ? kept : `${kept} ${tokenText(key, value)}`.trim()
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `2d`, `12h`, `2026-11-28`, `2026-11-28T14:00`; relative ones count back from now, to the minute. */
export function parseMoment(text: string, now: Date): string | null {
  const relative = /^(\d+)([mhdw])$/.exec(text)
  const unit = UNITS[relative?.[2] ?? '']
  if (relative !== null && unit !== undefined)
    return new Date(Math.floor((now.getTime() - Number(relative[1]) * unit) / 60_000) * 60_000).toISOString()
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return null
  const date = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00` : text)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

const runtimeAlias: Readonly<Record<string, RuntimeName>> = {
  claude: 'claude-code',
  cc: 'claude-code',
  cx: 'codex',
  oc: 'openclaw',
  he: 'hermes',
}
const isRuntime = (text: string): text is RuntimeName => Object.hasOwn(words.runtimes, text)
const statuses = Object.keys(words.runStatus)
const kinds = ['none', 'fork', 'subagent', 'replay'] as const
const itemKinds = ['run', 'configuration', 'source', 'gap', 'rollback'] as const
const hases = ['gap', 'failure', 'changes', 'manifest'] as const
const pick = <T extends string>(all: readonly T[], text: string) => all.find((value) => value === text)

export const knownValues: Partial<Record<FilterKey, readonly string[]>> = {
  agent: Object.keys(words.runtimes),
  status: statuses,
  kind: [...kinds, ...itemKinds],
  has: hases,
  since: ['1d', '2d', '7d', '30d'],
  until: ['1d', '2d', '7d', '30d'],
}

export interface Problem {
  readonly key: FilterKey
  readonly value: string
  readonly known: readonly string[]
}

type Writable = { -readonly [K in keyof TimelineFilter]: TimelineFilter[K] }

/** What the daemon is asked, and the tokens it could not be asked about. */
export function readFilter(
  text: string,
  window: { readonly since: string | null; readonly until: string | null },
  now: Date,
): { readonly filter: TimelineFilter; readonly problems: readonly Problem[] } {
  const filter: Writable = {}
  const problems: Problem[] = []
  const bad = (key: FilterKey, value: string) => problems.push({ key, value, known: knownValues[key] ?? [] })
  for (const { key, value } of parseTokens(text)) {
    switch (key) {
      case null:
        filter.text = filter.text === undefined ? value : `${filter.text} ${value}`
        break
      case 'agent': {
        const name = runtimeAlias[value] ?? value
        if (isRuntime(name)) filter.runtime = [...(filter.runtime ?? []), name]
        else bad(key, value)
        break
      }
      case 'status':
        if (statuses.includes(value)) filter.status = [...(filter.status ?? []), value]
        else bad(key, value)
        break
      case 'kind': {
        const kind = pick(kinds, value)
        const item = pick(itemKinds, value)
        if (item !== undefined) filter.kind = [...(filter.kind ?? []), item]
        else if (kind === undefined) bad(key, value)
        else filter.relation = [...(filter.relation ?? []), kind]
        break
      }
      case 'has': {
        const has = pick(hases, value)
        if (has === undefined) bad(key, value)
        else filter.has = [...(filter.has ?? []), has]
        break
      }
      case 'since':
      case 'until': {
        const moment = parseMoment(value, now)
        if (moment === null) bad(key, value)
        else filter[key] = moment
        break
      }
      default:
        if (value !== '') filter[key] = value
    }
  }
  // A zoom of the heat strip is narrower than the token it was made under.
  if (window.since !== null) filter.since = window.since
  if (window.until !== null) filter.until = window.until
  return { filter, problems }
}
