import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { type BrowserWindow, clipboard, dialog, type IpcMainInvokeEvent, ipcMain, nativeTheme, shell } from 'electron'
import { z } from 'zod'
import { desktopChannels } from '../../contract/desktop.ts'
import { isOurs } from './addresses.ts'

export interface BridgeParts {
  readonly window: () => BrowserWindow | null
  readonly startDaemon: () => Promise<{ readonly ok: boolean; readonly message: string | null }>
}

/** Answers the page's calls of `contract/desktop.ts`. Every call is checked twice: who asks, and what is asked. */
export function serveBridge({ window, startDaemon }: BridgeParts): void {
  const handle = <S extends z.ZodType>(channel: string, schema: S, act: (input: z.output<S>) => Promise<unknown>) => {
    ipcMain.handle(channel, async (event, ...args: unknown[]) => {
      if (!isFromOurPage(event, window())) throw new Error(`${channel}: refused, not from the window's own page`)
      const parsed = schema.safeParse(args[0])
      if (!parsed.success || args.length > 1) throw new Error(`${channel}: wrong argument`)
      return act(parsed.data)
    })
  }
  handle(desktopChannels.pickFolder, z.string().min(1).max(200), async (title) => {
    const owner = window()
    const options: Electron.OpenDialogOptions = {
      title,
      properties: ['openDirectory', 'showHiddenFiles', 'dontAddToRecent'],
    }
    const chosen = await (owner === null ? dialog.showOpenDialog(options) : dialog.showOpenDialog(owner, options))
    return chosen.canceled ? null : (chosen.filePaths[0] ?? null)
  })
  handle(desktopChannels.showInFolder, z.string().min(1).max(4096), async (path) => {
    if (!isAbsolute(path) || path.includes('\0')) throw new Error('only an absolute path can be shown')
    await stat(path).catch(() => {
      throw new Error(`${path} does not exist`)
    })
    shell.showItemInFolder(path)
  })
  handle(desktopChannels.startDaemon, z.undefined(), startDaemon)
  handle(desktopChannels.setTheme, z.enum(['system', 'light', 'dark']), async (theme) => {
    nativeTheme.themeSource = theme
  })
  handle(desktopChannels.copyText, z.string().max(50_000_000), async (text) => {
    clipboard.writeText(text)
  })
}

function isFromOurPage(event: IpcMainInvokeEvent, window: BrowserWindow | null): boolean {
  if (window === null || event.sender !== window.webContents) return false
  const frame = event.senderFrame
  return frame !== null && frame === window.webContents.mainFrame && isOurs(frame.url)
}
