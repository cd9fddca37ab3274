import { TriangleAlert } from 'lucide-react'
import type { RollbackPlan } from '../../contract/rollback.ts'
import { ChangeMark } from '../parts/change-mark.tsx'
import { cx } from '../parts/classes.ts'
import { formatStamp } from '../parts/format.ts'
import { PathText } from '../parts/path-text.tsx'
import { splitPath } from '../parts/paths.ts'
import { Cell } from '../parts/virtual-grid.tsx'
import { words } from '../words/en.ts'
import { type Choices, type ConflictChoice, choiceOf, type PlanConflict, type PlanItem } from './plan-model.ts'
import type { TableRow } from './table-rows.ts'

const w = words.rollback
type Row = Extract<TableRow, { type: 'path' }>

interface PathRowProps {
  readonly row: Row
  readonly plan: RollbackPlan
  readonly choices: Choices
  readonly wide: boolean
  readonly changed: boolean
  readonly onTick: (on: boolean) => void
  readonly onChoice: (path: string, choice: ConflictChoice) => void
}

/** The row as a sentence: what happens to the path, how much of it, and whether it is ticked. */
export function rowSentence({ of, ticked }: Row, changed: boolean): string {
  return [
    w.groups[of.group],
    of.path ?? (of.group === 'cannot' ? of.item.what : ''),
    detailOf(of, true),
    changed ? w.changedSince : '',
    ticked === null || of.group === 'conflict' ? '' : ticked ? w.ticked : w.notTicked,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function detailOf(of: PlanItem, long: boolean): string {
  switch (of.group) {
    case 'write': {
      const { key, added_lines, removed_lines, change, before, after, keeps } = of.item
      const lines = (long ? w.linesLong : w.lines)(added_lines, removed_lines)
      return [
        long ? w.changes[change] : '',
        key === null ? '' : w.onlyKey(key),
        change === 'mode' ? modes(before?.mode ?? null, after.mode) : lines,
        keeps.length > 0 ? w.keeps(keeps.length) : '',
      ]
        .filter((part) => part !== '')
        .join(', ')
    }
    case 'conflict':
      return conflictText(of.item)
    case 'cannot':
      return of.path === null ? of.item.why : `${of.item.what}: ${of.item.why}`
    default:
      return of.item.why
  }
}

const octal = (mode: number | null) => (mode === null ? words.unknown : (mode & 0o7777).toString(8))
export const modes = (before: number | null, after: number | null) => `${octal(before)} → ${octal(after)}`

/** Who changed it, when, and why that stands against the target. */
export function conflictText({ last_writer: { who, run, seq, at }, why }: PlanConflict): string {
  const writer = run === null ? w.who[who] : `${w.who[who]} (${run}${seq === null ? '' : `@${seq}`})`
  return `${why}; ${w.lastWriter.toLowerCase()} ${writer}${at === null ? '' : ` ${w.at(formatStamp(at))}`}`
}

const marks = { add: 'add', change: 'change', mode: 'mode', type: 'change' } as const

/** A path below its workspace is shown from there; the whole of it stands in the title. */
export const below = (path: string, plan: Pick<RollbackPlan, 'target'>): string => {
  const { workspace } = plan.target
  return workspace !== null && path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
}

export function PathRow({ row, plan, choices, wide, changed, onTick, onChoice }: PathRowProps) {
  const { of, ticked, level } = row
  if (of.group === 'conflict')
    return <ConflictRow of={of.item} plan={plan} choices={choices} changed={changed} onChoice={onChoice} />
  const shown = level === 3 ? row.name : of.path === null ? null : below(of.path, plan)
  const detail = detailOf(of, false)
  const warnings = of.group === 'write' ? of.item.warnings.length : 0
  const name = (
    <span className="flex min-w-0 items-center gap-1.5">
      {of.group === 'write' && <ChangeMark change={marks[of.item.change]} />}
      {of.group === 'delete' && <ChangeMark change="delete" />}
      {shown === null ? (
        <span className="truncate">{of.group === 'cannot' ? of.item.what : ''}</span>
      ) : (
        <span className="inline-flex min-w-0" title={of.path ?? undefined}>
          <PathText path={shown} deleted={of.group === 'delete'} />
        </span>
      )}
      {changed && <span className="shrink-0 rounded-chip bg-warn-tint px-1 text-meta text-warn">{w.changedSince}</span>}
      {warnings > 0 && (
        <span className="inline-flex shrink-0 items-center gap-1 text-meta text-warn">
          <TriangleAlert size={12} strokeWidth={1.75} aria-hidden="true" />
          {w.warns(warnings)}
        </span>
      )}
    </span>
  )
  const label =
    of.path === null
      ? ''
      : of.group === 'kept'
        ? w.tickKept(of.path)
        : of.group === 'delete'
          ? w.tickDelete(of.path)
          : w.tick(of.path)
  return (
    <div
      className={cx(
        'flex h-full min-w-0 items-center gap-2 pr-3 text-dense',
        level === 3 ? 'pl-13' : 'pl-8',
        !wide && 'border-b border-line',
      )}
    >
      <Cell className="flex w-6 shrink-0 justify-center">
        {ticked !== null && (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={label}
            checked={ticked}
            onChange={(event) => onTick(event.target.checked)}
          />
        )}
      </Cell>
      {wide ? (
        <>
          <Cell className="max-w-[65%] min-w-0 shrink-0">{name}</Cell>
          <Cell className="min-w-0 flex-1 truncate text-right text-text-2 tabular-nums">
            <span title={detail}>{detail}</span>
          </Cell>
        </>
      ) : (
        <Cell className="min-w-0 flex-1">
          {name}
          <span className="block truncate text-meta text-text-2 tabular-nums" title={detail}>
            {detail}
          </span>
        </Cell>
      )}
    </div>
  )
}

function ConflictRow({
  of,
  plan,
  choices,
  changed,
  onChoice,
}: {
  readonly of: PlanConflict
  readonly plan: RollbackPlan
  readonly choices: Choices
  readonly changed: boolean
  readonly onChoice: (path: string, choice: ConflictChoice) => void
}) {
  return (
    <div className="flex h-full min-w-0 flex-col justify-center gap-0.5 border-b border-line pr-3 pl-8 text-dense">
      <Cell className="flex min-w-0 items-center gap-2">
        <TriangleAlert size={14} strokeWidth={1.75} className="shrink-0 text-warn" aria-hidden="true" />
        <span className="inline-flex min-w-0 font-medium" title={of.path}>
          <PathText path={below(of.path, plan)} />
        </span>
        {changed && (
          <span className="shrink-0 rounded-chip bg-warn-tint px-1 text-meta text-warn">{w.changedSince}</span>
        )}
      </Cell>
      <Cell className="min-w-0 truncate pl-5.5 text-meta text-text-2">
        <span title={conflictText(of)}>{conflictText(of)}</span>
      </Cell>
      <Cell className="pl-5.5">
        <ConflictRadios of={of} name="row" choices={choices} onChoice={onChoice} />
      </Cell>
    </div>
  )
}

/** What happens to a path somebody else changed: the disk stays unless something else is chosen. */
export function ConflictRadios({
  of,
  name,
  choices,
  onChoice,
}: {
  readonly of: PlanConflict
  /** Two of them may be on the page. */
  readonly name: string
  readonly choices: Choices
  readonly onChoice: (path: string, choice: ConflictChoice) => void
}) {
  const current = choiceOf(choices, of.path)
  return (
    <span
      role="radiogroup"
      aria-label={w.choiceOf(splitPath(of.path).tail.replace(/^[/\\]/, ''))}
      data-own-click=""
      className="flex flex-wrap gap-x-4"
    >
      {of.choices.map((choice) => (
        <label key={choice} className="inline-flex h-6 items-center gap-1.5">
          <input
            type="radio"
            name={`${name}:${of.path}`}
            checked={current.choice === choice}
            onChange={() => onChoice(of.path, { choice, hunks: choice === 'hunks' ? current.hunks : [] })}
          />
          {w.choices[choice]}
        </label>
      ))}
    </span>
  )
}
