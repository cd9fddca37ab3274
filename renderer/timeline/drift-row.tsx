import { ArrowUpCircle, Diamond, TriangleAlert } from 'lucide-react'
import type { Drift } from '../../contract/drift.ts'
import { cx } from '../parts/classes.ts'
import { formatClock, shortId } from '../parts/format.ts'
import { PathText } from '../parts/path-text.tsx'
import { Cell } from '../parts/virtual-grid.tsx'
import { words } from '../words/en.ts'
import { rowColumns } from './run-row.tsx'

const w = words.drift

export const driftTitle = (drift: Drift): string =>
  drift.kind === 'update' ? `${words.runtimes[drift.runtime].name} ${drift.title}` : drift.title

/** Who could have made it, in a few words; why stands in the inspector. */
export const writerWords = ({ writer }: Pick<Drift, 'writer'>): string =>
  writer.who === 'run' && writer.run !== null ? w.byRun(shortId(writer.run)) : w.who[writer.who]

/** What was there when it was first looked at has no writer worth asking for. */
const rowWriter = (drift: Drift): string => (drift.kind === 'first_seen' ? '' : writerWords(drift))

export const driftSentence = (drift: Drift): string =>
  [w.row, driftTitle(drift), drift.alert ?? '', rowWriter(drift), drift.workspace ?? drift.home_path]
    .filter((part) => part !== '')
    .join(', ')

interface DriftRowProps {
  readonly drift: Drift
  /** In the columns of the runs; otherwise in two lines. */
  readonly wide: boolean
}

/** A change of configuration between runs: what was lost first, then what changed, where, and by whom. */
export function DriftRow({ drift, wide }: DriftRowProps) {
  const Icon = drift.alert !== null ? TriangleAlert : drift.kind === 'update' ? ArrowUpCircle : Diamond
  const writer = rowWriter(drift)
  const icon = (
    <Icon
      size={14}
      strokeWidth={1.75}
      className={drift.alert === null ? 'text-text-2' : 'text-danger'}
      aria-hidden="true"
    />
  )
  const title = (
    <>
      {drift.alert !== null && <span className="mr-2 font-medium text-danger">{drift.alert}</span>}
      {driftTitle(drift)}
    </>
  )
  const path = drift.workspace ?? drift.home_path
  if (wide)
    return (
      <div className={cx('grid h-full min-w-0 flex-1 items-center gap-x-2.5 pr-3 text-dense', rowColumns)}>
        <Cell className="truncate text-text-3 tabular-nums">{formatClock(drift.at)}</Cell>
        <Cell className="flex justify-center">{icon}</Cell>
        <Cell className="truncate">
          <span title={driftTitle(drift)}>{title}</span>
        </Cell>
        <Cell className="truncate text-text-2">
          <PathText path={path} className="w-full" />
        </Cell>
        <Cell className="col-span-5 truncate text-text-3 @min-[1160px]:col-span-6">{writer}</Cell>
      </div>
    )
  return (
    <div className="flex h-full min-w-0 flex-1 flex-col justify-center pr-3 text-dense">
      <div className="flex min-w-0 items-center gap-2">
        <Cell className="flex w-6 shrink-0 justify-center">{icon}</Cell>
        <Cell className="flex-1 truncate">{title}</Cell>
      </div>
      <div className="flex min-w-0 items-baseline gap-3 pl-8 text-text-3">
        <Cell className="shrink-0 tabular-nums">{formatClock(drift.at)}</Cell>
        <Cell className="min-w-0 truncate">
          <PathText path={path} className="w-full" />
        </Cell>
        <Cell className="ml-auto truncate">{writer}</Cell>
      </div>
    </div>
  )
}
