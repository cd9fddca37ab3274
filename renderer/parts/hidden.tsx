import { EyeOff } from 'lucide-react'
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react'
import type { ShownText } from '../../contract/run.ts'
import { useChange } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { RevealDialog } from './reveal-dialog.tsx'

/**
 * What was revealed on this screen. It lives in the screen's own state and nowhere else: leaving the screen covers everything again,
 * and the text enters neither a cache nor a copy (`user-select: none`). Each opening is logged by the daemon (R364).
 */
interface Reveals {
  readonly shown: ReadonlyMap<string, { readonly text: string | null; readonly why: string | null }>
  /** Asks why, and opens it then. */
  reveal(span: ShownText['hidden'][number]): void
  cover(ref: string): void
}
const RevealContext = createContext<Reveals | null>(null)

export function RevealScope({ children }: { readonly children: ReactNode }) {
  const [shown, setShown] = useState<Reveals['shown']>(new Map())
  const { mutate } = useChange('sensitive.reveal')
  const [asking, setAsking] = useState<ShownText['hidden'][number] | null>(null)
  const [reason, setReason] = useState('')
  const open = useCallback(
    (ref: string, why: string) => {
      setReason(why)
      setAsking(null)
      const put = (entry: { readonly text: string | null; readonly why: string | null }) =>
        setShown((now) => new Map(now).set(ref, entry))
      mutate(
        { ref, reason: why },
        { onSuccess: put, onError: (failure) => put({ text: null, why: asErrorBody(failure).message }) },
      )
    },
    [mutate],
  )
  const cover = useCallback((ref: string) => {
    setShown((now) => {
      const next = new Map(now)
      next.delete(ref)
      return next
    })
  }, [])
  const value = useMemo(() => ({ shown, reveal: setAsking, cover }), [shown, cover])
  return (
    <RevealContext.Provider value={value}>
      {children}
      {asking !== null && (
        <RevealDialog
          what={words.hidden.label(asking.family, asking.characters)}
          reference={asking.ref}
          last={reason}
          onReveal={(why) => open(asking.ref, why)}
          onClose={() => setAsking(null)}
        />
      )}
    </RevealContext.Provider>
  )
}

interface HiddenProps {
  readonly span: ShownText['hidden'][number]
}

/** A covered secret: what it is, how long, and Reveal. */
export function Hidden({ span }: HiddenProps) {
  const reveals = useContext(RevealContext)
  const entry = reveals?.shown.get(span.ref)
  return (
    <span className="mx-px inline-flex max-w-full items-baseline gap-1.5 rounded-chip border border-line-strong bg-raised px-1 align-baseline font-sans text-meta whitespace-normal text-text-2 select-none">
      <EyeOff size={12} strokeWidth={1.75} className="shrink-0 self-center" aria-hidden="true" />
      {entry?.text != null ? (
        <>
          <span className="font-mono break-all text-text">{entry.text}</span>
          <button
            type="button"
            className="shrink-0 text-accent hover:underline"
            onClick={() => reveals?.cover(span.ref)}
          >
            {words.hidden.cover}
          </button>
        </>
      ) : (
        <>
          <span>{words.hidden.label(span.family, span.characters)}</span>
          {entry !== undefined ? (
            <span>{words.hidden.gone(entry.why ?? words.hidden.notKept)}</span>
          ) : (
            reveals !== null && (
              <button
                type="button"
                className="shrink-0 text-accent hover:underline"
                title={words.hidden.logged}
                onClick={() => reveals.reveal(span)}
              >
                {words.hidden.reveal}
              </button>
            )
          )}
        </>
      )}
    </span>
  )
}

/** Cuts a text at its placeholders, however often one occurs: strings and hidden spans in order. */
export function cutAtHidden(body: ShownText): (string | ShownText['hidden'][number])[] {
  const byPlaceholder = new Map(
    body.hidden.filter((span) => span.placeholder !== '').map((span) => [span.placeholder, span]),
  )
  if (byPlaceholder.size === 0) return [body.text]
  const escaped = [...byPlaceholder.keys()]
    .sort((a, b) => b.length - a.length)
    .map((placeholder) => placeholder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return body.text
    .split(new RegExp(`(${escaped.join('|')})`))
    .filter((piece) => piece !== '')
    .map((piece) => byPlaceholder.get(piece) ?? piece)
}

/** A text with its secrets covered in place. */
export function ShownTextView({ body }: { readonly body: ShownText }) {
  const pieces = useMemo(() => cutAtHidden(body), [body])
  let at = 0
  return pieces.map((piece) => {
    at += 1
    return typeof piece === 'string' ? (
      <span key={at}>{piece}</span>
    ) : (
      <Hidden key={`${at}-${piece.ref}`} span={piece} />
    )
  })
}
