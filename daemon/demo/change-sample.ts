import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeFiles } from './shop-files.ts'

/**
 * What happens in the sample while it is looked at: somebody sets a model and loses the rule that kept keys unread. Only the sample's
 * own, untouched file is changed; says whether it was.
 */
export function changeSampleHome(home: string): boolean {
  const file = join(home, '.claude', 'settings.json')
  if (readFileSync(file, 'utf8') !== homeFiles.settings) return false
  const settings = JSON.parse(homeFiles.settings) as { permissions: { deny?: readonly string[] } }
  const { deny: _lost, ...permissions } = settings.permissions
  writeFileSync(file, `${JSON.stringify({ model: 'opus', ...settings, permissions }, null, 2)}\n`)
  return true
}
