import { type ExportFile, openExportFile } from '../export/export-file.ts'
import { exportIncident } from '../export/export-incident.ts'
import { exportRun } from '../export/export-run.ts'
import type { Ask } from '../export/run-material.ts'
import type { Parts } from '../parts.ts'
import type { Passage } from '../secrets/egress.ts'
import type { SomeHandlers } from './handlers.ts'

/** Files that leave the daemon. Each is written through a passage of its own, so that its covered places are counted. */
export const createExportHandlers = (parts: Parts, ask: Ask) => {
  const write = async (
    file: string,
    replace: boolean | undefined,
    work: (passage: Passage, out: ExportFile) => Promise<void>,
  ): Promise<{ file: string; bytes: number; redactions: number }> => {
    const closed = [...parts.homes.list().map((home) => home.path), parts.paths.dir]
    const place = file.replace(/^~(?=[\\/])/, parts.surroundings.userHome)
    const out = await openExportFile({ file: place, replace: replace === true, closed })
    try {
      const passage = parts.egress.open()
      await work(passage, out)
      return { file: out.path, bytes: await out.finish(), redactions: passage.redactions }
    } finally {
      await out.abandon()
    }
  }
  const material = { ask, paths: parts.paths, store: parts.store, now: parts.now }
  return {
    'export.run': ({ run, format, file, replace }) =>
      write(file, replace, (passage, out) => exportRun(material, run, format, passage, out)),
    'export.incident': ({ a, b, file, replace }) =>
      write(file, replace, (passage, out) => exportIncident(material, { a, b }, passage, out)),
  } satisfies SomeHandlers
}
