import { create } from 'zustand'
import type { Progress } from '../../contract/home.ts'
import type { LinkState } from '../transport/transport.ts'

interface Link {
  readonly link: LinkState
  /** When the daemon was last seen to go away. */
  readonly awaySince: number | null
  readonly progress: ReadonlyMap<string, Progress>
  /** Events a run was last said to have, for runs that grow while they are looked at. */
  readonly grown: ReadonlyMap<string, number>
  readonly retry: () => void
  setLink(link: LinkState): void
  setProgress(progress: Progress): void
  noteRun(run: string, events: number): void
  setRetry(retry: () => void): void
}

export const useLink = create<Link>((set) => ({
  link: 'connecting',
  awaySince: null,
  progress: new Map(),
  grown: new Map(),
  retry: () => undefined,
  setLink: (link) =>
    set((now) => ({
      link,
      awaySince: link === 'away' ? (now.awaySince ?? Date.now()) : link === 'open' ? null : now.awaySince,
    })),
  setProgress: (progress) =>
    set((now) => {
      const next = new Map(now.progress)
      if (progress.phase === 'idle') next.delete(progress.home ?? '')
      else next.set(progress.home ?? '', progress)
      return { progress: next }
    }),
  noteRun: (run, events) => set((now) => ({ grown: new Map(now.grown).set(run, events) })),
  setRetry: (retry) => set({ retry }),
}))
