import { X } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { words } from '../words/en.ts'
import { clearSlot, useSlots } from './compare-slots.ts'
import { slotsPath } from './comparing.ts'

const w = words.compare

/** What waits to be compared; hidden while nothing does, and on the page that shows it anyway. */
export function SlotChips() {
  const slots = useSlots()
  const [path] = useLocation()
  if ((slots.a === null && slots.b === null) || path === '/compare') return null
  return (
    <div role="group" aria-label={w.slotsLabel} className="flex items-center gap-1 text-meta max-md:hidden">
      {(['a', 'b'] as const).map((side) => {
        const slot = slots[side]
        if (slot === null) return null
        const letter = side.toUpperCase()
        return (
          <span
            key={side}
            className="inline-flex h-6 items-center gap-1 rounded-control border border-line bg-surface pl-1.5"
          >
            <span className="font-semibold">{letter}</span>
            <span className="max-w-24 truncate font-mono" title={slot.target}>
              {slot.label}
            </span>
            <button
              type="button"
              aria-label={w.clearSlot(letter)}
              title={w.clearSlot(letter)}
              onClick={() => clearSlot(side)}
              className="flex size-6 items-center justify-center rounded-control text-text-3 hover:bg-hover hover:text-text"
            >
              <X size={12} strokeWidth={1.75} aria-hidden="true" />
            </button>
          </span>
        )
      })}
      {slots.a !== null && slots.b !== null && (
        <Link href={slotsPath()} className="rounded-chip px-1 text-accent hover:underline">
          {words.nav.compare}
        </Link>
      )}
    </div>
  )
}
