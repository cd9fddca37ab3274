import { ArrowUpCircle, Diamond, TriangleAlert } from 'lucide-react'
import type { Drift } from '../../contract/drift.ts'
import { cx } from '../parts/classes.ts'
import { formatClock, shortId } from '../parts/format.ts'
import { PathText } from '../parts/path-text.tsx'
import { Cell } from '../parts/virtual-grid.tsx'
import { words } from '../words/en.ts'

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

/** A change of configuration between runs. */
export function DriftRow({ drift, wide }: { readonly drift: Drift; readonly wide: boolean }) {
  const Icon = drift.alert !== null ? TriangleAlert : drift.kind === 'update' ? ArrowUpCircle : Diamond
  return (
    <div className="flex min-w-0 flex-1 items-center gap-3 pr-3 text-dense">
      <Cell className="w-11 shrink-0 text-text-3 tabular-nums">{formatClock(drift.at)}</Cell>
      <Cell className="flex w-7 shrink-0 justify-center">
        <Icon
          size={14}
          strokeWidth={1.75}
          className={drift.alert === null ? 'text-text-2' : 'text-danger'}
          aria-hidden="true"
        />
      </Cell>
      <Cell className="min-w-0 flex-1 truncate">
        {drift.alert !== null && <span className="mr-2 font-medium text-danger">{drift.alert}</span>}
        <span className={cx(drift.alert === null && 'text-text')}>{driftTitle(drift)}</span>
        {rowWriter(drift) !== '' && <span className="text-text-3">, {rowWriter(drift)}</span>}
      </Cell>
      {wide && (
        <Cell className="w-56 min-w-0 shrink-0 text-text-2">
          <PathText path={drift.workspace ?? drift.home_path} className="w-full" />
        </Cell>
      )}
    </div>
  )
}
