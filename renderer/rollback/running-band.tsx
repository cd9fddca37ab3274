import { useId } from 'react'
import type { RollbackPlan } from '../../contract/rollback.ts'
import { Band } from '../parts/feedback.tsx'
import { words } from '../words/en.ts'
import type { Choices } from './plan-model.ts'

const w = words.rollback

/** An agent that is at work where something would change: nothing is written under its hands unless that is chosen. */
export function RunningBand({
  running,
  value,
  onChange,
}: {
  readonly running: RollbackPlan['running']
  readonly value: Choices['running']
  readonly onChange: (value: Choices['running']) => void
}) {
  const name = useId()
  if (running.length === 0) return null
  return (
    <Band role="note">
      <ul>
        {running.map(({ runtime, pid, session, why }) => (
          <li key={`${runtime}:${pid}:${session}`}>
            <span className="font-medium">{w.running.here(words.runtimes[runtime].name, pid)}</span>{' '}
            <span className="text-text-2">{why}</span>
          </li>
        ))}
      </ul>
      <span role="radiogroup" aria-label={w.running.choice} className="flex flex-wrap gap-x-4">
        {(['wait', 'go_on'] as const).map((choice) => (
          <label key={choice} className="inline-flex min-h-6 items-center gap-1.5">
            <input type="radio" name={name} checked={value === choice} onChange={() => onChange(choice)} />
            {choice === 'wait' ? w.running.wait : w.running.goOn}
          </label>
        ))}
      </span>
    </Band>
  )
}
