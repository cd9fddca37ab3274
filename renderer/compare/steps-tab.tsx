import { X } from 'lucide-react'
import { useCallback, useState } from 'react'
import { useLocation } from 'wouter'
import type { AlignedStep, Comparison } from '../../contract/compare.ts'
import { cx } from '../parts/classes.ts'
import { Band, Empty } from '../parts/feedback.tsx'
import { inside } from '../parts/paths.ts'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { runPath } from '../shell/address.ts'
import { useRowHeight } from '../shell/view-state.ts'
import { words } from '../words/en.ts'

const w = words.compare
const sides = ['a', 'b'] as const

/** Both trajectories side by side, from the first step that differs. */
export function StepsTab({ comparison: { steps, a, b } }: { readonly comparison: Comparison }) {
  const [, navigate] = useLocation()
  const { ref, width } = useSize<HTMLDivElement>()
  const height = useRowHeight('event')
  const first = steps?.first_difference ?? null
  const workspaces = { a: a.workspace, b: b.workspace }
  const [active, setActive] = useState<string | null>(first === null ? null : `step:${first}`)
  const aligned = steps?.aligned ?? []
  const keyOf = useCallback((index: number) => `step:${index}`, [])
  const row = useCallback(
    (index: number): GridRow => {
      const step = aligned[index]
      return step === undefined
        ? { key: `none:${index}`, heading: true }
        : { key: `step:${index}`, label: sentence(step) }
    },
    [aligned],
  )
  if (steps === null) return <Empty title={w.noSteps} hint={w.noStepsHint} />
  const open = (index: number) => {
    const step = aligned[index]
    if (step?.b != null && b.run !== null) navigate(runPath(b.run, step.b.seq))
    else if (step?.a != null && a.run !== null) navigate(runPath(a.run, step.a.seq))
  }
  return (
    <div ref={ref} className="flex min-h-0 flex-1 flex-col">
      {first === null ? (
        <Band tone="plain">{w.sameSteps}</Band>
      ) : (
        <Band tone="plain">{w.firstDifference(first + 1)}</Band>
      )}
      {steps.cut && <Band>{w.stepsCut}</Band>}
      {width > 0 && (
        <VirtualGrid
          label={w.tabs.steps}
          count={aligned.length}
          row={row}
          keyOf={keyOf}
          rowHeight={() => height}
          active={active}
          onActive={setActive}
          onOpen={open}
          onPeek={open}
          header={null}
          render={(index) => {
            const step = aligned[index]
            if (step === undefined) return null
            return (
              <div className="grid h-full grid-cols-[5.5rem_minmax(0,1fr)_minmax(0,1fr)] items-center gap-x-3 px-3 text-dense">
                <Cell
                  className={cx('truncate text-meta', step.state === 'equal' ? 'text-text-3' : 'font-medium text-warn')}
                >
                  {w.stepStates[step.state]}
                </Cell>
                {sides.map((side) => {
                  const part = step[side]
                  return (
                    <Cell key={side} className="truncate">
                      {part !== null && (
                        <>
                          <span className="text-text-3 tabular-nums">@{part.seq} </span>
                          {part.ok === false && (
                            <span className="mr-1 inline-flex items-center gap-0.5 align-bottom text-danger">
                              <X size={12} strokeWidth={2} aria-hidden="true" />
                              {words.run.failed}
                            </span>
                          )}
                          <span className="font-medium">{part.tool ?? part.kind}</span>{' '}
                          <span className="text-text-2">{inside(part.summary, workspaces[side])}</span>
                        </>
                      )}
                    </Cell>
                  )
                })}
              </div>
            )
          }}
        />
      )}
    </div>
  )
}

const sentence = (step: AlignedStep): string =>
  [
    w.stepStates[step.state],
    ...sides.map((side) => {
      const part = step[side]
      return part === null ? '' : `${side.toUpperCase()} @${part.seq} ${part.tool ?? part.kind} ${part.summary}`
    }),
  ]
    .filter((part) => part !== '')
    .join(', ')
