import canonicalize from 'canonicalize'
import type { ManifestBody } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import { entryKey } from './agent.ts'
import { type Tree, textAt } from './config-tree.ts'
import type { Effective } from './settings.ts'
import type { ToolLayer } from './tools.ts'

export interface ResolvedPolicy {
  readonly policy: ManifestBody['policy']
  readonly sandbox: ManifestBody['execution']['sandbox']
  readonly image: string | null
}

/** What limits the agent: the lists of tools by layer, how commands are approved, and the sandbox. */
export function readPolicy(
  tree: Tree,
  agentId: string | null,
  layers: readonly ToolLayer[],
  sandbox: Effective | null,
): ResolvedPolicy {
  const own = agentId === null ? null : ['agents', 'entries', entryKey(tree, agentId)]
  const first = (...keys: readonly string[]): string | null =>
    (own === null ? null : textAt(tree, ...own, ...keys)) ?? textAt(tree, 'agents', 'defaults', ...keys)
  const mode =
    (own === null ? null : textAt(tree, ...own, 'tools', 'exec', 'mode')) ?? textAt(tree, 'tools', 'exec', 'mode')
  const permissions = {
    mode,
    allow: layers.flatMap(({ label, source, allow }) =>
      (allow ?? []).map((rule) => ({ rule, source: `${source} (${label})`, ignored: null })),
    ),
    ask: [],
    deny: layers.flatMap(({ label, source, deny }) => deny.map((rule) => ({ rule, source: `${source} (${label})` }))),
  }
  const sandboxMode = typeof sandbox?.value === 'string' ? sandbox.value : null
  const isOff = sandboxMode === null || sandboxMode === 'off'
  return {
    policy: {
      revision: bytesDigest(canonicalize({ permissions, sandboxMode }) ?? ''),
      permissions,
      trust: { trusted: null, source: null },
      managed: [],
    },
    sandbox: {
      mode: sandboxMode,
      network_policy: isOff ? null : first('sandbox', 'docker', 'network'),
      ...(isOff
        ? {}
        : {
            workspace_access: first('sandbox', 'workspaceAccess'),
            scope: first('sandbox', 'scope'),
            backend: first('sandbox', 'backend'),
          }),
    },
    image: isOff ? null : first('sandbox', 'docker', 'image'),
  }
}
