import path from 'node:path'
import type { Digest, ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from './disk.ts'
import { readFrontMatter } from './front-matter.ts'
import type { Plugin } from './plugins.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'

export interface CapabilityRequest {
  readonly disk: Disk
  readonly managedDir: string
  readonly configDir: string
  readonly cwd: string
  /** Directories searched for the project, the nearest first: from `cwd` up to the work tree's top, without git up all ancestors. */
  readonly projectDirs: readonly string[]
  readonly addedDirs: readonly string[]
  /** `.claude/skills` folders below the start directory. */
  readonly nestedSkillDirs: readonly string[]
  readonly plugins: readonly Plugin[]
  readonly sources: { readonly user: boolean; readonly project: boolean }
  readonly whySourcesOff: string
  /** Null, or why none loads. */
  readonly off: string | null
  readonly outputStyle: string | null
  /** Agents of `--agents`, by name. */
  readonly flagAgents: Readonly<Record<string, unknown>>
}

export interface ResolvedCapabilities {
  readonly skills: readonly ManifestCapability[]
  readonly commands: readonly ManifestCapability[]
  readonly agents: readonly ManifestCapability[]
  readonly outputStyles: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

interface Root {
  readonly scope: 'managed' | 'user' | 'project' | 'added directory' | 'plugin'
  readonly directory: string
  readonly off: string | null
  readonly prefix: string
}

interface Found {
  readonly name: string
  readonly file: string
  readonly root: Root
  readonly keys: Readonly<Record<string, unknown>>
  readonly digest: Digest | null
  readonly raw: Uint8Array
}

/** A skill folder with more files or bytes than this is digested by its SKILL.md alone, and said so. */
const MOST_SKILL_FILES = 300

export function resolveCapabilities(request: CapabilityRequest): ResolvedCapabilities {
  const sources: Source[] = []
  const unknown: { field: string; why: string }[] = []
  const roots = rootsOf(request)

  const skills = roots.flatMap((root) => findSkills(request.disk, path.join(root.directory, 'skills'), root, unknown))
  const nested = request.nestedSkillDirs.flatMap((directory) =>
    findSkills(
      request.disk,
      directory,
      { scope: 'project', directory: path.dirname(directory), off: request.off, prefix: '' },
      unknown,
    ),
  )
  const commands = roots.flatMap((root) =>
    findMarkdown(request.disk, path.join(root.directory, 'commands'), root, unknown),
  )
  const agents = roots.flatMap((root) => findMarkdown(request.disk, path.join(root.directory, 'agents'), root, unknown))
  const styles = roots.flatMap((root) =>
    findMarkdown(request.disk, path.join(root.directory, 'output-styles'), root, unknown),
  )

  const list = (
    found: readonly Found[],
    kind: 'skill' | 'command' | 'agent',
    order: readonly Root['scope'][],
    trigger: string,
  ): ManifestCapability[] =>
    rank(found, order).map(({ one, winner }) => {
      const reason =
        one.root.off ??
        (winner !== null ? `${winner.root.scope} beats ${one.root.scope}: ${winner.file} has the same name` : null)
      const status = one.root.off !== null ? 'disabled' : winner !== null ? 'shadowed' : 'active'
      sources.push(
        makeSource({
          path: one.file,
          scope: one.root.scope,
          kind,
          status: status === 'active' ? 'lazy' : 'not_loaded',
          reason,
          trigger: status === 'active' ? trigger : null,
          rule: `${order.join(' beats ')} (${VERIFIED_VERSION})`,
          raw: one.raw,
        }),
      )
      return capability(one, status, reason)
    })

  const skillTrigger = 'the skill is called; until then only its name and description are in the context'
  const listedSkills = list(skills, 'skill', ['managed', 'user', 'project', 'added directory', 'plugin'], skillTrigger)
  for (const one of nested) {
    if (listedSkills.some((each) => each.path === one.file)) continue
    const off = request.off ?? (request.sources.project ? null : request.whySourcesOff)
    const folder = path.dirname(path.dirname(path.dirname(path.dirname(one.file))))
    sources.push(
      makeSource({
        path: one.file,
        scope: 'path',
        kind: 'skill',
        status: off === null ? 'lazy' : 'not_loaded',
        reason: off,
        trigger: off === null ? `a file below ${folder} is read, written or edited` : null,
        raw: one.raw,
      }),
    )
    listedSkills.push(capability(one, off === null ? 'lazy' : 'disabled', off))
  }
  return {
    skills: listedSkills,
    commands: list(
      commands,
      'command',
      ['managed', 'project', 'user', 'added directory', 'plugin'],
      'the command is called; until then only its name and description are in the context',
    ),
    agents: [
      ...flagAgents(request),
      ...list(
        agents.filter((one) => typeof one.keys.name === 'string'),
        'agent',
        ['managed', 'project', 'user', 'added directory', 'plugin'],
        'the agent is started; until then only its name and description are in the context',
      ),
      ...nameless(agents, sources),
    ],
    outputStyles: chooseStyle(styles, request.outputStyle, sources),
    sources,
    unknown,
  }
}

function rootsOf(request: CapabilityRequest): readonly Root[] {
  const { off, whySourcesOff } = request
  return [
    { scope: 'managed', directory: path.join(request.managedDir, '.claude'), off, prefix: '' },
    {
      scope: 'user',
      directory: request.configDir,
      off: off ?? (request.sources.user ? null : whySourcesOff),
      prefix: '',
    },
    ...request.projectDirs
      .map((directory) => path.join(directory, '.claude'))
      .filter((directory) => directory !== request.configDir)
      .map(
        (directory): Root => ({
          scope: 'project',
          directory,
          off: off ?? (request.sources.project ? null : whySourcesOff),
          prefix: '',
        }),
      ),
    ...request.addedDirs.map(
      (directory): Root => ({ scope: 'added directory', directory: path.join(directory, '.claude'), off, prefix: '' }),
    ),
    ...request.plugins.flatMap((plugin): Root[] =>
      plugin.root === null
        ? []
        : [
            {
              scope: 'plugin',
              directory: plugin.root,
              off: plugin.active ? off : 'its plugin is not enabled',
              prefix: `${plugin.shortName}:`,
            },
          ],
    ),
  ]
}

function findSkills(disk: Disk, directory: string, root: Root, unknown: { field: string; why: string }[]): Found[] {
  const listing = disk.list(directory)
  if (listing.state === 'unreadable')
    unknown.push({ field: 'capabilities.skills', why: `${directory}: ${listing.why}` })
  if (listing.state !== 'ok') return []
  return listing.entries.flatMap((entry): Found[] => {
    const folder = path.join(directory, entry.name)
    const file = path.join(folder, 'SKILL.md')
    const found = disk.read(file)
    if (found.state === 'unreadable') unknown.push({ field: 'capabilities.skills', why: `${file}: ${found.why}` })
    if (found.state !== 'ok') return []
    const { keys } = readFrontMatter(found.bytes.toString('utf8'))
    return [
      {
        name: root.prefix + entry.name,
        file,
        root,
        keys,
        raw: found.bytes,
        digest: folderDigest(disk, folder, unknown),
      },
    ]
  })
}

/** Over all files of the folder, so that a changed script below a skill shows. */
function folderDigest(disk: Disk, folder: string, unknown: { field: string; why: string }[]): Digest | null {
  const parts: string[] = []
  let files = 0
  const visited = new Set<string>()
  const walk = (directory: string, prefix: string): void => {
    const real = disk.realPath(directory)
    if (real === null || visited.has(real)) return
    visited.add(real)
    const listing = disk.list(directory)
    if (listing.state !== 'ok') return
    for (const entry of [...listing.entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const place = path.join(directory, entry.name)
      if (disk.isDirectory(place)) {
        walk(place, `${prefix}${entry.name}/`)
        continue
      }
      files += 1
      if (files > MOST_SKILL_FILES) continue
      const found = disk.read(place)
      parts.push(`${prefix}${entry.name}\0${found.state === 'ok' ? bytesDigest(found.bytes) : found.state}\0`)
    }
  }
  walk(folder, '')
  if (files > MOST_SKILL_FILES) {
    unknown.push({
      field: 'capabilities.skills',
      why: `${folder} holds ${files} files; its digest covers ${MOST_SKILL_FILES} of them`,
    })
  }
  return parts.length === 0 ? null : bytesDigest(parts.join(''))
}

function findMarkdown(disk: Disk, directory: string, root: Root, unknown: { field: string; why: string }[]): Found[] {
  const found: Found[] = []
  const visited = new Set<string>()
  const walk = (folder: string, prefix: string): void => {
    const real = disk.realPath(folder)
    if (real === null || visited.has(real)) return
    visited.add(real)
    const listing = disk.list(folder)
    if (listing.state === 'unreadable') unknown.push({ field: 'capabilities', why: `${folder}: ${listing.why}` })
    if (listing.state !== 'ok') return
    for (const entry of listing.entries) {
      const place = path.join(folder, entry.name)
      if (disk.isDirectory(place)) {
        walk(place, `${prefix}${entry.name}:`)
        continue
      }
      if (!entry.name.endsWith('.md')) continue
      const read = disk.read(place)
      if (read.state === 'unreadable') unknown.push({ field: 'capabilities', why: `${place}: ${read.why}` })
      if (read.state !== 'ok') continue
      const { keys } = readFrontMatter(read.bytes.toString('utf8'))
      const own = directory.endsWith('agents') || directory.endsWith('output-styles') ? keys.name : undefined
      const name = typeof own === 'string' ? own : prefix + entry.name.slice(0, -3)
      found.push({
        name: root.prefix + name,
        file: place,
        root,
        keys,
        raw: read.bytes,
        digest: bytesDigest(read.bytes),
      })
    }
  }
  walk(directory, '')
  return found
}

/** Each entry with the one of the same name that beats it. */
function rank(
  found: readonly Found[],
  order: readonly Root['scope'][],
): readonly { readonly one: Found; readonly winner: Found | null }[] {
  const winners = new Map<string, Found>()
  for (const scope of order) {
    for (const one of found)
      if (one.root.scope === scope && one.root.off === null && !winners.has(one.name)) winners.set(one.name, one)
  }
  return found.map((one) => {
    const winner = winners.get(one.name) ?? null
    return { one, winner: winner === one ? null : winner }
  })
}

function capability(one: Found, status: ManifestCapability['status'], reason: string | null): ManifestCapability {
  const { description, version } = one.keys
  return {
    name: one.name,
    version: typeof version === 'string' || typeof version === 'number' ? String(version) : null,
    digest: one.digest,
    source: one.root.scope,
    status,
    reason,
    description: typeof description === 'string' ? description : null,
    used: null,
    path: one.file,
  }
}

function nameless(agents: readonly Found[], sources: Source[]): ManifestCapability[] {
  return agents
    .filter((one) => typeof one.keys.name !== 'string')
    .map((one) => {
      const reason = 'its front matter has no name, so it is no agent'
      sources.push(
        makeSource({
          path: one.file,
          scope: one.root.scope,
          kind: 'agent',
          status: 'not_loaded',
          reason,
          raw: one.raw,
        }),
      )
      return capability(one, 'disabled', reason)
    })
}

function flagAgents(request: CapabilityRequest): ManifestCapability[] {
  return Object.entries(request.flagAgents).map(([name, value]) => ({
    name,
    version: null,
    digest: bytesDigest(JSON.stringify(value)),
    source: 'flag:--agents',
    status: 'active',
    reason: null,
    description:
      typeof value === 'object' && value !== null && 'description' in value && typeof value.description === 'string'
        ? value.description
        : null,
    used: null,
  }))
}

function chooseStyle(styles: readonly Found[], chosen: string | null, sources: Source[]): ManifestCapability[] {
  return rank(styles, ['managed', 'project', 'user', 'added directory', 'plugin']).map(({ one, winner }) => {
    const active = one.root.off === null && winner === null && one.name === chosen
    const reason = active
      ? null
      : (one.root.off ??
        (winner !== null ? `${winner.file} has the same name` : 'the outputStyle setting does not choose it'))
    sources.push(
      makeSource({
        path: one.file,
        scope: one.root.scope,
        kind: 'settings',
        status: active ? 'loaded' : 'not_loaded',
        reason,
        rule: `chosen by the outputStyle setting (${VERIFIED_VERSION})`,
        raw: one.raw,
      }),
    )
    return capability(one, active ? 'active' : winner !== null ? 'shadowed' : 'disabled', reason)
  })
}
