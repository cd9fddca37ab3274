import path from 'node:path'
import canonicalize from 'canonicalize'
import { MANIFEST_VERSION, type ManifestBody } from '../../../../contract/index.ts'
import { effectiveDigest } from '../../../manifest/effective-text.ts'
import type { Resolution, ResolveRequest, SourceText } from '../../adapter.ts'
import { bytesDigest, type Disk, openDisk } from '../../shared/disk.ts'
import { asName, asRow } from '../../shared/fields.ts'
import { findRepository, type Repository } from '../../shared/repo.ts'
import { managedDirectory, rootOf } from '../homes.ts'
import { profileOf, withoutCredentials } from '../infer-manifest.ts'
import { findProgram } from '../program.ts'
import { capOf, cut } from './caps.ts'
import { gitRootOf, resolveProjectContext } from './context-files.ts'
import { type Environment, isOn, readEnvironment, recordEnvironment } from './environment.ts'
import { type ExtensionRequest, resolveHooks, resolveMcp, resolvePlugins } from './extensions.ts'
import { parseFlags, type StartFlags } from './flags.ts'
import { findHints } from './hints.ts'
import { resolveMemory } from './memory.ts'
import { blockedFile, scan } from './scan.ts'
import { type Layer, mergeSettings, readSettings, settingOf, substitute } from './settings.ts'
import { listOf, resolveSkills } from './skills.ts'
import { makeSource, type Source, toManifestSource, withoutRepeats } from './sources.ts'
import { readText, strip } from './text.ts'
import { type RuleChoice, rulesOf } from './versions.ts'

type Unknown = ManifestBody['unknown'][number]

/**
 * The configuration that would be in force if Hermes started in `cwd` now. Reads files only. What cannot be read, or is not known of this
 * version, stands in `unknown` or as a source with status `unknown`; it is never left out.
 */
