import { useCallback, useEffect, useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { RollbackArea, RollbackPlan } from '../../contract/rollback.ts'
import { Button } from '../parts/button.tsx'
import { CommandHint } from '../parts/command-hint.tsx'
import { Band, Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatClockSeconds, shortDigest, shortId } from '../parts/format.ts'
import { RuntimeTile, Unknown } from '../parts/marks.tsx'
import { SplitPane } from '../parts/split-pane.tsx'
import { useCrumbs } from '../shell/acts.ts'
import { manifestPath, runPath, useAddress } from '../shell/address.ts'
import { say } from '../shell/announcer.tsx'
import { useLink } from '../shell/link-state.ts'
import { useView } from '../shell/view-state.ts'
import { useChange } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { type Asked, type Part, receiptPath } from './address.ts'
import { ApplyBar } from './apply-bar.tsx'
import { commandLine } from './command-line.ts'
import { PathPane } from './path-pane.tsx'
import {
  askedPath,
  buttonOf,
  type Choices,
  type ConflictChoice,
  decided,
  groups,
  isAsked,
  itemsOf,
  noChoices,
  type PlanItem,
  withPart,
} from './plan-model.ts'
import { PlanTable } from './plan-table.tsx'
import { RunningBand } from './running-band.tsx'
import { ScopeBar } from './scope-bar.tsx'
import { targetText } from './target-text.ts'
import { usePlan, usePlanPath } from './use-plan.ts'
import { useSeconds } from './use-seconds.ts'

const w = words.rollback

/** The plan of one target: choices are made on it, and nothing is done before its one button is pressed. */
export function Planned({ asked }: { readonly asked: Asked }) {
  const { navigate } = useAddress()
  const [choices, setChoices] = useState<Choices>(noChoices)
  const [selected, setSelected] = useState<string | null>(null)
  const alsoPaths = useMemo(() => [...choices.deleteKept], [choices.deleteKept])
  const [held, setHeld] = useState(false)
  const planned = usePlan(asked, alsoPaths, held)
  const { plan, request, undoOf } = planned
  const undo = asked.undo !== null
  const apply = useApply(planned, setHeld)
  const away = useLink((now) => now.link === 'away')
  const seconds = useSeconds(apply.isPending)

  const files = plan !== undefined && !undo && isAsked(asked) && !plan.is_rollback
  const what = plan === undefined ? (asked.target ?? '') : targetText(plan.target)
  const title = undo ? w.titleUndo(shortId(undoOf ?? '')) : files ? w.titleFiles(what) : w.title(what)
  useCrumbs([words.timeline.title, '/timeline'], files ? w.crumbFiles : w.crumb)

  const all = useMemo(() => (plan === undefined ? [] : groups.flatMap((group) => itemsOf(plan)[group])), [plan])
  // What was clicked, or what has to be decided, is what one looks at first.
  useEffect(() => {
    if (selected === null)
      setSelected((all.find(({ group }) => group !== 'cannot' && group !== 'kept') ?? all[0])?.key ?? null)
  }, [all, selected])
  const current = all.find(({ key }) => key === selected) ?? null
  const read = usePlanPath(asked, planned, current?.path ?? null)

  const set = (change: Partial<Choices>) => setChoices((now) => ({ ...now, ...change }))
  const onTick = useCallback((items: readonly PlanItem[], on: boolean) => {
    setChoices((now) => {
      const ticks = new Map(now.ticks)
      const deleteKept = new Set(now.deleteKept)
      for (const { group, path } of items) {
        if (path === null) continue
        if (group !== 'kept') ticks.set(path, on)
        else if (on) deleteKept.add(path)
        else deleteKept.delete(path)
      }
      return { ...now, ticks, deleteKept }
    })
  }, [])
  const onChoice = useCallback((path: string, choice: ConflictChoice) => {
    setChoices((now) => ({ ...now, conflicts: new Map(now.conflicts).set(path, choice) }))
    if (choice.choice === 'hunks') {
      setSelected(`conflict:${path}`)
      useView.getState().toggleInspector(true)
    }
  }, [])
  const onPart = (path: string, part: Part | null) =>
    navigate(askedPath({ ...asked, parts: withPart(asked.parts, path, part) }), { replace: true })
  const onAreas = (areas: readonly RollbackArea[]) =>
    navigate(askedPath({ ...asked, areas, parts: new Map() }), { replace: true })

  const button = buttonOf(plan, choices, asked)
  const failure = apply.error === null ? null : asErrorBody(apply.error)
  const onApply = () => {
    if (plan === undefined || !button.enabled) return
    apply.mutate(undo ? { undo: undoOf } : { request }, plan, choices)
  }
  const command = <CommandHint command={commandLine(asked, plan, choices)} />
  const main = (
    <>
      <header className="shrink-0 px-3 pt-2.5 pb-1.5">
        <div className="flex min-w-0 flex-wrap items-baseline gap-x-3 gap-y-0.5">
          <h1 className="min-w-0 text-read font-semibold break-words">{title}</h1>
          {plan !== undefined && <TargetLine plan={plan} />}
          <span className="ml-auto max-sm:hidden">{command}</span>
        </div>
        {undo && <p className="mt-0.5 text-dense text-text-2">{w.undoScope}</p>}
      </header>
      {!undo && <ScopeBar asked={asked} plan={plan} onAreas={onAreas} />}
      {files && <Band tone="plain">{w.filesOnly}</Band>}
      {plan !== undefined && (
        <RunningBand running={plan.running} value={choices.running} onChange={(running) => set({ running })} />
      )}
      {plan !== undefined && plan.not_reproducible !== null && (
        <Band>
          <span className="block first-letter:uppercase">{plan.not_reproducible}</span>
        </Band>
      )}
      {planned.renewed > 0 && <Band role="status">{w.refreshed(planned.changed.size)}</Band>}
      {failure !== null && failure.code !== 'conflict' && <Failure what={w.failedAct} failure={apply.error} />}
      {planned.error !== null && (
        <PlanFailure
          failure={planned.error}
          asked={asked}
          onRetry={() => void planned.refetch()}
          lastGood={plan === undefined ? null : formatClockSeconds(new Date(planned.updatedAt).toISOString())}
        />
      )}
      <Body
        asked={asked}
        plan={plan}
        isFailed={planned.error !== null}
        table={(shown) => (
          <PlanTable
            plan={shown}
            choices={choices}
            fixed={undo}
            changed={planned.changed}
            active={selected}
            onActive={setSelected}
            onTick={onTick}
            onChoice={onChoice}
            onOpen={() => {
              useView.getState().toggleInspector(true)
              requestAnimationFrame(() =>
                document
                  .querySelector<HTMLElement>('[data-region=inspector] :is(input,[tabindex="0"],button)')
                  ?.focus(),
              )
            }}
          />
        )}
      />
      <ApplyBar
        plan={plan}
        choices={choices}
        button={button}
        undo={undo}
        busy={apply.isPending ? w.act.busy(button.count, seconds) : null}
        why={away ? w.act.away : null}
        onConsent={(path, on) =>
          setChoices((now) => {
            const consent = new Set(now.consent)
            if (on) consent.add(path)
            else consent.delete(path)
            return { ...now, consent }
          })
        }
        onReason={(reason) => set({ reason })}
        onApply={onApply}
      />
    </>
  )
  return (
    <SplitPane
      main={main}
      inspector={
        plan === undefined ? (
          <Empty title={w.paneNothing} hint={w.paneNothingHint} />
        ) : (
          <PathPane
            key={current?.path ?? ''}
            of={current}
            plan={plan}
            read={read}
            choices={choices}
            part={current?.path == null ? null : (asked.parts.get(current.path) ?? null)}
            partial={!undo}
            undo={undo}
            onChoice={onChoice}
            onPart={onPart}
          />
        )
      }
      title={w.pane}
      empty={current === null}
      sheetClosed
      alone
    />
  )
}

/** The run and the manifest the target stands for. */
function TargetLine({ plan: { target } }: { readonly plan: RollbackPlan }) {
  const link = 'rounded-chip font-mono text-[0.75rem] text-accent hover:underline'
  return (
    <p className="flex min-w-0 flex-wrap items-baseline gap-x-3 text-dense text-text-2">
      {target.runtime !== null && (
        <span className="self-center">
          <RuntimeTile runtime={target.runtime} />
        </span>
      )}
      {target.run !== null && (
        <Link href={runPath(target.run, target.seq)} className={link}>
          {shortId(target.run)}
          {target.seq !== null && `@${target.seq}`}
        </Link>
      )}
      {target.manifest !== null && (
        <span>
          {w.manifest}{' '}
          <Link href={manifestPath(target.manifest)} className={link}>
            {shortDigest(target.manifest)}
          </Link>
        </span>
      )}
      {target.at === null && <Unknown>{w.noMoment}</Unknown>}
    </p>
  )
}

interface BodyProps {
  readonly asked: Asked
  readonly plan: RollbackPlan | undefined
  readonly isFailed: boolean
  readonly table: (plan: RollbackPlan) => React.ReactNode
}

function Body({ asked, plan, isFailed, table }: BodyProps) {
  if (plan === undefined)
    return isFailed ? <div className="flex-1" /> : <Filled>{<Loading what={w.planning} />}</Filled>
  const empty =
    plan.writes.length + plan.deletes.length + plan.conflicts.length + plan.kept.length + plan.not_restorable.length ===
    0
  if (empty && !isAsked(asked))
    return (
      <Filled>
        <Empty title={w.chooseScope} hint={w.chooseScopeHint} />
      </Filled>
    )
  if (empty)
    return (
      <Filled>
        <Empty title={w.nothingDiffers} hint={w.nothingDiffersHint} />
      </Filled>
    )
  return table(plan)
}

const Filled = ({ children }: { readonly children: React.ReactNode }) => (
  <div className="min-h-0 flex-1 overflow-y-auto border-t border-line">{children}</div>
)

/** Which home or workspace is meant is asked here; everything else is a failure like any other. */
function PlanFailure({
  failure,
  asked,
  onRetry,
  lastGood,
}: {
  readonly failure: Error
  readonly asked: Asked
  readonly onRetry: () => void
  readonly lastGood: string | null
}) {
  const { navigate } = useAddress()
  const body = asErrorBody(failure)
  const { candidates = [] } = body
  if (asked.undo !== null && body.code === 'not_found')
    return (
      <Empty title={w.noneToUndo} hint={`${body.message} ${w.noneToUndoHint}`}>
        <Button onClick={() => navigate('/rollbacks')}>{w.toList}</Button>
      </Empty>
    )
  const places = candidates.filter((candidate) => /^(?:[/\\]|[A-Za-z]:)/.test(candidate))
  if (body.code === 'ambiguous' && places.length > 0)
    return (
      <Empty title={w.chooseOf} hint={body.message}>
        {places.map((place) => (
          <Button key={place} onClick={() => navigate(askedPath({ ...asked, of: place }), { replace: true })}>
            {place}
          </Button>
        ))}
      </Empty>
    )
  return <Failure what={w.planning} failure={failure} onRetry={onRetry} lastGood={lastGood} />
}

/** Applies what was decided. A conflict means the disk is another one: the plan is made anew, and nothing was done. */
function useApply(planned: ReturnType<typeof usePlan>, hold: (on: boolean) => void) {
  const { navigate } = useAddress()
  const rollBack = useChange('rollback.apply')
  const takeBack = useChange('rollback.undo')
  const done = {
    onSuccess: ({ record }: { readonly record: { readonly id: string; readonly state: string } }) => {
      if (record.state === 'applied') say(w.announced)
      navigate(receiptPath(record.id))
    },
    onError: (error: Error) => {
      hold(false)
      if (asErrorBody(error).code === 'conflict') void planned.refetch()
    },
  }
  return {
    isPending: rollBack.isPending || takeBack.isPending,
    error: rollBack.error ?? takeBack.error,
    mutate: (
      how: { readonly undo: string | null } | { readonly request: (typeof planned)['request'] },
      plan: RollbackPlan,
      choices: Choices,
    ) => {
      const answer = decided(plan, choices)
      hold(true)
      if ('undo' in how)
        takeBack.mutate(
          {
            ...(how.undo === null ? {} : { id: how.undo }),
            plan: plan.id,
            ...(answer.choices === undefined ? {} : { choices: answer.choices }),
            ...(answer.while_running === undefined ? {} : { while_running: answer.while_running }),
          },
          done,
        )
      else if (how.request !== null) rollBack.mutate({ ...how.request, ...answer }, done)
    },
  }
}
