import path from 'node:path'
import type { SharedFile } from '../shared/shared-file.ts'

const PROJECT_KEYS = [
  'mcpServers',
  'allowedTools',
  'enabledMcpjsonServers',
  'disabledMcpjsonServers',
  'disabledMcpServers',
]

/**
 * `.claude.json` mixes configuration, state and secrets and is rewritten at every start (2.1.332). Trust is a decision of a person about a
 * folder and never comes back by itself.
 */
export function sharedFile(_home: string, file: string, workspace: string | null): SharedFile | null {
  if (path.basename(file) !== '.claude.json' && path.basename(file) !== '.config.json') return null
  const project = workspace === null ? [] : PROJECT_KEYS.map((key) => ['projects', workspace, key])
  return {
    path: file,
    rule: { configuration: [['mcpServers'], ['theme'], ['editorMode'], ...project] },
    why: 'state, accounts and other projects of the agent',
  }
}