export function resolveHermes(request: ResolveRequest): Resolution {
  const { surroundings } = request
  const managed = managedDirectory(surroundings)
  const disk = openDisk(surroundings.env.HERMES_MANAGED_DIR ? '' : surroundings.systemRoot, managed, request.overlay)
  const hide = request.keyed ?? (() => 'hidden')
  const flags = parseFlags(request.flags)
  const choice = rulesOf(
    request.version,
    request.version === null ? (findProgram(request.home, surroundings)?.version ?? null) : null,
  )
  const { rules } = choice
  const home = homeOf(path.resolve(request.home), flags)
  const cwd = disk.realPath(request.cwd) ?? path.resolve(request.cwd)
  const environment = readEnvironment(
    disk,
    { managed: path.join(managed, '.env'), home: path.join(home, '.env'), project: path.join(cwd, '.env') },
    surroundings.env,
    hide,
  )
  const isSafe = flags.has('--safe-mode') || isOn(environment.get('HERMES_SAFE_MODE'))
  const on = (flag: string, name: string): string | null =>
    flags.has(flag) ? flag : isOn(environment.get(name)) ? name : isSafe ? '--safe-mode' : null
  const noRules = on('--ignore-rules', 'HERMES_IGNORE_RULES')
  const noUser = on('--ignore-user-config', 'HERMES_IGNORE_USER_CONFIG')
  const settings = readSettings(
    disk,
    path.join(managed, 'config.yaml'),
    path.join(home, 'config.yaml'),
    noUser === null ? null : `${noUser} leaves the user's configuration out`,
  )
  const { layers } = settings
  const merged = mergeSettings(layers, environment, hide)
  const root = gitRootOf(disk, cwd)
  const repository = findRepository(disk, cwd)
  const cap = capOf(
    settingOf(layers, 'context_file_max_chars')?.value,
    settingOf(layers, 'model.context_length')?.value,
  )
  const off = noRules === null ? null : `${noRules} leaves context files and SOUL.md out`

  const soul = resolveSoul(disk, home, cap.characters, off)
  const project = resolveProjectContext({ disk, cwd, rules, cap, off })
  const memory = resolveMemory(disk, home, layers)
  const hints = findHints(disk, cwd, surroundings.userHome, rules)
  const skills = resolveSkills({
    disk,
    home,
    userHome: surroundings.userHome,
    platform: surroundings.platform,
    layers,
    environment,
    root,
    rules,
  })
  const extensions: ExtensionRequest = {
    disk,
    home,
    layers,
    environment,
    flags,
    off: isSafe ? '--safe-mode switches plugins, servers and hooks off' : null,
    hide,
  }
  const mcp = resolveMcp(extensions)
  const plugins = resolvePlugins(extensions)
  const hooks = resolveHooks(extensions)

  const sources = withoutRepeats([
    ...soul.loaded,
    ...project.loaded,
    ...memory.loaded,
    ...hints.lazy,
    ...soul.leftOut,
    ...project.leftOut,
    ...memory.leftOut,
    ...settings.sources,
    ...environment.sources,
    ...skills.sources,
    ...plugins.sources,
    ...hooks.sources,
    ...stateSources(disk, home, rootOf(home)),
    ...flagSources(flags),
  ])
  const inPrompt = [...soul.loaded, ...project.loaded, ...memory.loaded]
  const order = inPrompt.map(({ uri }) => uri)
  const service = resolveService(layers, environment, flags)
  const unknown: Unknown[] = [
    ...project.unknown,
    ...memory.unknown,
    ...hints.unknown,
    ...skills.unknown,
    ...(repository?.unknown ?? []),
    ...beforeStart({ request, flags, choice, service, layers, repository, noUser, cwd }),
  ]
  const body: ManifestBody = {
    manifest_version: MANIFEST_VERSION,
    run_id: null,
    stretch: null,
    created_at: surroundings.now().toISOString(),
    origin: 'resolved',
    task: { id: null, input_digest: null },
    principal: {
      subject: null,
      tenant: null,
      auth_context_ref: disk.exists(path.join(home, 'auth.json')) ? 'auth.json' : null,
    },
    instructions: {
      effective_digest: effectiveDigest(piecesOf(inPrompt, project.body, cwd)),
      resolved_order: [...new Set(inPrompt.map(({ scope }) => scope))],
      sources: sources.map((source) => toManifestSource(source, order)),
      ...(project.kind === null
        ? {}
        : {
            project_context: {
              kind: project.kind,
              characters: [...project.body].length,
              digest: bytesDigest(project.body),
              cap: cap.characters,
            },
          }),
    },
    settings: merged.settings,
    capabilities: {
      skills: [...skills.skills],
      commands: [],
      agents: [],
      plugins: [...plugins.plugins],
      hooks: [...hooks.hooks],
      mcp_servers: [...mcp.servers],
      tools: [],
      toolsets: toolsetsOf(layers, flags),
    },
    execution: {
      runtime: 'hermes',
      runtime_version: request.version,
      runtime_digest: null,
      surface: flags.has('-z') ? 'one-shot' : flags.command,
      model: service.model,
      endpoint_profile: service.endpoint,
      reasoning: asName(settingOf(layers, 'agent.reasoning_effort')?.value),
      flags: [...flags.recorded],
      environment: [...recordEnvironment(environment, merged.referred, hide)],
      sandbox: { mode: asName(settingOf(layers, 'terminal.backend')?.value), network_policy: null },
      cwd,
      repo: repository === null ? null : repoOf(repository),
      image: asName(settingOf(layers, 'terminal.docker_image')?.value),
      provider: service.provider,
      endpoint_from: service.endpointFrom,
      profile: profileOf(home),
      active_profile: activeProfile(disk, rootOf(home)),
    },
    context: {
      session_ref: null,
      memory_manifest_digest:
        memory.files.length === 0
          ? null
          : bytesDigest(canonicalize(memory.files.map(({ path: file, digest }) => ({ path: file, digest }))) ?? ''),
      memory_enabled: memory.enabled,
      memory: memory.files,
      retrieval_snapshot: null,
    },
    policy: resolvePolicy(layers, flags, environment),
    external: [
      {
        kind: 'model',
        name: service.model ?? 'the default model',
        state: 'not_captured',
        digest: null,
        reason: 'the model behind a name is not ours to see',
      },
      ...mcp.servers
        .filter(({ status }) => status === 'active')
        .map(({ name }) => ({
          kind: 'mcp server',
          name,
          state: 'not_captured' as const,
          digest: null,
          reason: 'its tools are known only once it runs',
        })),
    ],
    empty: [],
    unknown,
  }
  return {
    body: { ...body, empty: explainEmpty(body, noRules) },
    texts: new Map(
      sources.map(({ uri, raw, text, classification }): [string, SourceText] => [
        uri,
        { raw: classification === 'secret' ? null : raw, text },
      ]),
    ),
    order,
    problems: [
      ...(disk.isDirectory(cwd) ? [] : [{ path: cwd, message: 'the start directory does not exist' }]),
      ...(home === path.resolve(request.home) || disk.isDirectory(home)
        ? []
        : [{ path: home, message: `--profile names a profile that does not exist` }]),
      ...settings.problems,
      ...environment.problems,
      ...mcp.problems,
      ...hooks.problems,
    ],
  }
}

