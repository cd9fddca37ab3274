import { lazy, Suspense, useState } from 'react'
import type { EventDetail, Run } from '../../contract/run.ts'
import { LinkButton } from '../parts/button.tsx'
import { ChangeMark } from '../parts/change-mark.tsx'
import { cx } from '../parts/classes.ts'
import { Loading } from '../parts/feedback.tsx'
import { escapeControls, formatNumber, shortDigest } from '../parts/format.ts'
import { Hidden } from '../parts/hidden.tsx'
import { Unknown } from '../parts/marks.tsx'
import { useSize } from '../parts/use-size.ts'
import { words } from '../words/en.ts'
import { relativeTo } from './relative.ts'

const DiffView = lazy(() => import('../parts/diff-view.tsx'))
const w = words.run

interface ChangeViewProps {
  readonly detail: EventDetail
  readonly run: Run
  readonly onMoveSeq: (seq: number) => void
}

/** What one event changed, path by path; what was not captured is said instead of an empty diff. */
export function ChangeView({ detail, run }: ChangeViewProps) {
  const { event, changes } = detail
  const paths = [...new Set([...changes.map((change) => change.path), ...event.effects.map((effect) => effect.path)])]
  const [open, setOpen] = useState(paths[0] ?? '')
  const { ref, width } = useSize<HTMLDivElement>()
  return (
    <div ref={ref} className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      {event.effects_state === 'partial' && (
        <p className="px-3 py-1 text-dense text-warn">{words.effects.states.partial}</p>
      )}
      {paths.map((path) => {
        const change = changes.find((entry) => entry.path === path)
        const effect = event.effects.find((entry) => entry.path === path)
        const kind = change?.change ?? effect?.change ?? 'unknown'
        const shown = open === path
        return (
          <section key={path} className={cx('flex flex-col border-b border-line', shown && 'min-h-40 flex-1')}>
            <h3 className="flex min-h-8 shrink-0 items-center gap-2 px-3 text-dense">
              <ChangeMark change={kind} />
              <button
                type="button"
                aria-expanded={shown}
                className={cx(
                  'min-w-0 truncate rounded-chip text-left font-mono text-[0.75rem] hover:underline',
                  kind === 'delete' && 'line-through',
                )}
                onClick={() => setOpen(shown ? '' : path)}
                title={escapeControls(path)}
              >
                {escapeControls(relativeTo(run.workspace, path))}
              </button>
              <span className="ml-auto flex shrink-0 items-center gap-2 text-meta text-text-3">
                {effect !== undefined && (
                  <span className="tabular-nums">{w.lines(effect.added_lines, effect.removed_lines)}</span>
                )}
                {effect !== undefined && effect.by !== 'edit tool' && (
                  <span>{effect.by === 'unknown' ? <Unknown>{w.by(effect.by)}</Unknown> : w.by(effect.by)}</span>
                )}
                {effect?.after != null && <span className="font-mono">{shortDigest(effect.after)}</span>}
              </span>
            </h3>
            {shown && <Sides change={change} effectKind={kind} width={width} path={path} />}
          </section>
        )
      })}
    </div>
  )
}

interface SidesProps {
  readonly change: EventDetail['changes'][number] | undefined
  readonly effectKind: string
  readonly width: number
  readonly path: string
}

function Sides({ change, effectKind, width, path }: SidesProps) {
  const [split, setSplit] = useState<boolean | null>(null)
  const before = change?.before ?? null
  const after = change?.after ?? null
  if (change === undefined || (before === null && after === null))
    return (
      <p className="px-3 pb-3 text-dense text-text-2">
        {w.noDiff}
        {change?.why != null && `: ${change.why}`}
      </p>
    )
  const cut = [before, after].some((side) => side !== null && side.total > side.text.length)
  const hidden = [
    ...new Map([...(before?.hidden ?? []), ...(after?.hidden ?? [])].map((span) => [span.ref, span])).values(),
  ]
  const beside = split ?? width >= 720
  const oneSided = before === null || after === null
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 pb-1 text-meta text-text-2">
        {before === null && (
          <span>{change.why ?? (effectKind === 'add' ? w.created : `${w.before}: ${words.unknown}`)}</span>
        )}
        {after === null && (
          <span>{change.why ?? (effectKind === 'delete' ? w.deleted : `${w.after}: ${words.unknown}`)}</span>
        )}
        {cut && (
          <span className="text-warn">
            {w.cutDiff}{' '}
            {words.hidden.cut(
              formatNumber((after ?? before)?.text.length ?? 0),
              formatNumber((after ?? before)?.total ?? 0),
            )}
          </span>
        )}
        {hidden.map((span) => (
          <Hidden key={span.ref} span={span} />
        ))}
        {!oneSided && (
          <LinkButton className="ml-auto" onClick={() => setSplit(!beside)}>
            {beside ? w.unified : w.sideBySide}
          </LinkButton>
        )}
      </div>
      <div className="min-h-32 flex-1 overflow-hidden border-t border-line">
        <Suspense fallback={<Loading what={w.diffLabel(path)} rows={6} rowHeight={20} />}>
          <DiffView before={before} after={after} beside={beside && !oneSided} label={w.diffLabel(path)} />
        </Suspense>
      </div>
    </>
  )
}
