import { textDigest } from '../../manifest/effective-text.ts'
import { isTypedOnly, type RuntimeAdapter } from '../adapter.ts'
import { TypedPromptsReader } from '../shared/typed-prompts-reader.ts'
import { describeEvent } from './describe-event.ts'
import { describeHome } from './describe-home.ts'
import { facts } from './facts.ts'
import { findMixedFolders } from './folder-names.ts'
import { helperFile } from './helper-files.ts'
import { findHomes, watchPlaces } from './homes.ts'
import { textsOf } from './infer-instructions.ts'
import { inferManifest } from './infer-manifest.ts'
import { joinManifest } from './join-manifest.ts'
import { listSessions, listSideFiles } from './list-sessions.ts'
import { findProgram } from './program.ts'
import { ClaudeReader } from './reader.ts'
import { rebuildRequest } from './requests.ts'
import { claudeCodeResolverFacts } from './resolve/facts.ts'
import { resolveClaudeCode } from './resolve/index.ts'
import { sharedFile } from './shared-file.ts'
import { pastedTexts, promptHistoryFile, readTypedPrompt } from './typed-prompts.ts'

/** Claude Code: sessions below `<home>/projects`, configuration in layers from the machine to the directory. */
export const claudeCode: RuntimeAdapter = {
  runtime: 'claude-code',
  facts: [...facts, ...claudeCodeResolverFacts],
  findHomes,
  describeHome,
  listSessions,
  listSideFiles,
  promptHistoryFile,
  readTypedPrompt,
  findMixedFolders,
  watchPlaces,
  openReader: (unit) =>
    isTypedOnly(unit) ? new TypedPromptsReader(unit, readTypedPrompt, pastedTexts) : new ClaudeReader(unit),
  findProgram,
  helperFile,
  sharedFile,
  resolve: resolveClaudeCode,
  describeEvent,
  rebuildRequest: (_unit, reply, lines) => rebuildRequest(reply, lines),
  inferManifest,
  joinManifest,
  recordedTexts: (stretch) => [...textsOf(stretch).values()].map((text) => ({ digest: textDigest(text), text })),
}
