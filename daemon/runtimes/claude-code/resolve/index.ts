import path from 'node:path'
import canonicalize from 'canonicalize'
import { MANIFEST_VERSION, type ManifestBody, type ManifestSource } from '../../../../contract/index.ts'
import { effectiveDigest, textDigest } from '../../../manifest/effective-text.ts'
import type { Resolution, ResolveRequest, SourceText } from '../../adapter.ts'
import { resolveCapabilities } from './capabilities.ts'
import { bytesDigest, openDisk } from './disk.ts'
import { isOn, readEnvironment, recordEnvironment } from './environment.ts'
import { flagSources, recordFlags } from './flag-sources.ts'
import { parseFlags, type StartFlags } from './flags.ts'
import { resolveHooks } from './hooks.ts'
import { ancestorsOf } from './instruction-places.ts'
import { resolveInstructions } from './instructions.ts'
import { type JsonReading, parseJsonObject } from './json-file.ts'
import { resolveMcp, withoutCredentials } from './mcp.ts'
import { readMemory } from './memory.ts'
import { credentialSources, outsideFiles, unexercisedSources } from './outside.ts'
import { managedDirectory, memoryDirectory, stateFilePath } from './places.ts'
import { AGENTS_FILE_PLUGIN, resolvePlugins } from './plugins.ts'
import { resolvePolicy } from './policy.ts'
import { findRepository, type Repository } from './repo.ts'
import { listOf, mergeSettings, readSettings, scalarOf } from './settings.ts'
import { type Source, SourceList, VERIFIED_VERSION } from './sources.ts'
import { readStateFile } from './state-file.ts'

export { claudeCodeResolverFacts } from './facts.ts'
export { matchLazy } from './lazy.ts'
export { coverMemoryNotice } from './memory.ts'

interface Unknown {
  readonly field: string
  readonly why: string
}

/**
 * The configuration that would be in force if Claude Code started in `cwd` now. Reads files only: no process runs, nothing is written.
 * What cannot be read or is not known stands in `unknown` or as a source with status `unknown`; it is never left out.
 */
