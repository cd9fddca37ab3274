import type { RuntimeAdapter } from '../adapter.ts'
import { describeHome } from './describe-home.ts'
import { facts } from './facts.ts'
import { findHomes, watchPlaces } from './homes.ts'
import { inferManifest } from './infer-manifest.ts'
import { listSessions } from './list-sessions.ts'
import { ClaudeReader } from './reader.ts'
import { resolveClaudeCode } from './resolve/index.ts'

/** Claude Code: sessions below `<home>/projects`, configuration in layers from the machine to the directory. */
export const claudeCode: RuntimeAdapter = {
  runtime: 'claude-code',
  facts,
  findHomes,
  describeHome,
  listSessions,
  watchPlaces,
  openReader: (unit) => new ClaudeReader(unit),
  resolve: resolveClaudeCode,
  inferManifest,
}
