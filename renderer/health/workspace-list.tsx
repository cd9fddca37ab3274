import type { StoreSizes, Workspace } from '../../contract/workspace.ts'
import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatBytes, formatNumber, formatStamp } from '../parts/format.ts'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.sizes
const looks: Readonly<Record<Workspace['state'], string>> = {
  captured: 'text-text-2',
  partial: 'text-warn',
  waiting: 'text-text-2',
  refused: 'text-danger',
  gone: 'text-text-3',
  off: 'text-text-3',
}

/** Every directory agents worked in: what of it is captured, why not more, what it takes, and what was left out. */
export function WorkspaceList({ sizes }: { readonly sizes: StoreSizes | undefined }) {
  const read = useRead('workspaces.list', {})
  const sizeOf = new Map(sizes?.workspaces.map((entry) => [entry.id, entry.bytes]) ?? [])
  return (
    <Section title={w.workspaces}>
      {read.error !== null && <Failure what={w.workspaces} failure={read.error} onRetry={() => void read.refetch()} />}
      {read.data === undefined && read.error === null && <Loading what={w.workspaces} rows={4} />}
      {read.data?.workspaces.length === 0 && <Empty title={w.noWorkspaces} />}
      <ul aria-label={w.workspaces}>
        {read.data?.workspaces.map((workspace) => (
          <li
            key={workspace.id}
            className="border-b border-line py-1.5 text-dense [contain-intrinsic-size:auto_48px] [content-visibility:auto]"
          >
            <div className="flex min-w-0 flex-wrap items-baseline gap-x-3">
              <PathText path={workspace.path} className="max-w-96 font-medium" />
              <span className={looks[workspace.state]}>{w.workspaceStates[workspace.state]}</span>
              <span className="tabular-nums">
                {w.takes}{' '}
                {sizeOf.has(workspace.id) ? (
                  formatBytes(sizeOf.get(workspace.id) ?? 0)
                ) : (
                  <Unknown why={w.notMeasured} />
                )}
              </span>
              {workspace.files > 0 && (
                <span className="text-text-2 tabular-nums">
                  {w.holds(formatNumber(workspace.files), formatBytes(workspace.bytes))}
                </span>
              )}
              <span className="text-text-2 tabular-nums">{w.statesAndRuns(workspace.states, workspace.runs)}</span>
              {workspace.last_seen_at !== null && (
                <span className="text-text-3 tabular-nums">{w.lastSeen(formatStamp(workspace.last_seen_at))}</span>
              )}
            </div>
            {workspace.why !== null && <p className="text-text-2">{workspace.why}</p>}
            {workspace.left_out_count > 0 && <LeftOut workspace={workspace} />}
          </li>
        ))}
      </ul>
    </Section>
  )
}

function LeftOut({ workspace }: { readonly workspace: Workspace }) {
  const { left_out, left_out_count } = workspace
  return (
    <details>
      <summary className="cursor-pointer rounded-chip text-warn">{w.leftOut(left_out_count)}</summary>
      <div className="overflow-x-auto">
        {left_out.length < left_out_count && (
          <p className="text-meta text-text-2">
            {w.leftOutShown(formatNumber(left_out.length), formatNumber(left_out_count))}
          </p>
        )}
        <table className="w-full">
          <TableHead columns={[words.run.path, w.reason, w.size]} right={[w.size]} />
          <tbody>
            {left_out.map((entry) => (
              <tr key={entry.path} className="border-b border-line align-top">
                <td className="py-0.5 pr-3">
                  <PathText path={entry.path} className="max-w-96" />
                </td>
                <td className="py-0.5 pr-3 text-text-2">{entry.why}</td>
                <td className="py-0.5 text-right whitespace-nowrap tabular-nums">
                  {entry.bytes === null ? <Unknown /> : formatBytes(entry.bytes)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