export function resolveClaudeCode(request: ResolveRequest): Resolution {
  const { surroundings } = request
  const managedDir = managedDirectory(surroundings.platform)
  const disk = openDisk(surroundings.systemRoot, managedDir)
  const reading: JsonReading = { disk, systemRoot: surroundings.systemRoot, managedDir, pause: waitSync }
  const hide = request.keyed ?? (() => 'hidden')
  const flags = parseFlags(request.flags)
  // The runtime asks the kernel where it is: links in the way it was reached do not count.
  const cwd = disk.realPath(request.cwd) ?? path.resolve(request.cwd)
  const configDir = path.resolve(request.home)
  const ancestors = ancestorsOf(cwd)
  const repository = findRepository(disk, cwd)
  const main = repository?.main ?? cwd
  const narrow = readNarrowing(flags)
  const { sources: on, whySourcesOff } = narrow

  const state = readStateFile(reading, stateFilePath(request), configDir, main)
  const settings = readSettings({
    reading,
    flags,
    managedDir,
    configDir,
    cwd,
    main: repository === null ? null : main,
    ancestors,
    sources: on,
    whySourcesOff,
  })
  const { layers } = settings
  const environment = readEnvironment(surroundings.env, layers)
  const isBare = flags.has('--bare') || isOn(environment.get('CLAUDE_CODE_SIMPLE'))
  const isSafe = flags.has('--safe-mode') || isOn(environment.get('CLAUDE_CODE_SAFE_MODE'))
  const allOff = isSafe ? '--safe-mode switches all customisation off' : isBare ? '--bare switches discovery off' : null

  const plugins = resolvePlugins({ reading, disk, flags, configDir, cwd, main, layers, off: allOff })
  const agentsPlugin = plugins.plugins.find((plugin) => plugin.id === AGENTS_FILE_PLUGIN)
  const addedDirs = addedDirectories(flags, layers, cwd)
  const memoryAt = memoryDirectory(disk, configDir, main, environment.get)
  const memoryOff = whyMemoryOff({ flags, layers, get: environment.get, isBare })
  const memory =
    memoryAt.path === null
      ? { index: null, topics: [], files: [], unknown: [{ field: 'context.memory', why: memoryAt.why }] }
      : readMemory(disk, memoryAt.path, memoryOff)

  const managedText = layers.find((layer) => layer.name === 'managed' && typeof layer.value.claudeMd === 'string')
  const instructions = resolveInstructions(
    { disk, cwd, userHome: surroundings.userHome, configDir, managedDir, repository, addedDirs },
    {
      ...on,
      allOff: whyInstructionsOff(environment.get, isSafe, isBare),
      addedDirsCount: isOn(environment.get('CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD')),
      externalApproved: state.project.hasClaudeMdExternalIncludesApproved === true,
      excludes: listOf(layers, 'claudeMdExcludes').flatMap(({ entry }) => (typeof entry === 'string' ? [entry] : [])),
      agentsFileOff:
        agentsPlugin?.active === false ? `${AGENTS_FILE_PLUGIN} is ${agentsPlugin.capability.reason ?? 'off'}` : null,
      managedText:
        managedText === undefined ? null : { text: String(managedText.value.claudeMd), file: managedText.origin },
    },
    memory,
  )

  const outputStyle = scalarOf(layers, 'outputStyle')?.value
  const capabilities = resolveCapabilities({
    disk,
    managedDir,
    configDir,
    cwd,
    projectDirs: [...ancestors]
      .reverse()
      .filter((directory) => repository === null || directory.startsWith(repository.top)),
    addedDirs,
    nestedSkillDirs: instructions.nestedSkillDirs,
    plugins: plugins.plugins,
    sources: on,
    whySourcesOff,
    off:
      allOff ??
      (flags.has('--disable-slash-commands') ? '--disable-slash-commands switches skills and commands off' : null),
    outputStyle: typeof outputStyle === 'string' ? outputStyle : null,
    flagAgents: agentsOfFlag(flags),
  })
  const mcp = resolveMcp({
    reading,
    flags,
    managedDir,
    cwd,
    ancestors,
    state,
    layers,
    plugins: plugins.plugins,
    sources: on,
    whySourcesOff,
    off: allOff,
    hide,
  })
  const hooks = resolveHooks({ reading, layers, plugins: plugins.plugins, off: allOff })
  const policy = resolvePolicy({ layers, flags, state, project: main })

  const list = new SourceList()
  for (const source of [
    ...instructions.loaded,
    ...instructions.lazy,
    ...instructions.leftOut,
    ...settings.sources,
    ...state.sources,
    ...credentialSources(disk, configDir, surroundings.userHome),
    ...mcp.sources,
    ...capabilities.sources,
    ...plugins.sources,
    ...hooks.sources,
    ...flagSources(flags, disk, cwd),
    ...unexercisedSources(disk, configDir, cwd),
  ]) {
    list.add(source)
  }
  const all = list.all()
  const order = instructions.loaded.map((source) => source.uri)
  const model = chooseModel(flags, environment.get, layers)
  const reasoning =
    flags.value('--effort') ??
    environment.get('CLAUDE_CODE_EFFORT_LEVEL') ??
    textOrNull(scalarOf(layers, 'effortLevel')?.value)

  const unknown: Unknown[] = [
    ...instructions.unknown,
    ...memory.unknown,
    ...capabilities.unknown,
    ...policy.unknown,
    ...(repository?.unknown ?? []),
    ...all
      .filter((source) => source.status === 'unknown')
      .map((source) => ({ field: `instructions.sources ${source.uri}`, why: source.reason ?? 'unknown' })),
    ...beforeStart(request, flags, repository, model, mcp.servers.length, reasoning),
  ]
  if (scalarOf(layers, 'autoMemoryDirectory') !== null)
    unknown.push({
      field: 'context.memory',
      why: 'autoMemoryDirectory is set; where memory then lies was not exercised',
    })

  const mergedSettings = {
    ...mergeSettings(layers, hide),
    ...stateSettings(state.path, state.preferences, state.secrets, hide),
  }
  const environmentList = recordEnvironment(environment, mcp.variables, hide)
  const external: ManifestBody['external'] = [
    {
      kind: 'model',
      name: model ?? 'the default model',
      state: 'not_captured',
      digest: null,
      reason: 'the model behind a name is not ours to see',
    },
    ...mcp.servers
      .filter((server) => server.status === 'active')
      .map((server) => ({
        kind: 'mcp server',
        name: server.name,
        state: 'not_captured' as const,
        digest: null,
        reason: 'its tools are known only once it runs',
      })),
    ...outsideFiles(disk, surroundings.userHome),
  ]
  const body: ManifestBody = {
    manifest_version: MANIFEST_VERSION,
    run_id: null,
    stretch: null,
    created_at: surroundings.now().toISOString(),
    origin: 'resolved',
    task: { id: null, input_digest: null },
    principal: { subject: null, tenant: null, auth_context_ref: null },
    instructions: {
      effective_digest: effectiveDigest(
        instructions.loaded.flatMap((source) =>
          source.text === null || source.path === null
            ? []
            : [{ path: source.path, label: source.label, text: source.text }],
        ),
      ),
      resolved_order: withoutRepeats(instructions.loaded.map((source) => source.scope)),
      sources: all.map((source) => toManifestSource(source, order)),
    },
    settings: mergedSettings,
    capabilities: {
      skills: [...capabilities.skills],
      commands: [...capabilities.commands],
      agents: [...capabilities.agents],
      plugins: plugins.plugins.map((plugin) => plugin.capability),
      hooks: [...hooks.hooks],
      mcp_servers: [...mcp.servers],
      tools: [],
      output_styles: capabilities.outputStyles,
    },
    execution: {
      runtime: 'claude-code',
      runtime_version: request.version,
      runtime_digest: null,
      surface: flags.has('--print') ? 'print' : null,
      model,
      endpoint_profile: endpoint(environment.get),
      reasoning,
      flags: [...recordFlags(flags)],
      environment: [...environmentList],
      sandbox: policy.sandbox,
      cwd,
      repo:
        repository === null
          ? null
          : {
              root: repository.top,
              sha: repository.sha,
              branch: repository.branch,
              dirty_digest: null,
              worktree: repository.worktree,
              submodules: [...repository.submodules],
              main: repository.main,
            },
      image: null,
    },
    context: {
      session_ref: null,
      memory_manifest_digest:
        memory.files.length === 0
          ? null
          : bytesDigest(canonicalize(memory.files.map(({ path: file, digest }) => ({ path: file, digest }))) ?? ''),
      memory_enabled: memoryOff === null,
      memory: memory.files.map((file) => ({ ...file, digest: file.digest })) as ManifestBody['context']['memory'],
      retrieval_snapshot: null,
    },
    policy: policy.policy,
    external,
    empty: [],
    unknown,
  }
  return {
    body: { ...body, empty: explainEmpty(body, repository) },
    texts: new Map(all.map((source): [string, SourceText] => [source.uri, { raw: source.raw, text: source.text }])),
    order,
    problems: [...state.problems, ...settings.problems, ...mcp.problems, ...plugins.problems],
  }
}

