import { TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import type { Gap } from '../../contract/home.ts'
import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatExact, shortId } from '../parts/format.ts'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { runPath } from '../shell/address.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.health
const named: Readonly<Record<Gap['kind'], string>> = w.gapKinds
const kindNames = new Map<string, string>(Object.entries(named))

/** Where a gap of this kind can be decided, or seen in full. */
const storage = { to: '/health/storage', label: words.sizes.openStorage }
const ways: Partial<Record<Gap['kind'], { readonly to: string; readonly label: string }>> = {
  rollback_interrupted: { to: '/rollbacks', label: words.sizes.openRollbacks },
  workspace_partial: storage,
  workspace_refused: storage,
  workspace_not_captured: storage,
  store_full: storage,
}

/** One gap: what, how often, since when, where, what to do. A kind that only a newer daemon knows is shown by its own name. */
export function GapItem({ gap }: { readonly gap: Gap }) {
  return (
    <li className="flex items-start gap-3 border-b border-line px-3 py-2 text-dense [contain-intrinsic-size:auto_60px] [content-visibility:auto]">
      <TriangleAlert size={14} strokeWidth={1.75} className="mt-0.5 shrink-0 text-warn" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{kindNames.get(gap.kind) ?? gap.kind}</span>
          {gap.count > 1 && <span className="text-text-3 tabular-nums">{w.times(gap.count)}</span>}
          <span className="min-w-0 break-words">{gap.message}</span>
        </p>
        {gap.hint !== null && <p className="text-text-2">{gap.hint}</p>}
        <p className="flex min-w-0 flex-wrap items-baseline gap-x-3 text-meta text-text-3">
          <span className="tabular-nums">{formatExact(gap.at).slice(0, 19)}</span>
          {gap.path !== null && <PathText path={gap.path} className="max-w-[32rem]" />}
          {ways[gap.kind] !== undefined && (
            <Link
              href={ways[gap.kind]?.to ?? '/health'}
              className="rounded-chip text-accent underline underline-offset-2"
            >
              {ways[gap.kind]?.label}
            </Link>
          )}
          {gap.run !== null && (
            <Link
              href={`${runPath(gap.run)}?tab=coverage`}
              className="rounded-chip font-mono text-accent hover:underline"
            >
              {shortId(gap.run)}
            </Link>
          )}
        </p>
      </div>
    </li>
  )
}

export function GapList() {
  const gaps = useRead('health.gaps', { limit: 1000 })
  if (gaps.error !== null)
    return <Failure what={w.tabs.gaps} failure={gaps.error} onRetry={() => void gaps.refetch()} />
  if (gaps.data === undefined) return <Loading what={w.tabs.gaps} rowHeight={48} />
  if (gaps.data.gaps.length === 0) return <Empty title={w.gapsNone} hint={w.gapsNoneHint} />
  return (
    <ScrollArea>
      {gaps.data.gaps.length < gaps.data.total && (
        <p className="px-3 py-1 text-meta text-text-2">{w.of(gaps.data.gaps.length, gaps.data.total)}</p>
      )}
      <ul>
        {gaps.data.gaps.map((gap) => (
          <GapItem key={gap.id} gap={gap} />
        ))}
      </ul>
    </ScrollArea>
  )
}
