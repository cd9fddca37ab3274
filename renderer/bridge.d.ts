import type { DesktopBridge } from '../contract/desktop.ts'

declare global {
  interface Window {
    /** Present only in the desktop window. */
    readonly reprise?: DesktopBridge
  }
}
