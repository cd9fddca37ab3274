import fs from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { planWriteSchema, RepriseError } from '../../contract/index.ts'
import { replaceFile, syncFolder } from '../store/durable.ts'

/**
 * What an apply is about to do, on disk before it does it, so that the next start knows whether to finish or to undo. Paths are base64 of
 * their bytes.
 *
 * `preparing`: new contents are being put beside their targets; nothing that was there has changed. `decided`: they are being put in place.
 * `verified`: all are in place; what is left is removing the second names of the old ones.
 */
const state = planWriteSchema.shape.after.nullable()
export const journalItemSchema = z.object({
  path: z.string(),
  /** Folder below which no link is followed. */
  root: z.string(),
  before: state,
  after: state,
  /** The folder stays even when it is empty afterwards. */
  leave_folder: z.boolean(),
  /** The new content until it is in place; null where nothing is to be there. */
  staged: z.string().nullable(),
  /** Second name of what was there; null where nothing was. */
  old: z.string().nullable(),
})
export const journalSchema = z.object({
  v: z.literal(1),
  id: z.string(),
  phase: z.enum(['preparing', 'decided', 'taking_back', 'verified']),
  /** Folders that were made on the way, outermost first. */
  made: z.array(z.string()),
  items: z.array(journalItemSchema),
})
export type Journal = Readonly<z.infer<typeof journalSchema>>
export type JournalItem = Journal['items'][number]

export interface Journals {
  write(journal: Journal): Promise<void>
  remove(id: string): Promise<void>
  /** All there are. One that cannot be read is told, never passed over: something may be half done. */
  list(): { readonly journals: readonly Journal[]; readonly unreadable: readonly { file: string; why: string }[] }
}

export const openJournals = (folder: string): Journals => {
  const fileOf = (id: string): string => path.join(folder, `rollback-${id}.json`)
  return {
    async write(journal) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
      await replaceFile(fileOf(journal.id), JSON.stringify(journal))
    },
    async remove(id) {
      fs.rmSync(fileOf(id), { force: true })
      await syncFolder(folder)
    },
    list() {
      const journals: Journal[] = []
      const unreadable: { file: string; why: string }[] = []
      for (const name of names(folder)) {
        const file = path.join(folder, name)
        try {
          const parsed = journalSchema.safeParse(JSON.parse(fs.readFileSync(file, 'utf8')))
          if (parsed.success) journals.push(parsed.data)
          else unreadable.push({ file, why: `wrong shape at ${parsed.error.issues[0]?.path.join('.') ?? '?'}` })
        } catch (error) {
          unreadable.push({ file, why: error instanceof RepriseError ? error.message : String(error) })
        }
      }
      return { journals, unreadable }
    },
  }
}

function names(folder: string): string[] {
  try {
    return fs.readdirSync(folder).filter((name) => /^rollback-.*\.json$/.test(name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
