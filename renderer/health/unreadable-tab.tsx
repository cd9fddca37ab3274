import { Link } from 'wouter'
import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatNumber, shortId } from '../parts/format.ts'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { TableHead } from '../parts/tables.tsx'
import { runPath } from '../shell/address.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.health
const r = words.run

/** Every line that could not be read, with its place in the file; the good lines around it are all there. */
export function UnreadableTab() {
  const list = useRead('health.unreadable', { limit: 1000 })
  if (list.error !== null)
    return <Failure what={w.tabs.unreadable} failure={list.error} onRetry={() => void list.refetch()} />
  if (list.data === undefined) return <Loading what={w.tabs.unreadable} />
  const { unreadable, total } = list.data
  if (unreadable.length === 0) return <Empty title={w.unreadableNone} hint={w.unreadableNoneHint} />
  return (
    <ScrollArea className="px-3 pt-2 pb-6 overflow-x-auto">
      {unreadable.length < total && <p className="pb-1 text-meta text-text-2">{w.of(unreadable.length, total)}</p>}
      <table className="w-full text-dense tabular-nums">
        <TableHead columns={[r.path, r.line, r.byte, r.bytes, r.reason, w.run]} right={[r.line, r.byte, r.bytes]} />
        <tbody>
          {unreadable.map((entry) => (
            <tr key={`${entry.path}:${entry.byte}`} className="border-b border-line align-top">
              <td className="max-w-96 py-1 pr-3">
                <PathText path={entry.path} />
              </td>
              <td className="py-1 pr-3 text-right">{formatNumber(entry.line)}</td>
              <td className="py-1 pr-3 text-right">{formatNumber(entry.byte)}</td>
              <td className="py-1 pr-3 text-right">{formatNumber(entry.bytes)}</td>
              <td className="py-1 pr-3">
                {entry.reason}
                {entry.repaired && <span className="text-text-2">; {r.repaired}</span>}
              </td>
              <td className="py-1 font-mono text-[0.75rem]">
                {entry.run === null ? (
                  <span className="font-sans text-text-3">{w.noRun}</span>
                ) : (
                  <Link
                    href={`${runPath(entry.run)}?tab=coverage`}
                    className="rounded-chip text-accent hover:underline"
                  >
                    {shortId(entry.run)}
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  )
}
