import type { Change, Item, Row } from '../fields.ts'
import { isInside } from '../inside.ts'
import {
  byItem,
  type CauseContext,
  type CauseSide,
  changed,
  type Draft,
  fieldEvidence,
  isOneSided,
  type Pool,
  say,
  shortName,
  sourceEvidence,
  textField,
  valueEvidence,
} from './draft.ts'
import { entryOf, TEXTS } from './sources.ts'

/**
 * Causes of other differences: trust, the directory of the start, the version of the program. What they explain is summed up in them, so
 * that a consequence never outranks its cause.
 */
export const umbrellaCauses = (pool: Pool, context: CauseContext): readonly Draft[] => [
  ...trustCause(pool, context),
  ...startCause(pool, context),
  ...programCause(pool, context),
]

const speaksOfTrust = (text: unknown): boolean => typeof text === 'string' && /trust/i.test(text)

const trustCause = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const trust = pool.take(({ plain, unknown_on }) => plain.startsWith('policy.trust') && unknown_on === null)
  const flip = trust.find(({ plain }) => plain === 'policy.trust.trusted')
  if (!flip) return []
  const direct = pool.take(
    ({ item, field, before, after }): boolean =>
      (item !== null &&
        [item.a, item.b].some((row) => [row?.reason, row?.ignored, row?.disabled].some(speaksOfTrust))) ||
      (field.endsWith('ignored') && (speaksOfTrust(before) || speaksOfTrust(after))),
  )
  const followers = takeDependent(pool, direct)
  // Where trust is a key of a settings file, that key is the trust itself.
  const keys = pool.take(({ item }) => item?.list === 'settings' && /trust/i.test(item.key))
  const gone = byItem([...direct, ...followers])
  const revoked = flip.after === false || (flip.before === true && flip.after === null)
  const list = gone.flatMap((group) => (group[0]?.item ? [nameOf(context, group[0].item)] : []))
  const effect = list.length === 0 ? '' : `: ${revoked ? 'no longer in force' : 'now in force'} ${enumerate(list)}`
  return [
    {
      kind: 'trust',
      class: 'configuration',
      category: 'permissions, trust and sandbox',
      title: `${revoked ? 'Trust in this folder was revoked' : flip.after === true ? 'This folder is now trusted' : 'Trust in this folder changed'}${effect}`,
      before: flip.before,
      after: flip.after,
      influence: 'in force',
      because: 'trust decides which layers of the project apply',
      first: { a: null, b: null },
      evidence: [
        fieldEvidence(context.a, flip.path, trustWords(flip.before)),
        fieldEvidence(context.b, flip.path, trustWords(flip.after)),
        ...gone.slice(0, 8).flatMap((group) => itemEvidence(context, group)),
      ],
      changes: [...trust, ...keys, ...direct, ...followers],
    },
  ]
}
const trustWords = (value: unknown): string =>
  value === true ? 'trusted' : value === false ? 'not trusted' : 'no entry for this folder'

const startCause = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const [start] = pool.take(({ plain, unknown_on }) => plain === 'execution.cwd' && unknown_on === null)
  if (!start) return []
  const explained = pool.take((change): boolean => {
    const { item, unknown_on } = change
    if (item === null || unknown_on !== null) return false
    const { a, b } = item
    if (item.list === 'settings') return false
    if (a !== null && b !== null) {
      // The file is the same; only what becomes of it differs.
      const same = typeof a.digest === 'string' && a.digest === b.digest
      return (
        same &&
        [
          'status',
          'reason',
          'position',
          'trigger',
          'lazy',
          'scope',
          'label',
          'text_digest',
          'imported_by',
          'rule',
        ].some((field) => change.field === field || change.field.startsWith(`${field}.`))
      )
    }
    const row = (a ?? b) as Row
    const file = textField(row, 'path') ?? textField(row, 'source')
    return file !== null && dependsOnStart(context, item, file)
  })
  const followers = takeDependent(pool, explained)
  const groups = byItem([...explained, ...followers])
  const texts = groups.filter((group) => {
    const item = group[0]?.item
    return (
      item?.list === 'instructions.sources' &&
      TEXTS.has(String((item.b ?? item.a)?.kind)) &&
      entryOf(context.a, item.a).entered !== entryOf(context.b, item.b).entered
    )
  })
  const from = `${startName(context, 'a')} → ${startName(context, 'b')}`
  const [only] = texts
  const item = only?.[0]?.item
  const isSingle = texts.length === 1 && item !== null && item !== undefined
  const row = isSingle ? ((item.b ?? item.a) as Row) : null
  return [
    {
      kind: row === null ? 'flag' : String(row.kind),
      class: 'configuration',
      category: row === null ? 'flags and start' : 'instructions',
      title: isSingle
        ? `${capital(String(row?.kind))} ${shortName(context, item)} ${entryOf(context.b, item.b).entered ? 'came in' : 'is gone'} because the start directory changed: ${from}`
        : `The start directory changed: ${from}${texts.length === 0 ? '' : `; ${texts.length} texts came in or went: ${enumerate(texts.flatMap((group) => (group[0]?.item ? [shortName(context, group[0].item)] : [])))}`}`,
      before: start.before,
      after: start.after,
      influence: texts.length > 0 ? 'entered' : 'in force',
      because:
        texts.length > 0
          ? 'what enters the context depends on where the agent starts'
          : 'every relative path and every search starts there',
      first: { a: null, b: null },
      evidence: [
        ...valueEvidence(context, start),
        ...groups.slice(0, 8).flatMap((group) => itemEvidence(context, group)),
      ],
      changes: [start, ...explained, ...followers],
    },
  ]
}

