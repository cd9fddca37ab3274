import { Undo2 } from 'lucide-react'
import type { RollbackRecord } from '../../contract/rollback.ts'
import { cx } from '../parts/classes.ts'
import { formatClock } from '../parts/format.ts'
import { PathText } from '../parts/path-text.tsx'
import { Cell } from '../parts/virtual-grid.tsx'
import { recordRow, scopeText } from '../rollback/record-text.ts'
import { words } from '../words/en.ts'
import { rowColumns } from './run-row.tsx'

const w = words.receipt

export const rollbackSentence = (record: RollbackRecord): string =>
  [w.row, recordRow(record), record.target.workspace ?? record.target.home ?? '', scopeText(record.scope)]
    .filter((part) => part !== '')
    .join(', ')

interface RollbackRowProps {
  readonly record: RollbackRecord
  /** In the columns of the runs; otherwise in two lines. */
  readonly wide: boolean
}

/** A rollback among the runs: target, paths, and whether it was taken back. */
export function RollbackRow({ record, wide }: RollbackRowProps) {
  const open = record.state === 'interrupted' || record.state === 'failed'
  const title = recordRow(record)
  const path = record.target.workspace ?? record.target.home
  const icon = (
    <Undo2 size={14} strokeWidth={1.75} className={open ? 'text-danger' : 'text-text-2'} aria-hidden="true" />
  )
  const text = <span className={cx(open && 'text-danger')}>{title}</span>
  const place = path === null ? null : <PathText path={path} className="w-full" />
  if (wide)
    return (
      <div className={cx('grid h-full min-w-0 flex-1 items-center gap-x-2.5 pr-3 text-dense', rowColumns)}>
        <Cell className="truncate text-text-3 tabular-nums">{formatClock(record.at)}</Cell>
        <Cell className="flex justify-center">{icon}</Cell>
        <Cell className="truncate">
          <span title={title}>{text}</span>
        </Cell>
        <Cell className="truncate text-text-2">{place}</Cell>
        <Cell className="col-span-5 truncate text-text-3 @min-[1160px]:col-span-6">{scopeText(record.scope)}</Cell>
      </div>
    )
  return (
    <div className="flex h-full min-w-0 flex-1 flex-col justify-center pr-3 text-dense">
      <div className="flex min-w-0 items-center gap-2">
        <Cell className="flex w-6 shrink-0 justify-center">{icon}</Cell>
        <Cell className="flex-1 truncate">{text}</Cell>
      </div>
      <div className="flex min-w-0 items-baseline gap-3 pl-8 text-text-3">
        <Cell className="shrink-0 tabular-nums">{formatClock(record.at)}</Cell>
        <Cell className="min-w-0 truncate">{place}</Cell>
        <Cell className="ml-auto truncate">{scopeText(record.scope)}</Cell>
      </div>
    </div>
  )
}
