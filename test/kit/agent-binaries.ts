import { agents, findCommand } from '../../scripts/setup-agents.mjs'

/** Agents whose real program the tests can compare with. */
export type AgentName = keyof typeof agents

/** The version every table of ours for this agent was verified on. */
export const agentVersion = (name: AgentName): string => agents[name].version

/** Whoever leaves the real programs out says so; a missing program alone is a failure. */
export const withoutAgents = (): boolean => process.env.REPRISE_WITHOUT_AGENTS === '1'

/** The program, or a failure that says what to do. */
export function requireAgentBinary(name: AgentName): string {
  return requireAgentCommand(name).at(-1) ?? ''
}

/** What starts the program: an executable and its first arguments (a script is run by a Node of its own). */
export function requireAgentCommand(name: AgentName): readonly string[] {
  const command: readonly string[] | null = findCommand(name)
  if (command !== null) return command
  throw new Error(
    `The real program of ${name} (${agentVersion(name)}) is not in .cache/agents. Run "node scripts/setup-agents.mjs", ` +
      'or set REPRISE_WITHOUT_AGENTS=1 to leave these tests out on purpose.',
  )
}
