import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A Chromium to measure with: `REPRISE_BROWSER`, or one on PATH; null when there is none. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.REPRISE_BROWSER) return existsSync(env.REPRISE_BROWSER) ? env.REPRISE_BROWSER : null
  for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'])
    for (const folder of (env.PATH ?? '').split(delimiter))
      if (folder !== '' && existsSync(join(folder, name))) return join(folder, name)
  return null
}
