import { useId } from 'react'
import type { RollbackPlan } from '../../contract/rollback.ts'
import { Button } from '../parts/button.tsx'
import { formatBytes } from '../parts/format.ts'
import { words } from '../words/en.ts'
import { type Choices, chosenPaths, type Button as PlanButton, protectedBytes, unprotected } from './plan-model.ts'

const w = words.rollback

interface ApplyBarProps {
  readonly plan: RollbackPlan | undefined
  readonly choices: Choices
  readonly button: PlanButton
  /** A rollback is taken back as a whole: no reason, no consent path by path. */
  readonly undo: boolean
  readonly busy: string | null
  readonly why: string | null
  readonly onConsent: (path: string, on: boolean) => void
  readonly onReason: (reason: string) => void
  readonly onApply: () => void
}

/** What is kept safe first, why, and the one button, which names exactly what it does. */
export function ApplyBar(props: ApplyBarProps) {
  const { plan, choices, button, undo, busy, why } = props
  const reasonId = useId()
  const { cannot } = plan === undefined ? { cannot: [] } : unprotected(plan, choices)
  const count = plan === undefined ? 0 : chosenPaths(plan, choices).all.length
  const bytes = plan === undefined ? null : protectedBytes(plan, choices)
  return (
    <section
      aria-label={w.actLabel}
      data-region="act"
      className="shrink-0 border-t border-line-strong bg-surface px-3 py-2 text-dense"
    >
      {cannot.length > 0 && (
        <div className="mb-2 max-h-28 overflow-y-auto" role="group" aria-label={w.safetyPartial(cannot.length)}>
          <p className="font-medium text-warn">{w.safetyPartial(cannot.length)}</p>
          <ul>
            {cannot.map((entry) => (
              <li key={entry.path} className="py-0.5">
                {undo ? (
                  <span className="break-all">
                    {entry.path}: {entry.why}
                  </span>
                ) : (
                  <label className="flex items-start gap-1.5">
                    <input
                      type="checkbox"
                      className="mt-1"
                      checked={choices.consent.has(entry.path)}
                      onChange={(event) => props.onConsent(entry.path, event.target.checked)}
                    />
                    <span className="min-w-0 break-words">
                      {w.consent(entry.path)} <span className="text-text-2">({entry.why})</span>
                    </span>
                  </label>
                )}
              </li>
            ))}
          </ul>
          {undo && <p className="text-text-2">{w.undoConsent}</p>}
        </div>
      )}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1 basis-52 text-text-2">
          {count === 0
            ? w.safetyNothing
            : cannot.length === 0
              ? w.safety(count, bytes === null ? null : formatBytes(bytes))
              : w.safetyRest(count - cannot.length)}
        </p>
        {!undo && (
          <span className="flex min-w-0 flex-1 basis-52 items-center gap-2">
            <label htmlFor={reasonId} className="shrink-0 text-text-2">
              {w.reason}
            </label>
            <input
              id={reasonId}
              value={choices.reason}
              maxLength={500}
              placeholder={w.reasonHint}
              onChange={(event) => props.onReason(event.target.value)}
              className="h-7 min-w-0 flex-1 rounded-control border border-line-strong bg-raised px-2 text-ui max-sm:h-11"
            />
          </span>
        )}
        <span className="ml-auto flex flex-wrap items-center justify-end gap-2">
          {why !== null && <span className="text-text-2">{why}</span>}
          <Button
            look={button.enabled ? 'danger' : 'plain'}
            disabled={!button.enabled || busy !== null || why !== null}
            data-rollback-act=""
            // Only a plain Enter on the button itself acts: with a modifier it would be the reflex of a form.
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.preventDefault()
            }}
            onClick={props.onApply}
          >
            {busy ?? button.label}
          </Button>
        </span>
      </div>
    </section>
  )
}
