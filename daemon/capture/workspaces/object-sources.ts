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

/** Which of the ids (sorted, hex) are in a pack, by its index; read in as many pieces as there are first bytes. */
export function findInPack(pack: PackSource, ids: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const fd = openQuietly(asPath(`${pack.path}.idx`))
  try {
    const head = Buffer.alloc(HEAD + FANOUT)
    if (fs.readSync(fd, head, 0, head.length, 0) !== head.length) return found
    if (head.readUInt32BE(0) !== 0xff744f63 || head.readUInt32BE(4) !== 2) return found
    const upTo = (byte: number): number => (byte < 0 ? 0 : head.readUInt32BE(HEAD + byte * 4))
    for (let at = 0; at < ids.length; ) {
      const first = Number.parseInt((ids[at] ?? '').slice(0, 2), 16)
      let end = at
      while (end < ids.length && Number.parseInt((ids[end] ?? '').slice(0, 2), 16) === first) end += 1
      const from = upTo(first - 1)
      const table = Buffer.allocUnsafe((upTo(first) - from) * 20)
      const read = fs.readSync(fd, table, 0, table.length, HEAD + FANOUT + from * 20)
      const known = new Set<string>()
      const text = table.toString('hex', 0, read)
      if ((end - at) * 4 > read / 20) {
        for (let n = 0; n < text.length; n += 40) known.add(text.slice(n, n + 40))
        for (; at < end; at += 1) if (known.has(ids[at] ?? '')) found.add(ids[at] ?? '')
      } else for (; at < end; at += 1) if (isIn(text, ids[at] ?? '')) found.add(ids[at] ?? '')
    }
  } finally {
    fs.closeSync(fd)
  }
  return found
}

/** Of sorted ids, one after the other. */
function isIn(table: string, id: string): boolean {
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