const startName = (context: CauseContext, letter: 'a' | 'b'): string => {
  const { workspace, cwd } = context[letter].placement
  if (cwd === null) return 'unknown'
  if (workspace === null || cwd === workspace) return cwd
  return cwd.startsWith(`${workspace}/`) ? `${cwd.replace(/^.*[\\/](?=[^\\/]+[\\/]?$)/, '')} in ${workspace}` : cwd
}

/**
 * A file whose being found has to do with where the agent started: its directory lies above, at or below one start and not so of the
 * other. Where both starts see other things of its kind in the same place, it came or went by itself.
 */
const dependsOnStart = ({ a, b }: CauseContext, item: Item, file: string): boolean => {
  if (!file.startsWith('/')) return false
  if ([a, b].some(({ placement }) => placement.home !== null && isInside(file, placement.home))) return false
  const place = placeOf(file)
  if (relation(a.placement.cwd, place) === relation(b.placement.cwd, place)) return false
  if (!CAPABILITIES.has(String((item.a ?? item.b)?.kind ?? item.list))) return true
  const kind = (item.a ?? item.b)?.kind ?? null
  const seenFrom = ({ body }: CauseSide): readonly string[] =>
    body.instructions.sources.flatMap((source) =>
      source.path !== null && (kind === null || source.kind === kind) && placeOf(source.path) === place
        ? [source.path]
        : [],
    )
  const fromB = new Set(seenFrom(b))
  return !seenFrom(a).some((other) => other !== file && fromB.has(other))
}
const CAPABILITIES = new Set([
  'skill',
  'agent',
  'command',
  'rule',
  'capabilities.skills',
  'capabilities.agents',
  'capabilities.commands',
])
/** The directory a file speaks for: that of the file, or the one that holds its dot folder. */
const placeOf = (file: string): string => file.replace(/[\\/](\.[^\\/]+[\\/].*|[^\\/]*)$/, '')
const relation = (cwd: string | null, place: string): string =>
  cwd === null
    ? 'unknown'
    : cwd === place
      ? 'at'
      : isInside(cwd, place)
        ? 'above'
        : isInside(place, cwd)
          ? 'below'
          : 'beside'