/** `-p NAME` runs in the profile of that name below the same root (0.20.0). */
function homeOf(home: string, flags: StartFlags): string {
  const profile = flags.value('--profile')
  if (profile === null) return home
  return profile === 'default' ? rootOf(home) : path.join(rootOf(home), 'profiles', profile)
}

/** Identity, the first part of the prompt; without it the program has one of its own (runtime page 5.1). */
function resolveSoul(
  disk: Disk,
  home: string,
  cap: number,
  off: string | null,
): { readonly loaded: readonly Source[]; readonly leftOut: readonly Source[] } {
  const file = path.join(home, 'SOUL.md')
  const found = readText(disk, file)
  if (found.state === 'missing') return { loaded: [], leftOut: [] }
  const draft = {
    path: file,
    scope: 'identity',
    kind: 'instructions' as const,
    label: null,
    rule: 'SOUL.md, else the identity of the program (0.20.0)',
    raw: 'raw' in found ? found.raw : null,
  }
  const leave = (reason: string): { loaded: []; leftOut: Source[] } => ({
    loaded: [],
    leftOut: [makeSource({ ...draft, status: found.state === 'unreadable' ? 'unknown' : 'not_loaded', reason })],
  })
  if (off !== null) return leave(off)
  if (found.state !== 'text') return leave(`it counts as absent: ${found.why}`)
  const content = strip(found.text)
  if (content === '') return leave('it is blank: the identity of the program stands instead')
  const ids = scan(content, 'everywhere')
  const { text, truncated } = cut(ids.length === 0 ? content : blockedFile('SOUL.md', ids), cap, 'SOUL.md', file)
  return {
    leftOut: [],
    loaded: [
      makeSource({
        ...draft,
        status: 'loaded',
        reason: ids.length === 0 ? null : `kept out by the security scan (${ids.join(', ')}): only a note of it enters`,
        text,
        truncated,
        scan: { result: ids.length === 0 ? 'clean' : 'rejected', rules: [...ids] },
      }),
    ],
  }
}

/** A text that was cut as one stands for all its files, so that the digest is of what really enters. */
function piecesOf(inPrompt: readonly Source[], body: string, cwd: string): Parameters<typeof effectiveDigest>[0] {
  const isOne = inPrompt.some(({ extra }) => extra.cut_as_one === true)
  return inPrompt.flatMap((source) => {
    if (source.text === null) return []
    const shown = source.scope === 'identity' ? 'SOUL.md' : (source.label ?? source.path ?? '')
    if (!isOne || source.scope !== 'project') return [{ path: shown, label: null, text: source.text }]
    const first = inPrompt.find(({ scope }) => scope === 'project')
    return source === first ? [{ path: cwd, label: null, text: body }] : []
  })
}

interface Service {
  readonly model: string | null
  readonly provider: string | null
  readonly endpoint: string | null
  /** File, variable or flag that named the endpoint. */
  readonly endpointFrom: string | null
  readonly unsure: string | null
}

/**
 * Model, provider and address (runtime page 9.1). For the provider `custom` a variable beats even the managed file; the names the
 * documentation gives for it are ignored. For other providers the variable is documented only.
 */
function resolveService(layers: readonly Layer[], environment: Environment, flags: StartFlags): Service {
  const text = (key: string): { value: string; origin: string } | null => {
    const found = settingOf(layers, key)
    const name = asName(found?.value)
    return found === null || name === null ? null : { value: substitute(name, environment), origin: found.origin }
  }
  const model =
    flags.value('--model') ??
    environment.get('HERMES_INFERENCE_MODEL')?.value ??
    (text('model.default') ?? text('model.model') ?? text('model'))?.value ??
    null
  const provider =
    flags.value('--provider') ??
    environment.get('HERMES_INFERENCE_PROVIDER')?.value ??
    text('model.provider')?.value ??
    null
  const name = provider === null ? null : `${provider.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_BASE_URL`
  const variable = name === null || provider === 'auto' || provider === 'openai' ? null : environment.get(name)
  const configured = text('model.base_url')
  const endpoint =
    variable !== null && variable.value !== ''
      ? { value: variable.value, origin: variable.source === 'process' ? `env:${variable.name}` : variable.source }
      : configured
  return {
    model,
    provider,
    endpoint: endpoint === null ? null : withoutCredentials(endpoint.value),
    endpointFrom: endpoint?.origin ?? null,
    unsure:
      variable !== null && provider !== 'custom'
        ? `that ${variable.name} decides the address of ${provider} is documented, not seen`
        : null,
  }
}

