import { type ExportFormat, RepriseError } from '../../contract/index.ts'
import { requireEnding } from '../export/endings.ts'
import { type ExportFile, openExportFile } from '../export/export-file.ts'
import { exportIncident } from '../export/export-incident.ts'
import { exportRun } from '../export/export-run.ts'
import type { Ask } from '../export/run-material.ts'
import type { Parts } from '../parts.ts'
import type { Passage } from '../secrets/egress.ts'
import type { SomeHandlers } from './handlers.ts'
import { parsePoint } from './references.ts'

/** Files that leave the daemon. Each is written through a passage of its own, so that its covered places are counted. */
export const createExportHandlers = (parts: Parts, ask: Ask) => {
  const write = async (
    format: ExportFormat,
    file: string,
    replace: boolean | undefined,
    work: (passage: Passage, out: ExportFile) => Promise<void>,
  ): Promise<{ file: string; bytes: number; redactions: number }> => {
    const closed = [...parts.homes.list().map((home) => home.path), parts.paths.dir]
    requireEnding(file, format)
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
    'export.run': async ({ run, format, file, replace }) => {
      const point = parsePoint(run)
      if (point.seq !== null || point.stretch !== null)
        throw new RepriseError(
          'wrong_usage',
          `run: ${run} names a part of a run, and a run is exported whole`,
          `give ${point.run}`,
        )
      return write(format, file, replace, (passage, out) => exportRun(material, run, format, passage, out))
    },
    'export.incident': ({ a, b, file, replace }) =>
      write('bundle', file, replace, (passage, out) => exportIncident(material, { a, b }, passage, out)),
  } satisfies SomeHandlers
}
