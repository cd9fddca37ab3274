import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { type CapabilityRoot, type FoundCapability, findMarkdown, findSkills } from './capability-files.ts'
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
    found: readonly FoundCapability[],
    kind: 'skill' | 'command' | 'agent',
    order: readonly CapabilityRoot['scope'][],
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
  // A skill takes the place of a command of the same name (2.1.332).
  const skillNames = new Map(listedSkills.filter((one) => one.status === 'active').map((one) => [one.name, one.path]))
  const free = commands.filter((one) => !skillNames.has(one.name))
  const commandOrder: readonly CapabilityRoot['scope'][] = ['managed', 'user', 'project', 'added directory', 'plugin']
  const listedCommands = [
    ...list(
      free,
      'command',
      commandOrder,
      'the command is called; until then only its name and description are in the context',
    ),
    ...commands
      .filter((one) => skillNames.has(one.name))
      .map((one) => {
        const reason = one.root.off ?? `the skill ${skillNames.get(one.name)} has the same name and wins`
        sources.push(
          makeSource({
            path: one.file,
            scope: one.root.scope,
            kind: 'command',
            status: 'not_loaded',
            reason,
            raw: one.raw,
          }),
        )
        return capability(one, one.root.off === null ? 'shadowed' : 'disabled', reason)
      }),
  ]
  return {
    skills: listedSkills,
    commands: listedCommands,
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

function rootsOf(request: CapabilityRequest): readonly CapabilityRoot[] {
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
        (directory): CapabilityRoot => ({
          scope: 'project',
          directory,
          off: off ?? (request.sources.project ? null : whySourcesOff),
          prefix: '',
        }),
      ),
    ...request.addedDirs.map(
      (directory): CapabilityRoot => ({
        scope: 'added directory',
        directory: path.join(directory, '.claude'),
        off,
        prefix: '',
      }),
    ),
    ...request.plugins.flatMap((plugin): CapabilityRoot[] =>
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

/** Each entry with the one of the same name that beats it. */
function rank(
  found: readonly FoundCapability[],
  order: readonly CapabilityRoot['scope'][],
): readonly { readonly one: FoundCapability; readonly winner: FoundCapability | null }[] {
  const winners = new Map<string, FoundCapability>()
  for (const scope of order) {
    for (const one of found)
      if (one.root.scope === scope && one.root.off === null && !winners.has(one.name)) winners.set(one.name, one)
  }
  return found.map((one) => {
    const winner = winners.get(one.name) ?? null
    return { one, winner: winner === one ? null : winner }
  })
}

function capability(
  one: FoundCapability,
  status: ManifestCapability['status'],
  reason: string | null,
): ManifestCapability {
  const { description, version } = one.keys
  return {
    name: one.name,
    version: typeof version === 'string' || typeof version === 'number' ? String(version) : null,
    digest: one.digest,
    source: one.root.scope,
    status,
    reason,
    description: typeof description === 'string' ? description : one.firstLine,
    used: null,
    path: one.file,
    ...(one.keys['disable-model-invocation'] === true ? { model_invocable: false } : {}),
  }
}

function nameless(agents: readonly FoundCapability[], sources: Source[]): ManifestCapability[] {
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

function chooseStyle(
  styles: readonly FoundCapability[],
  chosen: string | null,
  sources: Source[],
): ManifestCapability[] {
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
