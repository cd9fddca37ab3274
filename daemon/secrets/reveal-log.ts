import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { codeOf } from '../store/durable.ts'

/** One reading of sensitive content (R75, R76): what, of which family, where it stood, who asked and why. Never the content. */
export const revealSchema = z.object({
  at: z.string(),
  ref: z.string(),
  family: z.string(),
  where: z.string(),
  by: z.string(),
  /** Entries of earlier versions have neither. */
  who: z.string().nullable().default(null),
  reason: z.string().nullable().default(null),
})
export type Reveal = Readonly<z.infer<typeof revealSchema>>

export interface RevealLog {
  /** Resolves when the entry is on disk; only then the content may be shown. */
  append(reveal: Reveal): Promise<void>
  /** Newest first. `unreadable`: lines that could not be understood; they stay in the file. */
  read(
    limit: number,
  ): Promise<{ readonly reads: readonly Reveal[]; readonly total: number; readonly unreadable: number }>
}

/** `vault/reads.jsonl`, append-only, mode 0600. */
export function openRevealLog(path: string): RevealLog {
  let last: Promise<void> = Promise.resolve()
  const write = async (reveal: Reveal) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const handle = await open(path, 'a+', 0o600)
    try {
      // A line cut by a crash must not swallow the next one.
      const { size } = await handle.stat()
      const end = Buffer.alloc(1)
      if (size > 0) await handle.read(end, 0, 1, size - 1)
      const gap = size > 0 && end[0] !== 0x0a ? '\n' : ''
      await handle.writeFile(`${gap}${JSON.stringify(revealSchema.parse(reveal))}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  return {
    append(reveal) {
      const done = last.then(() => write(reveal))
      last = done.catch(() => {})
      return done
    },
    async read(limit) {
      await last
      const reads: Reveal[] = []
      let unreadable = 0
      const lines = (await readText(path)).split('\n').filter((line) => line !== '')
      for (const line of lines) {
        const parsed = parse(line)
        if (parsed === null) unreadable += 1
        else reads.push(parsed)
      }
      return { reads: reads.reverse().slice(0, limit), total: reads.length, unreadable }
    },
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  }
}

function parse(line: string): Reveal | null {
  try {
    return revealSchema.parse(JSON.parse(line))
  } catch {
    return null
  }
}
