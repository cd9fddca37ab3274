import type { RuntimeAdapter } from '../adapter.ts'
import { describeEvent } from './describe-event.ts'
import { describeHome } from './describe-home.ts'
import { facts } from './facts.ts'
import { helperFile } from './helper-files.ts'
import { findHomes, watchPlaces } from './homes.ts'
import { inferManifest, recordedTexts } from './infer-manifest.ts'
import { joinManifest } from './join-manifest.ts'
import { listSessions, listSideFiles } from './list-sessions.ts'
import { findProgram } from './program.ts'
import { HermesReader } from './reader.ts'
import { rebuildRequest } from './requests.ts'
import { resolveHermes } from './resolve/index.ts'
import { sharedFile } from './shared-file.ts'
import { writeLines } from './write-lines.ts'

/** Hermes Agent: sessions in `state.db` of a home, every profile a home of its own, configuration in YAML below a managed one. */
export const hermes: RuntimeAdapter = {
  runtime: 'hermes',
  facts,
  findHomes,
  describeHome,
  listSessions,
  listSideFiles,
  // Hermes keeps what was typed in a file of the prompt's own form, without sessions; every prompt of a session is in the session.
  promptHistoryFile: () => null,
  readTypedPrompt: () => null,
  // Sessions are rows, not folders: nothing is mixed by a folder's name.
  findMixedFolders: () => new Map(),
  watchPlaces,
  writeLines,
  openReader: (unit) => new HermesReader(unit),
  findProgram,
  helperFile,
  sharedFile,
  resolve: resolveHermes,
  describeEvent,
  rebuildRequest,
  inferManifest,
  joinManifest,
  recordedTexts,
}
