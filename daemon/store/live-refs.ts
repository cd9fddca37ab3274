import { readFileSync, statSync } from 'node:fs'
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
