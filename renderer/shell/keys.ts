import { useEffect } from 'react'
import { copyText } from '../parts/copy.ts'
import { rollbackPath, undoPath } from '../rollback/address.ts'
import { useScreen } from './acts.ts'
import { putIntoSlot, slotsPath, whyPath } from './comparing.ts'
import { openKeySheet, openPalette } from './layers.ts'
import { moveRegion } from './regions.ts'
import { useView } from './view-state.ts'

export const isMac = typeof navigator !== 'undefined' && /Mac/.test(navigator.platform)
export const modWord = isMac ? '⌘' : 'Ctrl'

const inText = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/**
 * Single letters work only while a list or a scrubber has the focus, or nothing has it and the screen is about something they act on; they
 * can be switched off (WCAG 2.1.4).
 */
export const letterAllowed = (target: EventTarget | null) =>
  useView.getState().singleKeys &&
  target instanceof HTMLElement &&
  (target.closest('[data-keys]') !== null || (target === document.body && useScreen.getState().reference !== null)) &&
  !inText(target)

export const goKeys: Readonly<Record<string, string>> = {
  t: '/timeline',
  h: '/homes',
  i: '/health',
  s: '/settings',
  c: '/compare',
  f: '/search',
}

/** The keys that work everywhere; lists and the scrubber take theirs first. */
export function useGlobalKeys(navigate: (path: string) => void) {
  useEffect(() => {
    let goUntil = 0
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return
      const mod = isMac ? event.metaKey : event.ctrlKey
      const act = ((): (() => void) | null => {
        if (mod && !event.shiftKey && !event.altKey) {
          if (event.key === 'k') return openPalette
          if (event.key === '[') return () => history.back()
          if (event.key === ']') return () => history.forward()
          if (event.key === 'i') return () => useView.getState().toggleInspector()
          // Never undoes by itself: it opens the plan.
          if (event.key === 'z' && !inText(event.target)) return () => navigate(undoPath(null))
          return null
        }
        if (event.key === 'F6') return () => moveRegion(event.shiftKey ? -1 : 1)
        if (event.ctrlKey || event.metaKey || event.altKey || inText(event.target)) return null
        if (!useView.getState().singleKeys) return null
        if (event.key === '?') return openKeySheet
        if (event.key === '/') return focusFilter
        if (!letterAllowed(event.target)) return null
        const target = goKeys[event.key]
        if (performance.now() < goUntil && target !== undefined) {
          goUntil = 0
          return () => navigate(target)
        }
        if (event.key === 'g') {
          goUntil = performance.now() + 1500
          return () => undefined
        }
        if (event.key === 'y') {
          const { reference } = useScreen.getState()
          return reference === null ? null : () => void copyText(reference, reference)
        }
        if (event.key === '=') return () => navigate(slotsPath())
        const { reference } = useScreen.getState()
        if (reference === null) return null
        if (event.key === 'c') return () => putIntoSlot(reference)
        if (event.key === 'b')
          return () => navigate(reference.startsWith('b_') ? undoPath(reference) : rollbackPath({ target: reference }))
        if (event.key === 'w' && reference.startsWith('r_'))
          return () => navigate(whyPath(reference.split('@')[0] ?? reference))
        return null
      })()
      if (act === null) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [navigate])
}

function focusFilter() {
  const filter = document.querySelector<HTMLInputElement>('[data-filter]')
  filter?.focus()
  filter?.select()
}
