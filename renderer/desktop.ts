import type { DesktopBridge } from '../contract/desktop.ts'

declare global {
  interface Window {
    readonly reprise?: DesktopBridge
  }
}

/** What only the desktop window can do; null in a browser. */
export const desktop = (): DesktopBridge | null => window.reprise ?? null
