import { z } from 'zod'
import { type Effect, effectSchema, type RunEvent } from '../../../contract/index.ts'

export interface EventRow {
  readonly seq: number
  readonly id: string
  readonly parent_seq: number | null
  readonly parent_id: string | null
  readonly broken: number
  readonly kind: RunEvent['kind']
  readonly at: string | null
  readonly tool: string | null
  readonly tool_use_id: string | null
  readonly summary: string
  readonly ok: number | null
  readonly duration: number | null
  readonly effects_state: RunEvent['effects_state']
  readonly effects: string | null
  readonly t_in: number | null
  readonly t_out: number | null
  readonly t_read: number | null
  readonly t_write: number | null
  readonly model: string | null
  readonly lane: number
  readonly stretch: number
  readonly cwd: string | null
  readonly generation: number
  readonly line: number
  readonly byte: number
  readonly bytes: number
  readonly more: string | null
  readonly copied_from: string | null
  readonly subagent: string | null
}

const effects = z.array(effectSchema)
export const readEffects = (text: string | null): Effect[] => (text === null ? [] : effects.parse(JSON.parse(text)))

export const EVENTS_OF_RUN = `
  select events.*, up.id as parent_id, sub.id as subagent
  from events
  left join events up on up.run = events.run and up.seq = events.parent_seq
  left join runs own on own.key = events.run
  left join runs sub on sub.session = events.sub_session and sub.home = own.home
  where events.run = ?`

export const toEvent = (row: EventRow): RunEvent => ({
  seq: row.seq,
  id: row.id,
  parent: row.parent_id,
  broken_link: row.broken === 1,
  kind: row.kind,
  at: row.at,
  tool: row.tool,
  tool_use_id: row.tool_use_id,
  summary: row.summary,
  ok: row.ok === null ? null : row.ok === 1,
  duration_ms: row.duration,
  origin: 'live',
  pre_state: null,
  post_state: null,
  effects: readEffects(row.effects),
  effects_state: row.effects_state,
  tokens:
    row.t_in === null
      ? null
      : { input: row.t_in, output: row.t_out ?? 0, cache_read: row.t_read ?? 0, cache_write: row.t_write ?? 0 },
  model: row.model,
  lane: row.lane === 1 ? 'sidechain' : 'main',
  subagent: row.subagent,
  copied_from: row.copied_from,
  stretch: row.stretch,
  cwd: row.cwd,
  line: row.line,
  commit: null,
  exchange: null,
})
