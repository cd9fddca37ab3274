import { describe, expect, it } from 'vitest'
import { splitFlags } from '../../../renderer/manifest/resolve-dialog.tsx'
import { toSourceRows } from '../../../renderer/manifest/source-tree.ts'
import { cutAtHidden } from '../../../renderer/parts/hidden.tsx'
import { tickPaths } from '../../../renderer/parts/scrubber.tsx'
import {
  isEmptyFilter,
  matchEvent,
  matchTick,
  needsEvents,
  parseEventFilter,
} from '../../../renderer/run/event-filter.ts'
import { indexOfSeq, nextWhere, openingIndex, toEventRows } from '../../../renderer/run/event-rows.ts'
import { stripAnsi } from '../../../renderer/run/part-view.tsx'
import { toTurns } from '../../../renderer/run/transcript-tab.tsx'
import { usageByModel } from '../../../renderer/run/usage-tab.tsx'
import { event, run, source, ticksOf } from './kit.tsx'

const edit = {
  path: '/home/dev/shop/src/retry.ts',
  change: 'change',
  by: 'edit tool',
  before: null,
  after: null,
  added_lines: 1,
  removed_lines: 1,
} as const
const events = [
  event(1, { kind: 'prompt' }),
  event(2, { kind: 'tool', tool: 'Edit', ok: true, effects: [edit], effects_state: 'complete' }),
  event(3, { kind: 'tool', tool: 'Bash', ok: false, summary: 'npm test', effects_state: 'partial' }),
  event(5, { kind: 'model' }),
]
const ticks = ticksOf(events)

describe('where a run opens and how it is stepped', () => {
  it('opens at the first failure, else at the last change, else at the beginning', () => {
    expect(openingIndex(ticks)).toBe(2)
    expect(openingIndex(ticksOf(events.slice(0, 2)))).toBe(1)
    expect(openingIndex(ticksOf([event(1), event(2)]))).toBe(0)
  })
  it('finds the point before a sequence number that is not there', () => {
    expect([1, 3, 4, 5, 99].map((seq) => indexOfSeq(ticks, seq))).toEqual([0, 2, 2, 3, 3])
    expect(nextWhere(ticks.changed, 3, -1)).toBe(1)
    expect(nextWhere(ticks.changed, 1, 1)).toBeNull()
  })
  it('marks where configuration was resolved again and where a copied beginning ends', () => {
    const forked = run({
      relation: 'fork',
      copied_events: 2,
      stretches: [
        { n: 1, started_at: null, cause: 'start', manifest: null, first_seq: 1 },
        { n: 2, started_at: null, cause: 'resume', manifest: null, first_seq: 5 },
      ],
    })
    expect(toEventRows(forked, ticks, null).map((row) => row.key)).toEqual([
      '@1',
      '@2',
      'fork',
      '@3',
      'stretch:2',
      '@5',
    ])
  })
})

describe('filter of events', () => {
  it('answers kind, changed and failed from the ticks alone', () => {
    const failed = parseEventFilter('kind:tool', true)
    expect(needsEvents(failed)).toBe(false)
    expect(events.map((_entry, index) => matchTick(failed, ticks, index))).toEqual([false, false, true, false])
    expect(isEmptyFilter(parseEventFilter('  ', false))).toBe(true)
  })
  it('matches words, tools and changed paths', () => {
    expect(
      events.filter((entry) => matchEvent(parseEventFilter('tool:bash npm', false), entry)).map((entry) => entry.seq),
    ).toEqual([3])
    expect(
      events.filter((entry) => matchEvent(parseEventFilter('changed:retry', false), entry)).map((entry) => entry.seq),
    ).toEqual([2])
  })
})

describe('usage (B16)', () => {
  const tokens = { input: 10, output: 5, cache_read: 0, cache_write: 0 }
  it('counts a copied reply in its parent only', () => {
    const usage = usageByModel([
      event(1, { tokens, model: 'a', copied_from: 'r_000000000009@1' }),
      event(2, { tokens, model: 'a' }),
      event(3, { tokens, model: null }),
    ])
    expect(usage.copied).toBe(1)
    expect(usage.models).toEqual([
      { model: 'a', replies: 1, tokens },
      { model: null, replies: 1, tokens },
    ])
  })
})

describe('transcript (B10)', () => {
  it('puts an unreadable line where it stands in the file', () => {
    const lines = new Map(events.map((entry) => [entry.seq, entry.line]))
    const unreadable = [
      { path: 'f', line: 5, byte: 0, bytes: 1, reason: 'cut', repaired: false, run: null },
      { path: 'f', line: 99, byte: 9, bytes: 1, reason: 'cut', repaired: false, run: null },
    ]
    expect(
      toTurns(ticks, unreadable, (seq) => lines.get(seq) ?? null).map((turn) =>
        turn.type === 'event' ? turn.seq : `line ${turn.line.line}`,
      ),
    ).toEqual([1, 2, 'line 5', 3, 5, 'line 99'])
  })
})

describe('texts', () => {
  it('cuts at every occurrence of a placeholder', () => {
    const span = { ref: 'v', family: 'API key', characters: 51, placeholder: '«secret:1»' }
    expect(cutAtHidden({ text: 'a«secret:1»b«secret:1»', total: 22, hidden: [span] })).toEqual(['a', span, 'b', span])
    expect(cutAtHidden({ text: 'plain', total: 5, hidden: [] })).toEqual(['plain'])
  })
  it('takes terminal sequences out', () => {
    expect(stripAnsi('\u001b[31mred\u001b[0m \u001b]0;title\u0007done')).toBe('red done')
  })
})

describe('scrubber', () => {
  it('never hides a change or a failure behind a neighbour in the same column', () => {
    const many = ticksOf(
      Array.from({ length: 3000 }, (_, index) =>
        index === 1501 ? event(index + 1, { ok: false, effects: [edit], effects_state: 'complete' }) : event(index + 1),
      ),
    )
    const paths = tickPaths(many, 300)
    expect(paths.tall.match(/M/g)).toHaveLength(1)
    expect(paths.marks.match(/M/g)).toHaveLength(1)
  })
})

describe('sources', () => {
  it('lists imports under the file that names them, in order, and cuts a cycle', () => {
    const a = source({ path: '/a.md', uri: 'file:///a.md', position: 0 })
    const b = source({ path: '/b.md', uri: 'file:///b.md', position: 1, imported_by: ['/a.md'] })
    const c = source({ path: '/c.md', uri: 'file:///c.md', position: 2 })
    const x = source({ path: '/x.md', uri: 'file:///x.md', position: 3, imported_by: ['/y.md'] })
    const y = source({ path: '/y.md', uri: 'file:///y.md', position: 4, imported_by: ['/x.md'] })
    expect(toSourceRows([c, y, b, a, x]).map((row) => `${row.depth}${row.source.path}`)).toEqual([
      '0/a.md',
      '1/b.md',
      '0/c.md',
      '0/x.md',
      '1/y.md',
    ])
  })
  it('splits start flags as a shell would', () => {
    expect(splitFlags('--model opus --append "a b"')).toEqual(['--model', 'opus', '--append', 'a b'])
  })
})
