import type { Cause, Evidence } from '../../../../contract/index.ts'
import type { Change, Item, Row } from '../fields.ts'
import {
  baseName,
  byItem,
  type CauseContext,
  type CauseSide,
  changed,
  type Draft,
  eventEvidence,
  type Influence,
  type Pool,
  runs,
  short,
  shortName,
  sourceEvidence,
  textField,
} from './draft.ts'

/** Kinds of sources whose text can enter the context. */
export const TEXTS = new Set(['instructions', 'rule', 'import', 'memory'])
const nouns: Readonly<Record<string, string>> = {
  instructions: 'Instructions',
  rule: 'Rule',
  import: 'Import',
  memory: 'Memory',
}

/** Texts that can enter the context: instruction files, rules, imports, memory. One cause for each file. */
export const sourceCauses = (pool: Pool, context: CauseContext): readonly Draft[] => {
  const taken = pool.take(
    ({ item }) =>
      item?.list === 'instructions.sources' && TEXTS.has(String((item.b ?? item.a)?.kind ?? 'instructions')),
  )
  const drafts = byItem(taken).map((group) => {
    const item = group[0]?.item as Item
    // Memory stands in a list of its own as well.
    const file = textField(item.b ?? item.a, 'path')
    const beside = pool.take(
      ({ item: other }) => other?.list === 'context.memory' && textField(other.b ?? other.a, 'path') === file,
    )
    return sourceCause(context, item, [...group, ...beside])
  })
  const memory = byItem(pool.take(({ item }) => item?.list === 'context.memory')).map((group) =>
    sourceCause(context, asSource(group[0]?.item as Item), group),
  )
  return [...drafts, ...memory]
}

const asSource = ({ list, key, a, b }: Item): Item => {
  const source = (row: Row | null): Row | null => (row === null ? null : { ...row, kind: 'memory', status: 'unknown' })
  return { list, key, a: source(a), b: source(b) }
}

interface Entered {
  /** It stood in the context; null when that cannot be told. */
  readonly entered: boolean | null
  readonly seq: number | null
  /** What brought it in, when it came later. */
  readonly touched: string | null
}

/** Whether a source entered the context of one side, by the manifest and by the events of the run. */
export const entryOf = (side: CauseSide, row: Row | null): Entered => {
  const file = textField(row, 'path')
  const event =
    file === null ? null : (side.use?.find(['instructions', 'rule', 'memory'], (name) => name === file) ?? null)
  if (row !== null && typeof row.position === 'number')
    return { entered: true, seq: event?.first ?? null, touched: null }
  if (event !== null) {
    const call = side.use?.callBefore(event.first)
    return { entered: true, seq: event.first, touched: call ? short(side, call.summary) : null }
  }
  if (row === null || row.status === 'not_loaded') return { entered: false, seq: null, touched: null }
  if (row.status === 'loaded') return { entered: true, seq: null, touched: null }
  return { entered: side.use === null || row.status === 'unknown' ? null : false, seq: null, touched: null }
}

const sourceCause = (context: CauseContext, item: Item, changes: readonly Change[]): Draft => {
  const row = (item.b ?? item.a) as Row
  const entry = { a: entryOf(context.a, item.a), b: entryOf(context.b, item.b) }
  const first: Cause['first_seq'] = { a: entry.a.seq, b: entry.b.seq }
  const name = shortName(context, item)
  const { kind, title } = wording(context, item, changes, entry, name)
  const file = textField(row, 'path')
  const writer = file !== null && item.a !== null && item.b !== null ? context.writer(file) : null
  const evidence: Evidence[] = [sourceEvidence(context.a, item.a), sourceEvidence(context.b, item.b)]
  for (const side of [context.a, context.b]) {
    const { seq, touched } = entry[side.letter]
    evidence.push(
      ...eventEvidence(side, seq, touched === null ? 'entered the context' : `entered the context after ${touched}`),
    )
  }
  const patterns = changed(changes, 'lazy')
  if (patterns)
    evidence.push(
      { side: 'a', text: `applies to ${patternsOf(item.a)}`, ref: null },
      { side: 'b', text: `applies to ${patternsOf(item.b)}`, ref: null },
    )
  if (writer)
    evidence.push({
      side: 'both',
      text: `changed by ${writer.run}@${writer.seq}`,
      ref: { type: 'event', run: writer.run, seq: writer.seq },
    })
  const { influence, because } = influenceOf(context, item, changes, entry)
  return {
    kind,
    class: 'configuration',
    category: kind === 'memory' || String(row.kind) === 'memory' ? 'memory and context' : 'instructions',
    title: writer && String(row.kind) === 'memory' ? `${title} by run ${writer.run}` : title,
    before: stateOf(item.a, entry.a),
    after: stateOf(item.b, entry.b),
    influence,
    because,
    first,
    evidence,
    changes,
    text: { a: textField(item.a, 'text_digest'), b: textField(item.b, 'text_digest') },
  }
}

