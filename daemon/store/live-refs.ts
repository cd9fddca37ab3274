import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Refs as they are at this moment, for a reader beside the writer: another thread moves them, so nothing about them is remembered but
 * the packed ones, as long as their file is the same.
 */
export class LiveRefs {
  private packed: { readonly stamp: string; readonly refs: ReadonlyMap<string, string> } = {
    stamp: '',
    refs: new Map(),
  }

  constructor(private readonly gitDir: string) {}

  get(ref: string): string | undefined {
    try {
      const text = readFileSync(join(this.gitDir, ref), 'latin1').trim()
      if (/^[0-9a-f]{40}$/.test(text)) return text
    } catch {
      // Not a loose ref: packed, or not there.
    }
    return this.packedRefs().get(ref)
  }

  /** Names below a folder of refs (`refs/safety/`), loose and packed. */
  list(prefix: string): string[] {
    const found = new Set([...this.packedRefs().keys()].filter((ref) => ref.startsWith(prefix)))
    try {
      for (const entry of readdirSync(join(this.gitDir, prefix), { withFileTypes: true }))
        if (entry.isFile() && !entry.name.endsWith('.lock')) found.add(prefix + entry.name)
    } catch {
      // There is no such folder: all of them are packed, or there is none.
    }
    return [...found].sort()
  }

  private packedRefs(): ReadonlyMap<string, string> {
    const path = join(this.gitDir, 'packed-refs')
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return new Map()
    const stamp = `${stat.mtimeMs}:${stat.size}:${stat.ino}`
    if (this.packed.stamp !== stamp) {
      const refs = new Map<string, string>()
      for (const [, id, name] of readFileSync(path, 'latin1').matchAll(/^([0-9a-f]{40}) (.+)$/gm))
        if (id && name) refs.set(name, id)
      this.packed = { stamp, refs }
    }
    return this.packed.refs
  }
}
