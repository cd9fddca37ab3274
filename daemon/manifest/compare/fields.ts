import { createHash, type Hash } from 'node:crypto'
import {
  type CompareCategory,
  compareCategories,
  type FieldDifference,
  type ManifestBody,
} from '../../../contract/index.ts'
import { categoryOf } from './categories.ts'
import { isPresent, type Knowledge } from './knowledge.ts'
import { itemKeys } from './list-items.ts'
import type { Cover } from './places.ts'
import { knownOnlyInRecord, pairByText, sameOrder, whyRecordOnly } from './record-sources.ts'

export type Row = Readonly<Record<string, unknown>>

/** One entry of a list of named things (a source, a skill, a settings key), as both sides have it. */
export interface Item {
  /** `instructions.sources`, `capabilities.skills`, `settings` … */
  readonly list: string
  readonly key: string
  readonly a: Row | null
  readonly b: Row | null
}

export interface Change extends FieldDifference {
  /** The path without the keys of list items. */
  readonly plain: string
  readonly item: Item | null
  /** Path inside the item; empty when the item itself came or went, or there is none. */
  readonly field: string
}

export interface FieldSide {
  readonly body: ManifestBody
  readonly knowledge: Knowledge
  readonly cover: Cover
}

export interface Tally {
  compared: number
  different: number
  /** Items of lists and settings keys, for the words of the answer. */
  items: number
  readonly a: Hash
  readonly b: Hash
  /** What turned out not to be comparable while comparing, by field. */
  readonly notKnown: Map<string, { readonly why: string; readonly side: 'a' | 'b' | 'both' }>
}

export interface FieldComparison {
  /** Differences first to last as the manifest names them; those one side could not know carry `unknown_on`. */
  readonly changes: readonly Change[]
  readonly tallies: ReadonlyMap<CompareCategory, Tally>
}

/** Where, when and by whom a manifest was made, and what is told by events: never a difference of configuration. */
const VOLATILE = new Set([
  'manifest_version',
  'run_id',
  'stretch',
  'created_at',
  'origin',
  'integrity',
  'empty',
  'unknown',
  'validation',
  'advice',
  'context.session_ref',
  // What a runtime stored of the session as a whole: its parts are compared where they belong.
  'context.session_snapshot',
  'context.lineage',
  'instructions.sources.used',
  'instructions.sources.classification',
  // Manifests of before do not have it; of what runs, the mode is compared among `capabilities.files`.
  'instructions.sources.mode',
  'capabilities.files_left_out',
  // Compared as the order of what enters, see `comparePositions`.
  'instructions.sources.position',
])
const VOLATILE_NAME =
  /(^|\.)(used|(m|c|a)time(_ms)?|inode|read_at|pid|session_(key|id|ref)|(parent|previous)_session)$|^context\.lineage\.|^context\.session_scope\.(?!kind$)/

/**
 * What another way of making a manifest says in other words: where something was found, by which rule, in whose list. Only between two of
 * the same kind does a difference in them mean anything.
 */
const DESCRIPTIVE =
  /\.(scope|kind|label|rule|reason|trigger|status|imported_by|source|classification|description|transport|lazy|path|scan|listing_digest)(\.|$)/

/** Taken from the environment Reprise was started in; as good on one side as on the other. */
const AS_GOOD_ON_BOTH = new Set(['execution.environment'])
/** What every way of making a manifest tells: nothing there means that there is none, unless it is named as unknown. */
const TOLD_BY_ALL = new Set(['instructions.effective_digest', 'execution.repo', 'execution.cwd'])
/** Settled by the answer of the service or by the start: a resolution knows what is asked for, a run what it got. */
const SETTLED_BY_RUN = new Set([
  'execution.model',
  'execution.surface',
  'execution.reasoning',
  'execution.runtime_version',
])

/** What only the record of a run tells: nothing there, on whichever side, says nothing. */
const TOLD_BY_RECORD =
  /^execution\.(parameters|platform|build|client|history_mode|model_api|system_prompt|system_prompt_digest|requested_model)$/
/** What flags decide before any file does. */
const SET_BY_FLAGS =
  /^(policy\.permissions\.mode|execution\.(sandbox\..+|approval\w*|endpoint_profile|provider|reasoning|model|image))$/
/** What the session decides, not the configuration: two of them differ in it, and one that has not begun has none. */
const SET_BY_SESSION = /^(context\.session_scope\.kind|execution\.agent\.chosen_by)$/
/** What makes up the text of a source; all else another way of making a manifest tells in other words. */
const OF_THE_TEXT = /^instructions\.sources\.(digest|text_digest|bytes|raw_chars|truncated|scan)(\.|$)/

