import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatExact } from '../parts/format.ts'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { TableHead } from '../parts/tables.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.health
const c = w.readColumns

/** Each opening of a covered secret (R364); never its text. */
export function ReadsTab() {
  const read = useRead('sensitive.reads', { limit: 1000 })
  if (read.error !== null)
    return <Failure what={w.tabs.reads} failure={read.error} onRetry={() => void read.refetch()} />
  if (read.data === undefined) return <Loading what={w.tabs.reads} />
  if (read.data.reads.length === 0) return <Empty title={w.readsNone} />
  return (
    <ScrollArea className="px-3 pt-3 pb-6 overflow-x-auto">
      <h2 className="pb-1 font-semibold">{w.reads}</h2>
      <table className="w-full text-dense">
        <TableHead columns={[c.at, c.family, c.where, c.by]} />
        <tbody>
          {read.data.reads.map((entry) => (
            <tr key={`${entry.at}${entry.ref}`} className="border-b border-line">
              <td className="py-1 pr-3 tabular-nums">{formatExact(entry.at)}</td>
              <td className="py-1 pr-3">{entry.family}</td>
              <td className="py-1 pr-3 break-all">{entry.where}</td>
              <td className="py-1">{entry.by}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  )
}
