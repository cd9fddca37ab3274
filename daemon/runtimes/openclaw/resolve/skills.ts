import fs from 'node:fs'
import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import type { Surroundings } from '../../adapter.ts'
import type { Disk } from '../../shared/disk.ts'
import type { AgentDomain } from './agent.ts'
import { entryOf } from './agent.ts'
import { isObject, namesAt, type Tree, textAt, valueAt } from './config-tree.ts'
import type { Environment } from './environment.ts'
import type { Places } from './places.ts'
import { type FoundSkill, findSkills, type SkillRoot } from './skill-files.ts'
import { makeSource, type Source, type Unknown, VERIFIED_VERSION } from './sources.ts'

export interface SkillsRequest {
  readonly disk: Disk
  readonly agent: AgentDomain
  readonly places: Places
  readonly tree: Tree
  readonly environment: Environment
  readonly surroundings: Surroundings
  /** Installed package of the program; null when none was found. */
  readonly program: string | null
  readonly ownsAmbient: boolean
  /** Whether the model has the tool `read`. */
  readonly canRead: boolean
}

export interface ResolvedSkills {
  /** Those of the catalogue first, in its order; then the others, each with its reason. */
  readonly skills: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly unknown: readonly Unknown[]
}

/** Characters the catalogue may take before the runtime shortens it. */
const CATALOGUE_LIMIT = 18_000
const MOST_IN_CATALOGUE = 150

export function resolveSkills(request: SkillsRequest): ResolvedSkills {
  const { disk, agent, tree } = request
  const unknown: Unknown[] = []
  const roots = rootsOf(request)
  if (request.program === null)
    unknown.push({
      field: 'capabilities.skills',
      why: 'the installed program was not found on the search path, so that its bundled skills were not looked at',
    })
  const allowed = (namesAt(tree, 'skills', 'load', 'allowSymlinkTargets') ?? []).map(request.places.expand)
  const search = (root: SkillRoot): readonly FoundSkill[] => findSkills(disk, root, allowed, unknown)

  // Lowest first; a later skill of the same name takes the place of an earlier one.
  const catalogue = roots.agent.flatMap(search)
  const execution = roots.execution.flatMap(search)
  const winners = new Map<string, FoundSkill>()
  for (const one of catalogue) if (one.invalid === null) winners.set(one.name, one)
  const executionWinners = new Map<string, FoundSkill>()
  for (const one of execution) if (one.invalid === null) executionWinners.set(one.name, one)

  const sources: Source[] = []
  const active: ManifestCapability[] = []
  const others: ManifestCapability[] = []
  const filter = allowlist(tree, agent)
  const hasProgram = programFinder(request.environment)
  const place = (one: FoundSkill, winner: FoundSkill | undefined, isExecution: boolean): void => {
    const beaten = winner !== undefined && winner !== one
    const why =
      one.invalid ??
      (beaten
        ? `${winner.root.scope} beats ${one.root.scope}: ${winner.file} has the same name`
        : (whyGated(one, request, hasProgram) ??
          whyFiltered(one, filter) ??
          // Seen: without the tool that opens them the catalogue is left out whole.
          (request.canRead ? null : 'the model has no tool `read`, and without it no skill is listed')))
    const isHidden = why === null && one.isHidden
    const status = why === null && !isHidden ? 'active' : beaten ? 'shadowed' : 'disabled'
    const reason = why ?? (isHidden ? 'disable-model-invocation is set: it is not in the catalogue' : null)
    sources.push(
      makeSource({
        path: one.file,
        scope: one.root.scope,
        kind: 'skill',
        status: status === 'active' ? 'lazy' : 'not_loaded',
        reason,
        trigger:
          status === 'active'
            ? 'the model reads the file; until then only its name, description and place are in the context'
            : null,
        rule: `one winner per name; the workspace beats .agents, personal, managed, workshop, bundled, extra (${VERIFIED_VERSION})`,
        raw: one.raw,
      }),
    )
    const capability: ManifestCapability = {
      name: one.name,
      version: one.version,
      digest: one.digest,
      source: one.root.scope,
      status,
      reason,
      description: one.description,
      used: null,
      path: one.file,
      location: compact(one.file, request.places.home),
      ...(one.isHidden ? { model_invocable: false } : {}),
      ...(isExecution ? { after_catalogue: true } : {}),
    }
    ;(status === 'active' ? active : others).push(capability)
  }
  const byName = (a: FoundSkill, b: FoundSkill): number => a.name.localeCompare(b.name, 'en')
  for (const one of [...catalogue].sort(byName)) place(one, winners.get(one.name), false)
  for (const one of [...execution].sort(byName))
    place(one, winners.get(one.name) ?? executionWinners.get(one.name), true)

  if (!disk.exists(path.join(request.places.startDir, 'plugin-skills')))
    unknown.push({
      field: 'capabilities.skills',
      why: 'the first run of this state directory links the skills of the plugins it loads; before that they are not known',
    })
  const size = active.reduce(
    (sum, one) => sum + one.name.length + (one.description ?? '').length + String(one.location).length + 90,
    0,
  )
  const most = valueAt(tree, 'skills', 'limits', 'maxSkillsPromptChars')
  if (size > (typeof most === 'number' ? most : CATALOGUE_LIMIT) || active.length > MOST_IN_CATALOGUE)
    unknown.push({
      field: 'capabilities.skills',
      why: `the catalogue of ${active.length} skills is near or over its limit; the runtime then shortens descriptions or leaves skills out`,
    })
  return { skills: [...active, ...others], sources, unknown }
}