export const compareFields = (a: FieldSide, b: FieldSide): FieldComparison => {
  const changes: Change[] = []
  const tallies = new Map(compareCategories.map((category) => [category, emptyTally()]))
  const mixed = a.body.origin !== b.body.origin
  const resolvedSide = mixed ? (a.body.origin === 'resolved' ? 'a' : b.body.origin === 'resolved' ? 'b' : null) : null
  const inferredSide = mixed ? (a.body.origin === 'inferred' ? 'a' : b.body.origin === 'inferred' ? 'b' : null) : null
  const sides = { a, b }
  const coverOf = { a: deepCover(a.cover), b: deepCover(b.cover) }

  const record = (
    place: Place,
    before: unknown,
    after: unknown,
    unknownOn: 'a' | 'b' | null,
    why: string | null,
    both = false,
  ): void => {
    const category = categoryOf(place.plain, place.item?.a ?? place.item?.b ?? null)
    const tally = tallies.get(category) as Tally
    if (unknownOn === null) {
      tally.compared += 1
      tally.different += 1
      // The letter keeps two sides apart that differ in nothing but a missing value.
      tally.a.update(`${place.path}\0a${JSON.stringify(before) ?? ''}\n`)
      tally.b.update(`${place.path}\0b${JSON.stringify(after) ?? ''}\n`)
    } else tally.notKnown.set(place.plain, { why: why ?? 'not known', side: both ? 'both' : unknownOn })
    changes.push({
      path: place.path,
      plain: place.plain,
      category,
      before: asJson(before),
      after: asJson(after),
      unknown_on: unknownOn,
      item: place.item,
      field: place.field,
    })
  }

  const equal = (
    place: Place,
    value: unknown,
    text = typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
  ): void => {
    const tally = tallies.get(categoryOf(place.plain, place.item?.a ?? place.item?.b ?? null)) as Tally
    tally.compared += 1
    const line = Buffer.from(`${place.path}\0=${text}\n`)
    tally.a.update(line)
    tally.b.update(line)
  }

  /** Which side could not know a value that differs, and why; null when both could. */
  const whoDoesNotKnow = (
    { plain, item }: Place,
    va: unknown,
    vb: unknown,
  ): { readonly side: 'a' | 'b'; readonly why: string | null; readonly both?: boolean } | null => {
    if (AS_GOOD_ON_BOTH.has(plain.replace(/\.[^.]+$/, ''))) return null
    if (resolvedSide !== null && SETTLED_BY_RUN.has(plain))
      return { side: resolvedSide, why: 'known only once the agent has started' }
    const [hasA, hasB] = [isPresent(va), isPresent(vb)]
    if (plain === 'policy.capability_id') return whyNoCapabilityId()
    if (plain === 'instructions.effective_digest') {
      const side = knownOnlyInRecord(a, b)
      if (side !== null) return { side, why: 'the record shows it together with words of the program' }
    }
    if (plain === 'instructions.resolved_order' && mixed)
      return { side: resolvedSide ?? inferredSide ?? 'a', why: 'the two manifests name what enters in different ways' }
    if (resolvedSide !== null && SET_BY_SESSION.test(plain))
      return { side: resolvedSide, why: 'it depends on the session that is begun' }
    if (resolvedSide !== null && SET_BY_FLAGS.test(plain) && areFlagsOpen(resolvedSide))
      return { side: resolvedSide, why: 'the flags of the start decide it, and those of the other side are not known' }
    if (plain.startsWith('task.') && hasA !== hasB) return { side: hasA ? 'b' : 'a', why: 'no task is known there' }
    if (item === null && hasA !== hasB) {
      const silent = hasA ? 'b' : 'a'
      if (TOLD_BY_RECORD.test(plain)) return { side: silent, why: 'its record does not tell it' }
      if (sides[silent].body.origin === 'inferred' && !TOLD_BY_ALL.has(plain))
        return { side: silent, why: 'the session record does not tell it' }
    }
    if (mixed && item !== null && item.a !== null && item.b !== null && hasA !== hasB && /digest$/.test(plain))
      return { side: hasA ? 'b' : 'a', why: 'a manifest made in this way does not tell it' }
    if (mixed && item === null && hasA !== hasB && !TOLD_BY_ALL.has(plain))
      return { side: hasA ? 'b' : 'a', why: 'a manifest made in this way does not tell it' }
    if (inferredSide !== null && item !== null && !(inferredSide === 'a' ? hasA : hasB))
      return { side: inferredSide, why: 'the session record does not tell it' }
    // A text was looked at on one side only.
    const notScanned = (scan: unknown): boolean => isRow(scan) && scan.result === 'not_scanned'
    if (plain.endsWith('.scan') && (notScanned(va) || notScanned(vb)))
      return { side: notScanned(va) ? 'a' : 'b', why: 'nobody scanned it' }
    // That a list may miss things says nothing against what it does hold.
    const whyA = a.knowledge.why(plain, hasA || (item !== null && item.a !== null && a.body.origin !== 'inferred'))
    const whyB = b.knowledge.why(plain, hasB || (item !== null && item.b !== null && b.body.origin !== 'inferred'))
    if (whyA === null && whyB === null) return null
    const side = whyA !== null && whyB !== null ? (hasB ? 'a' : 'b') : whyA !== null ? 'a' : 'b'
    return { side, why: side === 'a' ? whyA : whyB, both: whyA !== null && whyB !== null }
  }

  /** A digest over all lists: it says nothing where one of them may miss things. */
  const whyNoCapabilityId = (): { readonly side: 'a' | 'b'; readonly why: string; readonly both?: boolean } | null => {
    if (mixed)
      return {
        side: resolvedSide ?? inferredSide ?? 'a',
        why: 'the two manifests were made in different ways and list different things',
      }
    const [openA, openB] = [a, b].map(({ knowledge }) =>
      knowledge.entries.find(({ field }) => /^capabilities(\.|$)/.test(field)),
    )
    const open = openA ?? openB
    if (open === undefined) return null
    return { side: openA ? 'a' : 'b', why: open.why, both: openA !== undefined && openB !== undefined }
  }

  /** Resolved without flags, beside a run that may have had some. */
  const areFlagsOpen = (resolved: 'a' | 'b'): boolean => {
    const [now, run] = resolved === 'a' ? [a, b] : [b, a]
    return (
      !isPresent(now.body.execution.flags) &&
      !isPresent(run.body.execution.flags) &&
      run.knowledge.why('execution.flags', false) !== null
    )
  }

  const leaf = (place: Place, va: unknown, vb: unknown): void => {
    const { plain } = place
    if (VOLATILE.has(plain) || VOLATILE_NAME.test(plain)) return
    if (mixed && place.item !== null && DESCRIPTIVE.test(plain)) return
    if (mixed && plain.startsWith('instructions.sources.') && !OF_THE_TEXT.test(plain)) return
    const [hasA, hasB] = [isPresent(va), isPresent(vb)]
    const isSame =
      va === vb ||
      sameJson(va, vb) ||
      sameJson(coverOf.a(va), coverOf.b(vb)) ||
      (plain === 'instructions.resolved_order' && sameOrder(a, b)) ||
      (a.cover !== b.cover && hasA && hasB && isSameBehind(plain, a, b, coverOf))
    if (isSame || (!hasA && !hasB)) {
      const isKnown = hasA || (a.knowledge.why(plain, false) === null && b.knowledge.why(plain, false) === null)
      if (isKnown) equal(place, coverOf.a(va ?? null))
      return
    }
    const blind = whoDoesNotKnow(place, va, vb)
    record(place, va, vb, blind?.side ?? null, blind?.why ?? null, blind?.both)
  }

  const walk = (place: Place, va: unknown, vb: unknown): void => {
    if (VOLATILE.has(place.plain)) return
    const isNothing = (value: unknown): boolean => value === undefined || value === null
    if (LEAVES.test(place.plain)) leaf(place, va, vb)
    else if (
      (isRows(va) && (isRows(vb) || isEmptyList(vb) || isNothing(vb))) ||
      (isRows(vb) && (isEmptyList(va) || isNothing(va)))
    )
      walkList(place, isRows(va) ? va : [], isRows(vb) ? vb : [])
    else if (isRow(va) && isRow(vb))
      for (const key of new Set([...Object.keys(va), ...Object.keys(vb)])) walk(below(place, key), va[key], vb[key])
    else leaf(place, va, vb)
  }

  /** Lists of named things: matched by what they are, never by where they stand. */
  const walkList = (place: Place, va: readonly Row[], vb: readonly Row[]): void => {
    const { plain } = place
    const listed = { a: va.length > 0, b: vb.length > 0 }
    for (const { key, a: one, b: other } of pairItems(plain, va, vb, a.cover, b.cover)) {
      const inner: Place = {
        path: `${place.path}[${key}]`,
        plain,
        item: place.item ?? { list: plain, key, a: one, b: other },
        field: place.item === null ? '' : `${place.field}[${key}]`,
      }
      compareItems(inner, one, other, listed)
    }
  }

  const compareItems = (place: Place, one: Row | null, other: Row | null, listed: { a: boolean; b: boolean }): void => {
    const tally = tallies.get(categoryOf(place.plain, one ?? other)) as Tally
    if (place.field === '') tally.items += 1
    if (one !== null && other !== null) {
      // Nearly all items are the same; they need no walk.
      const text = a.cover === b.cover ? JSON.stringify(one) : null
      if (text !== null && text === JSON.stringify(other)) equal(place, one, text)
      else walk(place, one, other)
      return
    }
    const row = (one ?? other) as Row
    const missing = one === null ? 'a' : 'b'
    const why = whyMissing(place.plain, row, missing, listed[missing])
    const [before, after] = [one === null ? null : brief(one), other === null ? null : brief(other)]
    record(place, before, after, why === null ? null : missing, why)
  }

  /** Why a thing that one side lists may be there on the other as well; null when it is certainly not. */
  const whyMissing = (plain: string, row: Row, missing: 'a' | 'b', listed: boolean): string | null => {
    const side = missing === 'a' ? a : b
    if (plain === 'external' && row.state === 'not_captured') return String(row.reason ?? 'it cannot be captured')
    if (plain === 'instructions.sources') {
      const uncertain = whyRecordOnly(row, side, missing === 'a' ? b : a)
      if (uncertain !== null) return uncertain
      // What entered at start is complete wherever its digest is known.
      const complete = side.knowledge.why('instructions.effective_digest', false) === null
      if (isEntering(row) && complete) return null
      const own = typeof row.uri === 'string' ? side.knowledge.whySource(row.uri) : null
      if (own !== null) return own
    }
    if (AS_GOOD_ON_BOTH.has(plain) && side.body.origin === 'inferred')
      return side.knowledge.why(plain, false) ?? 'the session record does not tell it'
    if (
      AS_GOOD_ON_BOTH.has(plain) &&
      (listed || (a.knowledge.why(plain, false) !== null && b.knowledge.why(plain, false) !== null))
    )
      return row.source === 'process' && mixed ? 'taken from another environment' : null
    const why = side.knowledge.why(plain, listed)
    if (why !== null)
      return isFileBacked(row) && !mixed && a.body.origin !== 'inferred' ? side.knowledge.whyFile(plain, row) : why
    if (mixed && !(plain === 'capabilities.tools' && resolvedSide === null))
      return 'the two manifests were made in different ways and list different things'
    return null
  }

  walk({ path: '', plain: '', item: null, field: '' }, withKeyedSettings(a.body), withKeyedSettings(b.body))
  comparePositions(a, b, record)
  return { changes, tallies }
}

