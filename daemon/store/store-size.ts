import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './durable.ts'

/**
 * Bytes and objects of a repository without starting git: the sizes of the packs, and the last entry of each index's fan-out table,
 * which is the number of its objects. An index never changes, so it is read once.
 */
export class StoreSize {
  private readonly objectsOf = new Map<string, number>()

  constructor(private readonly gitDir: string) {}

  measure(): { readonly bytes: number; readonly objects: number; readonly packs: number } {
    const folder = join(this.gitDir, 'objects', 'pack')
    let bytes = 0
    let objects = 0
    let packs = 0
    for (const name of list(folder)) {
      const path = join(folder, name)
      try {
        bytes += statSync(path).size
        if (!name.endsWith('.idx')) continue
        packs += 1
        objects += this.objectsIn(path)
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error // a repack took it away meanwhile
      }
    }
    for (const fan of list(join(this.gitDir, 'objects'))) {
      if (!/^[0-9a-f]{2}$/.test(fan)) continue
      for (const name of list(join(this.gitDir, 'objects', fan))) {
        objects += 1
        bytes += statSync(join(this.gitDir, 'objects', fan, name), { throwIfNoEntry: false })?.size ?? 0
      }
    }
    return { bytes, objects, packs }
  }

  private objectsIn(path: string): number {
    const known = this.objectsOf.get(path)
    if (known !== undefined) return known
    const entry = Buffer.alloc(4)
    const file = openSync(path, 'r')
    try {
      readSync(file, entry, 0, 4, 8 + 255 * 4) // index version 2: magic, version, 256 counts
    } finally {
      closeSync(file)
    }
    this.objectsOf.set(path, entry.readUInt32BE())
    return entry.readUInt32BE()
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
