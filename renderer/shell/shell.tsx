import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { undoPath } from '../rollback/address.ts'
import { useLiveFacts } from '../transport/live.ts'
import { useRead } from '../transport/queries.ts'
import { CallFailed } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import type { Act } from './acts.ts'
import { Announcer, say } from './announcer.tsx'
import { WindowBands } from './bands.tsx'
import { Boundary } from './boundary.tsx'
import { modWord, useGlobalKeys } from './keys.ts'
import { openKeySheet, openPalette, useLayers } from './layers.ts'
import { Rail } from './rail.tsx'
import { StatusBar } from './status-bar.tsx'
import { useThemeOnRoot } from './theme.ts'
import { TitleBar } from './title-bar.tsx'
import { Toasts } from './toasts.tsx'
import { useView } from './view-state.ts'

const Palette = lazy(() => import('./palette.tsx'))
const KeySheet = lazy(() => import('./key-sheet.tsx'))

/** The frame round every screen. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [path, navigate] = useLocation()
  const layers = useLayers()
  useThemeOnRoot()
  useLiveFacts()
  useSettingsOnView()
  useGapAnnouncement()
  const go = useCallback((to: string) => navigate(to), [navigate])
  useGlobalKeys(go)
  const pages = useMemo<readonly Act[]>(
    () => [
      { id: 'timeline', label: words.nav.timeline, keys: 'g t', run: () => go('/timeline') },
      { id: 'welcome', label: words.welcome.title, run: () => go('/welcome') },
      { id: 'search', label: words.nav.search, keys: 'g f', run: () => go('/search') },
      { id: 'homes', label: words.nav.homes, keys: 'g h', run: () => go('/homes') },
      { id: 'resolve', label: words.manifest.resolveNow, run: () => go('/homes?resolve=1') },
      { id: 'health', label: words.nav.health, keys: 'g i', run: () => go('/health') },
      { id: 'settings', label: words.nav.settings, keys: 'g s', run: () => go('/settings') },
      { id: 'rollbacks', label: words.receipt.list, run: () => go('/rollbacks') },
      { id: 'undo', label: words.rollback.undoLast, keys: `${modWord}+Z`, run: () => go(undoPath(null)) },
      { id: 'roll-back', label: words.rollback.open, run: () => go('/rollback') },
      { id: 'keys', label: words.keys.title, keys: '?', run: openKeySheet },
      {
        id: 'inspector',
        label: words.keys.inspector,
        keys: `${modWord}+I`,
        run: () => useView.getState().toggleInspector(),
      },
    ],
    [go],
  )
  const { error } = useRead('status.get', {})
  if (error instanceof CallFailed && error.body.code === 'unauthorized') return <NeedsKey />
  return (
    <div className="flex h-full flex-col">
      <TitleBar openPalette={openPalette} />
      <div className="flex min-h-0 flex-1">
        <Rail />
        <main className="flex min-h-0 min-w-0 flex-1 flex-col bg-surface">
          <WindowBands />
          <Boundary resetKey={path}>
            <Suspense fallback={null}>{children}</Suspense>
          </Boundary>
        </main>
      </div>
      <StatusBar />
      {layers.palette && (
        <Suspense fallback={null}>
          <Palette onClose={() => useLayers.setState({ palette: false })} navigate={go} pages={pages} />
        </Suspense>
      )}
      {layers.keys && (
        <Suspense fallback={null}>
          <KeySheet onClose={() => useLayers.setState({ keys: false })} />
        </Suspense>
      )}
      <Announcer />
      <Toasts />
    </div>
  )
}

/** Settings kept by the daemon decide theme, density and keys. */
function useSettingsOnView() {
  const { data } = useRead('settings.get', {})
  useEffect(() => {
    if (data !== undefined) useView.getState().apply(data)
  }, [data])
}

/** A new gap is said once, politely. */
function useGapAnnouncement() {
  const { data: gaps } = useRead('status.get', {}, { select: (status) => status.gap_count })
  const [known, setKnown] = useState<number | null>(null)
  useEffect(() => {
    if (gaps === undefined || gaps === known) return
    if (known !== null && gaps > known) say(words.status.gaps(gaps))
    setKnown(gaps)
  }, [gaps, known])
}

function NeedsKey() {
  return (
    <div role="alert" className="flex h-full flex-col items-center justify-center gap-2 p-6 text-center">
      <h1 className="text-title font-semibold">{words.errors.unauthorized}</h1>
      <p className="max-w-prose text-text-2">{words.errors.unauthorizedHint}</p>
    </div>
  )
}
