import type { RuntimeAdapter } from '../adapter.ts'
import { describeEvent } from './describe-event.ts'
import { describeHome } from './describe-home.ts'
import { sessionFacts } from './facts.ts'
import { helperFile } from './helper-files.ts'
import { findHomes, watchPlaces } from './homes.ts'
import { recordedTexts } from './infer-instructions.ts'
import { inferManifest } from './infer-manifest.ts'
import { joinManifest } from './join-manifest.ts'
import { listSessions, listSideFiles } from './list-sessions.ts'
import { findProgram } from './program.ts'
import { OpenClawReader } from './reader.ts'
import { rebuildRequest } from './requests.ts'
import { openClawResolverFacts, resolveOpenClaw } from './resolve/index.ts'
import { sharedFile } from './shared-file.ts'
import { writeLines } from './write-lines.ts'

/** OpenClaw: one database of sessions per agent of a state directory, JSONL files before that. */
export const openclaw: RuntimeAdapter = {
  runtime: 'openclaw',
  facts: [...sessionFacts, ...openClawResolverFacts],
  findHomes,
  describeHome,
  listSessions,
  listSideFiles,
  writeLines,
  promptHistoryFile: () => null,
  readTypedPrompt: () => null,
  // Sessions lie by agent, and an agent's folder is its own: no folder stands for several directories.
  findMixedFolders: () => new Map(),
  watchPlaces,
  openReader: (unit) => new OpenClawReader(unit),
  findProgram,
  helperFile,
  sharedFile,
  resolve: resolveOpenClaw,
  describeEvent,
  rebuildRequest,
  inferManifest,
  joinManifest,
  recordedTexts,
}
