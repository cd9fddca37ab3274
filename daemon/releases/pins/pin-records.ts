import { z } from 'zod'
import { pinClassSchema, pinPartSchema, runtimeNameSchema } from '../../../contract/index.ts'
import { type Document, openDocument } from '../../store/documents.ts'
import type { KeptNames } from '../../store/states.ts'

/** A pin as it is kept: `pins.json`, and again under `refs/pins/<name>`, where it holds what it needs. */
export const pinRecordSchema = z.object({
  name: z.string(),
  manifest: z.string(),
  runtime: runtimeNameSchema,
  runtime_version: z.string().nullable(),
  model: z.string().nullable(),
  workspace: z.string().nullable(),
  home: z.string().nullable(),
  created_at: z.string(),
  note: z.string().nullable(),
  parts: z.array(pinPartSchema),
  required_for: z.array(pinClassSchema),
  /** Run and event it was set on; null when on a configuration. */
  run: z.string().nullable(),
  seq: z.number().int().nullable(),
})
export type PinRecord = Readonly<z.infer<typeof pinRecordSchema>>

const pinsSchema = z.object({ version: z.literal(1), pins: z.array(pinRecordSchema) })
export type PinRecords = Document<z.infer<typeof pinsSchema>>

/** Pins that `pins.json` does not have any more are taken from the store: losing a document loses no pin. */
export async function openPinRecords(
  path: string,
  names: Pick<KeptNames, 'list'>,
  now: () => Date,
  log: (message: string) => void,
): Promise<PinRecords> {
  const records = await openDocument({
    path,
    schema: pinsSchema,
    version: 1,
    defaults: { version: 1, pins: [] },
    upgraders: {},
    now,
    log,
  })
  if (records.state.kind !== 'new' && records.state.kind !== 'damaged') return records
  const found: PinRecord[] = []
  try {
    for await (const { name, about } of names.list('pins')) {
      const parsed = pinRecordSchema.safeParse(about)
      if (parsed.success) found.push(parsed.data)
      else log(`the pin ${name} in the store could not be understood`)
    }
  } catch (error) {
    log(`pins of the store could not be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (found.length > 0) await records.update((data) => ({ ...data, pins: found }))
  return records
}
