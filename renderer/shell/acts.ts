import { useEffect } from 'react'
import { create } from 'zustand'

/** Something that can be done now, as the palette lists it. */
export interface Act {
  readonly id: string
  readonly label: string
  readonly keys?: string
  readonly run: () => void
}

interface Crumb {
  readonly label: string
  readonly href?: string
}

interface Screen {
  readonly acts: readonly Act[]
  readonly crumbs: readonly Crumb[]
  /** What `y` copies on this screen. */
  readonly reference: string | null
  /** The screen has an inspector; without one its button is not shown. */
  readonly inspector: boolean
}

export const useScreen = create<Screen>(() => ({ acts: [], crumbs: [], reference: null, inspector: false }))

/** Acts of the screen that is open; the palette reaches all of them. Pass a memoised list. */
export function useActs(acts: readonly Act[]) {
  useEffect(() => {
    useScreen.setState({ acts })
    return () => useScreen.setState({ acts: [] })
  }, [acts])
}

/** Where one is, for the title bar and the window's title. */
export function useCrumbs(...labels: readonly (string | readonly [label: string, href: string])[]) {
  const key = JSON.stringify(labels)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the labels
  useEffect(() => {
    const crumbs = labels.map((entry) =>
      typeof entry === 'string' ? { label: entry } : { label: entry[0], href: entry[1] },
    )
    useScreen.setState({ crumbs })
    document.title = `${crumbs.map((crumb) => crumb.label).join(' / ')} – Reprise`
  }, [key])
}

export function useReference(reference: string | null) {
  useEffect(() => {
    useScreen.setState({ reference })
    return () => useScreen.setState({ reference: null })
  }, [reference])
}

export function useInspector() {
  useEffect(() => {
    useScreen.setState({ inspector: true })
    return () => useScreen.setState({ inspector: false })
  }, [])
}
