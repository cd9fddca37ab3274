import path from 'node:path'
import type { Change, Item, Row } from '../fields.ts'
import {
  byItem,
  type CauseContext,
  type CauseSide,
  type Draft,
  type Influence,
  type Pool,
  say,
  short,
  shortDigest,
  sourceEvidence,
  textField,
  valueEvidence,
} from './draft.ts'
import { enumerate } from './umbrellas.ts'

const nowhere = { a: null, b: null } as const

/** Repository, outside state, task, and whatever no other cause has taken: nothing is left without one. */
export const outsideCauses = (pool: Pool, context: CauseContext): readonly Draft[] => [
  ...repositoryCause(pool, context),
  ...externalCauses(pool, context),
  ...placeCauses(pool, context),
  ...taskCause(pool, context),
]

export const flagCauses = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const known = ({ unknown_on }: Change): boolean => unknown_on === null
  const drafts: Draft[] = []
  const flags = pool.take(
    (change) =>
      known(change) &&
      (change.plain === 'execution.flags' ||
        (change.item?.list === 'instructions.sources' && (change.item.b ?? change.item.a)?.kind === 'flag')),
  )
  if (flags.length > 0) {
    const list = flags.find(({ plain }) => plain === 'execution.flags')
    const model = pool.take(
      (change) =>
        known(change) &&
        change.plain === 'execution.model' &&
        /--model/.test(JSON.stringify([list?.before, list?.after])),
    )
    const [a, b] = [context.a, context.b].map(({ body }) => body.execution.flags ?? [])
    const [onlyA, onlyB] = [
      (a ?? []).filter((flag) => !b?.includes(flag)),
      (b ?? []).filter((flag) => !a?.includes(flag)),
    ]
    drafts.push({
      ...plain(context, [...flags, ...model]),
      kind: 'flag',
      category: 'flags and start',
      title:
        onlyA.length + onlyB.length > 0
          ? `Started with other flags: ${[...onlyA.map((flag) => `−${flag}`), ...onlyB.map((flag) => `+${flag}`)].join(' ')}`
          : 'The text given by a start flag changed',
      before: (a ?? []).join(' '),
      after: (b ?? []).join(' '),
      influence: 'in force',
      because: 'flags beat nearly every file',
    })
  }
  for (const change of pool.take((one) => known(one) && one.plain === 'execution.surface'))
    drafts.push({
      ...plain(context, [change]),
      kind: 'flag',
      category: 'flags and start',
      title: `Started in another way: ${say(change.before)} → ${say(change.after)}`,
      influence: 'in force',
      because: 'what is offered and asked differs with the surface',
    })
  return drafts
}

const repositoryCause = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const changes = pool.take(
    ({ plain: field, item, unknown_on }) =>
      unknown_on === null &&
      (field.startsWith('execution.repo') || (item?.list === 'external' && /^git /.test(item.key))),
  )
  if (changes.length === 0) return []
  const find = (field: string): Change | undefined => changes.find(({ plain: of }) => of === `execution.repo.${field}`)
  const [sha, branch, dirty] = [find('sha'), find('branch'), find('dirty_digest')]
  const status = changes.find(({ item }) => item?.list === 'external')
  const commit = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 10) : 'no commit')
  const title = sha
    ? `The repository moved: ${commit(sha.before)} → ${commit(sha.after)}${branch ? `, branch ${say(branch.before)} → ${say(branch.after)}` : ''}`
    : branch
      ? `Another branch: ${say(branch.before)} → ${say(branch.after)}`
      : dirty || status
        ? `The work tree held other uncommitted changes at the start${statusWords(context, status)}`
        : changes.some(({ plain: field }) => field === 'execution.repo')
          ? 'One side ran in a repository, the other did not'
          : `The repository differs: ${[...new Set(changes.map(({ plain: field }) => field.replace('execution.repo.', '')))].join(', ')}`
  const onlyPlace = changes.every(({ plain: field }) => /\.(worktree|root|main)$/.test(field))
  return [
    {
      ...plain(context, changes),
      kind: 'repository',
      class: onlyPlace ? 'configuration' : 'external state',
      category: 'repository',
      title: onlyPlace ? 'Another work tree of the same repository' : title,
      before: sha ? commit(sha.before) : (changes[0]?.before ?? null),
      after: sha ? commit(sha.after) : (changes[0]?.after ?? null),
      ...(onlyPlace
        ? { influence: 'cannot be told', because: 'only the place differs' }
        : stateInfluence(context, changes)),
    },
  ]
}

