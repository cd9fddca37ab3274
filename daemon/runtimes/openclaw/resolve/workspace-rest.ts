import path from 'node:path'
import canonicalize from 'canonicalize'
import type { Digest } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import type { AgentDomain } from './agent.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'

/** Files that look as if they counted, with why they do not (2026.9.6). */
const NEVER: Readonly<Record<string, string>> = {
  'TOOLS.md': 'TOOLS.md no longer enters the context; older versions loaded it',
  'HEARTBEAT.md': 'HEARTBEAT.md no longer enters the context; what it asked for is kept as a row of the state database',
  'BOOT.md': 'BOOT.md is no file of the context',
  'CLAUDE.md': 'it belongs to another agent program',
  'GEMINI.md': 'it belongs to another agent program',
  'memory.md': 'names are compared exactly: only MEMORY.md counts',
  'agents.md': 'names are compared exactly: only AGENTS.md counts',
}

export function neverLoaded(disk: Disk, agent: AgentDomain): readonly Source[] {
  const sources: Source[] = []
  const leave = (file: string, reason: string, kind: Source['kind'], scope: string): void => {
    const read = disk.read(file)
    if (read.state === 'missing' || read.state === 'directory') return
    sources.push(
      makeSource({
        path: file,
        scope,
        kind,
        status: 'not_loaded',
        reason,
        rule: `fixed list of bootstrap files (${VERIFIED_VERSION})`,
        ...(read.state === 'ok' ? { raw: read.bytes } : {}),
      }),
    )
  }
  const names = disk.names(agent.workspace)
  for (const { name } of Array.isArray(names) ? names : []) {
    const reason = NEVER[name]
    if (reason !== undefined) leave(path.join(agent.workspace, name), reason, 'instructions', 'workspace')
  }
  for (const file of listMarkdown(disk, path.join(agent.workspace, 'memory')))
    leave(file, 'notes of a day enter only when the model reads or searches them', 'memory', 'workspace')
  for (const person of childrenOf(disk, path.join(agent.workspace, 'users')))
    leave(
      path.join(agent.workspace, 'users', person, 'USER.md'),
      'it follows USER.md in sessions of the person it is of; whose session it is, is known only then',
      'instructions',
      'person',
    )
  if (agent.runDir !== agent.workspace)
    leave(
      path.join(agent.runDir, 'AGENTS.md'),
      'tools run in this folder, the bootstrap files stay with the workspace',
      'instructions',
      'execution folder',
    )
  return sources
}

export interface MemoryFile {
  readonly path: string
  readonly digest: Digest | null
  readonly bytes: number | null
  readonly truncated: { readonly at: number; readonly unit: string } | null
  readonly local_to_machine: boolean
}

/** What the agent may recall: MEMORY.md and the notes of single days. They belong to this agent's workspace alone. */
export function memoryFiles(disk: Disk, agent: AgentDomain, loaded: readonly Source[]): readonly MemoryFile[] {
  const files = [path.join(agent.workspace, 'MEMORY.md'), ...listMarkdown(disk, path.join(agent.workspace, 'memory'))]
  return files.flatMap((file): MemoryFile[] => {
    const read = disk.read(file)
    if (read.state === 'missing' || read.state === 'directory') return []
    return [
      {
        path: file,
        digest: read.state === 'ok' ? bytesDigest(read.bytes) : null,
        bytes: read.state === 'ok' ? read.size : null,
        truncated: loaded.find((source) => source.path === file)?.truncated ?? null,
        local_to_machine: true,
      },
    ]
  })
}

/** One digest over everything of the workspace that bears on a run: names and contents, not the project's own files. */
export function workspaceDigest(agent: AgentDomain, sources: readonly Source[]): Digest | null {
  const own = sources.filter((source) => source.path?.startsWith(agent.workspace + path.sep) && source.digest !== null)
  if (own.length === 0) return null
  const list = own
    .map((source) => ({ path: path.relative(agent.workspace, source.path ?? ''), digest: source.digest }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  return bytesDigest(canonicalize(list) ?? '')
}

function listMarkdown(disk: Disk, folder: string): readonly string[] {
  const names = disk.names(folder)
  return (Array.isArray(names) ? names : [])
    .filter((entry) => entry.name.endsWith('.md') && !entry.isDirectory())
    .map((entry) => path.join(folder, entry.name))
    .sort()
}

const childrenOf = (disk: Disk, folder: string): readonly string[] => {
  const names = disk.names(folder)
  return Array.isArray(names) ? names.map((entry) => entry.name).sort() : []
}
