import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RepriseError } from '../../contract/errors.ts'
import { replaceFile } from './durable.ts'

/** Grows when what lies in the data directory changes in a way an older program would misread; add an upgrader with it. */
export const STORE_VERSION = 1

/** Brings a store of version n to n + 1; may be run again after a crash in the middle. */
export type StoreUpgrader = (dir: string) => Promise<void>

/** By the version they start from. */
export const storeUpgraders: Readonly<Record<number, StoreUpgrader>> = {}

/**
 * Checks `store.json` and upgrades in order, writing the version after each step. A directory without one is new, or was made by a
 * start that was killed before it came this far. Throws `newer_version` and touches nothing when it was made by a later program.
 */
export async function bringToCurrentVersion(
  dir: string,
  version: number = STORE_VERSION,
  upgraders: Readonly<Record<number, StoreUpgrader>> = storeUpgraders,
): Promise<void> {
  const path = join(dir, 'store.json')
  let found = existsSync(path) ? versionOf(await readFile(path, 'utf8'), path) : null
  if (found !== null && found > version) {
    throw new RepriseError(
      'newer_version',
      `The store in ${dir} has format ${found}; this program knows ${version}.`,
      'Use the newer version of Reprise that made it.',
    )
  }
  if (found === null) {
    await replaceFile(path, `${JSON.stringify({ version })}\n`)
    return
  }
  while (found < version) {
    const upgrade = upgraders[found]
    if (upgrade === undefined)
      throw new RepriseError('refused', `The store in ${dir} has format ${found}, which cannot be upgraded.`)
    await upgrade(dir)
    found += 1
    await replaceFile(path, `${JSON.stringify({ version: found })}\n`)
  }
}

function versionOf(text: string, path: string): number {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : null
  if (typeof version === 'number' && Number.isInteger(version) && version > 0) return version
  throw new RepriseError(
    'damaged',
    `${path} does not tell the version of the store.`,
    `Write {"version":${STORE_VERSION}} into it if this program made the store.`,
  )
}