interface Place {
  readonly path: string
  readonly plain: string
  readonly item: Item | null
  readonly field: string
}

const below = (place: Place, key: string): Place => {
  const dot = place.plain === '' ? '' : '.'
  return {
    path: `${place.path}${dot}${key}`,
    plain: `${place.plain}${dot}${key}`,
    item: place.item,
    field: place.item === null ? '' : place.field === '' ? key : `${place.field}.${key}`,
  }
}

/** Values that are compared as a whole although they have parts. */
const LEAVES = /(^settings\.value|\.truncated|\.scan|\.lazy|\.args|execution\.parameters\.[^.]+)$/

/** Settings become a list of named things like all others. */
const withKeyedSettings = (body: ManifestBody): Row => ({
  ...body,
  settings: Object.entries(body.settings).map(([name, setting]) => ({ name, ...setting })),
})

const emptyTally = (): Tally => ({
  compared: 0,
  different: 0,
  items: 0,
  a: createHash('sha256'),
  b: createHash('sha256'),
  notKnown: new Map(),
})

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0
const isRows = (value: unknown): value is readonly Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRow)
const sameJson = (a: unknown, b: unknown): boolean =>
  typeof a === typeof b && (typeof a !== 'object' ? a === b : JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)))
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : isRow(value)
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, sorted(value[key])]),
        )
      : value
