import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatExact } from '../parts/format.ts'
import { Unknown } from '../parts/marks.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { TableHead } from '../parts/tables.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.health
const c = w.readColumns

/** Each opening of a covered secret, who asked and why (R75, R76); never its text. */
export function ReadsTab() {
  return (
    <ScrollArea className="px-3 pt-3 pb-6 overflow-x-auto">
      <ReadsTable />
    </ScrollArea>
  )
}

export function ReadsTable() {
  const read = useRead('sensitive.reads', { limit: 1000 })
  if (read.error !== null)
    return <Failure what={w.tabs.reads} failure={read.error} onRetry={() => void read.refetch()} />
  if (read.data === undefined) return <Loading what={w.tabs.reads} />
  const { reads, total, unreadable } = read.data
  return (
    <section aria-label={w.reads}>
      <h2 className="pb-1 text-ui font-semibold">{w.reads}</h2>
      {unreadable > 0 && <p className="pb-1 text-dense text-warn">{w.readsUnreadable(unreadable)}</p>}
      {reads.length === 0 ? (
        <Empty title={w.readsNone} />
      ) : (
        <table className="w-full text-dense">
          <TableHead columns={[c.at, c.who, c.family, c.where, c.reason]} />
          <tbody>
            {reads.map((entry) => (
              <tr key={`${entry.at}${entry.ref}`} className="border-b border-line align-top">
                <td className="py-1 pr-3 whitespace-nowrap tabular-nums">{formatExact(entry.at)}</td>
                <td className="py-1 pr-3 whitespace-nowrap">{entry.who ?? entry.by}</td>
                <td className="py-1 pr-3">{entry.family}</td>
                <td className="py-1 pr-3 break-all">{entry.where}</td>
                <td className="min-w-40 py-1 break-words">{entry.reason ?? <Unknown>{w.readNoReason}</Unknown>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {total > reads.length && <p className="pt-1 text-dense text-text-2">{w.readsOf(reads.length, total)}</p>}
    </section>
  )
}
