import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { Cause, Comparison } from '../../contract/compare.ts'
import { Button } from '../parts/button.tsx'
import { cx } from '../parts/classes.ts'
import { PaneHeading } from '../parts/facts.tsx'
import { inside } from '../parts/paths.ts'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { useSize } from '../parts/use-size.ts'
import { type RollbackDoor, rollbackPath } from '../rollback/address.ts'
import { causeDoor } from '../rollback/cause-door.ts'
import { useAddress } from '../shell/address.ts'
import { letterAllowed } from '../shell/keys.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { CategoryTable } from './category-table.tsx'
import { ClassMark } from './class-mark.tsx'
import { EvidenceLink } from './evidence-link.tsx'
import { TwoTexts } from './two-texts.tsx'
import { ValueText } from './value-text.tsx'

const w = words.compare

/** What can explain the difference, the likeliest first, with what each rests on. */
export function CausesTab({ comparison }: { readonly comparison: Comparison }) {
  const { causes, identical } = comparison
  const { get, set } = useAddress()
  const { ref, width } = useSize<HTMLDivElement>()
  const rank = Number(get('cause') ?? '1')
  const chosen = causes.find((cause) => cause.rank === rank) ?? causes[0]
  const list = useRef<HTMLDivElement>(null)
  const evidence = useRef<HTMLElement>(null)
  const { navigate } = useAddress()
  const manifests = {
    a: useRead('manifest.get', { target: comparison.a.manifest }).data?.manifest,
    b: useRead('manifest.get', { target: comparison.b.manifest }).data?.manifest,
  }
  const door = chosen === undefined ? null : causeDoor(chosen, comparison, manifests)
  const choose = (cause: Cause) => set({ cause: cause.rank === 1 ? null : String(cause.rank) }, { replace: true })

  const onKey = (event: KeyboardEvent) => {
    const at = chosen === undefined ? -1 : causes.indexOf(chosen)
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -causes.length, End: causes.length }[event.key]
    if (step !== undefined) {
      const next = causes[Math.max(0, Math.min(causes.length - 1, at + step))]
      if (next) choose(next)
      event.preventDefault()
    } else if (event.key === 'Enter') {
      evidence.current?.focus()
      event.preventDefault()
    } else if (event.key === 'b' && door !== null && letterAllowed(event.target)) {
      navigate(rollbackPath(door))
      event.preventDefault()
    }
  }
  // The list is the first thing one works with: arrows go through the causes at once.
  useEffect(() => list.current?.focus({ preventScroll: true }), [])

  const beside = width >= 760
  return (
    <div ref={ref} className={cx('flex min-h-0 flex-1', !beside && 'flex-col')}>
      <ScrollArea className={beside ? 'min-w-0 flex-[3]' : 'min-h-0 flex-1'}>
        {causes.length > 0 && (
          <div
            ref={list}
            tabIndex={0}
            role="listbox"
            aria-label={w.causesLabel}
            aria-activedescendant={chosen === undefined ? undefined : `cause-${chosen.rank}`}
            data-keys=""
            onKeyDown={onKey}
            className="group/causes outline-none"
          >
            {causes.map((cause) => (
              <CauseRow key={cause.rank} cause={cause} current={cause === chosen} onChoose={() => choose(cause)} />
            ))}
          </div>
        )}
        <CategoryTable categories={comparison.categories} open={identical || causes.length === 0} />
      </ScrollArea>
      {chosen !== undefined && (
        <section
          ref={evidence}
          tabIndex={-1}
          aria-label={w.evidenceFor(chosen.rank)}
          className={cx(
            'min-h-0 overflow-y-auto bg-surface outline-offset-[-2px]',
            beside ? 'min-w-0 flex-[2] border-l border-line' : 'max-h-[55%] border-t border-line-strong',
          )}
        >
          <EvidencePane cause={chosen} workspace={comparison.b.workspace} door={door} />
        </section>
      )}
    </div>
  )
}

