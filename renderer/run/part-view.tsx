import { lazy, Suspense, useMemo, useState } from 'react'
import type { EventDetail } from '../../contract/run.ts'
import { LinkButton } from '../parts/button.tsx'
import { formatNumber } from '../parts/format.ts'
import { ShownTextView } from '../parts/hidden.tsx'
import { words } from '../words/en.ts'

const MarkdownText = lazy(() => import('../parts/markdown.tsx'))
export type Part = EventDetail['parts'][number]

/** Parts have no name of their own; their order in the event never changes. */
export const withKeys = (parts: readonly Part[]) => parts.map((part, index) => ({ part, key: `${part.role}${index}` }))

/** Characters of one text shown at once; the rest is a click away. */
const HEAD = 20_000

interface PartViewProps {
  readonly part: Part
  readonly onWhole: () => void
  readonly labelled?: boolean
  readonly read?: boolean
}

/** A text of an event, as it is best read, with its secrets covered. */
export function PartView({ part, onWhole, labelled = true, read = false }: PartViewProps) {
  const { body } = part
  const [all, setAll] = useState(false)
  const shown = useMemo(() => {
    const text = part.format === 'json' ? pretty(body.text) : part.format === 'ansi' ? stripAnsi(body.text) : body.text
    return { ...body, text: all ? text : text.slice(0, HEAD), length: text.length }
  }, [part.format, body, all])
  const cutHere = shown.text.length < shown.length
  const cutThere = body.total > body.text.length
  return (
    <div className="min-w-0">
      {labelled && <p className="mb-1 text-meta font-semibold text-text-3">{part.label}</p>}
      {part.format === 'markdown' ? (
        <Suspense fallback={<Plain body={shown} />}>
          <MarkdownText body={shown} read={read} />
        </Suspense>
      ) : part.role === 'thinking' ? (
        <p className="border-l-2 border-line-strong pl-3 text-dense whitespace-pre-wrap text-text-2">
          <ShownTextView body={shown} />
        </p>
      ) : (
        <pre
          className={`overflow-x-auto rounded-control bg-sunken p-2 font-mono text-[0.75rem] leading-[1.125rem] whitespace-pre-wrap [overflow-wrap:anywhere] ${part.role === 'error' ? 'border-l-2 border-danger' : ''}`}
        >
          <ShownTextView body={shown} />
        </pre>
      )}
      {(cutHere || cutThere) && (
        <p className="mt-1 text-meta text-text-2">
          {words.hidden.cut(formatNumber(shown.text.length), formatNumber(Math.max(body.total, shown.length)))}{' '}
          <LinkButton
            onClick={() => {
              setAll(true)
              if (cutThere) onWhole()
            }}
          >
            {words.hidden.loadWhole}
          </LinkButton>
        </p>
      )}
    </div>
  )
}

function Plain({ body }: { readonly body: Part['body'] }) {
  return (
    <p className="whitespace-pre-wrap">
      <ShownTextView body={body} />
    </p>
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text // cut, or not JSON after all: shown as it is
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences of terminals are what is taken out
const ANSI = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g
export const stripAnsi = (text: string) => text.replace(ANSI, '')
