import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { asDigest, type Digest, RepriseError } from '../../contract/index.ts'
import { cutPieces } from './content-pieces.ts'
import { replaceFile, syncFolder } from './durable.ts'
import type { LargeObjects } from './states.ts'

/**
 * `large/pieces/<2 hex>/<62 hex>`: pieces by their SHA-256; `large/files/<2 hex>/<62 hex>.json`: which pieces make up a content, by the
 * SHA-256 of the whole. Pieces are on disk before the list that names them, so a list without its pieces is damage.
 */
const listSchema = z.object({
  v: z.literal(1),
  bytes: z.number().int().min(0),
  pieces: z.array(z.tuple([z.string().regex(/^[0-9a-f]{64}$/), z.number().int().min(1)])),
})

export const openLargeObjects = (dir: string): LargeObjects => {
  const root = path.join(dir, 'large')
  const pieceOf = (hex: string): string => path.join(root, 'pieces', hex.slice(0, 2), hex.slice(2))
  const listOf = (digest: Digest): string => {
    const hex = digest.slice('sha256:'.length)
    return path.join(root, 'files', hex.slice(0, 2), `${hex.slice(2)}.json`)
  }

  const readList = (digest: Digest) => {
    let text: string
    try {
      text = fs.readFileSync(listOf(digest), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
    try {
      return listSchema.parse(JSON.parse(text))
    } catch {
      throw damaged(listOf(digest), 'its list of pieces cannot be read')
    }
  }

  const names = function* (kind: 'pieces' | 'files'): Iterable<{ hex: string; file: string; bytes: number }> {
    for (const part of listFolder(path.join(root, kind)))
      for (const rest of listFolder(path.join(root, kind, part))) {
        const hex = part + rest.replace(/\.json$/, '')
        const file = path.join(root, kind, part, rest)
        if (/^[0-9a-f]{64}$/.test(hex))
          yield { hex, file, bytes: fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0 }
      }
  }

  return {
    async put(content) {
      const whole = createHash('sha256')
      const pieces: [string, number][] = []
      const folders = new Set<string>()
      let bytes = 0
      for await (const piece of cutPieces(content)) {
        whole.update(piece)
        bytes += piece.length
        const hex = createHash('sha256').update(piece).digest('hex')
        pieces.push([hex, piece.length])
        const file = pieceOf(hex)
        if (fs.statSync(file, { throwIfNoEntry: false })?.size === piece.length) continue
        folders.add(path.dirname(file))
        fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
        writeWhole(file, piece)
      }
      for (const folder of folders) await syncFolder(folder)
      const digest = asDigest(`sha256:${whole.digest('hex')}`)
      if (!fs.existsSync(listOf(digest))) {
        fs.mkdirSync(path.dirname(listOf(digest)), { recursive: true, mode: 0o700 })
        await replaceFile(listOf(digest), JSON.stringify({ v: 1, bytes, pieces }))
      }
      return { digest, bytes }
    },

    has: async (digest) => fs.existsSync(listOf(digest)),

    async *read(digest) {
      const list = readList(digest)
      if (list === null)
        throw new RepriseError('damaged', `The large object ${digest} is missing.`, 'Run `reprise check`.')
      for (const [hex, length] of list.pieces) {
        let piece: Buffer
        try {
          piece = fs.readFileSync(pieceOf(hex))
        } catch (error) {
          throw damaged(pieceOf(hex), (error as Error).message)
        }
        if (piece.length !== length || createHash('sha256').update(piece).digest('hex') !== hex)
          throw damaged(pieceOf(hex), 'it was altered')
        yield piece
      }
    },

    async size() {
      let objects = 0
      let bytes = 0
      let contentBytes = 0
      for (const { hex, bytes: size } of names('files')) {
        objects += 1
        bytes += size
        contentBytes += readList(asDigest(`sha256:${hex}`))?.bytes ?? 0
      }
      for (const piece of names('pieces')) bytes += piece.bytes
      return { objects, bytes, contentBytes }
    },

    async verifyAll() {
      const faults: string[] = []
      const intact = new Set<string>()
      for (const { hex } of names('files')) {
        const digest = asDigest(`sha256:${hex}`)
        const whole = createHash('sha256')
        try {
          for (const [piece] of readList(digest)?.pieces ?? [])
            if (!intact.has(piece) && fs.statSync(pieceOf(piece), { throwIfNoEntry: false }) === undefined)
              throw damaged(pieceOf(piece), 'it is missing')
          for await (const piece of this.read(digest)) whole.update(piece)
          if (whole.digest('hex') !== hex) throw damaged(listOf(digest), 'its pieces make another content')
          for (const [piece] of readList(digest)?.pieces ?? []) intact.add(piece)
        } catch (error) {
          if (!(error instanceof RepriseError)) throw error
          faults.push(error.message)
        }
      }
      return faults
    },

    async sweep(keep) {
      const needed = new Set<string>()
      let freed = 0
      for (const { hex, file, bytes } of names('files')) {
        const digest = asDigest(`sha256:${hex}`)
        if (!keep.has(digest)) {
          // The list goes first: one that is there always has its pieces.
          fs.rmSync(file)
          freed += bytes
        } else for (const [piece] of readList(digest)?.pieces ?? []) needed.add(piece)
      }
      for (const { hex, file, bytes } of names('pieces'))
        if (!needed.has(hex)) {
          fs.rmSync(file)
          freed += bytes
        }
      return freed
    },
  }
}

/** A whole piece under its name, or nothing. */
function writeWhole(file: string, content: Uint8Array): void {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  try {
    const fd = fs.openSync(temporary, 'wx', 0o600)
    try {
      fs.writeSync(fd, content)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(temporary, file)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
}

function listFolder(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const damaged = (file: string, why: string): RepriseError =>
  new RepriseError('damaged', `${file} is damaged: ${why}.`, 'Run `reprise check` to see everything.')
