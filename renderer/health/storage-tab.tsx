import { useState } from 'react'
import { Link } from 'wouter'
import type { StoreSizes } from '../../contract/workspace.ts'
import { Button } from '../parts/button.tsx'
import { Empty, Failure, Loading, Progress } from '../parts/feedback.tsx'
import { formatBytes, formatClockSeconds, formatNumber, formatStamp, shortId } from '../parts/format.ts'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { runPath } from '../shell/address.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { FreeSpace } from './free-space.tsx'
import { WorkspaceList } from './workspace-list.tsx'

const w = words.sizes
const RUNS = 50

/** What the store holds and for whom, against its cap; and the way to give space back. */
export function StorageTab() {
  const sizes = useRead('store.sizes', { runs: RUNS })
  const [freeing, setFreeing] = useState(false)
  return (
    <ScrollArea className="pb-8">
      {sizes.error !== null && (
        <Failure
          what={w.measuring}
          failure={sizes.error}
          onRetry={() => void sizes.refetch()}
          lastGood={sizes.data === undefined ? null : formatClockSeconds(new Date(sizes.dataUpdatedAt).toISOString())}
        />
      )}
      {sizes.data === undefined && sizes.error === null && <Loading what={w.measuring} rows={6} />}
      {sizes.data !== undefined && (
        <Sizes
          sizes={sizes.data}
          measuring={sizes.isFetching}
          onMeasure={() => void sizes.refetch()}
          onFree={() => setFreeing(true)}
        />
      )}
      <WorkspaceList sizes={sizes.data} />
      {freeing && <FreeSpace onClose={() => setFreeing(false)} />}
    </ScrollArea>
  )
}

interface SizesProps {
  readonly sizes: StoreSizes
  readonly measuring: boolean
  readonly onMeasure: () => void
  readonly onFree: () => void
}

const number = 'py-1 pr-3 text-right tabular-nums whitespace-nowrap'

function Sizes({ sizes, measuring, onMeasure, onFree }: SizesProps) {
  const { bytes, cap_bytes, parts, runtimes, runs, large } = sizes
  const over = bytes - cap_bytes
  return (
    <>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3 pt-3">
        <h2 className="font-semibold">{w.title}</h2>
        <span className="text-dense tabular-nums">{w.of(formatBytes(bytes), formatBytes(cap_bytes))}</span>
        <Progress
          value={cap_bytes === 0 ? 1 : bytes / cap_bytes}
          label={w.title}
          text={w.of(formatBytes(bytes), formatBytes(cap_bytes))}
        />
        {over > 0 && <span className="text-dense text-warn">{w.over(formatBytes(over))}</span>}
        <span className="text-dense text-text-3 tabular-nums">{w.measured(formatStamp(sizes.measured_at))}</span>
        <span className="ml-auto flex gap-2">
          <Button small disabled={measuring} onClick={onMeasure}>
            {w.measure}
          </Button>
          <Button small onClick={onFree}>
            {w.free}
          </Button>
        </span>
      </header>
      {large.objects > 0 && (
        <p className="px-3 pt-1 text-dense text-text-2">
          {w.large(large.objects, formatBytes(large.bytes), formatBytes(large.content_bytes))}
        </p>
      )}
      <Section title={w.parts}>
        <table className="w-full max-w-2xl text-dense">
          <TableHead columns={[w.part, w.size]} right={[w.size]} />
          <tbody>
            {parts.map((part) => (
              <tr key={part.what} className="border-b border-line">
                <th scope="row" className="py-1 pr-3 text-left font-normal">
                  {part.what}
                </th>
                <td className={number}>{formatBytes(part.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section title={w.agents}>
        <table className="w-full max-w-2xl text-dense">
          <TableHead columns={[w.agent, w.size, w.runCount]} right={[w.size, w.runCount]} />
          <tbody>
            {runtimes.map((entry) => (
              <tr key={entry.runtime} className="border-b border-line">
                <th scope="row" className="py-1 pr-3 text-left font-normal">
                  {Object.entries(words.runtimes).find(([name]) => name === entry.runtime)?.[1].name ?? entry.runtime}
                </th>
                <td className={number}>{formatBytes(entry.bytes)}</td>
                <td className={number}>{formatNumber(entry.runs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section title={w.runs}>
        {runs.length === 0 ? (
          <Empty title={w.noRuns} />
        ) : (
          <table className="w-full text-dense">
            <TableHead columns={[w.run, w.size, w.keptBy]} right={[w.size]} />
            <tbody>
              {runs.map((entry) => (
                <tr key={entry.run} className="border-b border-line align-top">
                  <th scope="row" className="w-full max-w-0 min-w-40 py-1 pr-3 text-left font-normal">
                    <Link
                      href={runPath(entry.run)}
                      className="block truncate rounded-chip hover:text-accent hover:underline"
                    >
                      {entry.title === '' ? words.timeline.noTitle : entry.title}{' '}
                      <span className="font-mono text-[0.75rem] text-text-3">{shortId(entry.run)}</span>
                    </Link>
                  </th>
                  <td className={number}>{formatBytes(entry.bytes)}</td>
                  <td className="min-w-32 py-1 text-text-2">
                    {entry.kept_by.length === 0 ? w.keptByNone : entry.kept_by.join(', ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Section>
    </>
  )
}
