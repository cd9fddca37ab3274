import fs from 'node:fs'
import path from 'node:path'
import { _electron, type ElectronApplication, type Page } from '@playwright/test'
import { root, type TestHome } from './fixture-home.ts'

/** The Electron under test: the one named, else the test build that `scripts/setup-electron.mjs` makes ready. */
export const electronProgram = process.env.ELECTRON_EXEC_PATH ?? path.join(root, '.cache/electron-test/electron')

export interface DesktopWindow {
  readonly app: ElectronApplication
  readonly page: Page
  close(): Promise<void>
}

const flags = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu']

/**
 * Opens the built window. About one launch in a hundred of Chromium 114 hangs before its first page, so there is a limit of 10 s and
 * one fresh try.
 */
export async function openDesktop({ env, data }: TestHome, folder = root): Promise<DesktopWindow> {
  if (!fs.existsSync(electronProgram))
    throw new Error(`no Electron at ${electronProgram}; make it ready with: node scripts/setup-electron.mjs`)
  try {
    return await tryOpen({ ...env }, folder)
  } catch (error) {
    // A hung window still holds the lock that allows only one.
    for (const name of ['SingletonLock', 'SingletonCookie', 'SingletonSocket'])
      fs.rmSync(path.join(data, 'window', name), { force: true })
    console.warn(`the window did not open at the first try: ${error instanceof Error ? error.message : error}`)
    return tryOpen({ ...env }, folder)
  }
}

async function tryOpen(env: Record<string, string>, folder: string): Promise<DesktopWindow> {
  const app = await _electron.launch({
    executablePath: electronProgram,
    args: [folder, ...flags],
    cwd: folder,
    env,
    timeout: 10_000,
    colorScheme: null, // the runner would otherwise pretend that the system is light
  })
  try {
    const page = await app.firstWindow({ timeout: 10_000 })
    await page.waitForLoadState('domcontentloaded', { timeout: 10_000 })
    return { app, page, close: () => closeApp(app) }
  } catch (error) {
    app.process().kill('SIGKILL')
    throw error
  }
}

/** A window that cannot close in 10 s is a failure of the test, and must not stay behind. */
async function closeApp(app: ElectronApplication): Promise<void> {
  const process = app.process()
  if (process.exitCode !== null) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), 10_000)
  })
  const outcome = await Promise.race([app.close().then(() => 'closed' as const), late])
  clearTimeout(timer)
  if (outcome === 'closed') return
  process.kill('SIGKILL')
  throw new Error('the window did not close within 10 s: does something still hold its descriptors?')
}
