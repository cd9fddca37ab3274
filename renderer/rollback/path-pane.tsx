import { lazy, Suspense, useId } from 'react'
import { Link } from 'wouter'
import type { PathSide, PlanPath, RollbackPlan } from '../../contract/rollback.ts'
import { Digest } from '../parts/digest.tsx'
import { Fact, Facts, PaneHeading } from '../parts/facts.tsx'
import { Band, Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatBytes, formatStamp, shortId } from '../parts/format.ts'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { TableHead } from '../parts/tables.tsx'
import { useSize } from '../parts/use-size.ts'
import { runPath } from '../shell/address.ts'
import { words } from '../words/en.ts'
import type { Part } from './address.ts'
import { HunkList } from './hunk-list.tsx'
import { type Choices, type ConflictChoice, choiceOf, type PlanConflict, type PlanItem } from './plan-model.ts'
import { ConflictRadios, modes } from './plan-row.tsx'

const w = words.rollback
const DiffView = lazy(() => import('../parts/diff-view.tsx'))

interface PathPaneProps {
  readonly of: PlanItem | null
  readonly plan: RollbackPlan
  readonly read: { readonly data: PlanPath | undefined; readonly error: Error | null; readonly refetch: () => unknown }
  readonly choices: Choices
  readonly part: Part | null
  /** Parts of a file can be chosen; not where a rollback is taken back as a whole. */
  readonly partial: boolean
  readonly undo: boolean
  readonly onChoice: (path: string, choice: ConflictChoice) => void
  readonly onPart: (path: string, part: Part | null) => void
}

