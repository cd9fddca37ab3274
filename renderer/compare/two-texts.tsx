import { lazy, Suspense } from 'react'
import { cx } from '../parts/classes.ts'
import { Loading } from '../parts/feedback.tsx'
import { words } from '../words/en.ts'

const w = words.compare
const DiffView = lazy(() => import('../parts/diff-view.tsx'))

interface TwoTextsProps {
  readonly a: string | null
  readonly b: string | null
  readonly beside: boolean
  readonly label: string
  /** Beside it stands already whose text it is. */
  readonly bare?: boolean
}

/** The text of both sides as a difference; the text of one side alone as it is, marked as that side's. */
export function TwoTexts({ a, b, beside, label, bare = false }: TwoTextsProps) {
  if (a !== null && b !== null)
    return (
      <div className="max-h-96 overflow-auto rounded-card border border-line">
        <Suspense fallback={<Loading what={w.text} rows={4} />}>
          <DiffView
            before={{ text: a, total: a.length, hidden: [] }}
            after={{ text: b, total: b.length, hidden: [] }}
            beside={beside}
            label={label}
          />
        </Suspense>
      </div>
    )
  const only = b === null ? 'only_a' : 'only_b'
  return (
    <figure aria-label={label}>
      {!bare && <figcaption className="pb-1 text-meta text-text-2">{w.pieceStates[only]}</figcaption>}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by keyboard
        tabIndex={0}
        className={cx(
          'max-h-96 overflow-auto rounded-card border border-line px-3 py-2 font-mono text-[0.75rem] whitespace-pre-wrap text-text',
          b === null ? 'bg-diff-delete' : 'bg-diff-add',
        )}
      >
        {b ?? a}
      </pre>
    </figure>
  )
}
