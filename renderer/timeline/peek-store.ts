import { create } from 'zustand'
import type { TimelineRow } from './rows.ts'

/** The row the inspector shows; kept outside of the list's screen, so that moving through rows draws nothing else again. */
export const usePeek = create<{ readonly row: TimelineRow | null }>(() => ({ row: null }))
