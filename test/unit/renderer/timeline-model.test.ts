import { describe, expect, it } from 'vitest'
import {
  escapeControls,
  formatBytes,
  formatDuration,
  formatTick,
  formatTokens,
  shortDigest,
  shortId,
} from '../../../renderer/parts/format.ts'
import { heatLevel } from '../../../renderer/parts/heat-strip.tsx'
import { homeFolder, splitPath, withTilde } from '../../../renderer/parts/paths.ts'
import { parseMoment, parseTokens, readFilter, setToken, toggleToken } from '../../../renderer/timeline/filter.ts'
import { complete } from '../../../renderer/timeline/filter-field.tsx'
import { layLanes } from '../../../renderer/timeline/lanes.ts'
import { toRows } from '../../../renderer/timeline/rows.ts'
import { digest, run, runItem, status } from './kit.tsx'

const NOW = new Date('2026-11-30T12:00:30.500Z')
const noWindow = { since: null, until: null }

describe('filter', () => {
  it('reads tokens and free words, quoted values too', () => {
    expect(
      readFilter(
        'agent:codex workspace:"/home/dev/a b" flaky retry status:failed kind:fork has:gap tool:Bash',
        noWindow,
        NOW,
      ).filter,
    ).toEqual({
      runtime: ['codex'],
      workspace: '/home/dev/a b',
      text: 'flaky retry',
      status: ['failed'],
      relation: ['fork'],
      has: ['gap'],
      tool: 'Bash',
    })
  })
  it('keeps a word with a colon it does not know as a word', () => {
    expect(readFilter('http://x error:42', noWindow, NOW).filter).toEqual({ text: 'http://x error:42' })
  })
  it('says which value it does not know and what it takes, instead of finding nothing', () => {
    const { filter, problems } = readFilter('agent:cursor since:soon', noWindow, NOW)
    expect(filter).toEqual({})
    expect(problems.map((problem) => [problem.key, problem.value])).toEqual([
      ['agent', 'cursor'],
      ['since', 'soon'],
    ])
    expect(problems[0]?.known).toContain('codex')
  })
  it('counts times back from now to the minute, and lets a zoom win', () => {
    expect(parseMoment('2d', NOW)).toBe('2026-11-28T12:00:00.000Z')
    expect(readFilter('since:2d', { since: '2026-11-29T00:00:00.000Z', until: null }, NOW).filter.since).toBe(
      '2026-11-29T00:00:00.000Z',
    )
  })
  it('adds, takes away and replaces tokens without touching the rest', () => {
    expect(toggleToken('retry agent:codex', 'agent', 'codex')).toBe('retry')
    expect(toggleToken('retry', 'workspace', '/a b')).toBe('retry workspace:"/a b"')
    expect(setToken('since:2d retry', 'since', '7d')).toBe('retry since:7d')
    expect(parseTokens('retry workspace:"/a \\"b\\""')[1]?.value).toBe('/a "b"')
  })
  it('completes keys and values at the caret only', () => {
    expect(complete('ag', 2, {})[0]).toEqual({ text: 'agent:', result: 'agent:' })
    expect(complete('agent:cod', 9, {})[0]?.result).toBe('agent:codex ')
    expect(complete('workspace:sh x', 12, { workspace: ['/w/shop'] })[0]?.result).toBe('workspace:/w/shop  x')
    expect(complete('agent:codex', 11, {})).toEqual([])
  })
})

describe('rows', () => {
  const first = run({ id: 'r_000000000001', started_at: '2026-11-30T12:00:00.000Z' })
  const second = run({ id: 'r_000000000002', started_at: '2026-11-28T12:00:00.000Z' })
  const child = run({ id: 'r_000000000003', relation: 'subagent', parent: first.id })
  const closed = { open: new Set<string>(), childrenOf: () => undefined }

  it('puts rows under days and counts a day only when it is whole', () => {
    const rows = toRows([runItem(first), runItem(second)], closed, false)
    expect(rows.map((row) => (row.type === 'day' ? `${row.runs}${row.whole ? '' : '+'}` : row.key))).toEqual([
      '1',
      'run:r_000000000001',
      '1+',
      'run:r_000000000002',
    ])
  })
  it('shows subagents under their unfolded parent, and that they are loading', () => {
    const items = [runItem(first, [child.id])]
    expect(
      toRows(items, { open: new Set([first.id]), childrenOf: () => undefined }, true).map((row) => row.type),
    ).toEqual(['day', 'run', 'waiting'])
    expect(toRows(items, { open: new Set([first.id]), childrenOf: () => [child] }, true).map((row) => row.key)).toEqual(
      ['day:2026-11-30', `run:${first.id}`, `child:${child.id}`],
    )
  })
  it('lists an item once even when two pages repeat it', () => {
    expect(toRows([runItem(first), runItem(first)], closed, true).filter((row) => row.type === 'run')).toHaveLength(1)
  })
})

