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

/** A browser for the tests on Linux; `REPRISE_BROWSER` names another. What `npm start` opens is chosen in `main/launch/hosts.ts`. */
export function findBrowser(env = process.env) {
  if (env.REPRISE_BROWSER) return existsSync(env.REPRISE_BROWSER) ? env.REPRISE_BROWSER : undefined
  return onPath(
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
    'brave-browser',
    'microsoft-edge',
  )
}
