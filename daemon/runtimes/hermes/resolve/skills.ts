import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { asName, asNames, type Row } from '../../shared/fields.ts'
import { parseYaml } from './config-file.ts'
import type { Environment } from './environment.ts'
import { type Layer, settingOf, substitute } from './settings.ts'
import { makeSource, type Source } from './sources.ts'
import type { Rules } from './versions.ts'

export interface SkillRequest {
  readonly disk: Disk
  readonly home: string
  readonly userHome: string
  readonly platform: NodeJS.Platform
  readonly layers: readonly Layer[]
  readonly environment: Environment
  /** Root of the git work tree; null outside of one. */
  readonly root: string | null
  readonly rules: Rules
}

export interface Skills {
  readonly skills: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/** Folders that never hold a skill of their own (source). */
const SKIPPED = new Set(
  '.git .github .hub .archive .venv venv node_modules site-packages __pycache__ .tox .nox .pytest_cache .mypy_cache .ruff_cache'.split(
    ' ',
  ),
)
/** Folders of a skill whose files are loaded by name only (source). */
const SUPPORT = new Set(['references', 'templates', 'assets', 'scripts'])
const PLATFORM: Readonly<Record<string, string>> = { macos: 'darwin', linux: 'linux', windows: 'win32' }
const MOST_DEPTH = 32

interface Tier {
  readonly scope: 'project' | 'user' | 'external'
  readonly folder: string
  readonly off: string | null
}

/**
 * The skills index (runtime page 5.7). Names and descriptions enter the prompt, bodies are read on demand. Among equal names: trusted
 * project folders (documented, from 0.20.4 on), the home, then `skills.external_dirs`; within one place the first path.
 */
export function resolveSkills(request: SkillRequest): Skills {
  const { layers } = request
  const disabled = new Set(listOf(settingOf(layers, 'skills.disabled')?.value))
  const winners = new Map<string, string>()
  const skills: ManifestCapability[] = []
  const sources: Source[] = []
  const unknown: { field: string; why: string }[] = []
  for (const tier of tiersOf(request)) {
    for (const file of findSkills(request.disk, tier.folder, unknown)) {
      const found = request.disk.read(file)
      if (found.state === 'missing' || found.state === 'directory') continue
      if (found.state !== 'ok') {
        const why = found.state === 'unreadable' ? found.why : 'it is too large to be read'
        sources.push(makeSource({ path: file, scope: tier.scope, kind: 'skill', status: 'unknown', reason: why }))
        unknown.push({ field: `capabilities.skills ${file}`, why })
        continue
      }
      const keys = frontMatterOf(found.bytes.toString('utf8'))
      const name = textOf(keys.name) ?? path.basename(path.dirname(file))
      const platforms = listOf(keys.platforms)
      const winner = winners.get(name)
      const off =
        tier.off ??
        (disabled.has(name) || disabled.has(path.basename(path.dirname(file)))
          ? `skills.disabled names it in ${settingOf(layers, 'skills.disabled')?.origin ?? ''}`
          : platforms.length > 0 && !platforms.some((one) => isThisPlatform(one, request.platform))
            ? `it is for ${platforms.join(', ')} only`
            : null)
      if (off === null && winner === undefined) winners.set(name, file)
      const shadowed = off === null && winner !== undefined
      const reason = off ?? (shadowed ? `the skill of the same name in ${winner} wins` : null)
      skills.push({
        name,
        version: textOf(keys.version),
        digest: bytesDigest(found.bytes),
        source: file,
        status: off !== null ? 'disabled' : shadowed ? 'shadowed' : 'active',
        reason,
        description: shorten(textOf(keys.description)),
        used: null,
        category: categoryOf(tier.folder, file),
        scope: tier.scope,
      })
      sources.push(
        makeSource({
          path: file,
          scope: tier.scope,
          kind: 'skill',
          label: name,
          status: off === null && !shadowed ? 'lazy' : 'not_loaded',
          reason,
          rule: 'name and description enter the prompt, the text when skill_view asks for it (0.20.0)',
          trigger: off === null && !shadowed ? `skill_view of ${name}` : null,
          raw: found.bytes,
        }),
      )
    }
  }
  if (skills.some(({ status }) => status === 'active'))
    unknown.push({
      field: 'capabilities.skills',
      why: 'a skill may name tools or surroundings it needs; which of them the running program has was not looked at',
    })
  return { skills, sources, unknown }
}

function tiersOf({ disk, home, userHome, layers, environment, root, rules }: SkillRequest): readonly Tier[] {
  const own = path.join(home, 'skills')
  const tiers: Tier[] = []
  if (root !== null && root !== userHome) {
    const expand = (entry: string): string => expandPath(entry, userHome, environment)
    const trusted = listOf(settingOf(layers, 'skills.trusted_project_dirs')?.value).map(expand)
    const discovery = settingOf(layers, 'skills.project_discovery')?.value
    const off =
      rules === '0.20.0'
        ? '0.20.0 knows no project skills'
        : discovery === false
          ? 'skills.project_discovery is false'
          : trusted.some((one) => (disk.realPath(one) ?? one) === root)
            ? null
            : 'the project is not trusted (documented)'
    for (const name of ['.hermes/skills', '.agents/skills']) {
      const folder = path.join(root, name)
      if (folder !== own) tiers.push({ scope: 'project', folder, off })
    }
  }
  tiers.push({ scope: 'user', folder: own, off: null })
  for (const entry of listOf(settingOf(layers, 'skills.external_dirs')?.value)) {
    const folder = path.resolve(home, expandPath(entry, userHome, environment))
    if (folder !== own && disk.isDirectory(folder)) tiers.push({ scope: 'external', folder, off: null })
  }
  return tiers
}

/** Every `SKILL.md` below a folder, by path; links are followed, and a circle of them ends. */
function findSkills(disk: Disk, folder: string, unknown: { field: string; why: string }[]): readonly string[] {
  const found: string[] = []
  const seen = new Set<string>()
  const walk = (directory: string, depth: number): void => {
    const real = disk.realPath(directory)
    if (real === null || seen.has(real) || depth > MOST_DEPTH) return
    seen.add(real)
    const listing = disk.list(directory)
    if (listing.state === 'missing') return
    if (listing.state === 'unreadable') {
      unknown.push({ field: `capabilities.skills ${directory}`, why: listing.why })
      return
    }
    const isSkill = listing.entries.some(({ name }) => name === 'SKILL.md')
    if (isSkill) found.push(path.join(directory, 'SKILL.md'))
    for (const { name, kind } of listing.entries) {
      if (kind === 'file' || kind === 'other' || SKIPPED.has(name) || name === '_org') continue
      if (isSkill && SUPPORT.has(name)) continue
      if (kind === 'directory' || disk.isDirectory(path.join(directory, name)))
        walk(path.join(directory, name), depth + 1)
    }
  }
  walk(folder, 0)
  return found.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** `---` on the first line, and a line of it that ends the block; keys of a block that is no YAML are taken line by line (source). */
function frontMatterOf(text: string): Row {
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  if (!plain.startsWith('---')) return {}
  const end = /\n---\s*\n/.exec(plain.slice(3))
  if (end === null) return {}
  const block = plain.slice(3, end.index + 3)
  const parsed = parseYaml(block)
  if ('value' in parsed) return parsed.value
  const keys: Record<string, unknown> = {}
  for (const line of block.trim().split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) keys[line.slice(0, colon).trim()] = line.slice(colon + 1).trim()
  }
  return keys
}

/** More than 60 characters become 57 and three dots (0.20.0). */
function shorten(text: string | null): string | null {
  if (text === null) return null
  const plain = [...text.trim().replace(/^['"]+|['"]+$/g, '')]
  return plain.length > 60 ? `${plain.slice(0, 57).join('')}...` : plain.join('')
}

function categoryOf(folder: string, file: string): string {
  const parts = path.relative(folder, file).split(path.sep)
  return parts.length > 2 ? parts.slice(0, -2).join('/') : parts.length === 2 ? (parts[0] ?? 'general') : 'general'
}

const isThisPlatform = (name: string, platform: NodeJS.Platform): boolean => {
  const plain = name.toLowerCase().trim()
  return platform.startsWith(PLATFORM[plain] ?? plain)
}

function expandPath(entry: string, userHome: string, environment: Environment): string {
  const plain = substitute(entry.replace(/^~(?=$|[\\/])/, userHome), environment)
  return plain.replace(
    /\$([A-Za-z_][A-Za-z0-9_]*)/g,
    (written, name: string) => environment.get(name)?.value ?? written,
  )
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? asName(value) : typeof value === 'number' ? String(value) : null

/** A list, one name, or a list written as text. */
export function listOf(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    const written = value.trim()
    if (!written.startsWith('[')) return written === '' ? [] : [written]
    const parsed = parseYaml(`list: ${written}`)
    return 'value' in parsed ? asNames(parsed.value.list) : []
  }
  return asNames(value)
}