/**
 * The work tree is looked at a moment after a run began. What differs in it may be what the run itself had changed by then; the list of
 * changed files that an agent was shown at its start tells them apart.
 */
const stateInfluence = ({ a, b }: CauseContext, changes: readonly Change[]): Pick<Draft, 'influence' | 'because'> => {
  const isOnlyDirty = changes.every(({ plain: field }) => /\.dirty_(digest|paths)$/.test(field))
  if (!isOnlyDirty) return { influence: 'in force', because: 'the agent worked on other files' }
  const shown = ({ body }: CauseSide): string | null => {
    const status = body.external.find(({ kind, name }) => kind === 'git' && name === 'status at start')
    return status === undefined || !Array.isArray(status.changes) ? null : JSON.stringify(status.changes)
  }
  if (shown(a) === '[]' && shown(b) === '[]')
    return {
      influence: 'not used',
      because: 'both were shown a clean work tree at their start; what differs came after it',
    }
  const changed = [a, b].some(({ use }) => use?.changesFiles === true)
  return changed
    ? {
        influence: 'cannot be told',
        because: 'what differs may be what the run itself had changed when the work tree was looked at',
      }
    : { influence: 'in force', because: 'the agent worked on other files' }
}

const statusWords = (context: CauseContext, change: Change | undefined): string => {
  const { gone, come } = change ? statusLines(context, change) : { gone: [], come: [] }
  const words = (side: CauseSide, sign: string, lines: readonly StatusLine[]): readonly string[] =>
    lines.map(({ mark, file }) => `${sign}${mark.trim()} ${short(side, file)}`)
  const all = [...words(context.a, '−', gone), ...words(context.b, '+', come)]
  return all.length === 0 ? '' : `: ${enumerate(all)}`
}

interface StatusLine {
  readonly mark: string
  /** Absolute; a folder ends with a slash. */
  readonly file: string
}

/** Lines of the status that only one side showed. Its paths are those of the start directory, and are compared as what they mean. */
export const statusLines = (
  { a, b }: CauseContext,
  { item }: Change,
): { readonly gone: readonly StatusLine[]; readonly come: readonly StatusLine[] } => {
  const linesOf = (side: CauseSide, row: Row | null | undefined): readonly StatusLine[] =>
    Array.isArray(row?.changes)
      ? row.changes.flatMap((line: unknown) => {
          if (typeof line !== 'string') return []
          const name = line
            .slice(3)
            .replace(/^.* -> /, '')
            .replaceAll('"', '')
          const file = path.resolve(side.placement.cwd ?? '/', name)
          return [{ mark: line.slice(0, 2), file: name.endsWith('/') ? `${file}/` : file }]
        })
      : []
  const keyOf = (side: CauseSide, { mark, file }: StatusLine): string => `${mark} ${side.cover(file)}`
  const [inA, inB] = [linesOf(a, item?.a), linesOf(b, item?.b)]
  const [keysA, keysB] = [new Set(inA.map((line) => keyOf(a, line))), new Set(inB.map((line) => keyOf(b, line)))]
  return {
    gone: inA.filter((line) => !keysB.has(keyOf(a, line))),
    come: inB.filter((line) => !keysA.has(keyOf(b, line))),
  }
}

