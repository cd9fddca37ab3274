import {
  Check,
  CircleDashed,
  CircleHelp,
  CircleSlash,
  FileWarning,
  FlaskConical,
  History,
  LoaderCircle,
  RadioTower,
  X,
  Zap,
} from 'lucide-react'
import type { ReactNode } from 'react'
import type { CoverageState, Run, RunStatus, RuntimeName } from '../../contract/run.ts'
import { words } from '../words/en.ts'
import { cx } from './classes.ts'

/** Two letters, not a colour: agents are told apart by reading. */
export function RuntimeTile({ runtime }: { readonly runtime: RuntimeName }) {
  const { name, tile } = words.runtimes[runtime]
  return (
    <span
      title={name}
      className="inline-flex h-4 w-6 shrink-0 items-center justify-center rounded-[3px] border border-line bg-sunken font-mono text-[0.6875rem] leading-none font-semibold text-text-2"
    >
      <span className="sr-only">{name}</span>
      <span aria-hidden="true">{tile}</span>
    </span>
  )
}

const coverageLooks: Record<CoverageState, string> = {
  complete: 'text-text-2',
  partial: 'text-warn',
  none: 'text-text-3',
}

/** Full, half, dashed ring: complete, partial, not captured. */
export function CoverageMark({ state, word = false }: { readonly state: CoverageState; readonly word?: boolean }) {
  return (
    <span className={cx('inline-flex items-center gap-1', coverageLooks[state])} title={words.coverage[state]}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" className="shrink-0">
        <circle
          cx="6"
          cy="6"
          r="4.75"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          {...(state === 'none' ? { strokeDasharray: '2 1.6' } : {})}
        />
        {state === 'complete' && <circle cx="6" cy="6" r="3" fill="currentColor" />}
        {state === 'partial' && <path d="M6 1.25a4.75 4.75 0 0 0 0 9.5z" fill="currentColor" />}
      </svg>
      <span className={word ? '' : 'sr-only'}>{words.coverage[state]}</span>
    </span>
  )
}

const statusLooks: Record<RunStatus, { readonly icon: ReactNode; readonly look: string }> = {
  running: { icon: <LoaderCircle size={12} strokeWidth={1.75} aria-hidden="true" />, look: 'text-accent' },
  done: { icon: <Check size={12} strokeWidth={2} aria-hidden="true" />, look: 'text-text-2' },
  failed: { icon: <X size={12} strokeWidth={2} aria-hidden="true" />, look: 'text-danger' },
  open: { icon: <CircleDashed size={12} strokeWidth={1.75} aria-hidden="true" />, look: 'text-text-2' },
  no_conversation: { icon: <CircleSlash size={12} strokeWidth={1.75} aria-hidden="true" />, look: 'text-text-3' },
  unreadable: { icon: <FileWarning size={12} strokeWidth={1.75} aria-hidden="true" />, look: 'text-danger' },
}

export function StatusMark({ status }: { readonly status: RunStatus }) {
  const { icon, look } = statusLooks[status]
  return (
    <span className={cx('inline-flex max-w-full min-w-0 items-center gap-1 align-bottom', look)}>
      {icon}
      <span className="truncate">{words.runStatus[status]}</span>
    </span>
  )
}

const origins = {
  live: { icon: RadioTower, look: 'text-live bg-live-tint border-solid' },
  historical: { icon: History, look: 'text-historical bg-historical-tint border-dotted' },
  synthetic: { icon: FlaskConical, look: 'text-synthetic bg-synthetic-tint border-dashed' },
  fault: { icon: Zap, look: 'text-fault bg-fault-tint border-double border-[3px]' },
} as const

/** Where an answer came from: icon, word, colour and edge all say it. */
export function OriginChip({ origin }: { readonly origin: keyof typeof origins }) {
  const { icon: Icon, look } = origins[origin]
  return (
    <span className={cx('inline-flex h-5 items-center gap-1 rounded-chip border border-current px-1 text-meta', look)}>
      <Icon size={12} strokeWidth={1.75} aria-hidden="true" />
      {words.origin[origin]}
    </span>
  )
}

/** `+1 ~4 −1`; what was not seen is said, never left out. */
export function EffectCount({ effects, word = false }: { readonly effects: Run['effects']; readonly word?: boolean }) {
  const { added, changed, deleted, unknown_calls } = effects
  const sentence = words.effects.words(added, changed, deleted, unknown_calls)
  if (sentence === '') return <span className="sr-only">{words.effects.none}</span>
  return (
    <span className="inline-flex items-center gap-1.5 tabular-nums" title={sentence}>
      <span className="sr-only">{sentence}</span>
      <span aria-hidden="true" className="inline-flex gap-1.5 font-mono text-[0.75rem] font-medium">
        {added > 0 && <span className="text-effect-add">+{added}</span>}
        {changed > 0 && <span className="text-effect-change">~{changed}</span>}
        {deleted > 0 && <span className="text-effect-delete">−{deleted}</span>}
        {unknown_calls > 0 && <span className="text-text-3">?{unknown_calls}</span>}
      </span>
      {word && unknown_calls > 0 && <span className="text-text-3">{words.effects.unknownCalls(unknown_calls)}</span>}
    </span>
  )
}

/** `unknown` as a word with a reason, never a blank. */
export function Unknown({
  why,
  children = words.unknown,
}: {
  readonly why?: string | null | undefined
  readonly children?: ReactNode
}) {
  return (
    <span className="unknown-word" title={why ?? undefined}>
      {children}
    </span>
  )
}

const results = {
  pass: { icon: Check, look: 'text-ok' },
  warn: { icon: CircleHelp, look: 'text-warn' },
  fail: { icon: X, look: 'text-danger' },
} as const

export function ResultMark({
  result,
  children,
}: {
  readonly result: keyof typeof results
  readonly children: ReactNode
}) {
  const { icon: Icon, look } = results[result]
  return (
    <span className={cx('inline-flex items-center gap-1', look)}>
      <Icon size={14} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
      {children}
    </span>
  )
}
