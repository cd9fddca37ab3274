import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Run } from '../../contract/run.ts'
import type { TimelineItem } from '../../contract/timeline.ts'
import { IdText } from '../parts/digest.tsx'
import { Fact, Facts, PaneHeading } from '../parts/facts.tsx'
import { Empty, Failure, Loading, useAfter } from '../parts/feedback.tsx'
import { formatDuration, formatExact, formatNumber, shortDigest, shortId } from '../parts/format.ts'
import { CoverageMark, EffectCount, RuntimeTile, StatusMark, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { manifestPath, runPath } from '../shell/address.ts'
import { whyPath } from '../shell/comparing.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { sumTokens } from './run-row.tsx'
import { TaskLink } from './task-link.tsx'

const w = words.peek

export function PeekNothing() {
  return <Empty title={w.nothing} hint={w.nothingHint} />
}

/** A run at a glance: what it changed, what it used, how completely it was seen. */
export function RunPeek({ run }: { readonly run: Run }) {
  // Rows one only passes by ask for nothing.
  const stays = useAfter(120)
  const details = useRead('runs.get', { run: run.id }, { enabled: stays })
  const ended = run.ended_at
  return (
    <div className="pb-4">
      <div className="px-3 pt-3">
        <h3 className="text-ui font-semibold break-words">
          <Link href={runPath(run.id)} className="rounded-chip hover:text-accent hover:underline">
            {run.title === '' ? words.timeline.noTitle : run.title.slice(0, 240)}
          </Link>
        </h3>
        <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-dense">
          <span className="inline-flex items-center gap-1.5">
            <RuntimeTile runtime={run.runtime} />
            {words.runtimes[run.runtime].name} {run.runtime_version ?? <Unknown />}
          </span>
          <StatusMark status={run.status} />
          <CoverageMark state={run.coverage} word />
          {run.manifest !== null && (
            <Link href={whyPath(run.id)} className="rounded-chip text-accent hover:underline">
              {words.compare.why}
            </Link>
          )}
        </div>
      </div>
      <Facts>
        <Fact name={w.when}>
          <Moment at={run.started_at} />
        </Fact>
        <Fact name={w.duration}>
          {run.status === 'running' ? (
            w.stillRunning
          ) : run.started_at === null || ended === null ? (
            <Unknown />
          ) : (
            formatDuration(Math.max(0, Date.parse(ended) - Date.parse(run.started_at)))
          )}
        </Fact>
        <Fact name={w.changed}>
          <Changed run={run} />
        </Fact>
        {run.task !== null && (
          <Fact name={w.task}>
            <TaskLink task={run.task} />
          </Fact>
        )}
        <Fact name={w.calls}>
          {words.timeline.calls(run.calls.total)}
          {run.calls.failed > 0 && (
            <span className="text-danger">, {words.timeline.callsFailed(run.calls.failed)}</span>
          )}
        </Fact>
        <Fact name={w.events}>
          {formatNumber(run.events)}
          {run.copied_events > 0 && <span className="block text-text-2">{w.copied(run.copied_events)}</span>}
        </Fact>
        <TokenFacts run={run} />
        <Fact name={w.manifest}>
          {run.manifest === null ? (
            <Unknown>{w.notCaptured}</Unknown>
          ) : (
            <Link
              href={manifestPath(run.manifest)}
              className="rounded-chip font-mono text-[0.75rem] text-accent hover:underline"
            >
              {shortDigest(run.manifest)}
            </Link>
          )}
        </Fact>
        <Fact name={w.workspaces}>
          {run.workspaces.length === 0 && <Unknown />}
          {run.workspaces.map((path) => (
            <PathText key={path} path={path} className="w-full" />
          ))}
          {run.workspaces.length > 1 && <span className="block text-text-2">{w.mixed}</span>}
        </Fact>
        <Fact name={w.models}>{run.models.length === 0 ? <Unknown /> : run.models.join(', ')}</Fact>
        {run.runtime_versions.length > 1 && <Fact name={w.versions}>{run.runtime_versions.join(', ')}</Fact>}
        {run.parent !== null && (
          <Fact name={w.parent}>
            <Link href={runPath(run.parent, run.forked_at)} className="rounded-chip text-accent hover:underline">
              {run.relation === null ? '' : `${words.relation[run.relation]} `}
              {shortId(run.parent)}
              {run.forked_at !== null && `@${run.forked_at}`}
            </Link>
          </Fact>
        )}
        {run.clock_steps_back > 0 && <Fact name="">{words.timeline.clock(run.clock_steps_back)}</Fact>}
        <Fact name={w.source}>{w.sources[run.source_state]}</Fact>
        <Fact name={w.session}>
          <span className="font-mono text-[0.75rem] break-all text-text-2">{run.session}</span>
        </Fact>
        <Fact name={w.home}>
          <PathText path={run.home} className="w-full" />
        </Fact>
        <Fact name={w.id}>
          <IdText id={run.id} />
        </Fact>
      </Facts>
      <PaneHeading>{w.coverage}</PaneHeading>
      {details.isPending && <Loading what={w.coverage} rows={3} />}
      {details.error !== null && (
        <Failure what={w.coverage} failure={details.error} onRetry={() => void details.refetch()} />
      )}
      {details.data !== undefined && (
        <>
          <ul className="px-3 text-dense">
            {details.data.coverage.items.map((item) => (
              <li key={item.what} className="flex gap-2 py-0.5">
                <CoverageMark state={item.state} />
                <span className="min-w-0 flex-1">
                  {item.what}
                  {item.why !== null && <span className="block text-text-2">{item.why}</span>}
                </span>
                {item.count !== null && <span className="text-text-3 tabular-nums">{formatNumber(item.count)}</span>}
              </li>
            ))}
          </ul>
          {details.data.branches.length > 0 && (
            <>
              <PaneHeading>{w.children}</PaneHeading>
              <ul className="px-3 text-dense">
                {details.data.branches.map((branch) => (
                  <li key={branch.id} className="flex items-center gap-2 py-0.5">
                    <Link
                      href={runPath(branch.id)}
                      className="min-w-0 flex-1 truncate rounded-chip text-accent hover:underline"
                    >
                      {branch.title === '' ? shortId(branch.id) : branch.title}
                    </Link>
                    <StatusMark status={branch.status} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </div>
  )
}

export function Moment({ at }: { readonly at: string | null }): ReactNode {
  return at === null ? <Unknown /> : <span className="tabular-nums">{formatExact(at)}</span>
}

function Changed({ run }: { readonly run: Run }) {
  const { added, changed, deleted, unknown_calls } = run.effects
  if (added + changed + deleted + unknown_calls === 0) return words.effects.none
  return <EffectCount effects={run.effects} word />
}

function TokenFacts({ run }: { readonly run: Run }) {
  const { input, output, cache_read, cache_write } = run.tokens
  return (
    <Fact name={w.tokens}>
      <span className="tabular-nums">
        {run.tokens_are_lower_bound && '≥ '}
        {formatNumber(sumTokens(run))}
      </span>
      <span className="block text-text-2 tabular-nums">
        {w.input} {formatNumber(input)}, {w.output} {formatNumber(output)}, {w.cacheRead} {formatNumber(cache_read)},{' '}
        {w.cacheWrite} {formatNumber(cache_write)}
      </span>
      {run.tokens_are_lower_bound && <span className="block text-text-2">{w.lowerBound}</span>}
    </Fact>
  )
}

/** What happened outside of a run. */
export function ItemPeek({
  item,
}: {
  readonly item: Exclude<TimelineItem, { type: 'run' | 'configuration' | 'rollback' }>
}) {
  return (
    <div className="pb-4">
      <p className="px-3 pt-3 font-medium">{item.message}</p>
      <Facts>
        <Fact name={w.when}>
          <Moment at={item.at} />
        </Fact>
        {item.type === 'source' && (
          <>
            <Fact name={w.source}>
              <PathText path={item.path} className="w-full" />
            </Fact>
            <Fact name={words.nav.run}>
              <Link href={runPath(item.run)} className="rounded-chip text-accent hover:underline">
                {shortId(item.run)}
              </Link>
            </Fact>
          </>
        )}
        {item.type === 'gap' && item.until !== null && (
          <Fact name={w.duration}>{formatDuration(Math.max(0, Date.parse(item.until) - Date.parse(item.at)))}</Fact>
        )}
      </Facts>
    </div>
  )
}
