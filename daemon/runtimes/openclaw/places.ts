import { isUtf8 } from 'node:buffer'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionProblem } from '../adapter.ts'

export type Report = (problem: SessionProblem) => void

/** One agent of a state directory: a domain of its own (R42, R48). Nothing in it is ever looked for in another agent's folder. */
export interface AgentPlace {
  readonly agent: string
  readonly folder: string
  /** Sessions, transcripts, credentials and the search index of this agent since 2026.8; it need not be there. */
  readonly database: string
  /** JSONL of versions before, archives, cold storage. */
  readonly sessions: string
  readonly cold: string
  /** What `doctor --fix` moved away after importing it. */
  readonly imported: string
}

/** Every agent that has a folder, whether or not the configuration names it: a removed agent's sessions are still sessions. */
export function agentsOf(home: string, report: Report): readonly AgentPlace[] {
  const agents = join(home, 'agents')
  return listNames(agents, report)
    .filter((name) => isDirectory(join(agents, name)))
    .map((agent) => agentPlace(home, agent))
}

export function agentPlace(home: string, agent: string): AgentPlace {
  const folder = join(home, 'agents', agent)
  const sessions = join(folder, 'sessions')
  return {
    agent,
    folder,
    database: join(folder, 'agent', 'openclaw-agent.sqlite'),
    sessions,
    cold: join(sessions, 'cold'),
    imported: join(folder, 'session-sqlite-import-archive'),
  }
}

/** Names in a directory, sorted. What cannot be read is reported; that there is nothing is no problem. */
export function listNames(path: string, report: Report): readonly string[] {
  try {
    return readdirSync(path, { encoding: 'buffer' })
      .flatMap((name) => {
        if (isUtf8(name)) return [name.toString('utf8')]
        report({ path: join(path, name.toString('latin1')), reason: 'the name is not valid UTF-8' })
        return []
      })
      .sort()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== 'ENOENT' && code !== 'ENOTDIR') report({ path, reason: reasonOf(error) })
    return []
  }
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