function toolsetsOf(layers: readonly Layer[], flags: StartFlags): Record<string, unknown> {
  const named = flags.value('--toolsets')
  const platforms = asRow(settingOf(layers, 'platform_toolsets')?.value)
  return {
    flag: named === null ? null : named.split(',').map((name) => name.trim()),
    config: listOf(settingOf(layers, 'toolsets')?.value),
    platforms: Object.fromEntries(Object.entries(platforms ?? {}).map(([name, value]) => [name, [...listOf(value)]])),
    disabled: [...listOf(settingOf(layers, 'agent.disabled_toolsets')?.value)],
  }
}

function resolvePolicy(layers: readonly Layer[], flags: StartFlags, environment: Environment): ManifestBody['policy'] {
  const approvals = settingOf(layers, 'approvals.mode')
  const allow = settingOf(layers, 'command_allowlist')
  const isYolo = flags.has('--yolo') || isOn(environment.get('HERMES_YOLO_MODE'))
  return {
    revision: null,
    permissions: {
      mode: isYolo ? 'yolo' : asName(approvals?.value),
      allow: listOf(allow?.value).map((rule) => ({ rule, source: allow?.origin ?? '', ignored: null })),
      ask: [],
      deny: [],
    },
    trust: { trusted: null, source: null },
    managed: layers.filter(({ scope }) => scope === 'managed').map(({ origin }) => origin),
  }
}

/** What stands beside the configuration: that it is there, never its content (runtime page 3.1). */
function stateSources(disk: Disk, home: string, root: string): readonly Source[] {
  const sources: Source[] = []
  for (const name of ['auth.json']) {
    const file = path.join(home, name)
    if (disk.exists(file))
      sources.push(
        makeSource({
          path: file,
          scope: 'user',
          kind: 'state',
          status: 'loaded',
          reason: 'credentials: never read, by design',
          classification: 'secret',
        }),
      )
  }
  const active = path.join(root, 'active_profile')
  const found = disk.read(active)
  if (found.state === 'ok')
    sources.push(makeSource({ path: active, scope: 'user', kind: 'state', status: 'loaded', raw: found.bytes }))
  return sources
}

function activeProfile(disk: Disk, root: string): string | null {
  const found = disk.read(path.join(root, 'active_profile'))
  return found.state === 'ok' ? asName(found.bytes.toString('utf8').trim()) : null
}

function flagSources(flags: StartFlags): readonly Source[] {
  return flags.all.map(({ name, known, value }) =>
    makeSource({
      path: null,
      uri: `flag:${name}`,
      scope: 'flag',
      kind: 'flag',
      status: known ? 'loaded' : 'unknown',
      reason: known ? null : 'this flag is not known here; whether it takes a value was guessed',
      extra: { values: value === null || name === '-z' || name === '--query' ? [] : [value] },
    }),
  )
}

const repoOf = (repository: Repository): ManifestBody['execution']['repo'] => ({
  root: repository.top,
  sha: repository.sha,
  branch: repository.branch,
  dirty_digest: null,
  worktree: repository.worktree,
  submodules: [...repository.submodules],
  main: repository.main,
})

