import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { ContextBlock, ModelContext, Run } from '../../contract/run.ts'
import { LinkButton } from '../parts/button.tsx'
import { cx } from '../parts/classes.ts'
import { Failure, Loading } from '../parts/feedback.tsx'
import { formatNumber, shortDigest } from '../parts/format.ts'
import { ResultMark, Unknown } from '../parts/marks.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { runPath } from '../shell/address.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { PartView } from './part-view.tsx'

const w = words.run.modelContext
/** A block of up to so many characters stands open. */
const SHORT = 600

interface ContextViewProps {
  readonly run: Run
  readonly seq: number
  readonly onMoveSeq: (seq: number) => void
}

/** What the model saw at this point, read only when it is looked at. */
export function ContextView({ run, seq, onMoveSeq }: ContextViewProps) {
  const [whole, setWhole] = useState(false)
  const input = whole ? { run: run.id, seq, whole: true } : { run: run.id, seq }
  const context = useRead('runs.context', input, { placeholderData: (before) => before })
  if (context.data === undefined)
    return context.error === null ? (
      <Loading what={w.title} rows={8} />
    ) : (
      <Failure what={w.title} failure={context.error} onRetry={() => void context.refetch()} />
    )
  return (
    <Shown
      key={`${context.data.run}@${context.data.at_seq}`}
      context={context.data}
      run={run}
      seq={seq}
      onMoveSeq={onMoveSeq}
      onWhole={() => setWhole(true)}
    />
  )
}

interface ShownProps extends ContextViewProps {
  readonly context: ModelContext
  readonly onWhole: () => void
}

function Shown({ context, run, seq, onMoveSeq, onWhole }: ShownProps) {
  const { messages, system, tools, parameters } = context
  const before = context.before !== null && context.run === run.id ? context.before : null
  const kept = before?.kept ?? 0
  const message = (at: number) => {
    const shown = messages[at]
    return (
      shown !== undefined && (
        <Message
          key={at}
          n={at + 1}
          message={shown}
          newSince={before !== null && at >= kept ? before.seq : null}
          doubtful={!context.exact && !shown.as_sent}
          onWhole={onWhole}
        />
      )
    )
  }
  const numbers = messages.map((_, at) => at)
  return (
    <ScrollArea className="pb-3">
      <About context={context} run={run} seq={seq} onMoveSeq={onMoveSeq} />
      <Fold label={w.system} count={system.length} empty={w.notRecorded}>
        {() => system.map((block, at) => <Block key={keyOf(at)} block={block} onWhole={onWhole} />)}
      </Fold>
      <Fold label={w.tools} count={tools.length} empty={w.notRecorded}>
        {() =>
          tools.map(({ name, schema_digest, definition }) => (
            <Fold
              key={name}
              inner
              label={<span className="font-mono text-[0.75rem]">{name}</span>}
              aside={
                <span className="font-mono text-[0.75rem] text-text-3" title={schema_digest}>
                  {shortDigest(schema_digest)}
                </span>
              }
            >
              {() => <PartView part={asPart('json', name, definition)} labelled={false} onWhole={onWhole} />}
            </Fold>
          ))
        }
      </Fold>
      <Fold label={w.parameters} count={parameters.text === '{}' ? 0 : null} empty={w.notRecorded}>
        {() => <PartView part={asPart('json', w.parameters, parameters)} labelled={false} onWhole={onWhole} />}
      </Fold>
      {before !== null && kept > 0 && (
        <Fold label={w.earlier(kept)} aside={<span className="text-meta text-text-3">{w.asBefore(before.seq)}</span>}>
          {() => <ol>{numbers.slice(0, kept).map(message)}</ol>}
        </Fold>
      )}
      <ol aria-label={w.messages}>{numbers.slice(kept).map(message)}</ol>
      {messages.length === 0 && <p className="px-3 py-2 text-dense text-text-2">{w.noMessages}</p>}
    </ScrollArea>
  )
}

