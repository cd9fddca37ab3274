import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { app, type BrowserWindow, dialog, session } from 'electron'
import { findDaemon, findDataFolder, readRecord } from './daemon/find.ts'
import { findNode } from './daemon/node.ts'
import { ensureDaemon, stopDaemon } from './daemon/start.ts'
import { uiOrigin } from './window/addresses.ts'
import { serveBridge } from './window/bridge.ts'
import { openTray, setWindowMenu } from './window/menus.ts'
import { openWindow } from './window/open.ts'
import { followOutlook } from './window/outlook.ts'
import { registerScheme, serveScheme } from './window/scheme.ts'
import { confineSession, silenceEngine } from './window/security.ts'

/** The window program. It finds, starts and bridges to the daemon, and holds no data of its own but the place of the window. */
const out = resolve(__dirname, '..')
const data = findDataFolder(process.env)
let window: BrowserWindow | null = null
let socket: string | null = null

registerScheme()
silenceEngine()
// Below the data directory: one window for each of them, and nothing in the user's configuration folder.
app.setPath('userData', join(data, 'window'))

if (app.requestSingleInstanceLock()) run()
else app.quit()

function run(): void {
  app.on('second-instance', show)
  app.on('activate', show)
  // The daemon outlives the window; closing the last one ends only this program.
  app.on('window-all-closed', () => app.quit())
  void app.whenReady().then(async () => {
    confineSession(session.defaultSession)
    serveScheme(session.defaultSession, { pages: join(out, 'renderer'), socket: currentSocket })
    serveBridge({ window: () => window, startDaemon: bringUpDaemon })
    const acts = {
      show,
      undoLast: () => showPage('/rollback?undo=last'),
      stopDaemon: () => void askAndStop(),
      startDaemon: () => void bringUpDaemon(),
    }
    setWindowMenu(acts)
    // The page says itself when the daemon is away and offers to start it, so neither a failure nor a slow start needs a dialog.
    await Promise.race([bringUpDaemon(), sleep(1500)])
    show()
    const tray = openTray(acts)
    const endFollowing = followOutlook(currentSocket, tray.update)
    app.on('will-quit', endFollowing)
  })
}

function show(): void {
  if (window === null) {
    window = openWindow({ preload: join(out, 'preload/index.cjs'), stateFile: join(data, 'window/window.json') })
    window.on('closed', () => {
      window = null
    })
    return
  }
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

/** A page of the window, without loading it anew: what is typed in it stays. */
function showPage(path: string): void {
  const opened = window !== null
  show()
  if (!opened) void window?.loadURL(`${uiOrigin}${path}`)
  else
    void window?.webContents.executeJavaScript(
      `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
    )
}

/** A daemon may have been started again by someone else meanwhile, on another socket: its file is read anew when ours is gone. */
function currentSocket(): string | null {
  if (socket !== null && (process.platform === 'win32' || existsSync(socket))) return socket
  socket = readRecord(data)?.socket ?? null
  return socket
}

async function bringUpDaemon(): Promise<{ ok: boolean; message: string | null }> {
  const result = await ensureDaemon({
    data,
    program: join(out, 'node/daemon.cjs'),
    node: findNode(process.env),
    env: process.env,
    closeDescriptors: true,
    replaceOlderBuild: false,
  })
  if (!result.ok) return { ok: false, message: result.message }
  socket = result.record.socket
  return { ok: true, message: null }
}

async function askAndStop(): Promise<void> {
  const found = await findDaemon(data)
  if (found === null) return
  const question = {
    type: 'question' as const,
    buttons: ['Stop Daemon', 'Cancel'],
    defaultId: 1,
    cancelId: 1,
    message: 'Stop the daemon?',
    detail:
      'Until it runs again nothing is captured: what agents do meanwhile is read from their own files afterwards, as far as those keep it.',
  }
  const { response } =
    window === null ? await dialog.showMessageBox(question) : await dialog.showMessageBox(window, question)
  if (response === 0) await stopDaemon(found)
}