function CauseRow({
  cause,
  current,
  onChoose,
}: {
  readonly cause: Cause
  readonly current: boolean
  readonly onChoose: () => void
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list around it takes the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list around it has the focus
    <div
      id={`cause-${cause.rank}`}
      role="option"
      aria-selected={current}
      aria-current={current}
      onClick={onChoose}
      className={cx(
        'grid cursor-pointer grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2 border-b border-line px-3 py-2',
        current ? 'bg-select group-focus/causes:shadow-[inset_2px_0_0_var(--color-accent)]' : 'hover:bg-hover',
      )}
    >
      <span className="pt-0.5 text-right text-text-3 tabular-nums">{cause.rank}</span>
      <div className="min-w-0">
        <p className="font-medium break-words">{cause.title}</p>
        <p className="mt-0.5 text-dense break-words text-text-2">{cause.why}</p>
        <p className="mt-0.5 flex flex-wrap items-center gap-x-3 text-meta text-text-3">
          <ClassMark of={cause.class} />
          <span>{w.entered(cause.entered)}</span>
          <span>{w.used(cause.used)}</span>
        </p>
      </div>
    </div>
  )
}

function EvidencePane({
  cause,
  workspace,
  door,
}: {
  readonly cause: Cause
  readonly workspace: string | null
  /** The plan that goes back in this one cause; null where it rests on no file. */
  readonly door: RollbackDoor | null
}) {
  const { navigate } = useAddress()
  const { text } = cause
  const [beside, setBeside] = useState(false)
  const shown = text !== null && (text.a !== null || text.b !== null)
  return (
    <div className="pb-4">
      <h3 className="px-3 pt-3 text-meta font-semibold text-text-2">{w.evidenceFor(cause.rank)}</h3>
      <ul className="px-3 pt-1 text-dense">
        {cause.evidence.map((entry) => (
          <li key={`${entry.side}\0${entry.text}`} className="flex gap-2 border-b border-line py-1">
            <span className="w-6 shrink-0 font-mono text-[0.75rem] text-text-3">
              <span className="sr-only">{w.sides[entry.side]}</span>
              <span aria-hidden="true">{entry.side === 'both' ? 'A B' : entry.side.toUpperCase()}</span>
            </span>
            <span className="min-w-0 break-words">
              <EvidenceLink reference={entry.ref}>{inside(entry.text, workspace)}</EvidenceLink>
            </span>
          </li>
        ))}
      </ul>
      {cause.class === 'configuration' && (
        <div className="flex flex-wrap items-center gap-2 px-3 pt-2 text-dense">
          <Button small disabled={door === null} onClick={() => door !== null && navigate(rollbackPath(door))}>
            {words.rollback.onlyThis}
          </Button>
          {door === null && <span className="text-text-2">{words.rollback.noPath}</span>}
        </div>
      )}
      <dl className="grid grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2 gap-y-1 px-3 py-2 text-dense">
        <dt className="font-mono text-[0.75rem] text-text-3">A</dt>
        <dd>
          <ValueText value={cause.before} />
        </dd>
        <dt className="font-mono text-[0.75rem] text-text-3">B</dt>
        <dd>
          <ValueText value={cause.after} />
        </dd>
      </dl>
      {text !== null && text.why !== null && <p className="px-3 text-dense text-text-2">{text.why}</p>}
      {shown && (
        <>
          <div className="flex items-center pr-3">
            <PaneHeading>{w.text}</PaneHeading>
            {text.a !== null && text.b !== null && (
              <label className="ml-auto flex items-center gap-1.5 pt-2 text-meta text-text-2">
                <input type="checkbox" checked={beside} onChange={(event) => setBeside(event.target.checked)} />
                {w.beside}
              </label>
            )}
          </div>
          <div className="mx-3">
            <TwoTexts a={text.a} b={text.b} beside={beside} label={w.diffLabel(cause.title)} />
          </div>
        </>
      )}
    </div>
  )
}
