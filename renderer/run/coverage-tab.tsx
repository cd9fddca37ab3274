import { formatBytes, formatNumber } from '../parts/format.ts'
import { CoverageMark } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { words } from '../words/en.ts'
import type { RunDetails } from './run-screen.tsx'

const w = words.run

/** What of this run was captured completely, partly or not, each with its reason; unreadable lines with their place in the file. */
export function CoverageTab({ details }: { readonly details: RunDetails }) {
  const { coverage, files, unreadable } = details
  return (
    <ScrollArea className="pb-6">
      <Section
        title={`${words.coverage.title}: ${w.coverageMode[coverage.mode]}, ${words.coverage[coverage.state]}`}
        hint={coverage.mode === 'observed' ? words.coverage.observedMeans : words.coverage.recordedMeans}
      >
        <table className="w-full text-dense">
          <TableHead
            columns={[words.coverage.what, words.coverage.state, words.coverage.why, words.coverage.count]}
            right={[words.coverage.count]}
          />
          <tbody>
            {coverage.items.map((item) => (
              <tr key={item.what} className="border-b border-line align-top">
                <th scope="row" className="py-1 pr-3 text-left font-normal">
                  {item.what}
                </th>
                <td className="py-1 pr-3 whitespace-nowrap">
                  <CoverageMark state={item.state} word />
                </td>
                <td className="py-1 pr-3 text-text-2">
                  {item.why ?? (item.state === 'complete' ? '' : words.coverage.noReason)}
                </td>
                <td className="py-1 text-right tabular-nums">{item.count === null ? '' : formatNumber(item.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section title={w.unreadableTitle}>
        {unreadable.length === 0 ? (
          <p className="text-dense text-text-2">{w.noUnreadable}</p>
        ) : (
          <table className="w-full text-dense tabular-nums">
            <TableHead columns={[w.path, w.line, w.byte, w.bytes, w.reason]} right={[w.line, w.byte, w.bytes]} />
            <tbody>
              {unreadable.map((entry) => (
                <tr key={`${entry.path}:${entry.byte}`} className="border-b border-line align-top">
                  <td className="max-w-80 py-1 pr-3">
                    <PathText path={entry.path} />
                  </td>
                  <td className="py-1 pr-3 text-right">{formatNumber(entry.line)}</td>
                  <td className="py-1 pr-3 text-right">{formatNumber(entry.byte)}</td>
                  <td className="py-1 pr-3 text-right">{formatNumber(entry.bytes)}</td>
                  <td className="py-1 pr-3">
                    {entry.reason}
                    {entry.repaired && <span className="text-text-2">; {w.repaired}</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Section>
      <Section title={w.sessionFiles}>
        <table className="w-full text-dense tabular-nums">
          <TableHead columns={[w.path, w.state, w.linesHead, w.bytes]} right={[w.linesHead, w.bytes]} />
          <tbody>
            {files.map((file) => (
              <tr key={file.path} className="border-b border-line">
                <td className="max-w-96 py-1 pr-3">
                  <PathText path={file.path} />
                </td>
                <td className="py-1 pr-3">
                  {Object.entries(words.peek.sources).find(([name]) => name === file.state)?.[1] ?? file.state}
                </td>
                <td className="py-1 pr-3 text-right">{formatNumber(file.lines)}</td>
                <td className="py-1 text-right">{formatBytes(file.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
    </ScrollArea>
  )
}
