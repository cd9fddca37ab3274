import path from 'node:path'
import { parseDocument } from 'yaml'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import type { ConfigLayer, Layers } from './layers.ts'
import type { Plugin } from './plugins.ts'
import { settingOf } from './settings.ts'
import { findSkillFiles } from './skill-files.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { at, byBytes, isTable, textOf, trimmed } from './values.ts'

export type SkillScope = 'system' | 'admin' | 'repo' | 'user' | 'plugin'

export interface SkillRoot {
  readonly scope: SkillScope
  readonly directory: string
  /** `name:` before the names of a plugin's skills. */
  readonly prefix: string
  readonly off: string | null
}

export interface SkillsRequest {
  readonly disk: Disk
  readonly home: string
  readonly userHome: string
  readonly systemDir: string
  readonly layers: Layers
  readonly plugins: readonly Plugin[]
}

export interface ResolvedSkills {
  /** In the order of the list in the prompt. */
  readonly skills: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/** Order of the list: bundled, admin, repository, user with plugins; within each by name, then by path (0.171.0). */
const RANK: Readonly<Record<SkillScope, number>> = { system: 0, admin: 1, repo: 2, user: 3, plugin: 3 }
const LONGEST_NAME = 64
/** 2 % of a context window of 272,000 tokens, four bytes each: with more than this the descriptions are shortened. */
const LIST_BUDGET = 21_760
const RULE = `SKILL.md at any depth up to six folders, dot folders left out, equal names not merged (${VERIFIED_VERSION})`
const TRIGGER = 'the skill is named or fits the task; until then only its name and description are in the context'

interface Skill {
  readonly name: string
  readonly description: string
  readonly file: string
  readonly root: SkillRoot
  readonly raw: Buffer
  readonly implicit: boolean
  /** The path the prompt shows, when links lead to the file. */
  readonly reached: string | null
}

export function resolveSkills(request: SkillsRequest): ResolvedSkills {
  const { disk, layers } = request
  const sources: Source[] = []
  const unknown: { field: string; why: string }[] = []
  const broken: ManifestCapability[] = []
  const skills: Skill[] = []
  const seen = new Set<string>()
  for (const root of rootsOf(request)) {
    const found = findSkillFiles(disk, root.directory, unknown)
    for (const { file, why } of found.leftOut) {
      const draft = { path: file, scope: root.scope, kind: 'skill' as const, rule: RULE }
      sources.push(makeSource({ ...draft, status: 'not_loaded', reason: why }))
    }
    for (const file of found.files) {
      const shown = disk.realPath(file) ?? file
      if (seen.has(shown)) continue
      seen.add(shown)
      const read = readSkill(disk, file, root)
      if ('why' in read) {
        const draft = { path: shown, scope: root.scope, kind: 'skill' as const, rule: RULE, reason: read.why }
        sources.push(makeSource({ ...draft, status: read.status, ...(read.raw ? { raw: read.raw } : {}) }))
        const name = root.prefix + path.basename(path.dirname(shown))
        broken.push(capabilityOf({ name, file: shown, root, raw: read.raw, description: null }, 'disabled', read.why))
      } else skills.push({ ...read, file: shown, reached: shown === file ? null : file })
    }
  }
  skills.sort((a, b) => RANK[a.root.scope] - RANK[b.root.scope] || byBytes(a.name, b.name) || byBytes(a.file, b.file))
  const switches = skillSwitches(layers.active)
  const listed = settingOf(layers.active, 'skills', 'include_instructions')?.value !== false
  let listSize = 0
  const capabilities = skills.map((skill) => {
    const off = skill.root.off ?? switches(skill)
    sources.push(
      makeSource({
        path: skill.file,
        scope: skill.root.scope,
        kind: 'skill',
        rule: RULE,
        status: off === null ? 'lazy' : 'not_loaded',
        reason: off,
        trigger: off === null ? (skill.implicit && listed ? TRIGGER : 'it is named; the list leaves it out') : null,
        raw: skill.raw,
      }),
    )
    if (off === null && skill.implicit)
      listSize += Buffer.byteLength(`- ${skill.name}: ${skill.description} (file: )\n`)
    return capabilityOf(skill, off === null ? 'active' : 'disabled', off, {
      digest: folderDigest(disk, skill, unknown),
      ...(skill.implicit && listed ? {} : { model_invocable: false }),
      ...(skill.reached === null ? {} : { reached_as: skill.reached }),
    })
  })
  if (listed && listSize > LIST_BUDGET)
    unknown.push({
      field: 'capabilities.skills.description',
      why: `all descriptions together take ${listSize} bytes; beyond 2 % of the model's context window the program shortens them in the prompt`,
    })
  if (!disk.exists(path.join(request.home, 'skills', '.system')) && bundledOn(layers.active))
    unknown.push({
      field: 'capabilities.skills',
      why: 'the bundled skills are unpacked into the home at the first start',
    })
  return { skills: [...capabilities, ...broken], sources, unknown }
}

const bundledOn = (layers: readonly ConfigLayer[]): boolean =>
  settingOf(layers, 'skills', 'bundled', 'enabled')?.value !== false

function rootsOf({ home, userHome, systemDir, layers, plugins }: SkillsRequest): readonly SkillRoot[] {
  const make = (scope: SkillScope, directory: string, off: string | null = null): SkillRoot => ({
    scope,
    directory,
    prefix: '',
    off,
  })
  return [
    make('user', path.join(home, 'skills')),
    make('user', path.join(userHome, '.agents', 'skills')),
    // After the user's own, because a project may begin at the user's home. Trust is not asked for here: skills of an untrusted repository are loaded (0.171.0).
    ...layers.projectDirs.flatMap((directory) => [
      make('repo', path.join(directory, '.agents', 'skills')),
      ...(path.join(directory, '.codex') === home ? [] : [make('repo', path.join(directory, '.codex', 'skills'))]),
    ]),
    make(
      'system',
      path.join(home, 'skills', '.system'),
      bundledOn(layers.active) ? null : 'skills.bundled.enabled is false',
    ),
    make('admin', path.join(systemDir, 'skills')),
    ...plugins.flatMap((plugin) =>
      plugin.root === null
        ? []
        : [
            {
              scope: 'plugin' as const,
              directory: path.join(plugin.root, 'skills'),
              prefix: `${plugin.shortName}:`,
              off: plugin.active ? null : 'its plugin is not in force',
            },
          ],
    ),
  ]
}

type SkillRead =
  | Omit<Skill, 'file' | 'reached'>
  | { readonly why: string; readonly status: 'not_loaded' | 'unknown'; readonly raw: Buffer | null }

function readSkill(disk: Disk, file: string, root: SkillRoot): SkillRead {
  const found = disk.read(file)
  if (found.state !== 'ok')
    return {
      status: 'unknown',
      raw: null,
      why: found.state === 'unreadable' ? found.why : `it is ${found.state.replace('_', ' ')}`,
    }
  const refuse = (why: string): SkillRead => ({ why, status: 'not_loaded', raw: found.bytes })
  const keys = frontMatter(found.bytes.toString('utf8'))
  if (keys === null) return refuse('missing YAML frontmatter delimited by ---')
  if (typeof keys === 'string') return refuse(keys)
  const own = singleLine(keys.name)
  const name = own === '' ? path.basename(path.dirname(file)) : own
  if (name.length > LONGEST_NAME) return refuse(`invalid name: exceeds maximum length of ${LONGEST_NAME} characters`)
  const description = singleLine(keys.description)
  if (description === '') return refuse('missing field `description`')
  return {
    name: root.prefix + name,
    description,
    root,
    raw: found.bytes,
    implicit: isImplicit(disk, path.dirname(file)),
  }
}

const singleLine = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).split(/\s+/).filter(Boolean).join(' ') : ''

