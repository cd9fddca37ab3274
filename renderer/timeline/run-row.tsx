import { ChevronRight, CornerDownRight, GitFork, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Run } from '../../contract/run.ts'
import { cx } from '../parts/classes.ts'
import { formatClock, formatDuration, formatNumber, formatTokens, shortId } from '../parts/format.ts'
import { CoverageMark, EffectCount, RuntimeTile, StatusMark, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { Cell } from '../parts/virtual-grid.tsx'
import { words } from '../words/en.ts'

const w = words.timeline
export type RowShape = 'wide' | 'two' | 'card'
export const rowColumns =
  'grid-cols-[2.5rem_1.5rem_minmax(0,1fr)_minmax(0,7.5rem)_5.25rem_5.5rem_3.5rem_3.25rem_0.875rem] @min-[1160px]:grid-cols-[2.5rem_1.5rem_minmax(0,1fr)_minmax(0,14rem)_6.5rem_6.5rem_4rem_4rem_0.875rem_4.125rem]'

interface RunRowProps {
  readonly run: Run
  readonly shape: RowShape
  readonly level: 1 | 2
  readonly subagents: number
  readonly open: boolean
  readonly onToggle: () => void
}

/** A run in one line, or in two where the pane is narrow. */
export function RunRow(props: RunRowProps) {
  const { run, shape } = props
  if (shape === 'wide')
    return (
      <div className={cx('grid h-full flex-1 items-center gap-x-2.5 pr-3 text-dense', rowColumns)}>
        <Cell className="truncate text-text-3 tabular-nums">
          {run.started_at === null ? <Unknown why={words.unknownDay}>{w.noTime}</Unknown> : formatClock(run.started_at)}
        </Cell>
        <Cell className="flex">
          <RuntimeTile runtime={run.runtime} />
        </Cell>
        <Cell className="flex items-center gap-1.5 overflow-hidden">
          <Title {...props} />
        </Cell>
        <Cell className="truncate text-text-2">
          <Workspace run={run} />
        </Cell>
        <Cell className="truncate">
          <StatusMark status={run.status} />
        </Cell>
        <Cell>
          <EffectCount effects={run.effects} />
        </Cell>
        <Cell className="truncate text-right text-text-2 tabular-nums">
          <Calls run={run} bare />
        </Cell>
        <Cell className="truncate text-right text-text-2 tabular-nums">
          <TokenSum run={run} bare />
        </Cell>
        <Cell className="flex">
          <CoverageMark state={run.coverage} />
        </Cell>
        <Cell className="hidden truncate font-mono text-[0.75rem] text-text-3 @min-[1160px]:block">
          {shortId(run.id)}
        </Cell>
      </div>
    )
  return (
    <div className="flex h-full min-w-0 flex-1 flex-col justify-center gap-0.5 pr-3">
      <div className="flex items-center gap-2 text-dense">
        <Cell className="flex">
          <RuntimeTile runtime={run.runtime} />
        </Cell>
        <Cell className="flex flex-1 items-center gap-1.5 overflow-hidden">
          <Title {...props} />
        </Cell>
        <Cell className="shrink-0">
          <StatusMark status={run.status} />
        </Cell>
        <Cell className="flex shrink-0">
          <CoverageMark state={run.coverage} />
        </Cell>
      </div>
      <div className="flex items-center gap-3 overflow-hidden text-meta text-text-2">
        <Cell className="shrink-0 text-text-3 tabular-nums">
          {run.started_at === null ? words.unknownDay : formatClock(run.started_at)}
        </Cell>
        <Cell className="flex-1 truncate">
          <Workspace run={run} />
        </Cell>
        <Cell className="shrink-0">
          <EffectCount effects={run.effects} />
        </Cell>
        {shape === 'two' && (
          <>
            <Cell className="shrink-0 tabular-nums">
              <Calls run={run} />
            </Cell>
            <Cell className="shrink-0 tabular-nums">
              <TokenSum run={run} />
            </Cell>
            <Cell className="shrink-0 font-mono text-text-3">{shortId(run.id)}</Cell>
          </>
        )}
      </div>
    </div>
  )
}

function Title({ run, level, subagents, open, onToggle }: RunRowProps) {
  return (
    <>
      {level === 2 && (
        <CornerDownRight size={12} strokeWidth={1.75} className="ml-1 shrink-0 text-text-3" aria-hidden="true" />
      )}
      <span
        className={cx('min-w-20 truncate', run.title === '' ? 'text-text-3 italic' : 'text-text')}
        title={run.title}
      >
        {run.title === '' ? w.noTitle : run.title.replaceAll('\n', ' ')}
      </span>
      {run.relation !== null && level === 1 && <Origin run={run} />}
      {run.source_state !== 'present' && (
        <Chip tone="warn">{run.source_state === 'shrank' ? w.shrank : w.vanished}</Chip>
      )}
      {run.unreadable_lines > 0 && <Chip tone="warn">{w.unreadableLines(run.unreadable_lines)}</Chip>}
      {run.stretches.length > 1 && <Chip>{w.resolvedAgain(run.stretches.length - 1)}</Chip>}
      {run.status === 'running' && <Ticking since={run.started_at} />}
      {subagents > 0 && (
        <button
          type="button"
          tabIndex={-1}
          data-own-click
          aria-label={w.unfold}
          onClick={onToggle}
          className="ml-auto inline-flex h-6 shrink-0 items-center gap-0.5 rounded-chip px-1 text-meta text-text-2 hover:bg-hover hover:text-text"
        >
          {w.children(subagents)}
          <ChevronRight size={14} strokeWidth={1.75} aria-hidden="true" className={open ? 'rotate-90' : ''} />
        </button>
      )}
    </>
  )
}

/** Whose fork it is; in a narrow list the shape stands for the words, which stay readable for assistive technology and as a tip. */
function Origin({ run }: { readonly run: Run }) {
  if (run.relation === null) return null
  const text = `${words.relation[run.relation]} ${run.parent === null ? words.unknown : shortId(run.parent)}${run.forked_at === null ? '' : `@${run.forked_at}`}`
  return (
    <span className="inline-flex shrink-0 items-center gap-1 text-text-3" title={text}>
      <GitFork size={12} strokeWidth={1.75} aria-hidden="true" />
      <span className="sr-only @min-[1160px]:not-sr-only">{text}</span>
    </span>
  )
}

export function Chip({ tone = 'plain', children }: { readonly tone?: 'plain' | 'warn'; readonly children: string }) {
  return (
    <span
      className={cx(
        'inline-flex h-4 max-w-40 min-w-0 shrink items-center rounded-chip px-1 text-meta',
        tone === 'warn' ? 'bg-warn-tint text-warn' : 'bg-sunken text-text-2',
      )}
    >
      <span className="truncate">{children}</span>
    </span>
  )
}

function Workspace({ run }: { readonly run: Run }) {
  return run.workspace === null ? (
    <span className="unknown-word">{w.noWorkspace}</span>
  ) : (
    <PathText path={run.workspace} />
  )
}

interface FigureProps {
  readonly run: Run
  /** Without its word, under the head of a column. */
  readonly bare?: boolean
}

function Calls({ run, bare = false }: FigureProps) {
  return (
    <>
      {run.calls.failed > 0 && (
        <span className="mr-1.5 inline-flex items-center text-danger" title={w.callsFailed(run.calls.failed)}>
          {formatNumber(run.calls.failed)}
          <X size={11} strokeWidth={2} aria-label={w.callsFailed(run.calls.failed)} />
        </span>
      )}
      {bare ? formatNumber(run.calls.total) : w.calls(run.calls.total)}
    </>
  )
}

export const sumTokens = (run: Run) =>
  run.tokens.input + run.tokens.output + run.tokens.cache_read + run.tokens.cache_write

function TokenSum({ run, bare = false }: FigureProps) {
  const sum = sumTokens(run)
  if (sum === 0) return run.tokens_are_lower_bound ? <span className="unknown-word">{words.unknown}</span> : null
  const short = formatTokens(sum)
  return (
    <span title={`${run.tokens_are_lower_bound ? '≥ ' : ''}${formatNumber(sum)}`}>
      {bare
        ? `${run.tokens_are_lower_bound ? '≥' : ''}${short}`
        : run.tokens_are_lower_bound
          ? w.tokensAtLeast(short)
          : w.tokens(short)}
    </span>
  )
}

function Ticking({ since }: { readonly since: string | null }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  if (since === null) return null
  return (
    <span className="shrink-0 text-meta text-accent tabular-nums">
      {formatDuration(Math.max(0, now - Date.parse(since)))}
    </span>
  )
}

/** The row as a sentence, for assistive technology. */
export function runSentence(run: Run, day: string): string {
  const { added, changed, deleted, unknown_calls } = run.effects
  return w.rowSentence([
    `${words.runtimes[run.runtime].name} ${words.nav.run.toLowerCase()}`,
    run.relation === null || run.parent === null ? '' : `${words.relation[run.relation]} ${shortId(run.parent)}`,
    run.title === '' ? w.noTitle : run.title,
    run.started_at === null ? words.unknownDay : `${day} ${formatClock(run.started_at)}`,
    words.runStatus[run.status],
    words.effects.words(added, changed, deleted, unknown_calls),
    words.coverage[run.coverage],
  ])
}
