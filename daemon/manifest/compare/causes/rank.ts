import type { Cause } from '../../../../contract/index.ts'
import type { Draft, Influence } from './draft.ts'

/** Where two trajectories part, by side; null when they do not, or there are none. */
export type FirstDifference = { readonly a: number | null; readonly b: number | null } | null

const tiers: Readonly<Record<Influence, number>> = {
  used: 0,
  entered: 0,
  'in force': 1,
  'cannot be told': 2,
  'not used': 4,
}
/** After everything that may have reached a run, before everything that did not. */
export const MODEL_BEHAVIOUR_TIER = 3

/** How narrowly a kind of cause points: one rule or one key before a whole program or repository. */
const breadth: readonly (readonly string[])[] = [
  ['trust'],
  ['rule', 'truncation', 'import', 'scan'],
  [
    'instructions',
    'instruction',
    'memory',
    'skill',
    'tool',
    'mcp server',
    'plugin',
    'hook',
    'agent',
    'command',
    'model',
  ],
  ['permission', 'sandbox', 'environment', 'setting'],
  ['program', 'flag'],
  ['repository'],
  ['external'],
  ['task'],
]
const breadthOf = (kind: string): number => {
  const at = breadth.findIndex((kinds) => kinds.includes(kind))
  return at === -1 ? breadth.length - 2 : at
}

export interface Ranked extends Draft {
  readonly late: boolean
}

/**
 * First what was used or entered the context, then whether it was there before the trajectories part, then how narrowly it points, then how
 * close before that point it showed itself. A task of another kind is named, but never hides a difference of configuration.
 */
export const rankCauses = (drafts: readonly Draft[], parted: FirstDifference): readonly Ranked[] =>
  drafts
    .map((draft) => ({ ...draft, late: isLate(draft, parted) }))
    .map((draft) => ({ draft, key: keyOf(draft, parted) }))
    .sort((x, y) => compareKeys(x.key, y.key))
    .map(({ draft }) => draft)

/** What showed itself only later cannot have made them part, yet it may explain what came then. */
export const tierOf = ({ influence, kind, late }: Ranked): number => {
  const tier = tiers[influence] + (kind === 'task' ? 2 : 0)
  return late ? Math.max(tier, 2) : tier
}

const keyOf = (draft: Ranked, parted: FirstDifference): readonly number[] => [
  tierOf(draft),
  breadthOf(draft.kind),
  distance(draft, parted),
]

const compareKeys = (x: readonly number[], y: readonly number[]): number => {
  for (const [n, value] of x.entries()) if (value !== y[n]) return value - (y[n] ?? 0)
  return 0
}

const isLate = ({ first }: Draft, parted: FirstDifference): boolean => {
  if (parted === null || (first.a === null && first.b === null)) return false
  const inTime = (seq: number | null, at: number | null): boolean => seq !== null && (at === null || seq <= at)
  return !inTime(first.a, parted.a) && !inTime(first.b, parted.b)
}

const distance = ({ first }: Draft, parted: FirstDifference): number => {
  const before = (seq: number | null, at: number | null | undefined): number =>
    seq === null || at === null || at === undefined || seq > at ? Number.MAX_SAFE_INTEGER : at - seq
  return Math.min(before(first.a, parted?.a), before(first.b, parted?.b))
}

/** Why a cause stands where it stands, in one sentence. */
const explainRank = (draft: Ranked, parted: FirstDifference): string => {
  const reason = draft.because.slice(0, 1).toUpperCase() + draft.because.slice(1)
  if (draft.kind === 'model behaviour') return `${reason}.`
  if (draft.influence === 'not used') return `${reason}, so it ranks below what reached a run.`
  if (draft.influence === 'cannot be told') return `${reason}, so it ranks below what certainly did.`
  if (parted === null) return `${reason}.`
  if (draft.late) return `${reason}, but only after the runs had parted (${at(parted)}).`
  const isSeen = draft.first.a !== null || draft.first.b !== null
  return isSeen ? `${reason}, before the runs part (${at(parted)}).` : `${reason}, from the start.`
}
const at = ({ a, b }: NonNullable<FirstDifference>): string =>
  [...(a === null ? [] : [`A@${a}`]), ...(b === null ? [] : [`B@${b}`])].join(', ')

export const toCause = (draft: Ranked, rank: number, parted: FirstDifference, text: Cause['text']): Cause => ({
  rank,
  kind: draft.kind === 'instructions' ? 'instruction' : draft.kind,
  class: draft.class,
  category: draft.category,
  title: draft.title,
  before: asJson(draft.before),
  after: asJson(draft.after),
  entered: draft.influence === 'cannot be told' ? null : draft.influence !== 'not used',
  used: draft.influence === 'used' ? true : draft.influence === 'not used' ? false : null,
  first_seq: draft.first,
  why: explainRank(draft, parted),
  evidence: [...draft.evidence],
  fields: [...new Set(draft.changes.map(({ path }) => path))],
  text,
})
const asJson = (value: unknown): Cause['before'] => (value === undefined ? null : (value as Cause['before']))
