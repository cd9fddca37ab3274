import { create } from 'zustand'
import type { Settings } from '../../contract/home.ts'

/** What the viewer arranged: theme, density, panes. Settings of the daemon win once they are read; the page keeps a copy for its first paint. */
interface View {
  readonly theme: Settings['theme']
  readonly density: Settings['density']
  readonly singleKeys: boolean
  readonly inspector: boolean
  /** The inspector of a narrow pane, a sheet over its content: closed until it is asked for. */
  readonly sheet: boolean
  readonly heatAsTable: boolean
  apply(settings: Pick<Settings, 'theme' | 'density' | 'single_key_shortcuts'>): void
  setTheme(theme: Settings['theme']): void
  toggleInspector(open?: boolean): void
  setHeatAsTable(on: boolean): void
}

const KEY = 'reprise.theme'
const isTheme = (value: unknown): value is Settings['theme'] =>
  value === 'system' || value === 'light' || value === 'dark'

function rememberedTheme(): Settings['theme'] {
  try {
    const value = localStorage.getItem(KEY)
    return isTheme(value) ? value : 'system'
  } catch {
    return 'system' // storage switched off
  }
}

export const useView = create<View>((set) => ({
  theme: rememberedTheme(),
  density: 'compact',
  singleKeys: true,
  inspector: true,
  sheet: false,
  heatAsTable: false,
  apply: (settings) => {
    set({ theme: settings.theme, density: settings.density, singleKeys: settings.single_key_shortcuts })
    rememberTheme(settings.theme)
  },
  setTheme: (theme) => {
    set({ theme })
    rememberTheme(theme)
  },
  toggleInspector: (open) => set((now) => ({ inspector: open ?? !now.inspector, sheet: open ?? !now.sheet })),
  setHeatAsTable: (on) => set({ heatAsTable: on }),
}))

function rememberTheme(theme: Settings['theme']) {
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // Storage switched off: the first paint of the next visit follows the system.
  }
}

/** Row heights of lists, in pixels. */
export const useRowHeight = (kind: 'list' | 'event' = 'list') =>
  useView((view) => (view.density === 'normal' ? 36 : kind === 'event' ? 24 : 28))
