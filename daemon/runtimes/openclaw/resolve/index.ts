import canonicalize from 'canonicalize'
import { MANIFEST_VERSION, type ManifestBody } from '../../../../contract/index.ts'
import { effectiveDigest } from '../../../manifest/effective-text.ts'
import type { Resolution, ResolveRequest, SourceText } from '../../adapter.ts'
import { bytesDigest, openDisk } from '../../shared/disk.ts'
import { findRepository } from '../../shared/repo.ts'
import { chooseAgent, entryKey } from './agent.ts'
import { readBindings, routeOf } from './bindings.ts'
import { resolveBootstrap } from './bootstrap.ts'
import { resolveConfig } from './config.ts'
import { type Tree, textAt } from './config-tree.ts'
import { describeAgents, describeDomain } from './domains.ts'
import { readEnvironment, recordEnvironment } from './environment.ts'
import { resolveHooks } from './hooks.ts'
import { beforeStart, explainEmpty, recordFlags } from './manifest-parts.ts'
import { resolveMcp } from './mcp.ts'
import { chooseModel } from './model.ts'
import { authReference, credentialSources, stateDatabases } from './outside.ts'
import { findPlaces } from './places.ts'
import { resolvePlugins } from './plugins.ts'
import { readPolicy } from './policy.ts'
import { findPackage } from './program-package.ts'
import { readSeeding } from './seeding.ts'
import { asSetting, byDefault, candidate, type Effective, effective, flattenSettings } from './settings.ts'
import { resolveSkills } from './skills.ts'
import { makeSource, type Problem, toManifestSource, type Unknown, withoutRepeats } from './sources.ts'
import { parseStart } from './start.ts'
import { resolveTools } from './tools.ts'
import { memoryFiles, neverLoaded, workspaceDigest } from './workspace-rest.ts'

export { openClawResolverFacts } from './facts.ts'

/**
 * The configuration that would be in force for a turn of an OpenClaw agent now. `request.home` is the state directory, `request.cwd` the
 * workspace or the directory the agent is started in. Reads files only: no process runs, no database is opened, nothing is written.
 * What cannot be read or is not known stands in `unknown` or as a source with status `unknown`; it is never left out.
 */
