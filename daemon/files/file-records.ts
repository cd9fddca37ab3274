import { z } from 'zod'
import { type Document, openDocument } from '../store/documents.ts'

/** What only Reprise knows of files: what was saved here, with note and author, and the names of states. */
const recordsSchema = z.object({
  version: z.literal(1),
  saved: z.array(
    z.object({
      id: z.string(),
      home: z.string(),
      path: z.string(),
      at: z.string(),
      digest: z.string().nullable(),
      bytes: z.number().int().nullable(),
      why: z.string(),
    }),
  ),
  named: z.array(
    z.object({
      id: z.string(),
      home: z.string(),
      path: z.string(),
      at: z.string(),
      digest: z.string().nullable(),
      bytes: z.number().int().nullable(),
      name: z.string().nullable(),
      note: z.string().nullable(),
    }),
  ),
})
type FileRecordsData = z.infer<typeof recordsSchema>

export type FileRecords = Document<FileRecordsData>

/** `files.json` in the data directory. */
export const openFileRecords = (path: string, now: () => Date, log: (message: string) => void): Promise<FileRecords> =>
  openDocument({
    path,
    schema: recordsSchema,
    version: 1,
    defaults: { version: 1, saved: [], named: [] },
    upgraders: {},
    now,
    log,
  })
