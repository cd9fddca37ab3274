import { ArrowLeftRight } from 'lucide-react'
import { Link } from 'wouter'
import type { CompareSide, Comparison } from '../../contract/compare.ts'
import { Button } from '../parts/button.tsx'
import { CommandHint, shellWord } from '../parts/command-hint.tsx'
import { formatExact, shortDigest, shortId } from '../parts/format.ts'
import { RuntimeTile, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { manifestPath, runPath } from '../shell/address.ts'
import { words } from '../words/en.ts'
import { PartnerMenu } from './partner-menu.tsx'

const w = words.compare

/** Both sides by letter, time and name, and the answer in one sentence. */
export function CompareHeader({
  comparison,
  rule,
  onSwap,
  onExport,
}: {
  readonly comparison: Comparison
  /** By which rule A was chosen, when it was not chosen by hand. */
  readonly rule: string | null
  readonly onSwap: () => void
  readonly onExport: () => void
}) {
  const { a, b, verdict } = comparison
  return (
    <header className="shrink-0 px-3 pt-2.5 pb-2">
      <div className="grid min-w-0">
        <Side letter="A" side={a} />
        <Side letter="B" side={b} />
      </div>
      <h1 className="mt-1.5 text-read font-semibold text-pretty">{verdict}</h1>
      <div className="mt-1.5 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5">
        <p className="min-w-0 flex-1 basis-60 text-meta text-text-3">{rule !== null && w.chosenBy(rule)}</p>
        <div className="flex flex-wrap items-center gap-2">
          {b.run !== null && <PartnerMenu run={b.run} current={a.target} />}
          <Button small onClick={onSwap} icon={<ArrowLeftRight size={14} strokeWidth={1.75} aria-hidden="true" />}>
            {w.swap}
          </Button>
          <Button small onClick={onExport}>
            {words.export.incident}
          </Button>
          <span className="max-sm:hidden">
            <CommandHint command={`reprise diff ${shellWord(a.target)} ${shellWord(b.target)}`} />
          </span>
        </div>
      </div>
    </header>
  )
}

/** Two lines stand close to each other: each target is as high as its line. */
const linkClass = 'inline-flex h-6 shrink-0 items-center rounded-chip font-mono text-[0.75rem] hover:underline'

function Side({ letter, side }: { readonly letter: string; readonly side: CompareSide }) {
  return (
    <div className="flex min-h-6 min-w-0 items-baseline gap-x-2.5 text-dense max-sm:flex-wrap">
      <span className="w-3 shrink-0 font-semibold">{letter}</span>
      <span className="shrink-0 self-center">
        <RuntimeTile runtime={side.runtime} />
      </span>
      <span className="shrink-0 tabular-nums">
        {side.at === null ? <Unknown>{words.timeline.noTime}</Unknown> : formatExact(side.at).slice(0, 16)}
      </span>
      <span className="min-w-0 truncate font-medium">{side.title ?? w.noRunTitle}</span>
      {side.status !== null && <span className="text-text-2">{side.status}</span>}
      <span className="shrink-0 text-text-2">{side.runtime_version ?? <Unknown />}</span>
      {side.workspace !== null && <PathText path={side.workspace} className="max-w-56 shrink-[3] text-text-2" />}
      {side.run !== null && (
        <Link href={runPath(side.run)} className={`${linkClass} text-accent`}>
          {shortId(side.run)}
          {side.stretch !== null && side.stretch > 1 && `#${side.stretch}`}
        </Link>
      )}
      <Link
        href={manifestPath(side.manifest)}
        className={`${linkClass} text-text-2 hover:text-accent`}
        title={words.manifest.origins[side.origin]}
      >
        {shortDigest(side.manifest)}
      </Link>
    </div>
  )
}
