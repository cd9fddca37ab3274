import { useState } from 'react'
import type { InstructionPiece } from '../../contract/manifest.ts'
import { LinkButton } from '../parts/button.tsx'
import { CommandHint } from '../parts/command-hint.tsx'
import { Digest } from '../parts/digest.tsx'
import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatNumber } from '../parts/format.ts'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.manifest

/** The text as it entered the context, in order, with the source of each piece beside it. */
export function SentTab({ target }: { readonly target: string }) {
  const [all, setAll] = useState(true)
  const read = useRead('manifest.instructions', { target, all: true })
  if (read.error !== null)
    return <Failure what={w.tabs.sent} failure={read.error} onRetry={() => void read.refetch()} />
  if (read.data === undefined) return <Loading what={w.tabs.sent} />
  const pieces = all ? read.data.pieces : read.data.pieces.filter((piece) => piece.status === 'loaded')
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-9 shrink-0 items-center gap-3 border-b border-line px-3 text-dense text-text-2">
        <span className="inline-flex items-baseline gap-1">
          {read.data.effective_digest === null ? (
            <Unknown>{w.noEffective}</Unknown>
          ) : (
            <>
              {w.effective} <Digest digest={read.data.effective_digest} />
            </>
          )}
        </span>
        <LinkButton onClick={() => setAll(!all)}>{all ? w.sent.onlyLoaded : w.sent.all}</LinkButton>
        <span className="ml-auto">
          <CommandHint command={`reprise instructions ${target}${all ? ' --all' : ''}`} />
        </span>
      </div>
      {pieces.length === 0 ? (
        <Empty title={w.sent.none} />
      ) : (
        <div
          role="region"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
          tabIndex={0}
          aria-label={w.sent.label}
          data-region="list"
          className="min-h-0 flex-1 overflow-y-auto"
        >
          {pieces.map((piece) =>
            piece.status === 'loaded' ? (
              <Piece key={`${piece.uri}${piece.text_digest}`} piece={piece} />
            ) : (
              <LeftOut key={`${piece.uri}${piece.text_digest}`} piece={piece} />
            ),
          )}
        </div>
      )}
    </div>
  )
}

function Gutter({ piece }: { readonly piece: InstructionPiece }) {
  return (
    <div className="sticky top-0 self-start p-3 text-dense max-md:static max-md:pb-0">
      <PathText path={piece.path ?? piece.uri} className="w-full font-medium" />
      <p className="text-text-2">{piece.scope}</p>
      {piece.label !== null && <p className="text-text-2">“{piece.label}”</p>}
      <p className="mt-1 flex flex-wrap gap-x-2 text-meta text-text-3">
        {piece.text_digest !== null && <Digest digest={piece.text_digest} />}
        {piece.text !== null && <span>{w.sent.chars(formatNumber(piece.text.length))}</span>}
        {piece.redactions > 0 && <span className="text-warn">{words.hidden.redactions(piece.redactions)}</span>}
      </p>
    </div>
  )
}

function Piece({ piece }: { readonly piece: InstructionPiece }) {
  return (
    <section className="grid grid-cols-[14rem_minmax(0,1fr)] border-b border-line [contain-intrinsic-size:auto_300px] [content-visibility:auto] max-md:grid-cols-1">
      <Gutter piece={piece} />
      <div className="border-l border-line p-3 max-md:border-0">
        {piece.text === null ? (
          <p className="text-dense text-text-2">{w.sent.noText}</p>
        ) : (
          <pre className="font-mono text-[0.75rem] leading-[1.125rem] whitespace-pre-wrap [overflow-wrap:anywhere]">
            {piece.text}
          </pre>
        )}
      </div>
    </section>
  )
}

/** Not part of the text: folded, grey, with its reason. */
function LeftOut({ piece }: { readonly piece: InstructionPiece }) {
  return (
    <details className="group border-b border-line bg-canvas text-text-2">
      <summary className="flex min-h-8 cursor-default items-center gap-3 px-3 text-dense">
        <PathText path={piece.path ?? piece.uri} className="max-w-96" />
        <span className={piece.status === 'not_loaded' ? 'font-medium text-warn' : ''}>{w.statuses[piece.status]}</span>
        <span className="min-w-0 truncate">{piece.reason}</span>
      </summary>
      <pre className="px-3 pb-3 font-mono text-[0.75rem] leading-[1.125rem] whitespace-pre-wrap [overflow-wrap:anywhere]">
        {piece.text ?? w.sent.noText}
      </pre>
    </details>
  )
}