interface Narrowing {
  readonly sources: { readonly user: boolean; readonly project: boolean; readonly local: boolean }
  readonly whySourcesOff: string
}

function readNarrowing(flags: StartFlags): Narrowing {
  if (flags.has('--restricted')) {
    return {
      sources: { user: false, project: false, local: false },
      whySourcesOff: '--restricted leaves out user, project and local sources',
    }
  }
  const given = flags.value('--setting-sources')
  if (given === null) return { sources: { user: true, project: true, local: true }, whySourcesOff: '' }
  const names = given.split(',').map((name) => name.trim())
  return {
    sources: { user: names.includes('user'), project: names.includes('project'), local: names.includes('local') },
    whySourcesOff: `--setting-sources "${given}" leaves this source out`,
  }
}

function whyInstructionsOff(get: (name: string) => string | null, isSafe: boolean, isBare: boolean): string | null {
  if (isOn(get('CLAUDE_CODE_DISABLE_CLAUDE_MDS'))) return 'CLAUDE_CODE_DISABLE_CLAUDE_MDS is set'
  if (isSafe) return '--safe-mode loads no instruction files'
  if (isBare) return '--bare loads no instruction files'
  return null
}

function whyMemoryOff(at: {
  flags: StartFlags
  layers: Parameters<typeof scalarOf>[0]
  get: (name: string) => string | null
  isBare: boolean
}): string | null {
  if (isOn(at.get('CLAUDE_CODE_DISABLE_AUTO_MEMORY'))) return 'CLAUDE_CODE_DISABLE_AUTO_MEMORY is set'
  const setting = scalarOf(at.layers, 'autoMemoryEnabled')
  if (setting?.value === false) return `autoMemoryEnabled is false in ${setting.origin}`
  if (at.isBare) return '--bare switches automatic memory off'
  if (at.flags.has('--restricted')) return '--restricted switches automatic memory off'
  return null
}

