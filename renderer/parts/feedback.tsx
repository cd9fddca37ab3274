import { CircleAlert, CircleDashed, Inbox, TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { ErrorBody } from '../../contract/errors.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { Button } from './button.tsx'
import { cx } from './classes.ts'
import { copyText } from './copy.ts'

/** True once `ms` have passed since the component was mounted. */
export function useAfter(ms: number): boolean {
  const [passed, setPassed] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), ms)
    return () => clearTimeout(timer)
  }, [ms])
  return passed
}

/** Nothing for 150 ms, then rows of the true height; from 500 ms what is being done. No shimmer. */
export function Loading({
  what,
  rows = 12,
  rowHeight = 28,
}: {
  readonly what: string
  readonly rows?: number
  readonly rowHeight?: number
}) {
  const skeleton = useAfter(150)
  const slow = useAfter(500)
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  if (!skeleton) return <div aria-busy="true" />
  return (
    <div aria-busy="true" className="overflow-hidden">
      {slow && (
        <p role="status" className="px-3 py-1.5 text-meta text-text-2">
          {words.loadingWhat(what, seconds)}
        </p>
      )}
      <div aria-hidden="true">
        {Array.from({ length: rows }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a fixed number of equal rows
          <div key={index} className="flex items-center gap-3 border-b border-line px-3" style={{ height: rowHeight }}>
            <span className="h-2 w-10 rounded-chip bg-hover" />
            <span className="h-2 rounded-chip bg-hover" style={{ width: `${22 + ((index * 37) % 31)}%` }} />
            <span className="ml-auto h-2 w-16 rounded-chip bg-hover" />
          </div>
        ))}
      </div>
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  readonly hint?: ReactNode
  readonly children?: ReactNode
}

/** What would be here, why it is not, one act. Never shown while loading or after an error. */
export function Empty({ title, hint, children }: EmptyProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <Inbox size={20} strokeWidth={1.5} className="text-text-3" aria-hidden="true" />
      <p className="font-medium text-text">{title}</p>
      {hint !== undefined && <p className="max-w-prose text-dense text-text-2">{hint}</p>}
      {children !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  )
}

interface FailureProps {
  readonly what: string
  readonly failure: unknown
  readonly onRetry?: () => void
  /** When the content below is older than the failure. */
  readonly lastGood?: string | null
}

/** In the place of the content: what failed, why, what to do, the code. */
export function Failure({ what, failure, onRetry, lastGood = null }: FailureProps) {
  const body = asErrorBody(failure)
  return (
    <div role="alert" className="m-3 flex max-w-3xl gap-3 rounded-card border border-danger bg-danger-tint p-3">
      <CircleAlert size={16} strokeWidth={1.75} className="mt-0.5 shrink-0 text-danger" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-text">{words.errors.title(what)}</p>
        <p className="mt-1 break-words text-dense text-text">{body.message}</p>
        {body.hint !== null && <p className="mt-1 text-dense text-text-2">{body.hint}</p>}
        <Candidates body={body} />
        {lastGood !== null && <p className="mt-1 text-dense text-text-2">{words.errors.lastGood(lastGood)}</p>}
        <div className="mt-2 flex flex-wrap items-center gap-2">
          {onRetry !== undefined && (
            <Button small onClick={onRetry}>
              {words.retry}
            </Button>
          )}
          <Button
            small
            look="quiet"
            onClick={() => void copyText(JSON.stringify({ what, ...body }, null, 2), words.errors.details)}
          >
            {words.errors.details}
          </Button>
          <span className="text-meta text-text-2">
            {words.errors.code} <code className="font-mono">{body.code}</code>
          </span>
        </div>
      </div>
    </div>
  )
}

function Candidates({ body }: { readonly body: ErrorBody }) {
  if (body.candidates === undefined || body.candidates.length === 0) return null
  return (
    <p className="mt-1 text-dense text-text-2">
      {words.errors.candidates}{' '}
      {body.candidates.map((candidate) => (
        <Link
          key={candidate}
          href={
            candidate.startsWith('sha256:')
              ? `/manifests/${candidate}`
              : `/runs/${candidate.split('@')[0] ?? candidate}`
          }
          className="mr-2 rounded-chip font-mono text-[0.75rem] text-accent underline-offset-2 hover:underline"
        >
          {candidate}
        </Link>
      ))}
    </p>
  )
}

type Tone = 'plain' | 'warn' | 'danger' | 'accent'
const tones: Record<Tone, { readonly box: string; readonly icon: ReactNode }> = {
  plain: { box: 'bg-canvas text-text-2', icon: <CircleDashed size={14} strokeWidth={1.75} aria-hidden="true" /> },
  warn: {
    box: 'bg-warn-tint text-text',
    icon: <TriangleAlert size={14} strokeWidth={1.75} className="text-warn" aria-hidden="true" />,
  },
  danger: {
    box: 'bg-danger-tint text-text',
    icon: <CircleAlert size={14} strokeWidth={1.75} className="text-danger" aria-hidden="true" />,
  },
  accent: { box: 'bg-select text-text', icon: null },
}

interface BandProps {
  readonly tone?: Tone
  readonly icon?: ReactNode
  readonly children: ReactNode
  readonly acts?: ReactNode
  readonly role?: 'status' | 'alert' | 'note'
}

/** One line over a pane: partial, away, newer, gap. What is below stays usable. */
export function Band({ tone = 'warn', icon, children, acts, role = 'note' }: BandProps) {
  const look = tones[tone]
  return (
    <div
      role={role}
      className={cx(
        'flex min-h-8 shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-b border-line px-3 py-1 text-dense',
        look.box,
      )}
    >
      <span className="shrink-0">{icon ?? look.icon}</span>
      <span className="min-w-0 flex-1 basis-64">{children}</span>
      {acts !== undefined && <span className="flex shrink-0 items-center gap-2">{acts}</span>}
    </div>
  )
}

/** A determinate bar with its text; unknown totals show no bar. */
export function Progress({
  value,
  label,
  text,
}: {
  readonly value: number
  readonly label: string
  readonly text: string
}) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100)
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={text}
      className="inline-block h-1.5 w-24 overflow-hidden rounded-full border border-line-strong bg-sunken align-middle"
    >
      <span className="block h-full bg-accent" style={{ width: `${percent}%` }} />
    </span>
  )
}
