import path from 'node:path'
import type { ManifestBody } from '../../../../contract/index.ts'
import type { Disk } from '../../shared/disk.ts'
import type { AgentDomain } from './agent.ts'
import { branchesAt, namesAt, type Tree, textAt } from './config-tree.ts'
import type { Places } from './places.ts'
import { makeSource, type Source } from './sources.ts'

/** Credential stores: that they are there, and nothing more. */
export function credentialSources(disk: Disk, places: Places, agent: AgentDomain | null): readonly Source[] {
  const files = [
    path.join(places.stateDir, 'secrets.json'),
    path.join(places.stateDir, 'credentials'),
    ...(agent === null
      ? []
      : [path.join(agent.agentDir, 'auth-profiles.json'), path.join(agent.agentDir, 'auth.json')]),
  ]
  const models = agent === null ? null : path.join(agent.agentDir, 'models.json')
  const registry =
    models === null || !disk.exists(models)
      ? []
      : [
          makeSource({
            path: models,
            scope: 'state',
            kind: 'state',
            status: 'unknown',
            reason:
              'generated catalogue of models of this agent, which may hold keys: not read; what it adds was not exercised',
            classification: 'secret',
          }),
        ]
  return files
    .filter((file) => disk.exists(file))
    .map((file) =>
      makeSource({
        path: file,
        scope: 'state',
        kind: 'state',
        status: 'loaded',
        reason: 'credentials: never read, by design',
        classification: 'secret',
      }),
    )
    .concat(registry)
}

/**
 * The auth profile by reference only: the store of this agent, and which profile comes first for the provider. Two agents have two stores
 * even when a profile has the same name in both (R42, R48).
 */
export function authReference(tree: Tree, agent: AgentDomain, provider: string | null): string {
  const store = `${agent.sessionStore}#auth_profile_store`
  if (provider === null) return store
  const order = namesAt(tree, 'auth', 'order', provider)
  const first =
    order?.[0] ??
    [...branchesAt(tree, 'auth', 'profiles')].find(([, profile]) => textAt(profile, 'provider') === provider)?.[0] ??
    null
  return first === null ? store : `${store}/${first}`
}

/** State that no file of text holds: databases are named, never opened here. */
export function stateDatabases(disk: Disk, places: Places, agent: AgentDomain | null): ManifestBody['external'] {
  const found: { kind: string; file: string; why: string }[] = [
    {
      kind: 'state database',
      file: path.join(places.stateDir, 'state', 'openclaw.sqlite'),
      why: 'a live database: cron jobs, heartbeat notes, approvals, whether a workspace is set up',
    },
    ...(agent === null
      ? []
      : [
          {
            kind: 'agent database',
            file: agent.sessionStore,
            why: 'a live database: sessions with their frozen list of skills and their chosen models, credentials, memory index',
          },
        ]),
  ]
  return found
    .filter(({ file }) => disk.exists(file))
    .map(({ kind, file, why }) => ({ kind, name: file, state: 'not_captured' as const, digest: null, reason: why }))
}
