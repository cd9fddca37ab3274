import { create } from 'zustand'

/** Something that can be compared: a run, a stretch, a point, a manifest. */
export interface Slot {
  readonly target: string
  readonly label: string
}

interface Slots {
  readonly a: Slot | null
  readonly b: Slot | null
}

const KEY = 'reprise.compare'

function remembered(): Slots {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
    if (typeof kept !== 'object' || kept === null) return { a: null, b: null }
    return { a: slotOf('a' in kept ? kept.a : null), b: slotOf('b' in kept ? kept.b : null) }
  } catch {
    return { a: null, b: null } // storage switched off, or written by another version
  }
}

const slotOf = (value: unknown): Slot | null =>
  typeof value === 'object' &&
  value !== null &&
  'target' in value &&
  'label' in value &&
  typeof value.target === 'string' &&
  typeof value.label === 'string'
    ? { target: value.target, label: value.label }
    : null

/** The two slots of the title bar; they survive going elsewhere and a reload. */
export const useSlots = create<Slots>(() => remembered())

const save = (slots: Slots): void => {
  useSlots.setState(slots)
  try {
    sessionStorage.setItem(KEY, JSON.stringify(slots))
  } catch {
    // Storage switched off: the slots last until the page is left.
  }
}

/** Fills A, then B; with both taken B is replaced. The same thing twice is taken once. */
export function fillSlot(slot: Slot): 'a' | 'b' {
  const { a, b } = useSlots.getState()
  if (a === null || a.target === slot.target) {
    save({ a: slot, b })
    return 'a'
  }
  save({ a, b: slot })
  return 'b'
}

export const clearSlot = (side: 'a' | 'b'): void => save({ ...useSlots.getState(), [side]: null })
export const setSlots = (a: Slot | null, b: Slot | null): void => save({ a, b })
