import { existsSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Root of the checkout. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
/** What the scripts may lose at any time: stamps, downloads, the Electron of the tests. */
export const cache = join(root, '.cache')
export const testElectron = join(cache, 'electron-test', 'electron')

/** First of the named programs that is on PATH, as an absolute path. */
export function onPath(...names) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  for (const name of names) {
    for (const folder of folders) {
      const file = join(folder, name)
      if (existsSync(file)) return file
    }
  }
  return undefined
}

/** Chromium and its kin, in the order we prefer them; `REPRISE_BROWSER` names another. */
export function findBrowser(env = process.env) {
  if (env.REPRISE_BROWSER) return existsSync(env.REPRISE_BROWSER) ? env.REPRISE_BROWSER : undefined
  const found = onPath(
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
    'brave-browser',
    'brave',
    'microsoft-edge',
    'microsoft-edge-stable',
  )
  if (found || process.platform === 'linux') return found
  const programs =
    process.platform === 'darwin'
      ? ['Google Chrome', 'Chromium', 'Brave Browser', 'Microsoft Edge'].map(
          (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
        )
      : [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA]
          .filter(Boolean)
          .flatMap((folder) => [
            join(folder, 'Google/Chrome/Application/chrome.exe'),
            join(folder, 'Microsoft/Edge/Application/msedge.exe'),
          ])
  return programs.find((file) => existsSync(file))
}
