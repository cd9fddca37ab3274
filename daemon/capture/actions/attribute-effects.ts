import type { Effect } from '../../../contract/index.ts'
import type { PathChange } from '../workspaces/look.ts'

/** An action of some run in the workspace, between two looks at it. */
export interface ActionInInterval {
  readonly run: string
  readonly seq: number
  readonly tool: string | null
  /** When it was called, milliseconds since 1970; null where the record does not say. */
  readonly from: number | null
  /** When it had answered; null while it is open. */
  readonly to: number | null
  /** What its own record says it changed; absolute paths. */
  readonly effects: readonly Effect[]
  /** It may have changed more than its record says: a shell, a program, a tool nobody knows. */
  readonly mayChangeMore: boolean
}

export interface AttributedEffect {
  /** Null: of no action; `by` says what is known. */
  readonly action: Pick<ActionInInterval, 'run' | 'seq'> | null
  readonly effect: Effect
  readonly mode: { readonly before: string | null; readonly after: string | null }
  readonly bytes: number | null
}

/** Clocks of file systems and of records tick differently. */
const SLACK_MS = 1_500

/**
 * Who made each change that two states of a workspace show (R157, B04): the action whose record names the file; else the action that was
 * under way when the file was last written; else nobody that is known. Being active at the time is no evidence by itself (R06).
 */
export function attributeEffects(
  root: string,
  changes: readonly PathChange[],
  actions: readonly ActionInInterval[],
): readonly AttributedEffect[] {
  return changes.map((change) => attribute(root, change, actions))
}

function attribute(root: string, change: PathChange, actions: readonly ActionInInterval[]): AttributedEffect {
  const path = `${root}/${Buffer.from(change.path, 'latin1').toString('utf8')}`
  const base = {
    path,
    change: change.change === 'type' ? ('change' as const) : change.change,
    before: change.before,
    after: change.after,
    added_lines: null,
    removed_lines: null,
  }
  const told = (action: ActionInInterval | null, by: Effect['by'], why: string, seen: Effect['seen_in'] = 'files') => ({
    action: action === null ? null : { run: action.run, seq: action.seq },
    effect: { ...base, by, why, seen_in: seen },
    mode: { before: change.beforeMode, after: change.afterMode },
    bytes: change.bytes,
  })

  const naming = actions.flatMap((action) => {
    const effect = action.effects.findLast((one) => one.path === path)
    return effect ? [{ action, effect }] : []
  })
  const last = naming.at(-1)
  if (last) {
    const { action, effect } = last
    if (effect.after === null || effect.after === change.after || change.change === 'delete')
      return told(action, 'edit tool', 'its own record names the file', 'both')
    // Something else wrote after it.
    const later = underWay(change, actions).find((one) => one !== action)
    if (later)
      return told(later, 'shell', `under way when the file was written; event ${action.seq} had changed it before`)
    return told(action, 'edit tool', 'its own record names the file, which was changed again afterwards', 'both')
  }

  const candidates = underWay(change, actions)
  const [only] = candidates
  if (only && candidates.length === 1)
    return told(
      only,
      only.to === null ? 'background process' : 'shell',
      change.mtimeMs === null ? 'the only action that could have removed it' : 'under way when the file was written',
    )
  if (only) {
    const runs = new Set(candidates.map(({ run }) => run))
    const named = candidates.map(({ run, seq }) => `${run}@${seq}`).join(', ')
    // Several calls of one run: it is known whose run it was, not which call.
    return runs.size === 1
      ? told(candidates.at(-1) ?? only, 'shell', `one of ${named}`)
      : told(null, 'unknown', `it could have been any of ${named}`)
  }
  const first = Math.min(...actions.map(({ from }) => from ?? Number.POSITIVE_INFINITY))
  if (actions.length === 0 || (change.mtimeMs !== null && change.mtimeMs + SLACK_MS < first))
    return told(null, 'user', 'no action of an agent was under way')
  return told(null, 'unknown', 'no action that was under way is known to have done it')
}

/** Actions that could have written the file when it was last written. What is gone has no time: any of them could have. */
function underWay({ mtimeMs, change }: PathChange, actions: readonly ActionInInterval[]): readonly ActionInInterval[] {
  const able = actions.filter(({ mayChangeMore }) => mayChangeMore)
  if (mtimeMs === null || change === 'delete' || change === 'mode') return able
  const timed = able.filter(
    ({ from, to }) =>
      from !== null && mtimeMs >= from - SLACK_MS && mtimeMs <= (to ?? Number.POSITIVE_INFINITY) + SLACK_MS,
  )
  if (timed.length > 0) return timed
  // A copy or an unpacked archive keeps old times; where only one action was there it is evidence enough.
  return able.length === 1 && mtimeMs < (able[0]?.from ?? 0) ? able : []
}
