import { type KeyboardEvent, useRef } from 'react'
import type { PlanPath } from '../../contract/rollback.ts'
import { Button } from '../parts/button.tsx'
import { words } from '../words/en.ts'

const w = words.rollback

/** Each change with its button beside it; F7 and Shift+F7 go from change to change. */
export function HunkList({
  hunks,
  then,
  taken,
  onTake,
}: {
  readonly hunks: PlanPath['hunks']
  /** The moment of the target. */
  readonly then: string
  readonly taken: readonly number[]
  readonly onTake: (hunks: readonly number[]) => void
}) {
  const list = useRef<HTMLOListElement>(null)
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'F7' || list.current === null) return
    const buttons = [...list.current.querySelectorAll<HTMLElement>('button')]
    const focused = document.activeElement
    const at = focused instanceof HTMLElement ? buttons.indexOf(focused) : -1
    buttons[Math.max(0, Math.min(buttons.length - 1, at + (event.shiftKey ? -1 : 1)))]?.focus()
    event.preventDefault()
  }
  if (hunks.length === 0) return <p className="px-3 text-dense text-text-2">{w.noText}</p>
  return (
    <ol ref={list} onKeyDown={onKey} aria-label={w.hunks} className="mx-3 space-y-2">
      {hunks.map(({ n, disk_line, removed, added }) => {
        const on = taken.includes(n)
        return (
          <li key={n} className="overflow-hidden rounded-card border border-line">
            <div className="flex flex-wrap items-center gap-2 border-b border-line bg-canvas px-2 py-1 text-dense">
              <span className="min-w-0 flex-1 text-text-2 tabular-nums">{w.hunk(n, disk_line)}</span>
              <Button
                small
                aria-pressed={on}
                aria-label={on ? w.takenHunk(n) : w.takeHunk(n)}
                onClick={() => onTake(on ? taken.filter((other) => other !== n) : [...taken, n].sort((a, b) => a - b))}
              >
                {on ? w.takenFrom(then) : w.takeFrom(then)}
              </Button>
            </div>
            <pre className="font-mono text-[0.75rem] leading-[1.125rem] break-all whitespace-pre-wrap">
              {removed.map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one change never move
                <div key={`-${index}`} className={`flex px-2 ${on ? 'bg-diff-delete' : ''}`}>
                  <span className="w-4 shrink-0 text-text-2">−</span>
                  <span className="sr-only">{w.onDisk} </span>
                  <span className="min-w-0">{line}</span>
                </div>
              ))}
              {added.map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the same
                <div key={`+${index}`} className={`flex px-2 ${on ? 'bg-diff-add' : ''}`}>
                  <span className="w-4 shrink-0 text-text-2">+</span>
                  <span className="sr-only">{w.inTarget} </span>
                  <span className="min-w-0">{line}</span>
                </div>
              ))}
            </pre>
          </li>
        )
      })}
    </ol>
  )
}
