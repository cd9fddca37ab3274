/**
 * What the preload script adds to the page as `window.reprise` when it runs in the desktop window; absent in a browser. Everything
 * else goes the same way in both: `POST /rpc/<endpoint>` and the stream at `/events`.
 */
export interface DesktopBridge {
  readonly platform: string
  /** Version of the window program, for the handshake with a daemon that outlived an update. */
  readonly version: string
  /** The platform's folder dialog; null when cancelled. */
  pickFolder(title: string): Promise<string | null>
  /** Shows a path in the file manager. Only existing absolute paths are accepted. */
  showInFolder(path: string): Promise<void>
  /** Starts the daemon when it is away, or replaces one of an older version. */
  startDaemon(): Promise<{ readonly ok: boolean; readonly message: string | null }>
  setTheme(theme: 'system' | 'light' | 'dark'): Promise<void>
  copyText(text: string): Promise<void>
}

/** Channel names of the bridge; each is validated in main. */
export const desktopChannels = {
  pickFolder: 'desktop:pick-folder',
  showInFolder: 'desktop:show-in-folder',
  startDaemon: 'desktop:start-daemon',
  setTheme: 'desktop:set-theme',
  copyText: 'desktop:copy-text',
} as const
