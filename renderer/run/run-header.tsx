import { Link, useLocation } from 'wouter'
import { Button } from '../parts/button.tsx'
import { CommandHint } from '../parts/command-hint.tsx'
import { IdText } from '../parts/digest.tsx'
import {
  formatClock,
  formatDuration,
  formatExact,
  formatNumber,
  formatTokens,
  shortDigest,
  shortId,
} from '../parts/format.ts'
import { CoverageMark, EffectCount, RuntimeTile, StatusMark, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { MoreMenu } from '../parts/row-menu.tsx'
import { rollbackPath } from '../rollback/address.ts'
import { runPath } from '../shell/address.ts'
import { whyPath } from '../shell/comparing.ts'
import { sumTokens } from '../timeline/run-row.tsx'
import { TaskLink } from '../timeline/task-link.tsx'
import { words } from '../words/en.ts'
import type { RunDetails } from './run-screen.tsx'

const w = words.run

/** One run in two lines: what it is, how it ended, what it cost, how completely it was seen. */
export function RunHeader({
  details,
  at,
  onExport,
}: {
  readonly details: RunDetails
  readonly at: number
  readonly onExport: () => void
}) {
  const { run, coverage } = details
  const tokens = sumTokens(run)
  const [, navigate] = useLocation()
  return (
    <header className="shrink-0 px-3 pt-2.5 pb-1.5">
      <div className="flex min-w-0 items-center gap-3">
        <h1 className="min-w-0 truncate text-read font-semibold" title={run.title.slice(0, 400)}>
          {run.title === '' ? words.timeline.noTitle : run.title.replaceAll('\n', ' ').slice(0, 400)}
        </h1>
        <span className="shrink-0 text-dense">
          <StatusMark status={run.status} />
        </span>
        <span className="shrink-0 text-dense">
          <EffectCount effects={run.effects} />
        </span>
        <span className="ml-auto flex shrink-0 items-center gap-2 max-sm:hidden">
          <Button small onClick={() => navigate(whyPath(run.id))} disabled={run.manifest === null}>
            {words.compare.why}
          </Button>
          <Button small onClick={() => navigate(rollbackPath({ target: `${run.id}@${at}` }))}>
            {words.rollback.toHere}
          </Button>
          <IdText id={run.id} />
          <CommandHint command={`reprise show ${run.id}@${at}`} />
          <Button small onClick={onExport}>
            {words.export.act}
          </Button>
        </span>
        <span className="ml-auto shrink-0 sm:hidden">
          <MoreMenu
            label={words.more}
            entries={[
              {
                id: 'why',
                label: words.compare.why,
                disabled: run.manifest === null ? w.noManifest : null,
                run: () => navigate(whyPath(run.id)),
              },
              {
                id: 'back',
                label: words.rollback.toHere,
                run: () => navigate(rollbackPath({ target: `${run.id}@${at}` })),
              },
              { id: 'export', label: words.export.act, run: onExport },
            ]}
          />
        </span>
      </div>
      <div className="mt-1 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5 text-dense text-text-2">
        <span className="inline-flex items-center gap-1.5">
          <RuntimeTile runtime={run.runtime} />
          {run.runtime_version ?? <Unknown />}
        </span>
        {run.workspace === null ? (
          <Unknown>{words.timeline.noWorkspace}</Unknown>
        ) : (
          <PathText path={run.workspace} className="max-w-72" />
        )}
        {run.started_at === null ? (
          <Unknown>{words.unknownDay}</Unknown>
        ) : (
          <span
            className="tabular-nums"
            title={`${formatExact(run.started_at)}${run.ended_at === null ? '' : ` – ${formatExact(run.ended_at)}`}`}
          >
            {formatExact(run.started_at).slice(0, 10)}{' '}
            {run.ended_at === null
              ? formatClock(run.started_at)
              : w.from(formatClock(run.started_at), formatClock(run.ended_at))}
            {run.ended_at !== null && (
              <span className="text-text-3">
                {' '}
                {formatDuration(Math.max(0, Date.parse(run.ended_at) - Date.parse(run.started_at)))}
              </span>
            )}
          </span>
        )}
        <span className="tabular-nums" title={formatNumber(tokens)}>
          {run.tokens_are_lower_bound
            ? words.timeline.tokensAtLeast(formatTokens(tokens))
            : words.timeline.tokens(formatTokens(tokens))}
        </span>
        <Unknown why={w.costWhy}>{w.costUnknown}</Unknown>
        {run.manifest === null ? (
          <Unknown>{w.noManifest}</Unknown>
        ) : (
          <Link
            href={`/runs/${run.id}/manifest`}
            className="inline-flex items-baseline gap-1 rounded-chip text-accent hover:underline"
          >
            {w.manifest} <span className="font-mono text-[0.75rem]">{shortDigest(run.manifest)}</span>
          </Link>
        )}
        {run.task !== null && (
          <span className="inline-flex items-baseline gap-1">
            {words.peek.task} <TaskLink task={run.task} />
          </span>
        )}
        {run.parent !== null && run.relation !== null && (
          <Link href={runPath(run.parent, run.forked_at)} className="rounded-chip text-accent hover:underline">
            {words.relation[run.relation]} {shortId(run.parent)}
            {run.forked_at !== null && `@${run.forked_at}`}
          </Link>
        )}
        <span
          className="inline-flex items-center gap-1.5"
          title={coverage.mode === 'observed' ? words.coverage.observedMeans : words.coverage.recordedMeans}
        >
          <CoverageMark state={coverage.state} />
          {words.coverage[coverage.mode]}
        </span>
      </div>
    </header>
  )
}
