import type { ManifestCapability } from '../../../../contract/index.ts'
import type { AgentDomain, Chosen } from './agent.ts'

/** The domain of the agent that answers, as the manifest names it (R42, R43). */
export function describeDomain(agent: AgentDomain, { chosenBy, session }: Chosen) {
  return {
    id: agent.id,
    chosen_by: chosenBy,
    directory: agent.agentDir,
    workspace: agent.workspace,
    workspace_by: agent.workspaceBy,
    run_dir: agent.runDir,
    run_dir_by: agent.runDirBy,
    session_store: agent.sessionStore,
    auth_store: `${agent.sessionStore}#auth_profile_store`,
    model_registry: `${agent.agentDir}/models.json`,
    session_key: session.key,
  }
}

/**
 * Every configured agent. What two of them have in common is named path by path; nothing is taken to be shared because one gateway runs
 * both (R48).
 */
export function describeAgents({ roster, agent }: Chosen): ManifestCapability[] {
  return roster.map((one) => ({
    name: one.id,
    version: null,
    digest: null,
    source: 'config',
    status: one.id === agent?.id ? 'active' : 'disabled',
    reason: one.id === agent?.id ? null : 'another agent: a domain of its own',
    description: null,
    used: null,
    workspace: one.workspace,
    directory: one.agentDir,
    session_store: one.sessionStore,
    shares: roster
      .filter((other) => other.id !== one.id)
      .flatMap((other) => [
        ...(other.workspace === one.workspace ? [{ agent: other.id, what: 'workspace' }] : []),
        ...(other.agentDir === one.agentDir
          ? [{ agent: other.id, what: 'agent directory, credentials and sessions' }]
          : []),
      ]),
  }))
}