/** Keys between two lines of dashes; null without them, a text when they are no YAML. A byte order mark stands in their way (0.171.0). */
function frontMatter(text: string): Readonly<Record<string, unknown>> | string | null {
  const lines = text.split(/\r?\n/)
  if (trimmed(lines[0] ?? '') !== '---') return null
  const end = lines.findIndex((line, n) => n > 0 && trimmed(line) === '---')
  if (end < 0) return null
  const inside = lines.slice(1, end)
  return parseKeys(inside.join('\n')) ?? parseKeys(inside.map(quoteValue).join('\n')) ?? 'invalid YAML'
}

function parseKeys(source: string): Readonly<Record<string, unknown>> | null {
  const document = parseDocument(source, { logLevel: 'error', uniqueKeys: false })
  if (document.errors.length > 0) return null
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return isTable(value) ? value : value === null ? {} : null
  } catch {
    return null
  }
}

/** Values such as `a: b` or `[` are no plain YAML; the program takes them as text (0.171.0). */
function quoteValue(line: string): string {
  const found = /^([A-Za-z_-]+):\s+(.+)$/.exec(line)
  if (!found) return line
  const value = (found[2] ?? '').trimEnd()
  return /^(["'|>])/.test(value) ? line : `${found[1]}: ${JSON.stringify(value)}`
}

/** `agents/openai.yaml` of the skill may say that only its name calls it. */
function isImplicit(disk: Disk, folder: string): boolean {
  const found = disk.read(path.join(folder, 'agents', 'openai.yaml'))
  if (found.state !== 'ok') return true
  const keys = parseKeys(found.bytes.toString('utf8'))
  return keys === null || at(keys, 'policy', 'allow_implicit_invocation') !== false
}

/**
 * `[[skills.config]]` of the user's layers and of flags, the last match winning. Entries of project and system layers have no effect, nor
 * has the folder of a skill in place of its SKILL.md (0.171.0).
 */
function skillSwitches(layers: readonly ConfigLayer[]): (skill: Skill) => string | null {
  const entries = [...layers]
    .reverse()
    .filter(({ name }) => name === 'user' || name === 'profile' || name === 'flags')
    .flatMap((layer) => {
      const list = at(layer.value, 'skills', 'config')
      return Array.isArray(list) ? list.filter(isTable).map((entry) => ({ entry, origin: layer.origin })) : []
    })
  return (skill) => {
    let off: string | null = null
    for (const { entry, origin } of entries) {
      const file = textOf(entry.path)
      if ((file ?? null) !== skill.file && textOf(entry.name) !== skill.name) continue
      if (typeof entry.enabled === 'boolean') off = entry.enabled ? null : `switched off by skills.config in ${origin}`
    }
    return off
  }
}

function capabilityOf(
  skill: Pick<Skill, 'name' | 'file' | 'root'> & { readonly raw: Buffer | null; readonly description: string | null },
  status: ManifestCapability['status'],
  reason: string | null,
  more: Readonly<Record<string, unknown>> = {},
): ManifestCapability {
  return {
    name: skill.name,
    version: null,
    digest: skill.raw === null ? null : bytesDigest(skill.raw),
    source: skill.root.scope,
    status,
    reason,
    description: skill.description,
    used: null,
    path: skill.file,
    ...more,
  }
}

/** A skill of more files than this is digested by its SKILL.md alone, and said so. */
const MOST_FILES = 300

/** Over all files of the skill's folder, so that a changed script shows; skills within it are their own. */
function folderDigest(disk: Disk, skill: Skill, unknown: { field: string; why: string }[]): string {
  const top = path.dirname(skill.file)
  const parts: string[] = []
  const walk = (folder: string): boolean => {
    const names = disk.names(folder)
    if (names === null || 'why' in names) return true
    for (const entry of [...names].sort((a, b) => byBytes(a.name, b.name))) {
      const file = path.join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!disk.exists(path.join(file, 'SKILL.md')) && !walk(file)) return false
        continue
      }
      if (parts.length >= MOST_FILES) return false
      const read = disk.read(file)
      parts.push(`${path.relative(top, file)}\0${read.state === 'ok' ? bytesDigest(read.bytes) : read.state}`)
    }
    return true
  }
  // A skill that lies directly in a root owns its SKILL.md alone.
  if (top === skill.root.directory) return bytesDigest(skill.raw)
  if (walk(top)) return bytesDigest(parts.join('\n'))
  unknown.push({
    field: 'capabilities.skills.digest',
    why: `${top} holds more than ${MOST_FILES} files; only its SKILL.md was digested`,
  })
  return bytesDigest(skill.raw)
}