/** One path: what is on the disk, what the target holds, and how much of it goes back. */
export function PathPane(props: PathPaneProps) {
  const { of, plan, read, choices, undo } = props
  const { ref, width } = useSize<HTMLDivElement>()
  if (of === null) return <Empty title={w.paneNothing} hint={w.paneNothingHint} />
  if (of.path === null)
    return (
      <div className="px-3 py-3">
        <p className="font-medium break-words">{of.group === 'cannot' ? of.item.what : ''}</p>
        <p className="mt-1 text-dense text-text-2">{of.group === 'cannot' ? of.item.why : ''}</p>
      </div>
    )
  const { path } = of
  const then = undo ? w.undoTarget : plan.target.at === null ? w.targetSide : formatStamp(plan.target.at)
  const byHunk = of.group === 'conflict' && choiceOf(choices, path).choice === 'hunks'
  return (
    <div ref={ref} className="pb-4">
      <div className="px-3 pt-3">
        <h3 className="text-ui font-semibold">
          <PathText path={path} className="w-full" deleted={of.group === 'delete'} />
        </h3>
        <p className="mt-0.5 text-dense text-text-2">
          {w.groups[of.group]}: {w.areas[of.item.area ?? 'home']}
        </p>
      </div>
      {of.group === 'write' && of.item.warnings.length > 0 && (
        <Band>
          <ul>
            {of.item.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Band>
      )}
      <Facts>
        <Sides of={of} />
        {of.group === 'conflict' && <LastWriter of={of.item} />}
        {of.group !== 'write' && <Fact name={w.why}>{of.item.why}</Fact>}
      </Facts>
      {of.group === 'conflict' && (
        <div className="px-3 pb-1 text-dense">
          <ConflictRadios of={of.item} name="pane" choices={choices} onChoice={props.onChoice} />
        </div>
      )}
      {of.group === 'write' && of.item.keeps.length > 0 && (
        <>
          <PaneHeading>{w.keepsTitle}</PaneHeading>
          <ul className="px-3 text-dense">
            {of.item.keeps.map(({ key, why }) => (
              <li key={key} className="border-b border-line py-1 last:border-0">
                <code className="font-mono text-[0.75rem] break-all">{key}</code>
                <span className="block text-text-2">{why}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {of.group === 'write' && props.partial && (
        <Extent path={path} data={read.data} part={props.part} onPart={props.onPart} />
      )}
      <Texts
        read={read}
        then={then}
        path={path}
        beside={width >= 720}
        hunks={
          byHunk
            ? {
                taken: choiceOf(choices, path).hunks,
                onTake: (hunks) => props.onChoice(path, { choice: 'hunks', hunks }),
              }
            : props.part !== null && 'hunks' in props.part
              ? { taken: props.part.hunks, onTake: (hunks) => props.onPart(path, { hunks }) }
              : null
        }
      />
    </div>
  )
}

function Sides({ of }: { readonly of: PlanItem }) {
  switch (of.group) {
    case 'write': {
      const { before, after } = of.item
      return (
        <>
          <Fact name={w.disk}>{before === null ? w.nothingThere : <Side side={before} />}</Fact>
          <Fact name={w.targetSide}>
            <Side side={after} />
          </Fact>
          {before !== null && before.mode !== after.mode && (
            <Fact name={w.mode}>
              <span className="font-mono text-[0.75rem]">{modes(before.mode, after.mode)}</span>
            </Fact>
          )}
        </>
      )
    }
    case 'delete':
      return (
        <>
          <Fact name={w.disk}>
            <Side side={of.item.before} />
          </Fact>
          <Fact name={w.targetSide}>{w.nothingThere}</Fact>
        </>
      )
    case 'conflict': {
      const { expected, found, after } = of.item
      return (
        <>
          <Fact name={w.expected}>{expected === null ? w.nothingThere : <Digest digest={expected} />}</Fact>
          <Fact name={w.disk}>{found === null ? w.nothingThere : <Digest digest={found} />}</Fact>
          <Fact name={w.targetSide}>{after === null ? w.nothingThere : <Side side={after} />}</Fact>
        </>
      )
    }
    default:
      return null
  }
}

function Side({ side }: { readonly side: PathSide }) {
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2">
      <span>{w.kindNames[side.kind]}</span>
      <span className="text-text-2 tabular-nums">{side.bytes === null ? <Unknown /> : formatBytes(side.bytes)}</span>
      {side.digest !== null && <Digest digest={side.digest} />}
    </span>
  )
}

function LastWriter({ of: { last_writer } }: { readonly of: PlanConflict }) {
  const { who, run, seq, at } = last_writer
  return (
    <Fact name={w.lastWriter}>
      {w.who[who]}
      {run !== null && (
        <>
          {', '}
          <Link href={runPath(run, seq)} className="rounded-chip text-accent underline underline-offset-2">
            {shortId(run)}
            {seq !== null && `@${seq}`}
          </Link>
        </>
      )}
      {at !== null && <span className="text-text-2 tabular-nums"> {w.at(formatStamp(at))}</span>}
    </Fact>
  )
}

/** The whole file, one key of it, or some of its changes. */
function Extent({
  path,
  data,
  part,
  onPart,
}: {
  readonly path: string
  readonly data: PlanPath | undefined
  readonly part: Part | null
  readonly onPart: (path: string, part: Part | null) => void
}) {
  const name = useId()
  const keys = data?.keys ?? []
  const hunks = data?.hunks ?? []
  if (part === null && keys.length === 0 && hunks.length < 2) return null
  const named = part !== null && 'key' in part && !keys.some(({ key }) => key === part.key) ? [part.key] : []
  const line = 'flex min-h-6 items-start gap-1.5'
  return (
    <fieldset className="px-3 pt-2 text-dense">
      <legend className="text-meta font-semibold text-text-2">{w.extent}</legend>
      <label className={line}>
        <input type="radio" className="mt-1" name={name} checked={part === null} onChange={() => onPart(path, null)} />
        {w.whole}
      </label>
      {[...named, ...keys.map(({ key }) => key)].map((key) => (
        <label key={key} className={line}>
          <input
            type="radio"
            className="mt-1"
            name={name}
            checked={part !== null && 'key' in part && part.key === key}
            onChange={() => onPart(path, { key })}
          />
          <span className="min-w-0 break-all">{w.onlyThisKey(key)}</span>
        </label>
      ))}
      {hunks.length > 1 && (
        <label className={line}>
          <input
            type="radio"
            className="mt-1"
            name={name}
            checked={part !== null && 'hunks' in part}
            onChange={() => onPart(path, { hunks: hunks.map(({ n }) => n) })}
          />
          {w.byHunk}
        </label>
      )}
    </fieldset>
  )
}

interface TextsProps {
  readonly read: PathPaneProps['read']
  readonly then: string
  readonly path: string
  readonly beside: boolean
  readonly hunks: { readonly taken: readonly number[]; readonly onTake: (hunks: readonly number[]) => void } | null
}

function Texts({ read, then, path, beside, hunks }: TextsProps) {
  const { data } = read
  if (data === undefined)
    return read.error === null ? (
      <Loading what={w.path} rows={6} />
    ) : (
      <Failure what={w.path} failure={read.error} onRetry={() => void read.refetch()} />
    )
  const { disk, target, why, keys } = data
  return (
    <>
      {keys.length > 0 && (
        <section aria-label={w.keyTable}>
          <PaneHeading>{w.keyTable}</PaneHeading>
          <div className="overflow-x-auto px-3">
            <table className="w-full text-dense">
              <TableHead columns={[w.key, w.disk, then]} />
              <tbody>
                {keys.map((entry) => (
                  <tr key={entry.key} className="border-b border-line align-top">
                    <th scope="row" className="py-1 pr-3 text-left font-mono text-[0.75rem] font-normal break-all">
                      {entry.key}
                    </th>
                    <td className="py-1 pr-3 font-mono text-[0.75rem] break-all">{entry.disk ?? w.nothingThere}</td>
                    <td className="py-1 font-mono text-[0.75rem] break-all">{entry.target ?? w.nothingThere}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      <PaneHeading>
        {hunks === null ? (
          <>
            <span className="text-effect-delete">−</span> {w.disk} <span className="pl-2 text-effect-add">+</span>{' '}
            {then}
          </>
        ) : (
          `${w.hunks}: ${w.hunkKeys}`
        )}
      </PaneHeading>
      {why !== null && <p className="px-3 pb-1 text-dense text-text-2">{why}</p>}
      {hunks !== null ? (
        <HunkList hunks={data.hunks} then={then} taken={hunks.taken} onTake={hunks.onTake} />
      ) : disk === null && target === null ? (
        why === null && <p className="px-3 text-dense text-text-2">{w.noText}</p>
      ) : (
        <div className="mx-3 max-h-[60vh] overflow-auto rounded-card border border-line">
          <Suspense fallback={<Loading what={w.path} rows={4} />}>
            <DiffView before={shown(disk)} after={shown(target)} beside={beside} label={w.diffLabel(path)} />
          </Suspense>
        </div>
      )}
    </>
  )
}

const shown = (text: string | null) => ({ text: text ?? '', total: text?.length ?? 0, hidden: [] })
