import { lazy, Suspense, useMemo } from 'react'
import type { Run, RunEvent, Tokens } from '../../contract/run.ts'
import { LinkButton } from '../parts/button.tsx'
import { Empty, Failure, Progress } from '../parts/feedback.tsx'
import { formatNumber } from '../parts/format.ts'
import { Unknown } from '../parts/marks.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { words } from '../words/en.ts'
import { useAllEvents } from './use-run-events.ts'

const TokenChart = lazy(() => import('../parts/token-chart.tsx'))
const w = words.run.usage
const none: Tokens = { input: 0, output: 0, cache_read: 0, cache_write: 0 }
const plus = (a: Tokens, b: Tokens): Tokens => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cache_read: a.cache_read + b.cache_read,
  cache_write: a.cache_write + b.cache_write,
})
const sum = (tokens: Tokens) => tokens.input + tokens.output + tokens.cache_read + tokens.cache_write

/** Replies by model; what a fork copied from its parent is left out and counted there (B16). */
export function usageByModel(events: readonly RunEvent[]) {
  const models = new Map<string | null, { replies: number; tokens: Tokens }>()
  const replies: (RunEvent & { readonly tokens: Tokens })[] = []
  let copied = 0
  for (const event of events) {
    const { tokens } = event
    if (tokens === null) continue
    if (event.copied_from !== null) {
      copied += 1
      continue
    }
    replies.push({ ...event, tokens })
    const before = models.get(event.model) ?? { replies: 0, tokens: none }
    models.set(event.model, { replies: before.replies + 1, tokens: plus(before.tokens, tokens) })
  }
  return { models: [...models].map(([model, use]) => ({ model, ...use })), replies, copied }
}

interface UsageTabProps {
  readonly run: Run
  readonly total: number
  readonly onMoveSeq: (seq: number) => void
}

export function UsageTab({ run, total, onMoveSeq }: UsageTabProps) {
  const all = useAllEvents(run.id, total, true)
  const usage = useMemo(() => usageByModel(all.events ?? []), [all.events])
  if (all.error !== null)
    return <Failure what={words.run.tabs.usage} failure={all.error} onRetry={() => void all.refetch()} />
  if (all.events === undefined)
    return (
      <p role="status" className="flex items-center gap-2 px-3 py-3 text-dense text-text-2">
        {words.run.reading(all.done, total)}
        <Progress
          value={all.done / Math.max(1, total)}
          label={words.run.tabs.usage}
          text={words.run.reading(all.done, total)}
        />
      </p>
    )
  if (usage.replies.length === 0)
    return <Empty title={w.none} hint={usage.copied > 0 ? w.copied(usage.copied) : w.noneHint} />
  const whole = usage.models.reduce((all_, entry) => plus(all_, entry.tokens), none)
  const figures = (tokens: Tokens) => (
    <>
      <td className="py-1 pr-3 text-right">{formatNumber(tokens.input)}</td>
      <td className="py-1 pr-3 text-right">{formatNumber(tokens.output)}</td>
      <td className="py-1 pr-3 text-right">{formatNumber(tokens.cache_read)}</td>
      <td className="py-1 pr-3 text-right">{formatNumber(tokens.cache_write)}</td>
      <td className="py-1 pr-3 text-right font-medium">{formatNumber(sum(tokens))}</td>
    </>
  )
  const right = [w.input, w.output, w.cacheRead, w.cacheWrite, w.sum]
  return (
    <ScrollArea className="pb-6">
      <Section
        title={w.total}
        hint={
          <>
            {run.tokens_are_lower_bound && `${w.lowerBound} `}
            {usage.copied > 0 && `${w.copied(usage.copied)} `}
            <Unknown why={words.run.costWhy}>{words.run.costUnknown}</Unknown>
          </>
        }
      >
        <table className="w-full text-dense tabular-nums">
          <TableHead columns={[w.model, ...right]} right={right} />
          <tbody>
            {usage.models.map((entry) => (
              <tr key={entry.model ?? ''} className="border-b border-line">
                <th scope="row" className="py-1 pr-3 text-left font-normal">
                  {entry.model ?? <Unknown>{w.unknownModel}</Unknown>}{' '}
                  <span className="text-text-3">{w.replies(entry.replies)}</span>
                </th>
                {figures(entry.tokens)}
              </tr>
            ))}
            {usage.models.length > 1 && (
              <tr className="font-medium">
                <th scope="row" className="py-1 pr-3 text-left font-medium">
                  {w.total}
                </th>
                {figures(whole)}
              </tr>
            )}
          </tbody>
        </table>
      </Section>
      <Section title={w.chart}>
        <Suspense fallback={<div className="h-40" />}>
          <TokenChart replies={usage.replies} onPick={onMoveSeq} />
        </Suspense>
      </Section>
      <Section title={w.perReply}>
        <table className="w-full text-dense tabular-nums">
          <TableHead columns={[w.reply, w.model, ...right]} right={right} />
          <tbody>
            {usage.replies.slice(0, 2000).map((event) => (
              <tr
                key={event.seq}
                className="border-b border-line [contain-intrinsic-size:auto_29px] [content-visibility:auto]"
              >
                <td className="py-1 pr-3">
                  <LinkButton onClick={() => onMoveSeq(event.seq)}>@{event.seq}</LinkButton>
                </td>
                <td className="py-1 pr-3 text-text-2">{event.model ?? <Unknown>{w.unknownModel}</Unknown>}</td>
                {figures(event.tokens)}
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
    </ScrollArea>
  )
}
