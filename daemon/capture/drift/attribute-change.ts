import type { DriftWriter, RunId } from '../../../contract/index.ts'
import type { Statement } from '../../store/index/database.ts'
import type { Change } from './describe-change.ts'

export interface Window {
  /** Last time it was seen as it was before; null when nobody looked before. */
  readonly from: string | null
  readonly to: string
}

export interface Clues {
  readonly home: string
  readonly workspace: string | null
  readonly changes: readonly Change[]
  readonly window: Window
  readonly versions: { readonly before: string | null; readonly after: string | null }
  /** Reprise was not running for a part of the window. */
  readonly away: boolean
  /** What Reprise itself wrote there, when that is what stands there now. */
  readonly ownEdit: (path: string) => OwnEdit | null
}

/** A file that Reprise wrote for its user. */
export interface OwnEdit {
  readonly path: string
  /** Null: it was removed. */
  readonly digest: string | null
  /** "saved in Reprise", "rolled back to …". */
  readonly why: string
}

/** A run counts as going on for this long after its last record. */
const GRACE_MS = 60_000

/**
 * Who could have made a change, with what that rests on. A run is named only when its own record shows an action on the file; being
 * active at the time is a possibility, and is told as one (R06).
 */
export function attributeChange(sql: (text: string) => Statement, clues: Clues): DriftWriter {
  const { changes, window, versions } = clues
  const paths = [...new Set(changes.flatMap(({ item }) => (item.path === null ? [] : [item.path])))]
  const from = window.from ?? '0000'
  const edits = paths.map(clues.ownEdit)
  const [edit] = edits
  if (edit && edits.every((one) => one !== null)) return { who: 'reprise', run: null, seq: null, why: edit.why }
  const own = findAction(sql, paths, from, window.to)
  if (own) return own
  if (versions.before !== null && versions.after !== null && versions.before !== versions.after)
    return {
      who: 'agent update',
      run: null,
      seq: null,
      why: `the program went from ${versions.before} to ${versions.after} in the same time`,
    }
  const active = sql(
    `select id, workspaces from runs where home = ? and started_at is not null and started_at <= ? and coalesce(ended_at, started_at) >= ?
     order by sort_at desc limit 20`,
  ).all(clues.home, window.to, new Date(Math.max(0, Date.parse(from) - GRACE_MS) || 0).toISOString()) as {
    id: RunId
  }[]
  const bookkeeping =
    paths.length > 0 && paths.every((file) => changes.every(({ item }) => item.path !== file || item.group === 'trust'))
  if (active.length > 0 && bookkeeping)
    return {
      who: 'agent',
      run: active[0]?.id ?? null,
      seq: null,
      why: 'the agent keeps its own answers to questions there',
    }
  if (active.length > 0)
    return {
      who: 'unknown',
      run: active.length === 1 ? (active[0]?.id ?? null) : null,
      seq: null,
      why:
        active.length === 1
          ? 'a run was going on at the time; its record shows no action on this file, but what its shell commands did is not recorded'
          : `${active.length} runs were going on at the time; none of their records shows an action on this file`,
    }
  if (clues.away || window.from === null)
    return {
      who: 'unknown',
      run: null,
      seq: null,
      why: 'it changed while Reprise was not running, and no run of that time shows it',
    }
  return { who: 'user', run: null, seq: null, why: 'no run was going on: it was you, or a program you started' }
}

/** The last action on one of these files that the record of a run shows. */
function findAction(
  sql: (text: string) => Statement,
  paths: readonly string[],
  from: string,
  to: string,
): DriftWriter | null {
  for (const file of paths) {
    const row = sql(
      `select runs.id as run, events.seq as seq, events.tool as tool, events.at as at from events join runs on runs.key = events.run
       where events.effects like ? escape '\\' and events.at >= ? and events.at <= ? and events.copied_from is null
         and exists (select 1 from json_each(events.effects) where json_extract(value, '$.path') = ?)
       order by events.at desc limit 1`,
    ).get(
      `%${JSON.stringify(file)
        .slice(1, -1)
        .replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`,
      new Date(Math.max(0, Date.parse(from) - 2000) || 0).toISOString(),
      new Date(Date.parse(to) + 2000).toISOString(),
      file,
    ) as { run: RunId; seq: number; tool: string | null } | undefined
    if (row)
      return {
        who: 'run',
        run: row.run,
        seq: Number(row.seq),
        why: `${row.tool ?? 'an action'} of the run wrote ${file}`,
      }
  }
  return null
}