const asJson = (value: unknown): Change['before'] => (value ?? null) as Change['before']

const deepCover = (cover: Cover) => {
  const deep = (value: unknown): unknown =>
    typeof value === 'string'
      ? cover(value)
      : Array.isArray(value)
        ? value.map(deep)
        : isRow(value)
          ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner)]))
          : value
  return deep
}

/**
 * Digests over texts that name places. From two checkouts or homes they differ though nothing behind them does; what they stand for is
 * compared instead.
 */
const behind: Readonly<Record<string, (body: ManifestBody) => unknown>> = {
  'instructions.effective_digest': ({ instructions }) =>
    instructions.sources
      .filter(({ position }) => position !== null)
      .sort((x, y) => (x.position ?? 0) - (y.position ?? 0))
      .map(({ path, label, text_digest }) => [path, label, text_digest]),
  'context.memory_manifest_digest': ({ context }) => context.memory.map(({ path, digest }) => [path, digest]),
  'policy.revision': ({ policy }) => [policy.permissions, policy.trust.trusted, policy.managed],
}
const isSameBehind = (
  plain: string,
  a: FieldSide,
  b: FieldSide,
  cover: { readonly a: (value: unknown) => unknown; readonly b: (value: unknown) => unknown },
): boolean => {
  const parts = behind[plain]
  return parts !== undefined && sameJson(cover.a(parts(a.body)), cover.b(parts(b.body)))
}

