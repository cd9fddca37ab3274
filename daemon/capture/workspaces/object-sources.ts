import fs from 'node:fs'
import path from 'node:path'
import { asPath, openQuietly, readSmall } from './bytes.ts'

/** Where a repository keeps its objects: its own folder and its alternates, theirs too. Absolute, latin1. */
export function objectFolders(commonDir: string): readonly string[] {
  const found: string[] = []
  const waiting = [`${commonDir}/objects`]
  for (let folder = waiting.shift(); folder !== undefined && found.length < 50; folder = waiting.shift()) {
    if (found.includes(folder)) continue
    found.push(folder)
    const alternates = readSmall(`${folder}/info/alternates`, 1 << 20)?.toString('latin1') ?? ''
    for (const line of alternates.split('\n'))
      if (line !== '' && !/^[#"]/.test(line)) waiting.push(path.posix.resolve(folder, line))
  }
  return found
}

export interface PackSource {
  /** Path without its ending. */
  readonly path: string
  readonly name: string
}

export function packsIn(objectFolder: string): readonly PackSource[] {
  let names: string[]
  try {
    names = fs.readdirSync(asPath(`${objectFolder}/pack`), 'latin1')
  } catch {
    return []
  }
  const present = new Set(names)
  return names.flatMap((name) => {
    const stem = /^(pack-[0-9a-f]{40})\.idx$/.exec(name)?.[1]
    return stem === undefined || !present.has(`${stem}.pack`)
      ? []
      : [{ path: `${objectFolder}/pack/${stem}`, name: stem }]
  })
}

const HEAD = 8
const FANOUT = 1024

export interface Wanted {
  readonly oid: string
}

/** Wanted objects by the first byte of their ids, as the index of a pack has them. */
export function byFirstByte<T extends Wanted>(wanted: readonly T[]): readonly (readonly T[])[] {
  const buckets: T[][] = Array.from({ length: 256 }, () => [])
  for (const one of wanted) buckets[Number.parseInt(one.oid.slice(0, 2), 16)]?.push(one)
  return buckets
}

/** Which of the wanted are in a pack, by its index; of that only what is needed is read. */
export function findInPack<T extends Wanted>(
  pack: PackSource,
  wanted: readonly (readonly T[])[],
): { readonly found: readonly T[]; readonly missing: readonly T[] } {
  const found: T[] = []
  const missing: T[] = []
  const none = { found, missing: wanted.flat() }
  const fd = openQuietly(asPath(`${pack.path}.idx`))
  try {
    const head = Buffer.alloc(HEAD + FANOUT)
    if (fs.readSync(fd, head, 0, head.length, 0) !== head.length) return none
    if (head.readUInt32BE(0) !== 0xff744f63 || head.readUInt32BE(4) !== 2) return none
    for (let first = 0; first < 256; first += 1) {
      const asked = wanted[first] ?? []
      if (asked.length === 0) continue
      const from = first === 0 ? 0 : head.readUInt32BE(HEAD + (first - 1) * 4)
      const table = Buffer.allocUnsafe((head.readUInt32BE(HEAD + first * 4) - from) * 20)
      const read = fs.readSync(fd, table, 0, table.length, HEAD + FANOUT + from * 20)
      const text = table.toString('hex', 0, read)
      const isIn = asked.length * 4 > read / 20 ? inSet(text) : inSorted(text)
      for (const one of asked) (isIn(one.oid) ? found : missing).push(one)
    }
  } finally {
    fs.closeSync(fd)
  }
  return { found, missing }
}

function inSet(table: string): (id: string) => boolean {
  const known = new Set<string>()
  for (let n = 0; n < table.length; n += 40) known.add(table.slice(n, n + 40))
  return (id) => known.has(id)
}

function inSorted(table: string): (id: string) => boolean {
  return (id) => {
    let low = 0
    let high = table.length / 40
    while (low < high) {
      const middle = (low + high) >>> 1
      const there = table.slice(middle * 40, middle * 40 + 40)
      if (there === id) return true
      if (there < id) low = middle + 1
      else high = middle
    }
    return false
  }
}
