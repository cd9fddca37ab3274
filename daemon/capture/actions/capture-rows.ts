import { z } from 'zod'
import { type Effect, effectSchema } from '../../../contract/index.ts'
import type { Statement } from '../../store/index/database.ts'
import type { AgentCommits, StateAbout, WorkspaceId, WorkspaceState, WorkspaceStates } from '../../store/states.ts'
import type { AttributedEffect } from './attribute-effects.ts'

type Sql = (text: string) => Statement

/** What an agent commit says of the changes of its action; `event.json` holds it as `effects`. */
export const sealedEffectSchema = effectSchema.extend({
  mode_before: z.string().nullable().optional(),
  mode_after: z.string().nullable().optional(),
  bytes: z.number().nullable().optional(),
})
export type SealedEffect = Readonly<z.infer<typeof sealedEffectSchema>>

export const toSealed = ({ effect, mode, bytes }: AttributedEffect): SealedEffect => ({
  ...effect,
  mode_before: mode.before,
  mode_after: mode.after,
  bytes,
})

/** Rows about states and commits: derived, and the same again when they are read back from the store. */
export const createCaptureRows = (sql: Sql) => ({
  state(path: string, { tree, n, about }: WorkspaceState): void {
    sql(
      `insert into workspaces (id, path, state, why, first_at, last_at, tree, states, files, bytes, doc) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do update set state = excluded.state, why = excluded.why, last_at = excluded.last_at, tree = excluded.tree,
         states = excluded.states, files = excluded.files, bytes = excluded.bytes, doc = excluded.doc`,
    ).run(
      about.workspace,
      path,
      about.partial === null ? 'captured' : 'partial',
      about.partial,
      about.at,
      about.at,
      tree,
      n,
      about.files,
      about.bytes,
      JSON.stringify({ units: about.units, left_out: about.leftOut, left_out_count: about.leftOutCount }),
    )
  },

  /** A directory of runs that is not captured, and why. */
  without(id: WorkspaceId, path: string, state: 'refused' | 'gone' | 'off', why: string | null): void {
    sql(
      `insert into workspaces (id, path, state, why, states, files, bytes, doc) values (?, ?, ?, ?, 0, 0, 0, '{}')
       on conflict (id) do update set state = excluded.state, why = excluded.why`,
    ).run(id, path, state, why)
  },

  commit(run: string, seq: number, commit: string, tree: string | null, before: string | null, at: string): void {
    sql('insert or replace into commits (run, seq, "commit", tree, before, at) values (?, ?, ?, ?, ?, ?)').run(
      run,
      seq,
      commit,
      tree,
      before,
      at,
    )
  },

  effects(run: string, seq: number, effects: readonly SealedEffect[]): void {
    for (const effect of effects)
      sql('insert or replace into captured (run, seq, path, doc) values (?, ?, ?, ?)').run(
        run,
        seq,
        effect.path,
        JSON.stringify(effect),
      )
  },
})
export type CaptureRows = ReturnType<typeof createCaptureRows>

const eventSchema = z.looseObject({ pre_state: z.string().nullable(), effects: z.array(sealedEffectSchema).optional() })

/** All rows again, from the store alone. Runs and workspaces that cannot be read are told and passed over. */
export async function rebuildCaptureRows(
  rows: CaptureRows,
  states: Pick<WorkspaceStates, 'list' | 'history'>,
  commits: Pick<AgentCommits, 'list' | 'read'>,
  damaged: (what: string, error: unknown) => void,
): Promise<void> {
  for (const id of await states.list()) {
    try {
      const all: WorkspaceState[] = []
      for await (const state of states.history(id)) all.push(state)
      for (const state of all.reverse()) rows.state(pathOf(state.about), state)
    } catch (error) {
      damaged(`the states of ${id}`, error)
    }
  }
  for (const run of await commits.list()) {
    try {
      for await (const { seq, commit, tree, at, event } of commits.read(run)) {
        const parsed = eventSchema.parse(event)
        rows.commit(run, seq, commit, tree, parsed.pre_state, at)
        rows.effects(run, seq, parsed.effects ?? [])
      }
    } catch (error) {
      damaged(`the actions of ${run}`, error)
    }
  }
}

export const pathOf = (about: Pick<StateAbout, 'path'>): string => Buffer.from(about.path, 'latin1').toString('utf8')

/** What was captured of the events of a run, by their number. */
export function readCaptured(
  sql: Sql,
  run: string,
  from: number,
  to: number,
): ReadonlyMap<
  number,
  {
    readonly commit: string
    readonly tree: string | null
    readonly before: string | null
    readonly effects: readonly Effect[]
  }
> {
  const found = new Map<number, { commit: string; tree: string | null; before: string | null; effects: Effect[] }>()
  const commits = sql('select seq, "commit", tree, before from commits where run = ? and seq >= ? and seq <= ?').all(
    run,
    from,
    to,
  ) as { seq: number; commit: string; tree: string | null; before: string | null }[]
  for (const { seq, commit, tree, before } of commits) found.set(Number(seq), { commit, tree, before, effects: [] })
  const rows = sql('select seq, doc from captured where run = ? and seq >= ? and seq <= ? order by seq, path').all(
    run,
    from,
    to,
  ) as { seq: number; doc: string }[]
  for (const { seq, doc } of rows) found.get(Number(seq))?.effects.push(effectSchema.parse(JSON.parse(doc)))
  return found
}
