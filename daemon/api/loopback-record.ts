import fs from 'node:fs'
import { z } from 'zod'

const recordSchema = z.object({ port: z.number().int().min(1).max(65_535), token: z.string().min(32) })
export type LoopbackRecord = z.infer<typeof recordSchema>

/** Where the loopback listener was, for the next daemon: a page that is still open looks for it there. Null when none is wanted. */
export const readLoopback = (file: string): LoopbackRecord | null => {
  try {
    return recordSchema.parse(JSON.parse(fs.readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

export const writeLoopback = (file: string, { port, token }: LoopbackRecord): void => {
  fs.writeFileSync(file, JSON.stringify({ port, token }), { mode: 0o600 })
  fs.chmodSync(file, 0o600)
}