const externalCauses = (pool: Pool, context: CauseContext): readonly Draft[] =>
  byItem(pool.take(({ item, unknown_on }) => unknown_on === null && item?.list === 'external')).map((group) => {
    const item = group[0]?.item as Item
    const name = `${String((item.b ?? item.a)?.kind)} ${String((item.b ?? item.a)?.name)}`
    return {
      ...plain(context, group),
      kind: 'external',
      class: 'external state',
      category: 'external state',
      title: `Outside state: ${name} ${item.a === null ? 'is new' : item.b === null ? 'is gone' : 'changed'}`,
      before: shortDigest(textField(item.a, 'digest')),
      after: shortDigest(textField(item.b, 'digest')),
      influence: 'cannot be told' as Influence,
      because: 'whether the run came to it cannot be told',
    }
  })

/** Files of settings whose text differs though no key does, and other fields of the manifest by the name they have there. */
const placeCauses = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const drafts: Draft[] = []
  for (const group of byItem(
    pool.take(
      ({ item, unknown_on }) =>
        unknown_on === null && (item?.list === 'instructions.sources' || item?.list === 'config_layers'),
    ),
  )) {
    const item = group[0]?.item as Item
    const row = item.b ?? item.a
    const file = textField(row, 'path') ?? textField(row, 'source') ?? item.key
    const name = short(item.b === null ? context.a : context.b, file)
    const inForce = item.a?.status === 'loaded' || item.b?.status === 'loaded'
    drafts.push({
      ...plain(context, group),
      kind: row?.kind === 'environment' ? 'environment' : 'setting',
      category: group[0]?.category ?? 'settings',
      title: `${name} ${item.a === null ? 'is new' : item.b === null ? 'is gone' : 'changed'}, and no value in force differs`,
      before: shortDigest(textField(item.a, 'digest')),
      after: shortDigest(textField(item.b, 'digest')),
      evidence: [sourceEvidence(context.a, item.a), sourceEvidence(context.b, item.b)],
      influence: 'not used',
      because: inForce ? 'every value that counts is the same' : 'it was not loaded on either side',
    })
  }
  const groups = new Map<string, Change[]>()
  for (const change of pool.take(({ plain: field, unknown_on }) => unknown_on === null && !field.startsWith('task'))) {
    const area = change.item ? `${change.item.list}[${change.item.key}]` : change.plain.split('.').slice(0, 2).join('.')
    groups.set(area, [...(groups.get(area) ?? []), change])
  }
  for (const [area, changes] of groups) {
    const [first] = changes
    if (!first) continue
    const isPlatform = area === 'execution.platform' || area === 'execution.image'
    drafts.push({
      ...plain(context, changes),
      kind: isPlatform
        ? 'environment'
        : area.startsWith('context')
          ? 'memory'
          : area.startsWith('policy')
            ? 'permission'
            : 'external',
      category: first.category,
      title: `${area} changed${changes.length === 1 ? `: ${say(first.before)} → ${say(first.after)}` : ` in ${changes.length} fields`}`,
      influence: isPlatform ? 'in force' : 'cannot be told',
      because: isPlatform ? 'commands run on another machine or image' : 'what this field does to a run is not known',
    })
  }
  return drafts
}

const taskCause = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const changes = pool.take(({ plain: field, unknown_on }) => unknown_on === null && field.startsWith('task'))
  if (changes.length === 0) return []
  return [
    {
      ...plain(context, changes),
      kind: 'task',
      class: 'external state',
      category: 'flags and start',
      title: 'The two runs were given different tasks',
      influence: 'used',
      because: 'the first prompt differs; what the agent did for it does too',
      first: { a: context.a.use?.items.length ? 1 : null, b: context.b.use?.items.length ? 1 : null },
    },
  ]
}

const plain = (context: CauseContext, changes: readonly Change[]) => ({
  class: 'configuration' as Draft['class'],
  before: changes[0]?.before ?? null,
  after: changes[0]?.after ?? null,
  first: nowhere as Draft['first'],
  evidence: changes
    .slice(0, 6)
    .flatMap((change) =>
      valueEvidence(context, change).map((one) => ({ ...one, text: `${change.plain.split('.').at(-1)}: ${one.text}` })),
    ),
  changes,
})
