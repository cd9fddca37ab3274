import { shortDigest, shortId } from '../parts/format.ts'
import { words } from '../words/en.ts'
import { comparePath } from './address.ts'
import { fillSlot, useSlots } from './compare-slots.ts'
import { toast } from './toasts.tsx'

/** Compare a run with what it is best compared with. */
export const whyPath = (run: string): string => `/compare?b=${encodeURIComponent(run)}`

/** Compare with what is in the slots, as far as they are filled. */
export function slotsPath(): string {
  const { a, b } = useSlots.getState()
  return a !== null && b !== null ? comparePath(a.target, b.target) : '/compare'
}

export function putIntoSlot(target: string): void {
  const label = target.startsWith('sha256:') ? shortDigest(target) : shortId(target)
  const side = fillSlot({ target, label })
  toast(words.compare.filled(side.toUpperCase(), label))
}
