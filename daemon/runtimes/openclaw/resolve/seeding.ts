import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import { namesAt, type Tree, valueAt } from './config-tree.ts'
import type { Unknown } from './sources.ts'

export interface Seeding {
  /** Files the run writes before it reads, with their text; null where the template is not at hand. */
  readonly seeded: ReadonlyMap<string, string | null>
  /** The run deletes BOOTSTRAP.md before it reads; null when that cannot be told. */
  readonly dropsBootstrap: boolean | null
  readonly unknown: readonly Unknown[]
}

const TEMPLATES = ['AGENTS.md', 'SOUL.md', 'IDENTITY.md', 'USER.md'] as const
const PROFILE = ['SOUL.md', 'IDENTITY.md', 'USER.md'] as const

/** What a run changes in its workspace before it reads it, unless `skipBootstrap` is set (2026.9.6). */
export function readSeeding(disk: Disk, tree: Tree, workspace: string, program: string | null): Seeding {
  if (valueAt(tree, 'agents', 'defaults', 'skipBootstrap') === true)
    return { seeded: new Map(), dropsBootstrap: false, unknown: [] }
  const at = (name: string): string => path.join(workspace, name)
  const has = (name: string): boolean => disk.exists(at(name)) || disk.isLink(at(name))
  const unknown: Unknown[] = []
  const skipped = new Set(namesAt(tree, 'agents', 'defaults', 'skipOptionalBootstrapFiles') ?? [])
  const missing = TEMPLATES.filter((name) => !has(name) && (name === 'AGENTS.md' || !skipped.has(name)))
  const isUsed = ['MEMORY.md', 'memory'].some(has) || hasSkill(disk, at('skills'))
  const isNew = !TEMPLATES.some(has) && !isUsed && !has('.git')
  if (!isNew && missing.length > 0)
    unknown.push({
      field: 'instructions',
      why: 'seeding is on: whether missing files are written again depends on what the state database remembers of this workspace',
    })
  if (!isNew && !has('BOOTSTRAP.md'))
    unknown.push({
      field: 'instructions',
      why: 'seeding is on: once a workspace counts as set up, BOOTSTRAP.md is neither read nor counted; that is kept in the state database',
    })
  const written = [...missing, ...(isNew && !has('BOOTSTRAP.md') ? ['BOOTSTRAP.md'] : [])]
  return {
    seeded: new Map(written.map((name) => [name, template(disk, program, name)])),
    dropsBootstrap: has('BOOTSTRAP.md') && (isUsed || isOwnProfile(disk, workspace, program)),
    unknown,
  }
}

/** A profile file that is not the template any more shows that the workspace is the user's own. */
function isOwnProfile(disk: Disk, workspace: string, program: string | null): boolean | null {
  let isOwn: boolean | null = false
  for (const name of PROFILE) {
    const found = disk.read(path.join(workspace, name))
    if (found.state !== 'ok') continue
    const original = template(disk, program, name)
    if (original === null) isOwn = null
    else if (found.bytes.toString('utf8') !== original) return true
  }
  return isOwn
}

function template(disk: Disk, program: string | null, name: string): string | null {
  if (program === null) return null
  const found = disk.read(path.join(program, 'docs', 'reference', 'templates', name))
  if (found.state !== 'ok') return null
  const text = found.bytes.toString('utf8')
  const matter = /^---\r?\n[\s\S]*?\r?\n---\r?\n/.exec(text)
  return matter === null ? text : text.slice(matter[0].length).replace(/^\s+/, '')
}

function hasSkill(disk: Disk, folder: string): boolean {
  const names = disk.names(folder)
  return (
    Array.isArray(names) &&
    names.some((entry) => entry.isDirectory() && disk.exists(path.join(folder, entry.name, 'SKILL.md')))
  )
}
