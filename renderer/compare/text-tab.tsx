import type { Comparison } from '../../contract/compare.ts'
import { Digest } from '../parts/digest.tsx'
import { Empty } from '../parts/feedback.tsx'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { words } from '../words/en.ts'
import { TwoTexts } from './two-texts.tsx'

const w = words.compare

/** The instruction text of both sides as it entered the context, piece by piece. */
export function TextTab({ comparison: { text } }: { readonly comparison: Comparison }) {
  const equal = text.pieces.filter(({ state }) => state === 'equal')
  const others = text.pieces.filter(({ state }) => state !== 'equal')
  return (
    <ScrollArea className="pb-6">
      <p className="flex flex-wrap items-baseline gap-x-3 px-3 pt-3 text-dense">
        <span className="font-medium">
          {text.equal === null ? <Unknown /> : text.equal ? w.textEqual : w.textDiffers}
        </span>
        <span>A {text.a_digest === null ? <Unknown /> : <Digest digest={text.a_digest} />}</span>
        <span>B {text.b_digest === null ? <Unknown /> : <Digest digest={text.b_digest} />}</span>
      </p>
      {text.pieces.length === 0 && <Empty title={w.noText} />}
      {others.map((piece) => (
        <section key={`${piece.uri}\0${piece.state}`} aria-label={piece.path ?? piece.uri} className="px-3 pt-4">
          <h3 className="flex min-w-0 items-baseline gap-3 text-dense">
            <span className="shrink-0 font-medium text-warn">{w.pieceStates[piece.state]}</span>
            <PathText path={piece.path ?? piece.uri} />
          </h3>
          {piece.a === null && piece.b === null ? (
            <p className="mt-1 text-dense text-text-2">{piece.why ?? w.textNotKept}</p>
          ) : (
            <div className="mt-1">
              <TwoTexts a={piece.a} b={piece.b} beside={false} bare label={w.diffLabel(piece.path ?? piece.uri)} />
            </div>
          )}
        </section>
      ))}
      {equal.length > 0 && (
        <details className="px-3 pt-4 text-dense">
          <summary className="cursor-pointer rounded-chip font-medium">{w.equalPieces(equal.length)}</summary>
          <ul className="mt-1">
            {equal.map((piece) => (
              <li key={piece.uri} className="border-b border-line py-1">
                <PathText path={piece.path ?? piece.uri} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </ScrollArea>
  )
}