function addedDirectories(flags: StartFlags, layers: Parameters<typeof listOf>[0], cwd: string): readonly string[] {
  const fromSettings = listOf(layers, 'permissions', 'additionalDirectories').flatMap(({ entry }) =>
    typeof entry === 'string' ? [entry] : [],
  )
  return withoutRepeats(
    [...flags.values('--add-dir'), ...fromSettings].map((directory) => path.resolve(cwd, directory)),
  )
}

function agentsOfFlag(flags: StartFlags): Readonly<Record<string, unknown>> {
  const text = flags.value('--agents')
  if (text === null) return {}
  const parsed = parseJsonObject(text)
  return parsed.state === 'ok' ? parsed.value : {}
}

/** The flag beats the variable, the variable every setting, managed ones included (2.1.332). */
function chooseModel(
  flags: StartFlags,
  get: (name: string) => string | null,
  layers: Parameters<typeof scalarOf>[0],
): string | null {
  return flags.value('--model') ?? get('ANTHROPIC_MODEL') ?? textOrNull(scalarOf(layers, 'model')?.value)
}

function endpoint(get: (name: string) => string | null): string {
  for (const [name, profile] of [
    ['CLAUDE_CODE_USE_BEDROCK', 'bedrock'],
    ['CLAUDE_CODE_USE_VERTEX', 'vertex'],
    ['CLAUDE_CODE_USE_FOUNDRY', 'foundry'],
  ] as const) {
    if (isOn(get(name))) return profile
  }
  const url = get('ANTHROPIC_BASE_URL')
  return url === null ? 'default' : withoutCredentials(url)
}

function toManifestSource(source: Source, order: readonly string[]): ManifestSource {
  const position = order.indexOf(source.uri)
  return {
    ...source.extra,
    ...(source.lazy === null ? {} : { lazy: source.lazy }),
    uri: source.uri,
    path: source.path,
    ...(source.pathBytes === null ? {} : { path_bytes: source.pathBytes.toString('base64') }),
    scope: source.scope,
    kind: source.kind,
    label: source.label,
    position: position < 0 ? null : position,
    status: source.status,
    reason: source.reason,
    rule: source.rule,
    digest: source.digest,
    text_digest: source.text === null ? null : textDigest(source.text),
    bytes: source.bytes,
    imported_by: [...source.importedBy],
    trigger: source.trigger,
    truncated: source.truncated === null ? null : { ...source.truncated },
    scan: null,
    used: null,
    classification: source.classification,
  }
}

/** Preferences and secrets of the state file as settings of their own; the secrets by keyed digest only. */
function stateSettings(
  file: string,
  preferences: Readonly<Record<string, unknown>>,
  secrets: readonly { readonly key: string; readonly value: string }[],
  hide: (value: string) => string,
): ManifestBody['settings'] {
  const draft = { source: file, merged_from: [file], overridden: [], rule: 'replace' as const }
  return Object.fromEntries([
    ...Object.entries(preferences).map(([key, value]) => [`state.${key}`, { ...draft, value: String(value) }] as const),
    ...secrets.map(
      ({ key, value }) => [`state.${key}`, { ...draft, value_ref: `secret:settings:${hide(value)}` }] as const,
    ),
  ])
}