describe('lanes', () => {
  it('draws a fork to its parent further down, past the rows between', () => {
    const { lanes, columns } = layLanes([
      { run: 'fork', forkOf: 'parent' },
      { run: 'other', forkOf: null },
      { run: 'parent', forkOf: null },
    ])
    expect(columns).toBe(2)
    expect(lanes.map((lane) => [lane.column, lane.through, lane.joins, lane.begins])).toEqual([
      [1, [], [], true],
      [0, [1], [], false],
      [0, [], [1], false],
    ])
  })
  it('draws nothing for a fork whose parent is not among the rows', () => {
    expect(layLanes([{ run: 'fork', forkOf: 'gone' }]).lanes[0]).toEqual({
      column: 0,
      through: [],
      joins: [],
      begins: false,
    })
  })
  it('leaves a fork to words when every column is taken, and breaks no line', () => {
    const forks = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ run: name, forkOf: 'p' }))
    const { lanes, columns } = layLanes([...forks, { run: 'p', forkOf: null }])
    expect(columns).toBe(5)
    expect(lanes.map((lane) => lane.begins)).toEqual([true, true, true, true, false, false, false])
    expect(lanes.at(-1)?.joins).toEqual([1, 2, 3, 4])
  })
  it('keeps two forks of one parent apart', () => {
    const { lanes } = layLanes([
      { run: 'a', forkOf: 'p' },
      { run: 'b', forkOf: 'p' },
      { run: 'p', forkOf: null },
    ])
    expect(lanes.map((lane) => lane.column)).toEqual([1, 2, 0])
    expect(lanes[2]?.joins).toEqual([1, 2])
  })
})

describe('formats', () => {
  it('writes durations, sizes, tokens and ids as agreed', () => {
    expect([840, 1400, 200_000, 7_500_000].map(formatDuration)).toEqual(['840 ms', '1.4 s', '3 min 20 s', '2 h 05 min'])
    expect([12, 2100, 4_200_000_000].map(formatBytes)).toEqual(['12 B', '2.1 kB', '4.2 GB'])
    expect([999, 4120, 412_400, 1_250_000].map(formatTokens)).toEqual(['999', '4.1k', '412k', '1.3M'])
    expect(shortId('r_91d0aa34bb56')).toBe('r_91d0aa')
    expect(shortDigest(digest('7'))).toBe('77777777')
  })
  it('marks a time axis in the 24 hours of the rows, days with their name, weeks and months with theirs', () => {
    const marks = [
      new Date(2026, 10, 23, 15, 58),
      new Date(2026, 10, 23, 12),
      new Date(2026, 10, 23, 0, 30),
      new Date(2026, 10, 23, 15, 58, 30),
      new Date(2026, 10, 23, 15, 58, 30, 250),
    ]
    expect(marks.map(formatTick)).toEqual(['15:58', '12:00', '00:30', '15:58:30', '15:58:30.250'])
    const written = (form: Intl.DateTimeFormatOptions, date: Date) =>
      new Intl.DateTimeFormat(undefined, form).format(date)
    const monday = new Date(2026, 10, 23)
    expect(formatTick(monday)).toBe(`${written({ weekday: 'short' }, monday)} 23`)
    const sunday = new Date(2026, 10, 29)
    expect(formatTick(sunday)).toBe(written({ month: 'short', day: 'numeric' }, sunday))
    const first = new Date(2026, 10, 1)
    expect(formatTick(first)).toBe(written({ month: 'short' }, first))
    expect(formatTick(new Date(2026, 0, 1))).toBe('2026')
  })
  it('makes control characters and direction marks visible', () => {
    expect(escapeControls('a\nb\u001b[31m\u202e')).toBe('a\\nb\\u001b[31m\\u202e')
  })
  it('cuts a path before its last part and shortens the home folder only at a border', () => {
    expect(splitPath('/home/dev/shop')).toEqual({ head: '/home/dev', tail: '/shop' })
    expect(homeFolder(status())).toBe('/home/dev')
    expect([withTilde('/home/dev/x', '/home/dev'), withTilde('/srv/devel/x', '/srv/dev')]).toEqual([
      '~/x',
      '/srv/devel/x',
    ])
  })
  it('never draws something as nothing', () => {
    expect([0, 1, 500, 1000].map((events) => heatLevel(events, 1000))).toEqual([0, 1, 5, 5])
  })
})
