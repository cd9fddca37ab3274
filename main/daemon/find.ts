import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import envPaths from 'env-paths'
import { z } from 'zod'
import type { Output } from '../../contract/endpoints.ts'
import { callDaemon } from './call.ts'

/** What a running daemon writes to `<data>/daemon.json`. A hint only: the process may be gone, or its number used by another. */
const recordSchema = z.object({
  pid: z.number().int(),
  version: z.string(),
  contract: z.number().int(),
  nonce: z.string(),
  socket: z.string(),
  startedAt: z.string(),
})
export type DaemonRecord = Readonly<z.infer<typeof recordSchema>>

/** The data directory: `REPRISE_HOME`, else the platform's usual place. */
export function findDataFolder(env: NodeJS.ProcessEnv): string {
  return env.REPRISE_HOME ? resolve(env.REPRISE_HOME) : envPaths('reprise', { suffix: '' }).data
}

export function readRecord(data: string): DaemonRecord | null {
  try {
    const parsed = recordSchema.safeParse(JSON.parse(readFileSync(join(data, 'daemon.json'), 'utf8')))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

export interface FoundDaemon {
  readonly record: DaemonRecord
  readonly handshake: Output<'daemon.handshake'>
}

/** The live daemon of a data directory, or null. Trusted only when the process behind the socket knows the nonce of the file. */
export async function findDaemon(data: string): Promise<FoundDaemon | null> {
  const record = readRecord(data)
  if (record === null) return null
  try {
    const handshake = await callDaemon(record.socket, 'daemon.handshake', {}, 3000)
    return handshake.nonce === record.nonce ? { record, handshake } : null
  } catch {
    return null
  }
}