/** What nobody can know before the agent has started. */
function beforeStart(
  request: ResolveRequest,
  flags: StartFlags,
  repository: Repository | null,
  model: string | null,
  servers: number,
  reasoning: string | null,
): Unknown[] {
  const unknown: Unknown[] = [
    {
      field: 'capabilities.tools',
      why: 'built-in tools and their schemas are known only from a request of the running agent',
    },
    {
      field: 'instructions.system_prompt',
      why: "the runtime's own prompt is known only from a request of the running agent",
    },
    {
      field: 'execution.environment',
      why: 'taken from the environment Reprise was given, which may differ from the one the agent starts in',
    },
    { field: 'execution.runtime_digest', why: 'the program was not looked at' },
    { field: 'principal', why: 'who is signed in is known only to the runtime' },
  ]
  if (servers > 0)
    unknown.push({
      field: 'capabilities.mcp_servers.tools',
      why: 'the tools of an MCP server are known only once it runs',
    })
  if (model === null)
    unknown.push({
      field: 'execution.model',
      why: 'nothing names a model; the default depends on the account and the version',
    })
  if (reasoning === null)
    unknown.push({ field: 'execution.reasoning', why: 'nothing names an effort; the default depends on the model' })
  if (!flags.has('--print'))
    unknown.push({ field: 'execution.surface', why: 'whether the start is interactive is not known' })
  if (request.version === null)
    unknown.push({
      field: 'execution.runtime_version',
      why: `not given; the rules of ${VERIFIED_VERSION} were applied`,
    })
  else if (request.version !== VERIFIED_VERSION) {
    unknown.push({
      field: 'instructions.resolved_order',
      why: `the rules were verified on ${VERIFIED_VERSION}, not on ${request.version}`,
    })
  }
  if (repository !== null)
    unknown.push({ field: 'execution.repo.dirty_digest', why: 'the work tree was not compared with its commit' })
  if (flags.has('--worktree'))
    unknown.push({
      field: 'execution.cwd',
      why: '--worktree makes a new work tree at start; what loads there was not resolved',
    })
  return unknown
}

function explainEmpty(body: ManifestBody, repository: Repository | null): ManifestBody['empty'] {
  const { capabilities, context, policy, execution } = body
  const why = (category: string, count: number, reason: string): ManifestBody['empty'] =>
    count > 0 ? [] : [{ category, why: reason }]
  const noActive = 'nothing was found in any place the runtime looks'
  const unused = (list: readonly { readonly status: string }[]): string =>
    list.length === 0 ? noActive : `${list.length} found, none of them active: each says why`
  const active = (list: readonly { readonly status: string }[]): number =>
    list.filter((one) => one.status === 'active').length
  return [
    ...why('instructions', body.instructions.resolved_order.length, 'no instruction file enters the context at start'),
    ...why(
      'memory',
      context.memory.length,
      context.memory_enabled === false
        ? 'automatic memory is off and its folder is empty'
        : 'the memory folder is empty or does not exist',
    ),
    ...why('settings', Object.keys(body.settings).length, 'no settings file sets anything'),
    ...why('skills', active(capabilities.skills), unused(capabilities.skills)),
    ...why('commands', active(capabilities.commands), unused(capabilities.commands)),
    ...why('agents', active(capabilities.agents), unused(capabilities.agents)),
    ...why('plugins', active(capabilities.plugins), unused(capabilities.plugins)),
    ...why('hooks', active(capabilities.hooks), unused(capabilities.hooks)),
    ...why('mcp_servers', active(capabilities.mcp_servers), unused(capabilities.mcp_servers)),
    ...why('tools', capabilities.tools.length, 'tool schemas are known only from a request of the running agent'),
    ...why(
      'permissions',
      policy.permissions.allow.length + policy.permissions.ask.length + policy.permissions.deny.length,
      'no permission rule is set',
    ),
    ...why('managed', policy.managed.length, 'this machine has no managed settings'),
    ...why('environment', execution.environment.length, 'no variable that bears on a run is set'),
    ...why('repository', repository === null ? 0 : 1, 'the start directory lies in no git work tree'),
    ...why(
      'submodules',
      execution.repo?.submodules.length ?? 0,
      'the repository names none, or there is no repository',
    ),
    ...why('image', execution.image === null ? 0 : 1, 'the agent runs on the machine itself'),
    ...why('retrieval', 0, 'this runtime keeps no retrieval index'),
    ...why('task', 0, 'resolved without a run'),
    ...why('sandbox', execution.sandbox.mode === null ? 0 : 1, 'no setting names a sandbox'),
  ]
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const withoutRepeats = (list: readonly string[]): string[] => [...new Set(list)]

/** A moment between two tries of a torn read; the resolver is synchronous throughout. */
function waitSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds * 4)
}
