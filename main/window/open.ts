import { join } from 'node:path'
import { BrowserWindow } from 'electron'
import { uiOrigin } from './addresses.ts'
import { drawIcon } from './icon.ts'
import { confineContents } from './security.ts'
import { readWindowState, rememberWindow } from './state.ts'

export interface WindowParts {
  readonly preload: string
  readonly stateFile: string
}

/** Opens the one window, where it was last time. */
export function openWindow({ preload, stateFile }: WindowParts): BrowserWindow {
  const state = readWindowState(stateFile)
  const window = new BrowserWindow({
    title: 'Reprise',
    width: state.width,
    height: state.height,
    ...(state.x !== null && state.y !== null ? { x: state.x, y: state.y } : {}),
    minWidth: 420,
    minHeight: 480,
    show: false,
    autoHideMenuBar: true,
    icon: drawIcon(128),
    webPreferences: {
      preload: join(preload),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  })
  confineContents(window.webContents)
  rememberWindow(window, stateFile)
  window.once('ready-to-show', () => {
    if (state.maximized) window.maximize()
    window.show()
  })
  void window.loadURL(`${uiOrigin}/`)
  return window
}