/** What nobody can know before the agent has started. */
function beforeStart(parts: {
  readonly request: ResolveRequest
  readonly flags: StartFlags
  readonly choice: RuleChoice
  readonly service: Service
  readonly layers: readonly Layer[]
  readonly repository: Repository | null
  readonly noUser: string | null
  readonly cwd: string
}): readonly Unknown[] {
  const { request, flags, choice, service, layers, repository, noUser } = parts
  const unknown: Unknown[] = [
    {
      field: 'capabilities.tools',
      why: 'tools depend on what is installed beside the program: they are known only from a request',
    },
    { field: 'instructions.system_prompt', why: "the program's own part of the prompt is known only from a session" },
    {
      field: 'execution.environment',
      why: 'taken from the environment Reprise was given, which may differ from the one the agent starts in',
    },
    { field: 'execution.runtime_digest', why: 'the program was not looked at' },
    { field: 'principal', why: 'who is signed in is known only to the program' },
  ]
  if (choice.unsure !== null) unknown.push({ field: 'instructions.resolved_order', why: choice.unsure })
  if (request.version === null) unknown.push({ field: 'execution.runtime_version', why: 'not given' })
  if (service.model === null) unknown.push({ field: 'execution.model', why: 'nothing names a model' })
  if (service.endpoint === null)
    unknown.push({
      field: 'execution.endpoint_profile',
      why: 'nothing names an address; the default depends on the provider',
    })
  if (service.unsure !== null) unknown.push({ field: 'execution.endpoint_profile', why: service.unsure })
  if (settingOf(layers, 'agent.reasoning_effort') === null)
    unknown.push({ field: 'execution.reasoning', why: 'nothing names an effort; the default depends on the model' })
  if (flags.command === null && !flags.has('-z'))
    unknown.push({ field: 'execution.surface', why: 'whether it is a chat, one prompt or a gateway is not known' })
  if (repository !== null)
    unknown.push({ field: 'execution.repo.dirty_digest', why: 'the work tree was not compared with its commit' })
  if (noUser !== null)
    unknown.push({
      field: 'capabilities.skills',
      why: `whether ${noUser} also leaves out the skill settings was not seen`,
    })
  const directory = asName(settingOf(layers, 'terminal.cwd')?.value)
  if (directory !== null && directory !== '.')
    unknown.push({
      field: 'execution.cwd',
      why: `terminal.cwd names ${directory}; whether context files are then looked for there was not seen`,
    })
  if (flags.has('--worktree'))
    unknown.push({
      field: 'execution.cwd',
      why: '--worktree makes a new work tree at start; what loads there was not resolved',
    })
  if (settingOf(layers, 'skills.platform_disabled') !== null)
    unknown.push({ field: 'capabilities.skills', why: 'skills.platform_disabled depends on where the session is held' })
  if (flags.has('--resume') || flags.has('--continue'))
    unknown.push({
      field: 'instructions.sources',
      why: 'a resumed session keeps the prompt it was stored with, whatever the files say now (0.20.0)',
    })
  if (request.surroundings.platform === 'darwin' || request.surroundings.platform === 'win32')
    unknown.push({
      field: 'instructions.resolved_order',
      why: 'on a disk that ignores case AGENTS.md and agents.md are one file; what the program makes of it was not seen',
    })
  return unknown
}

function explainEmpty(body: ManifestBody, noRules: string | null): ManifestBody['empty'] {
  const { capabilities, context, policy, execution, instructions } = body
  const why = (category: string, count: number, reason: string): ManifestBody['empty'] =>
    count > 0 ? [] : [{ category, why: reason }]
  const active = (list: readonly { readonly status: string }[]): number =>
    list.filter(({ status }) => status === 'active').length
  const unused = (list: readonly { readonly status: string }[]): string =>
    list.length === 0
      ? 'nothing was found in any place the program looks'
      : `${list.length} found, none of them active: each says why`
  return [
    ...why(
      'instructions',
      instructions.resolved_order.length,
      noRules === null ? 'no instruction file enters the prompt' : `${noRules} leaves them out`,
    ),
    ...why('memory', context.memory.length, 'there are no memory files'),
    ...why('settings', Object.keys(body.settings).length, 'no configuration file sets anything'),
    ...why('skills', active(capabilities.skills), unused(capabilities.skills)),
    ...why('commands', 0, 'Hermes has no command files'),
    ...why('agents', 0, 'Hermes has no agent files: a delegated task is described by its call'),
    ...why('plugins', active(capabilities.plugins), unused(capabilities.plugins)),
    ...why('hooks', active(capabilities.hooks), unused(capabilities.hooks)),
    ...why('mcp_servers', active(capabilities.mcp_servers), unused(capabilities.mcp_servers)),
    ...why('tools', 0, 'tools are known only from a request of the running agent'),
    ...why('permissions', policy.permissions.allow.length, 'no command is allowed by a list'),
    ...why('managed', policy.managed.length, 'this machine has no managed configuration'),
    ...why('environment', execution.environment.length, 'no variable that bears on a run is set'),
    ...why('repository', execution.repo === null ? 0 : 1, 'the start directory lies in no git work tree'),
    ...why(
      'submodules',
      execution.repo?.submodules.length ?? 0,
      'the repository names none, or there is no repository',
    ),
    ...why('image', execution.image === null ? 0 : 1, 'no setting names an image'),
    ...why('retrieval', 0, 'this runtime keeps no retrieval index'),
    ...why('task', 0, 'resolved without a run'),
    ...why('sandbox', execution.sandbox.mode === null ? 0 : 1, 'no setting names a terminal backend'),
  ]
}