const programCause = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const own = pool.take(
    ({ plain, unknown_on }) =>
      unknown_on === null &&
      (plain === 'execution.runtime' ||
        plain.startsWith('execution.runtime_') ||
        plain.startsWith('execution.program')),
  )
  if (own.length === 0) return []
  const runtime = own.find(({ plain }) => plain === 'execution.runtime')
  const version =
    own.find(({ plain }) => plain === 'execution.runtime_version') ??
    own.find(({ plain }) => plain === 'execution.program.version')
  const program = String(context.b.body.execution.runtime)
  const explained =
    version || runtime
      ? pool.take((change) => {
          const { item, plain, field, unknown_on } = change
          if (unknown_on !== null) return false
          if (plain.startsWith('execution.parameters') || plain.startsWith('execution.platform'))
            return runtime !== undefined || plain.startsWith('execution.parameters')
          if (item === null) return false
          const { a, b } = item
          // Tools of the program itself; those of servers have causes of their own.
          if (item.list === 'capabilities.tools') return !/^mcp__/.test(item.key)
          if (['capabilities.skills', 'capabilities.agents', 'capabilities.commands'].includes(item.list))
            return /built-?in|bundled|record:/.test(String((a ?? b)?.source)) && isOneSided(change)
          if (item.list === 'instructions.sources' && a !== null && b !== null)
            // The same file under another rule (R18 of the field reports).
            return (
              a.digest === b.digest &&
              ['rule', 'status', 'position', 'reason', 'label', 'truncated', 'text_digest', 'scope', 'trigger'].some(
                (name) => field === name || field.startsWith(`${name}.`),
              )
            )
          return false
        })
      : []
  const groups = byItem(explained)
  const flipped = groups.filter((group) => {
    const item = group[0]?.item
    return item?.list === 'instructions.sources' && (changed(group, 'status') || changed(group, 'text_digest'))
  })
  const tools = groups.filter((group) => group[0]?.item?.list === 'capabilities.tools')
  const consequences = [
    ...flipped.flatMap((group) => {
      const item = group[0]?.item
      return item
        ? [
            `${shortName(context, item)} is ${String(item.b?.status).replace('_', ' ')}${item.b?.rule ? ` (${String(item.b.rule)})` : ''}`,
          ]
        : []
    }),
    ...(tools.length > 0
      ? [`${tools.length} of its own tools ${tools.length === 1 ? 'is' : 'are'} new, gone or changed`]
      : []),
  ]
  const title = runtime
    ? `Another agent: ${say(runtime.before)} → ${say(runtime.after)}`
    : version
      ? `The program ${program} changed: ${say(version.before)} → ${say(version.after)}`
      : `The program ${program} is another build of the same version`
  return [
    {
      kind: 'program',
      class: 'configuration',
      category: 'program',
      title: consequences.length === 0 ? title : `${title}; ${enumerate(consequences)}`,
      before: (runtime ?? version ?? own[0])?.before ?? null,
      after: (runtime ?? version ?? own[0])?.after ?? null,
      influence: flipped.length > 0 ? 'entered' : 'in force',
      because:
        flipped.length > 0 ? 'its rules decide what enters the context' : 'the program was in force for every step',
      first: { a: null, b: null },
      evidence: [
        ...own.flatMap((change) => valueEvidence(context, change)),
        ...groups.slice(0, 8).flatMap((group) => itemEvidence(context, group)),
      ],
      changes: [...own, ...explained],
    },
  ]
}

/** Differences in what stands in files that came or went with the cause. */
const takeDependent = (pool: Pool, explained: readonly Change[]): readonly Change[] => {
  const files = new Set<string>()
  for (const { item } of explained) {
    if (item?.list !== 'instructions.sources') continue
    const file = textField(item.a ?? item.b, 'path')
    if (file !== null) files.add(file)
  }
  if (files.size === 0) return []
  return pool.take(({ item }) => {
    if (item === null) return false
    return [item.a, item.b].some((row) => {
      if (row === null) return false
      for (const name of ['source', 'path'] as const) {
        const value = row[name]
        if (typeof value === 'string' && files.has(value)) return true
      }
      return Array.isArray(row.merged_from) && row.merged_from.some((one) => typeof one === 'string' && files.has(one))
    })
  })
}

const nameOf = (context: CauseContext, item: Item): string => {
  if (item.list === 'instructions.sources') return shortName(context, item)
  if (item.list === 'settings') return `setting ${item.key}`
  return item.key
}

const itemEvidence = (context: CauseContext, group: readonly Change[]) => {
  const item = group[0]?.item
  if (!item) return []
  if (item.list === 'instructions.sources') {
    const name = shortName(context, item)
    return [sourceEvidence(context.a, item.a), sourceEvidence(context.b, item.b)].map((one) => ({
      ...one,
      text: `${name}: ${one.text}`,
    }))
  }
  return group.slice(0, 2).flatMap((change) =>
    valueEvidence(context, change).map((one) => ({
      ...one,
      text: `${item.key}${change.field === '' ? '' : ` ${change.field}`}: ${one.text}`,
    })),
  )
}

export const enumerate = (names: readonly string[]): string =>
  names.length <= 4 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
