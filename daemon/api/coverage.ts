import type { Coverage } from '../../contract/index.ts'
import type { IndexReader } from '../store/index/reader.ts'
import type { RunRow } from '../store/index/run-row.ts'

/** How completely an observed run was captured, boundary by boundary, always with the reason (never silence). */
export const coverageOf = (index: IndexReader, row: RunRow): Coverage => {
  const counted = index
    .sql(
      `select count(*) as events, count(*) filter (where kind = 'tool') as calls, count(*) filter (where effects_state = 'none') as blind,
         count(*) filter (where broken = 1) as broken, count(*) filter (where kind = 'model') as replies, count(*) filter (where kind = 'tool' and ok is null) as open
       from events where run = ?`,
    )
    .get(row.key) as { events: number; calls: number; blind: number; broken: number; replies: number; open: number }
  const unknown = Object.values(JSON.parse(row.unknown_records) as Record<string, number>).reduce(
    (sum, n) => sum + n,
    0,
  )
  if ((JSON.parse(row.meta) as Record<string, unknown>).typed_only === true) return typedOnlyCoverage(row)
  const items: Coverage['items'] = [
    {
      what: 'session',
      state:
        row.status === 'unreadable'
          ? 'none'
          : row.unreadable > 0 || unknown > 0 || counted.broken > 0 || row.source_state === 'shrank'
            ? 'partial'
            : 'complete',
      why:
        [
          row.unreadable > 0 ? `${row.unreadable} unreadable lines` : '',
          unknown > 0 ? `${unknown} records of unknown kinds, kept as they are` : '',
          row.source_state === 'shrank' ? 'the agent rewrote it' : '',
          row.source_state === 'vanished' ? 'it is gone; shown from the store' : '',
          counted.broken > 0 ? `${counted.broken} events name a parent that is not there` : '',
        ]
          .filter((text) => text !== '')
          .join('; ') || null,
      count: row.rows,
    },
    {
      what: 'model calls',
      state: counted.replies > 0 ? 'partial' : 'none',
      why: 'answers as the session keeps them; requests and timing on the wire are seen only in recorded runs',
      count: counted.replies,
    },
    {
      what: 'tool calls',
      state: counted.open > 0 ? 'partial' : 'complete',
      why: counted.open > 0 ? `${counted.open} calls without a result` : null,
      count: counted.calls,
    },
    {
      what: 'file effects',
      state: counted.blind > 0 ? 'partial' : 'complete',
      why:
        counted.blind > 0 ? `${counted.blind} calls (shell, MCP and others) leave no trace of what they changed` : null,
      count: counted.blind,
    },
    {
      what: 'configuration',
      state: row.manifest === null ? 'none' : 'partial',
      why:
        row.manifest === null
          ? 'no manifest was made'
          : 'what could not be learned is listed in the manifest as unknown',
      count: null,
    },
    {
      what: 'network, clock, randomness',
      state: 'none',
      why: 'not observable from a session; recorded runs keep them',
      count: null,
    },
    { what: 'databases and browsers', state: 'none', why: 'not captured', count: null },
  ]
  return { mode: 'observed', state: row.status === 'unreadable' ? 'none' : 'partial', items }
}

/** A session whose transcript was gone before it was read (B13): nothing of it is known but what was typed. */
const typedOnlyCoverage = (row: RunRow): Coverage => {
  const why = 'only the typed prompts are left: the transcript was gone before it was read'
  const nothing = ['model calls', 'tool calls', 'file effects', 'configuration', 'network, clock, randomness']
  return {
    mode: 'observed',
    state: 'partial',
    items: [
      { what: 'session', state: 'partial', why, count: row.rows },
      ...nothing.map((what) => ({ what, state: 'none' as const, why, count: null })),
      { what: 'databases and browsers', state: 'none', why: 'not captured', count: null },
    ],
  }
}
