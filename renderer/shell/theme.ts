import { useEffect } from 'react'
import { desktop } from '../desktop.ts'
import { useView } from './view-state.ts'

const dark = () => window.matchMedia('(prefers-color-scheme: dark)')

/** Writes the theme in force into `data-theme` of the root and tells the desktop window. */
export function useThemeOnRoot() {
  const theme = useView((view) => view.theme)
  useEffect(() => {
    const query = dark()
    const apply = () => {
      document.documentElement.dataset.theme = theme === 'system' ? (query.matches ? 'dark' : 'light') : theme
    }
    apply()
    query.addEventListener('change', apply)
    void desktop()?.setTheme(theme)
    return () => query.removeEventListener('change', apply)
  }, [theme])
}

/** The theme one sees now. */
export const shownTheme = (): 'light' | 'dark' => (document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light')