const stateOf = (row: Row | null, { entered, touched }: Entered): string =>
  row === null
    ? 'not there'
    : [
        entered
          ? touched === null
            ? 'in the context'
            : `came in after ${touched}`
          : entered === false
            ? 'not in the context'
            : String(row.status),
        ...(row.truncated
          ? [`cut at ${String((row.truncated as Row).at)} ${String((row.truncated as Row).unit)}`]
          : []),
        ...(typeof row.text_digest === 'string'
          ? [row.text_digest.slice(7, 15)]
          : typeof row.digest === 'string'
            ? [row.digest.slice(7, 15)]
            : []),
      ].join(', ')

const wording = (
  context: CauseContext,
  item: Item,
  changes: readonly Change[],
  entry: { readonly a: Entered; readonly b: Entered },
  name: string,
): { readonly kind: string; readonly title: string } => {
  const row = (item.b ?? item.a) as Row
  const kind = String(row.kind)
  const noun = `${nouns[kind] ?? 'Source'} ${kind === 'rule' || kind === 'memory' ? baseName(name) : name}`
  const cut = { a: item.a?.truncated as Row | null | undefined, b: item.b?.truncated as Row | null | undefined }
  if (item.a !== null && item.b !== null && changed(changes, 'truncated')) {
    const places = (one: Row): string => `${String(one.at)} ${String(one.unit)}`
    if (cut.b)
      return {
        kind: 'truncation',
        title: cut.a
          ? `${name} is cut at ${places(cut.b)}, before at ${places(cut.a)}`
          : `${name} is now cut at ${places(cut.b)}`,
      }
    return { kind: 'truncation', title: `${name} is no longer cut` }
  }
  const scan = changed(changes, 'scan')
  const verdict = (one: Row | null): unknown => (one?.scan as Row | null | undefined)?.result
  if (scan && verdict(item.a) !== verdict(item.b) && [verdict(item.a), verdict(item.b)].includes('rejected'))
    return {
      kind: 'scan',
      title:
        verdict(item.b) === 'rejected'
          ? `The security scan now rejects ${name}`
          : `The security scan no longer rejects ${name}`,
    }
  const isLazy = row.status === 'lazy' || item.a?.status === 'lazy'
  if (isLazy && entry.a.entered !== entry.b.entered && runs(context)) {
    const verb = kind === 'rule' ? 'matches' : 'applies to'
    if (entry.b.entered === true && entry.a.entered === false)
      return {
        kind,
        title: `${noun} ${item.a === null ? 'is new and' : 'now'} ${verb} ${entry.b.touched ?? 'a file of the run'}`,
      }
    if (entry.a.entered === true && entry.b.entered === false)
      return {
        kind,
        title: `${noun} ${item.b === null ? 'is gone; it matched' : `no longer ${verb}`} ${entry.a.touched ?? 'a file of the run'}`,
      }
  }
  if (item.a === null) return { kind, title: `${noun} is new` }
  if (item.b === null) return { kind, title: `${noun} is gone` }
  if (changed(changes, 'status')) {
    if (item.b.status === 'not_loaded')
      return { kind, title: `${noun} is no longer loaded${item.b.reason ? `: ${String(item.b.reason)}` : ''}` }
    if (item.b.status === 'loaded') return { kind, title: `${noun} is now loaded at start` }
    if (item.b.status === 'lazy') return { kind, title: `${noun} now loads ${String(item.b.trigger ?? 'later')}` }
  }
  if (changed(changes, 'lazy') && !changed(changes, 'text_digest'))
    return { kind, title: `${noun} now applies to ${patternsOf(item.b)}` }
  if (changed(changes, 'text_digest') || changed(changes, 'digest')) return { kind, title: `${noun} changed` }
  // Where neither side has the text, its length is all that is known of it.
  const length = changed(changes, 'raw_chars')
  if (length) return { kind, title: `${noun} changed: ${String(length.before)} → ${String(length.after)} characters` }
  if (changed(changes, 'position')) return { kind, title: `${noun} enters the context at another place` }
  return { kind, title: `${noun} is found in another way` }
}

const patternsOf = (row: Row | null): string => {
  const lazy = row?.lazy as Row | undefined
  const patterns = lazy?.patterns
  if (Array.isArray(patterns)) return patterns.map(String).join(', ')
  return typeof lazy?.directory === 'string' ? lazy.directory : (textField(row, 'trigger') ?? 'everything')
}

const influenceOf = (
  context: CauseContext,
  item: Item,
  changes: readonly Change[],
  { a, b }: { readonly a: Entered; readonly b: Entered },
): { readonly influence: Influence; readonly because: string } => {
  const sameText =
    item.a !== null &&
    item.b !== null &&
    item.a.text_digest !== null &&
    item.a.text_digest === item.b.text_digest &&
    a.entered === b.entered
  const moved = changed(changes, 'position') !== undefined || changed(changes, 'label') !== undefined
  if (sameText && !moved) return { influence: 'not used', because: 'the text that enters the context is the same' }
  if (a.entered || b.entered) {
    const where = a.entered && b.entered ? 'both runs' : a.entered ? 'A only' : 'B only'
    return {
      influence: 'entered',
      because: runs(context)
        ? `its text entered the context of ${where}`
        : `its text enters the context${a.entered && b.entered ? '' : ` of ${where}`}`,
    }
  }
  if (a.entered === null || b.entered === null)
    return { influence: 'cannot be told', because: 'whether it entered the context cannot be told' }
  return { influence: 'not used', because: 'it entered the context of neither' }
}