export function resolveOpenClaw(request: ResolveRequest): Resolution {
  const { surroundings } = request
  const hide = request.keyed ?? (() => 'hidden')
  // This runtime has no managed files: nothing lies below a system root.
  const disk = openDisk('', '/', request.overlay)
  const start = parseStart(request.flags)
  const places = findPlaces(request, start, disk)
  const startDir = start.surface === 'exec' ? places.expand(start.value('--cwd') ?? request.cwd) : request.cwd
  const processEnvironment = readEnvironment(request, start, places, disk)
  const config = resolveConfig(disk, places, start, processEnvironment, startDir)
  const { tree, environment } = config
  const chosen = chooseAgent({ request, start, places, config, disk })
  const { agent, session } = chosen
  const program = findPackage(disk, surroundings)
  const model = chooseModel(tree, start, agent, environment)

  const own = agent === null ? null : ['agents', 'entries', entryKey(tree, agent.id)]
  const forAgent = (key: string, fallback: Parameters<typeof byDefault>[0]): Effective | null =>
    effective([
      own === null ? null : candidate(tree, [...own, ...key.split('.')]),
      candidate(tree, ['agents', 'defaults', ...key.split('.')]),
      fallback === null ? null : byDefault(fallback),
    ])
  const perFile = forAgent('bootstrapMaxChars', 20_000)
  const total = forAgent('bootstrapTotalMaxChars', 60_000)
  const injection = forAgent('contextInjection', 'always')
  const sandbox = forAgent('sandbox.mode', 'off')

  const tools = resolveTools({
    tree,
    agentId: agent?.id ?? '',
    session,
    provider: model.provider,
    model: model.model,
    sandboxMode: String(sandbox?.value ?? 'off'),
  })
  const refused = config.refused ?? chosen.refused ?? tools.refused
  const hooks = resolveHooks(disk, tree, places, start, agent?.workspace ?? null)
  const seeding =
    agent === null
      ? { seeded: new Map<string, string | null>(), dropsBootstrap: false, unknown: [] }
      : readSeeding(disk, tree, agent.workspace, program)
  const bootstrap =
    agent === null
      ? { loaded: [], leftOut: [], unknown: [], hasNotice: false }
      : resolveBootstrap({
          disk,
          workspace: agent.workspace,
          session,
          perFile: limit(perFile, 20_000),
          total: limit(total, 60_000),
          injection: String(injection?.value ?? 'always'),
          off: refused === null ? null : `no run starts: ${refused}`,
          ...seeding,
          extra: hooks.extraFiles,
        })
  const skills =
    agent === null
      ? { skills: [], sources: [], unknown: [] }
      : resolveSkills({
          disk,
          agent,
          places,
          tree,
          environment,
          surroundings,
          program,
          ownsAmbient: ownsAmbient(tree, config.markedDefault, agent.id, chosen.roster.length),
          canRead: tools.tools.some((tool) => tool.name === 'read' && tool.removed_by === null),
        })
  const plugins = resolvePlugins(disk, tree, places, program)
  const mcp = resolveMcp(tree, tools.layers, hide)
  const { bindings, problems: bindingProblems } = readBindings(tree)
  const route = routeOf(bindings, session)
  const policy = readPolicy(tree, agent?.id ?? null, tools.layers, sandbox)

  const all = withoutRepeats([
    ...bootstrap.loaded,
    ...bootstrap.leftOut,
    ...hooks.extraNotLoaded.files
      .filter((file) => disk.exists(file))
      .map((file) => {
        const read = disk.read(file)
        return makeSource({
          path: file,
          scope: 'extra files hook',
          kind: 'instructions',
          status: 'not_loaded',
          reason: hooks.extraNotLoaded.why,
          raw: read.state === 'ok' ? read.bytes : null,
        })
      }),
    ...(agent === null ? [] : neverLoaded(disk, agent)),
    ...config.sources,
    ...processEnvironment.sources,
    ...skills.sources,
    ...plugins.sources,
    ...hooks.sources,
    ...credentialSources(disk, places, agent),
  ])
  const order = bootstrap.loaded.map((source) => source.uri)
  const memory = agent === null ? [] : memoryFiles(disk, agent, bootstrap.loaded)
  const runDir = agent?.runDir ?? startDir
  const repository = findRepository(disk, runDir)

  const unknown: Unknown[] = [
    ...config.unknown,
    ...(refused === null ? seeding.unknown : []),
    ...bootstrap.unknown,
    ...(injection?.value === 'continuation-skip'
      ? [
          {
            field: 'instructions',
            why: 'contextInjection is continuation-skip: a session that already had a full turn is not given the files again',
          },
        ]
      : []),
    ...skills.unknown,
    ...tools.unknown,
    ...plugins.unknown,
    ...hooks.unknown,
    ...(repository?.unknown ?? []),
    ...(repository === null
      ? []
      : [{ field: 'execution.repo.dirty_digest', why: 'the work tree was not compared with its commit' }]),
    ...(mcp.servers.length === 0
      ? []
      : [{ field: 'capabilities.mcp_servers.tools', why: 'the tools of an MCP server are known only once it runs' }]),
    ...(model.ref === null
      ? [{ field: 'execution.model', why: 'nothing names a model; the default is the vendor’s' }]
      : []),
    ...(model.thinking === null
      ? [{ field: 'execution.reasoning', why: 'nothing names a level; the default depends on the model' }]
      : []),
    ...(bindings.length > 0
      ? [
          {
            field: 'policy.bindings',
            why: 'routing is documented and was not exercised; guild, team and roles of a message are not in a session key',
          },
        ]
      : []),
    ...all
      .filter((source) => source.status === 'unknown')
      .map((source) => ({ field: `instructions.sources ${source.uri}`, why: source.reason ?? 'unknown' })),
    ...beforeStart(request, start, places, config, chosen),
  ]
  const forOne = Object.fromEntries(
    Object.entries({
      bootstrapMaxChars: perFile,
      bootstrapTotalMaxChars: total,
      contextInjection: injection,
      'sandbox.mode': sandbox,
      model: model.ref,
      thinkingDefault: model.thinking,
    }).flatMap(([key, value]) =>
      value === null || agent === null ? [] : [[`effective.${key}`, asSetting(value)] as const],
    ),
  )
  const hasAllTexts = bootstrap.loaded.every((source) => source.text !== null)
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
      auth_context_ref: agent === null ? null : authReference(tree, agent, model.provider),
    },
    instructions: {
      effective_digest: hasAllTexts
        ? effectiveDigest(
            bootstrap.loaded.flatMap((source) =>
              source.text === null || source.path === null
                ? []
                : [{ path: source.path, label: null, text: source.text }],
            ),
          )
        : null,
      resolved_order: [...new Set(bootstrap.loaded.map((source) => source.scope))],
      sources: all.map((source) => toManifestSource(source, order)),
      truncation_notice: bootstrap.hasNotice,
    },
    settings: { ...flattenSettings(tree, hide), ...forOne },
    capabilities: {
      skills: [...skills.skills],
      commands: [],
      agents: describeAgents(chosen),
      plugins: [...plugins.plugins],
      hooks: [...hooks.hooks],
      mcp_servers: [...mcp.servers],
      tools: tools.tools,
      tool_layers: tools.layers.map(({ label, source, allow, deny }) => ({ label, source, allow, deny })),
    },
    execution: {
      runtime: 'openclaw',
      runtime_version: request.version,
      runtime_digest: null,
      surface: start.surface === 'exec' ? 'agent exec' : start.surface === 'local' ? 'agent --local' : 'gateway',
      model: typeof model.ref?.value === 'string' ? model.ref.value : null,
      endpoint_profile: model.endpoint,
      reasoning: typeof model.thinking?.value === 'string' ? model.thinking.value : null,
      flags: recordFlags(start),
      environment: recordEnvironment(environment, config.referred, hide),
      sandbox: policy.sandbox,
      cwd: runDir,
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
      image: policy.image,
      agent:
        agent === null ? null : { ...describeDomain(agent, chosen), workspace_digest: workspaceDigest(agent, all) },
      state_dir: places.stateDir,
      config_file: places.configFile,
      config_file_by: places.configFileIs,
      refused,
    },
    context: {
      session_ref: agent === null ? null : session.key,
      memory_manifest_digest:
        memory.length === 0
          ? null
          : bytesDigest(canonicalize(memory.map((file) => ({ path: file.path, digest: file.digest }))) ?? ''),
      // Reachable in some way: given at the start, or by one of the tools that look it up.
      memory_enabled:
        agent === null
          ? null
          : bootstrap.loaded.some((source) => source.kind === 'memory') ||
            tools.tools.some((tool) => tool.removed_by === null && /^memory_(search|get)$/.test(tool.name)),
      memory: memory.map((file) => ({ ...file })),
      retrieval_snapshot: null,
      session_scope: {
        kind: session.kind,
        direct_messages: textAt(tree, 'session', 'dmScope') ?? 'main',
        groups: textAt(tree, 'session', 'groupScope') ?? 'per-group',
      },
      memory_scope: agent === null ? null : { agent: agent.id, workspace: agent.workspace, index: agent.sessionStore },
      channel_binding: route,
    },
    policy: { ...policy.policy, bindings: bindings.map((one) => ({ ...one })) },
    external: [
      {
        kind: 'model',
        name: model.ref === null ? 'the default model' : String(model.ref.value),
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
      ...stateDatabases(disk, places, agent),
    ],
    empty: [],
    unknown,
  }
  const problems: Problem[] = [
    ...(disk.isDirectory(startDir) ? [] : [{ path: startDir, message: `the directory ${startDir} does not exist` }]),
    ...(agent === null || disk.isDirectory(agent.workspace) || seeding.seeded.size > 0
      ? []
      : [{ path: agent.workspace, message: `the workspace ${agent.workspace} does not exist yet` }]),
    ...config.problems,
    ...processEnvironment.dropped.map(({ name, why }) => ({ path: null, message: `${name} was dropped: ${why}` })),
    ...(chosen.refused === null ? [] : [{ path: places.configFile, message: chosen.refused }]),
    ...tools.problems,
    ...mcp.problems,
    ...hooks.problems,
    ...bindingProblems,
  ]
  return {
    body: { ...body, empty: explainEmpty(body, repository, refused) },
    texts: new Map(all.map((source): [string, SourceText] => [source.uri, { raw: source.raw, text: source.text }])),
    order,
    problems,
  }
}

/** Limits that are no positive number count as not set. */
const limit = (found: Effective | null, fallback: number): number =>
  typeof found?.value === 'number' && found.value > 0 ? Math.floor(found.value) : fallback

/** The agent that owns what names none also gets the skills for looking after the program itself. */
function ownsAmbient(tree: Tree, marked: string | null, id: string, agents: number): boolean {
  const system = textAt(tree, 'agents', 'defaults', 'systemAgent', 'agentId') ?? marked
  return system === null ? agents === 1 : system === id
}