/** It was found in a file: a list made in the same way and without that file does not hold it, whatever else it may not hold. */
const isFileBacked = (row: Row): boolean =>
  [row.path, row.source, row.uri].some((place) => typeof place === 'string' && /^(file:\/|\/)/.test(place))

const isEntering = (row: Row): boolean => typeof row.position === 'number'

/** An item as a value of a field: what it says, without what it does not. */
const brief = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).filter(([key, value]) => isPresent(value) && key !== 'used' && key !== 'classification'),
  )

export interface Pair {
  readonly key: string
  readonly a: Row | null
  readonly b: Row | null
}

const pairItems = (
  list: string,
  a: readonly Row[],
  b: readonly Row[],
  coverA: Cover,
  coverB: Cover,
): readonly Pair[] => {
  const keys = itemKeys(list, a, b, coverA, coverB)
  const pairs = new Map<string, { key: string; a: Row | null; b: Row | null }>()
  keys.a.forEach(({ id, shown }, n) => {
    pairs.set(id, { key: shown, a: a[n] as Row, b: null })
  })
  keys.b.forEach(({ id, shown }, n) => {
    const known = pairs.get(id)
    if (known) known.b = b[n] as Row
    else pairs.set(id, { key: shown, a: null, b: b[n] as Row })
  })
  return list === 'instructions.sources' ? pairByText([...pairs.values()]) : [...pairs.values()]
}

/** Things that enter on both sides, in another order. */
const comparePositions = (
  a: FieldSide,
  b: FieldSide,
  record: (place: Place, before: unknown, after: unknown, unknownOn: null, why: null) => void,
): void => {
  const entering = ({ body }: FieldSide): readonly Row[] =>
    body.instructions.sources.filter(isEntering).sort((x, y) => Number(x.position) - Number(y.position))
  const [inA, inB] = [entering(a), entering(b)]
  const keys = itemKeys('instructions.sources', inA, inB, a.cover, b.cover)
  const atB = new Map(keys.b.map(({ id }, n) => [id, n]))
  const common = keys.a.flatMap(({ id, shown }, n) => {
    const other = atB.get(id)
    return other === undefined ? [] : [{ shown, n, other }]
  })
  const kept = new Set(longestRising(common.map(({ other }) => other)))
  common.forEach(({ shown, n, other }, at) => {
    if (kept.has(at)) return
    const item: Item = { list: 'instructions.sources', key: shown, a: inA[n] as Row, b: inB[other] as Row }
    const path = `instructions.sources[${shown}].position`
    record({ path, plain: 'instructions.sources.position', item, field: 'position' }, n, other, null, null)
  })
}

/** Places of a longest rising run through a list of different numbers: what stays where it is when the rest moves. */
export const longestRising = (numbers: readonly number[]): readonly number[] => {
  const tails: number[] = []
  const before: number[] = []
  numbers.forEach((value, at) => {
    let low = 0
    let high = tails.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[tails[middle] as number] as number) < value) low = middle + 1
      else high = middle
    }
    before[at] = low === 0 ? -1 : (tails[low - 1] as number)
    tails[low] = at
  })
  const kept: number[] = []
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at] as number) kept.push(at)
  return kept.reverse()
}