/** The reply it led to, whether it is what was sent, and what differs from the request before. */
function About({ context, run, seq, onMoveSeq }: Omit<ShownProps, 'onWhole'>) {
  const { before, exact, why, at_seq: reply, model, messages } = context
  const elsewhere = context.run !== run.id
  return (
    <div className="space-y-1 border-b border-line px-3 py-2 text-dense text-text-2">
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
        <span className="text-text">
          {w.ledTo}{' '}
          {elsewhere ? (
            <Link href={runPath(context.run)} className="rounded-chip text-accent hover:underline">
              {w.inParent(reply)}
            </Link>
          ) : reply === seq ? (
            w.thisReply
          ) : (
            <LinkButton className="font-mono" onClick={() => onMoveSeq(reply)}>
              @{reply}
            </LinkButton>
          )}
        </span>
        <span>{model ?? <Unknown>{w.unknownModel}</Unknown>}</span>
        <span className="tabular-nums">{w.count(messages.length)}</span>
      </p>
      {!elsewhere && reply < seq && <p>{w.nothingAfter}</p>}
      <p title={exact ? w.exactHint : undefined}>
        <ResultMark result={exact ? 'pass' : 'warn'}>{exact ? w.exact : w.notExact}</ResultMark>
        {why !== null && <span>: {why}</span>}
      </p>
      {before !== null && !elsewhere && (
        <p>
          {w.since}{' '}
          <LinkButton className="font-mono" onClick={() => onMoveSeq(before.seq)}>
            @{before.seq}
          </LinkButton>
          : {w.difference(messages.length - before.kept, before.messages - before.kept)}
          {before.shape_changed === true && `, ${w.shapeChanged}`}
          {before.parameters_changed === true && `, ${w.parametersChanged}`}
        </p>
      )}
    </div>
  )
}

interface MessageProps {
  readonly n: number
  readonly message: ModelContext['messages'][number]
  readonly newSince: number | null
  readonly doubtful: boolean
  readonly onWhole: () => void
}

function Message({ n, message, newSince, doubtful, onWhole }: MessageProps) {
  return (
    <li className={cx('border-b border-line py-1.5', newSince !== null && 'border-l-2 border-l-accent')}>
      <p className="flex items-baseline gap-2 px-3 text-meta">
        <span className="font-mono text-text-3 tabular-nums">{n}</span>
        <span className={cx('font-semibold', message.role === 'user' ? 'text-accent' : 'text-text-2')}>
          {w.roles[message.role] ?? message.role}
        </span>
        {newSince !== null && <span className="text-text-2">{w.newSince(newSince)}</span>}
        {doubtful && <span className="text-warn">{w.doubtful}</span>}
      </p>
      {message.blocks.map((block, at) => (
        <Block key={keyOf(at)} block={block} onWhole={onWhole} />
      ))}
    </li>
  )
}

function Block({ block, onWhole }: { readonly block: ContextBlock; readonly onWhole: () => void }) {
  const { body, label } = block
  const firstLine = body.text.trimStart().split('\n', 1)[0] ?? ''
  return (
    <Fold
      inner
      open={body.total <= SHORT}
      label={<span className={cx('shrink-0', block.kind === 'call' && 'font-mono text-[0.75rem]')}>{label}</span>}
      preview={firstLine.slice(0, 200)}
      aside={
        <span className="shrink-0 text-meta text-text-3 tabular-nums">
          {block.cached && <span title={w.cachedHint}>{w.cached} </span>}
          {formatNumber(body.total)}
        </span>
      }
    >
      {() => <PartView part={asPart(block.format, label, body, block.kind)} labelled={false} onWhole={onWhole} />}
    </Fold>
  )
}

interface FoldProps {
  readonly label: ReactNode
  readonly children: () => ReactNode
  readonly count?: number | null
  readonly empty?: string
  readonly preview?: string
  readonly aside?: ReactNode
  readonly inner?: boolean
  readonly open?: boolean
}

/** A line that unfolds; what is in it is made only then. */
function Fold({ label, children, count = null, empty, preview, aside, inner = false, open = false }: FoldProps) {
  const [shown, setShown] = useState(open)
  if (count === 0)
    return (
      <p className="flex items-center gap-2 border-b border-line px-3 py-1 pl-8 text-dense text-text-2">
        {label} <Unknown>{empty}</Unknown>
      </p>
    )
  return (
    <details
      open={shown}
      onToggle={(event) => setShown(event.currentTarget.open)}
      className={cx('group/fold', !inner && 'border-b border-line')}
    >
      <summary className="flex min-h-7 cursor-default list-none items-center gap-1.5 px-3 py-0.5 text-dense text-text-2 outline-offset-[-2px] hover:bg-hover">
        <ChevronRight
          size={14}
          strokeWidth={1.75}
          className={cx('shrink-0', shown && 'rotate-90')}
          aria-hidden="true"
        />
        <span className="shrink-0">{label}</span>
        {count !== null && <span className="text-meta text-text-3 tabular-nums">{count}</span>}
        <span className="min-w-0 flex-1 truncate text-text-3">{shown ? '' : preview}</span>
        {aside}
      </summary>
      {shown && <div className={inner ? 'px-3 pt-0.5 pb-2 pl-8' : 'pb-1'}>{children()}</div>}
    </details>
  )
}

const asPart = (
  format: ContextBlock['format'],
  label: string,
  body: ContextBlock['body'],
  kind: ContextBlock['kind'] = 'other',
) => ({ role: kind === 'thinking' ? ('thinking' as const) : ('text' as const), label, body, format })

/** Blocks have no name of their own; their order in a request never changes. */
const keyOf = (at: number) => `b${at}`
