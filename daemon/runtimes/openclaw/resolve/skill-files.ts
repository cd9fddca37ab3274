import path from 'node:path'
import JSON5 from 'json5'
import type { Digest } from '../../../../contract/index.ts'
import { bytesDigest, type Disk, isInside } from '../../shared/disk.ts'
import { type FrontMatter, readFrontMatter } from '../../shared/front-matter.ts'
import { isObject } from './config-tree.ts'
import type { Unknown } from './sources.ts'

/** One place where skills are looked for. */
export interface SkillRoot {
  readonly directory: string
  readonly scope: SkillScope
}

export type SkillScope =
  | 'workspace'
  | 'workspace .agents'
  | 'personal .agents'
  | 'managed'
  | 'workshop'
  | 'bundled'
  | 'custodian'
  | 'extra directory'
  | 'plugin'
  | 'execution folder'
  | 'execution folder .agents'

export interface FoundSkill {
  readonly name: string
  readonly description: string | null
  readonly file: string
  readonly root: SkillRoot
  readonly raw: Buffer
  readonly digest: Digest
  readonly version: string | null
  readonly isHidden: boolean
  readonly requires: SkillRequirements
  /** Why it is no skill at all; null when it is one. */
  readonly invalid: string | null
  /** Name its entry in the configuration goes by. */
  readonly key: string
}

export interface SkillRequirements {
  readonly always: boolean
  readonly os: readonly string[]
  readonly bins: readonly string[]
  readonly anyBins: readonly string[]
  readonly env: readonly string[]
  readonly config: readonly string[]
  readonly primaryEnv: string | null
}

const DEEPEST = 6
const DEEPEST_IN_PLAIN_EXTRA = 2
const MOST_CANDIDATES = 300
const MOST_LOADED = 200
const LARGEST = 256_000

/**
 * The skills below one root in the order of the runtime: breadth first, names sorted; a folder with a SKILL.md is not searched further.
 * `allowed` are further folders that links may lead to.
 */
export function findSkills(
  disk: Disk,
  root: SkillRoot,
  allowed: readonly string[],
  unknown: Unknown[],
): readonly FoundSkill[] {
  const real = disk.realPath(root.directory)
  if (real === null) return []
  const found: FoundSkill[] = []
  const take = (folder: string): void => {
    if (found.length >= MOST_LOADED) {
      unknown.push({
        field: 'capabilities.skills',
        why: `${root.directory}: more than ${MOST_LOADED} skills; the runtime takes no more`,
      })
      return
    }
    const one = readSkill(disk, folder, root, unknown)
    if (one !== null) found.push(one)
  }
  if (disk.exists(path.join(root.directory, 'SKILL.md'))) {
    take(root.directory)
    return found
  }
  const hasOwnFolder = path.basename(root.directory) === 'skills'
  const deepest = root.scope === 'extra directory' && !hasOwnFolder ? DEEPEST_IN_PLAIN_EXTRA : DEEPEST
  const queue = children(disk, root.directory, unknown)
    .slice(0, MOST_CANDIDATES)
    .map((folder) => ({ folder, depth: 1 }))
  for (const { folder, depth } of queue) {
    const place = disk.realPath(folder)
    if (place === null) continue
    const mayLeave = root.scope === 'managed' || root.scope === 'personal .agents' || root.scope === 'plugin'
    if (!mayLeave && !isInside(place, real) && !allowed.some((each) => isInside(place, each))) {
      unknown.push({
        field: 'capabilities.skills',
        why: `${folder} leads out of its root, to ${place}: the runtime skips it`,
      })
      continue
    }
    if (disk.exists(path.join(folder, 'SKILL.md'))) take(folder)
    else if (depth < deepest)
      for (const child of children(disk, folder, unknown)) queue.push({ folder: child, depth: depth + 1 })
  }
  return found
}

function children(disk: Disk, folder: string, unknown: Unknown[]): readonly string[] {
  const names = disk.names(folder)
  if (names === null) return []
  if (!Array.isArray(names)) {
    if ('why' in names) unknown.push({ field: 'capabilities.skills', why: `${folder}: ${names.why}` })
    return []
  }
  return names
    .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .filter(
      (entry) => entry.isDirectory() || (entry.isSymbolicLink() && disk.isDirectory(path.join(folder, entry.name))),
    )
    .map((entry) => entry.name)
    .sort()
    .map((name) => path.join(folder, name))
}

function readSkill(disk: Disk, folder: string, root: SkillRoot, unknown: Unknown[]): FoundSkill | null {
  const file = path.join(folder, 'SKILL.md')
  const read = disk.read(file, LARGEST)
  if (read.state === 'missing' || read.state === 'directory') return null
  if (read.state !== 'ok') {
    const why = read.state === 'too_large' ? `larger than ${LARGEST} bytes: the runtime skips it` : read.why
    unknown.push({ field: 'capabilities.skills', why: `${file}: ${why}` })
    return null
  }
  const digest = bytesDigest(read.bytes)
  const { keys, state } = frontMatterOf(digest, read.bytes)
  const name = textOf(keys.name) ?? path.basename(folder).trim()
  const description = textOf(keys.description)
  const manifest = readManifest(keys.metadata)
  const requires = isObject(manifest.requires) ? manifest.requires : {}
  return {
    name,
    description,
    file,
    root,
    raw: read.bytes,
    digest,
    version: typeof keys.version === 'string' || typeof keys.version === 'number' ? String(keys.version) : null,
    isHidden: isTrue(keys['disable-model-invocation']),
    requires: {
      always: manifest.always === true,
      os: listOf(manifest.os),
      bins: listOf(requires.bins),
      anyBins: listOf(requires.anyBins),
      env: listOf(requires.env),
      config: listOf(requires.config),
      primaryEnv: textOf(manifest.primaryEnv),
    },
    invalid:
      state === 'invalid'
        ? 'its front matter cannot be parsed'
        : description === null
          ? 'it has no description: the runtime skips it with a warning'
          : null,
    key: textOf(manifest.skillKey) ?? name,
  }
}

const parsed = new Map<Digest, FrontMatter>()
const MOST_PARSED = 1000

/** Parsing takes longer than everything else of a resolution; equal bytes have equal front matter, in whatever home they lie. */
function frontMatterOf(digest: Digest, bytes: Buffer): FrontMatter {
  const known = parsed.get(digest)
  if (known !== undefined) return known
  const { keys, state } = readFrontMatter(
    bytes
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .replace(/\r\n?/g, '\n'),
  )
  if (parsed.size >= MOST_PARSED) parsed.clear()
  const found = { keys, state, body: '' }
  parsed.set(digest, found)
  return found
}

/** `metadata.openclaw`, written as YAML or as JSON5 in a string. */
function readManifest(given: unknown): Readonly<Record<string, unknown>> {
  let value = given
  if (typeof value === 'string') {
    try {
      value = JSON5.parse(value)
    } catch {
      return {}
    }
  }
  if (!isObject(value)) return {}
  const own = value.openclaw ?? value.clawdbot
  return isObject(own) ? own : {}
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : typeof value === 'number' ? String(value) : null

const isTrue = (value: unknown): boolean =>
  value === true || (typeof value === 'string' && /^(true|yes|on|1)$/i.test(value.trim()))

const listOf = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? value
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')
    : Array.isArray(value)
      ? value.filter((one): one is string => typeof one === 'string').map((one) => one.trim())
      : []
