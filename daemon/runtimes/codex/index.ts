import { textDigest } from '../../manifest/effective-text.ts'
import { isTypedOnly, type RuntimeAdapter } from '../adapter.ts'
import { TypedPromptsReader } from '../shared/typed-prompts-reader.ts'
import { describeEvent } from './describe-event.ts'
import { describeHome } from './describe-home.ts'
import { sessionFacts } from './facts.ts'
import { helperFile } from './helper-files.ts'
import { findHomes, watchPlaces } from './homes.ts'
import { inferManifest, textsOf } from './infer-manifest.ts'
import { joinManifest } from './join-manifest.ts'
import { listSessions } from './list-sessions.ts'
import { findProgram } from './program.ts'
import { CodexReader } from './reader.ts'
import { rebuildRequest } from './requests.ts'
import { codexResolverFacts, resolveCodex } from './resolve/index.ts'
import { writeLines } from './session-lines.ts'
import { sharedFile } from './shared-file.ts'
import { promptHistoryFile, readTypedPrompt } from './typed-prompts.ts'

/** Codex: threads below `<home>/sessions`, configuration in layers of TOML from the machine to the directory. */
export const codex: RuntimeAdapter = {
  runtime: 'codex',
  facts: [...sessionFacts, ...codexResolverFacts],
  findHomes,
  describeHome,
  listSessions,
  // Everything of a thread stands in its records.
  listSideFiles: () => [],
  writeLines,
  promptHistoryFile,
  readTypedPrompt,
  // Folders are named after dates: none belongs to a directory.
  findMixedFolders: () => new Map(),
  watchPlaces,
  openReader: (unit) => (isTypedOnly(unit) ? new TypedPromptsReader(unit, readTypedPrompt) : new CodexReader(unit)),
  findProgram,
  helperFile,
  sharedFile,
  resolve: resolveCodex,
  describeEvent,
  rebuildRequest: (_unit, reply, lines) => rebuildRequest(reply, lines),
  inferManifest,
  joinManifest,
  recordedTexts: (stretch) => [...textsOf(stretch).values()].map((text) => ({ digest: textDigest(text), text })),
}