function rootsOf({ agent, places, tree, program, ownsAmbient, surroundings, disk }: SkillsRequest): {
  readonly agent: readonly SkillRoot[]
  readonly execution: readonly SkillRoot[]
} {
  const bundled =
    surroundings.env.OPENCLAW_BUNDLED_SKILLS_DIR ?? (program === null ? null : path.join(program, 'skills'))
  const plugins = path.join(places.startDir, 'plugin-skills')
  const pluginNames = disk.names(plugins)
  const own: SkillRoot[] = [
    ...(namesAt(tree, 'skills', 'load', 'extraDirs') ?? []).map(
      (given): SkillRoot => ({ directory: places.expand(given), scope: 'extra directory' }),
    ),
    // One link for each skill of a loaded plugin; refreshed by every run.
    ...(Array.isArray(pluginNames) && pluginNames.length > 0 ? [{ directory: plugins, scope: 'plugin' } as const] : []),
  ]
  if (bundled !== null) {
    own.push({ directory: bundled, scope: 'bundled' })
    if (ownsAmbient) own.push({ directory: path.join(path.dirname(bundled), 'custodian-skills'), scope: 'custodian' })
  }
  own.push({ directory: path.join(agent.agentDir, 'workshop-skills'), scope: 'workshop' })
  own.push({ directory: path.join(places.startDir, 'skills'), scope: 'managed' })
  if (places.isDefaultState)
    own.push({ directory: path.join(surroundings.userHome, '.agents', 'skills'), scope: 'personal .agents' })
  own.push({ directory: path.join(agent.workspace, '.agents', 'skills'), scope: 'workspace .agents' })
  own.push({ directory: path.join(agent.workspace, 'skills'), scope: 'workspace' })
  return {
    agent: own,
    execution:
      agent.runDir === agent.workspace
        ? []
        : [
            { directory: path.join(agent.runDir, '.agents', 'skills'), scope: 'execution folder .agents' },
            { directory: path.join(agent.runDir, 'skills'), scope: 'execution folder' },
          ],
  }
}

/** Home paths are written with `~`. */
const compact = (file: string, home: string): string =>
  file.startsWith(home + path.sep) ? `~${file.slice(home.length)}` : file

interface Allowlist {
  readonly names: ReadonlySet<string>
  readonly from: string
}

/** An agent's list replaces the one of all agents; an empty list means none. */
function allowlist(tree: Tree, agent: AgentDomain): Allowlist | null {
  const entry = entryOf(tree, agent.id)
  const own = entry === null ? null : namesAt(entry, 'skills')
  const shared = namesAt(tree, 'agents', 'defaults', 'skills')
  const names = own ?? shared
  if (names === null) return null
  return {
    names: new Set(names.map((name) => name.trim())),
    from: own === null ? 'agents.defaults.skills' : `agents.entries.${agent.id}.skills`,
  }
}

const whyFiltered = (one: FoundSkill, filter: Allowlist | null): string | null =>
  filter === null || filter.names.has(one.name) ? null : `${filter.from} does not name it`

/** Unmet requirements, as far as files and variables show them; nothing is run. */
function whyGated(
  one: FoundSkill,
  { tree, environment, surroundings }: SkillsRequest,
  hasProgram: (name: string) => boolean,
): string | null {
  const entry = valueAt(tree, 'skills', 'entries', one.key)
  const settings = isObject(entry) ? entry : {}
  if (settings.enabled === false) return `skills.entries.${one.key}.enabled is false`
  const isOurs = one.root.scope === 'bundled' || one.root.scope === 'custodian'
  const bundled = namesAt(tree, 'skills', 'allowBundled')
  if (isOurs && bundled !== null && bundled.length > 0 && !bundled.includes(one.key) && !bundled.includes(one.name))
    return 'skills.allowBundled does not name it'
  const { requires } = one
  if (requires.os.length > 0 && !requires.os.includes(surroundings.platform))
    return `it is for ${requires.os.join(', ')} only`
  if (requires.always) return null
  const ownEnv = isObject(settings.env) ? settings.env : {}
  for (const name of requires.env) {
    const isSet =
      (environment.get(name) ?? '').trim() !== '' ||
      (typeof ownEnv[name] === 'string' && ownEnv[name].trim() !== '') ||
      (requires.primaryEnv === name && settings.apiKey !== undefined && settings.apiKey !== '')
    if (!isSet) return `it needs the variable ${name}`
  }
  for (const key of requires.config) if (!isTruthy(tree, key)) return `it needs the setting ${key}`
  for (const bin of requires.bins) if (!hasProgram(bin)) return `it needs the program ${bin}`
  if (requires.anyBins.length > 0 && !requires.anyBins.some((bin) => hasProgram(bin)))
    return `it needs one of the programs ${requires.anyBins.join(', ')}`
  return null
}

const ON_BY_DEFAULT: ReadonlySet<string> = new Set(['browser.enabled', 'browser.evaluateEnabled'])

function isTruthy(tree: Tree, key: string): boolean {
  const value = valueAt(tree, ...key.split('.').filter((part) => part !== ''))
  if (value === undefined) return ON_BY_DEFAULT.has(key)
  return typeof value === 'string' ? textAt(tree, ...key.split('.')) !== null : Boolean(value)
}

/** Looks for programs on the search path, each once for one resolution. */
function programFinder(environment: Environment): (name: string) => boolean {
  const folders = (environment.get('PATH') ?? '').split(path.delimiter).filter((folder) => folder !== '')
  const known = new Map<string, boolean>()
  return (name) => {
    const found = known.get(name) ?? folders.some((folder) => isExecutable(path.join(folder, name)))
    known.set(name, found)
    return found
  }
}

function isExecutable(file: string): boolean {
  try {
    // A look before the check: most of them are not there, and an exception costs more than a question.
    if (!fs.existsSync(file)) return false
    fs.accessSync(file, fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}
