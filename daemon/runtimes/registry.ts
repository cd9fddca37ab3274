import type { RuntimeName } from '../../contract/index.ts'
import type { RuntimeAdapter } from './adapter.ts'
import { claudeCode } from './claude-code/index.ts'
import { codex } from './codex/index.ts'
import { hermes } from './hermes/index.ts'
import { openclaw } from './openclaw/index.ts'

/** Every adapter there is. A runtime without one is named as not supported yet, never shown as absent. */
export const adapters: ReadonlyMap<RuntimeName, RuntimeAdapter> = new Map<RuntimeName, RuntimeAdapter>([
  [claudeCode.runtime, claudeCode],
  [codex.runtime, codex],
  [hermes.runtime, hermes],
  [openclaw.runtime, openclaw],
])
