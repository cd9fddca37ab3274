import path from 'node:path'
import canonicalize from 'canonicalize'
import { MANIFEST_VERSION, type ManifestBody } from '../../../../contract/index.ts'
import { effectiveDigest } from '../../../manifest/effective-text.ts'
import type { Resolution, ResolveRequest, SourceText } from '../../adapter.ts'
import { bytesDigest, openDisk } from '../../shared/disk.ts'
import { findRepository } from '../../shared/repo.ts'
import { effectivePieces, joinAgents } from '../effective-pieces.ts'
import { resolveAgentsFiles } from './agents-files.ts'
import type { Reading } from './config-file.ts'
import { credentialSources, readEnvironment, recordEnvironment } from './environment.ts'
import { flagSources, recordFlags } from './flag-sources.ts'
import { ownFlagTables, parseFlags, startDirectory } from './flags.ts'
import { resolveHooks } from './hooks.ts'
import { resolveInstructionTexts } from './instruction-texts.ts'
import { type ConfigLayer, readLayers } from './layers.ts'
import { beforeStart, explainEmpty, type Unknown } from './manifest-parts.ts'
import { resolveMcp } from './mcp.ts'
import { readMemory } from './memory.ts'
import { chooseModel } from './model.ts'
import { outsideFiles, sideSources } from './outside.ts'
import { systemDirectory } from './places.ts'
import { resolvePlugins } from './plugins.ts'
import { resolvePolicy } from './policy.ts'
import { resolvePrompts } from './prompts.ts'
import { readRequirements, requiredFeatures, withRequired } from './requirements.ts'
import { resolveRoles } from './roles.ts'
import { resolveRules } from './rules.ts'
import { mergeSettings } from './settings.ts'
import { resolveSkills } from './skills.ts'
import { SourceList, toManifestSource } from './sources.ts'

export { codexResolverFacts } from './facts.ts'

/**
 * The configuration that would be in force if Codex started in `cwd` now. Reads files only: no process runs, nothing is written. What
 * cannot be read or is not known stands in `unknown` or as a source with status `unknown`; it is never left out.
 */
export function resolveCodex(request: ResolveRequest): Resolution {
  const { surroundings } = request
  const systemDir = systemDirectory(surroundings)
  const disk = openDisk(surroundings.systemRoot, systemDir, request.overlay)
  const reading: Reading = { disk, systemDir, pause: waitSync }
  const hide = request.keyed ?? (() => 'hidden')
  const flags = parseFlags(request.flags)
  const home = path.resolve(request.home)
  const cwd = startDirectory(flags, disk.realPath(request.cwd) ?? path.resolve(request.cwd))
  const repository = findRepository(disk, cwd)

  const read = readLayers({ reading, flags, home, userHome: surroundings.userHome, cwd, repository })
  const requirements = readRequirements(reading, read.all)
  const required = requiredFeatures(requirements)
  const layers = withRequired(read, required)
  const environment = readEnvironment(reading, home, surroundings.env)

  const texts = resolveInstructionTexts(disk, layers.active)
  const memory = readMemory(disk, home, layers.active)
  const agentsFiles = resolveAgentsFiles({ disk, home, cwd, layers })
  const plugins = resolvePlugins(reading, home, layers.active)
  const skills = resolveSkills({
    disk,
    home,
    userHome: surroundings.userHome,
    systemDir,
    layers,
    plugins: plugins.plugins,
  })
  const hooks = resolveHooks({ reading, flags, layers, plugins: plugins.plugins })
  const rules = resolveRules(disk, layers, flags)
  const roles = resolveRoles(reading, layers)
  const mcp = resolveMcp(reading, layers, plugins.plugins, hide)
  const prompts = resolvePrompts(disk, home, flags)
  const policy = resolvePolicy({ layers, flags, requirements, rules: rules.rules })
  const model = chooseModel(layers.active, flags, request.version)

  // In the order of the first request: base prompt, developer part, memory, AGENTS files.
  const loaded = [texts.base, texts.developer, memory.summary, ...agentsFiles.loaded].filter(
    (source) => source !== null,
  )
  const list = new SourceList()
  for (const source of [
    ...loaded,
    ...agentsFiles.leftOut,
    ...texts.leftOut,
    ...memory.others,
    ...read.sources,
    ...requirements.sources,
    ...environment.sources,
    ...credentialSources(reading, home, hide),
    ...skills.sources,
    ...roles.sources,
    ...plugins.sources,
    ...hooks.sources,
    ...rules.sources,
    ...mcp.sources,
    ...prompts.sources,
    ...flagSources(flags),
    ...sideSources(disk, home, layers),
  ])
    list.add(source)
  const all = list.all()
  const order = loaded.map((source) => source.uri)

  const unknown: Unknown[] = [
    ...agentsFiles.unknown,
    ...memory.unknown,
    ...skills.unknown,
    ...hooks.unknown,
    ...rules.unknown,
    ...roles.unknown,
    ...policy.unknown,
    ...requirements.unknown,
    ...model.unknown,
    ...(repository?.unknown ?? []),
    ...all
      .filter((source) => source.status === 'unknown')
      .map((source) => ({ field: `instructions.sources ${source.uri}`, why: source.reason ?? 'unknown' })),
    ...beforeStart(request, flags, repository, mcp.servers.length, texts.base !== null),
  ]
  const external: ManifestBody['external'] = [
    {
      kind: 'model',
      name: model.model ?? 'the default model',
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
  const referred = [...mcp.variables, ...(model.keyVariable === null ? [] : [model.keyVariable])]
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
        effectivePieces({
          base: texts.base?.text ?? null,
          developer: texts.developer?.text ?? null,
          memory: memory.summary?.text ?? null,
          agents: joinAgents(agentsFiles.loaded),
        }),
      ),
      resolved_order: [...new Set(loaded.map((source) => source.scope))],
      sources: all.map((source) => toManifestSource(source, order)),
    },
    settings: mergeSettings(
      [...ownFlagTables(flags).map(flagLayer), ...(required === null ? [] : [required]), ...read.all],
      hide,
    ),
    config_layers: read.all.map(describeLayer),
    capabilities: {
      skills: [...skills.skills],
      commands: [...prompts.commands],
      agents: [...roles.agents],
      plugins: plugins.plugins.map((plugin) => plugin.capability),
      hooks: [...hooks.hooks],
      mcp_servers: [...mcp.servers],
      tools: [],
    },
    execution: {
      runtime: 'codex',
      runtime_version: request.version,
      runtime_digest: null,
      surface: surfaceOf(flags.command),
      model: model.model,
      endpoint_profile: model.provider,
      base_url: model.baseUrl,
      reasoning: model.reasoning,
      flags: [...recordFlags(flags)],
      environment: [...recordEnvironment(environment, referred, hide)],
      sandbox: policy.sandbox,
      cwd,
      project_root: read.projectRoot,
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
      memory_enabled: memory.enabled,
      memory: memory.files.map((file) => ({ ...file })) as ManifestBody['context']['memory'],
      retrieval_snapshot: null,
    },
    policy: policy.policy,
    external,
    empty: [],
    unknown,
  }
  return {
    body: { ...body, empty: explainEmpty(body) },
    texts: new Map(all.map((source): [string, SourceText] => [source.uri, { raw: source.raw, text: source.text }])),
    order,
    problems: [
      ...(disk.isDirectory(cwd) ? [] : [{ path: cwd, message: 'the start directory does not exist' }]),
      ...(disk.isDirectory(home)
        ? []
        : [{ path: home, message: 'the home does not exist; the program does not start' }]),
      ...read.problems,
      ...requirements.problems,
      ...texts.problems,
      ...mcp.problems,
      ...hooks.problems,
      ...rules.problems,
      ...roles.problems,
      ...policy.problems,
    ],
  }
}

/** As session records name it: `cli` for everything interactive. */
const surfaceOf = (command: string | null): string =>
  command === null || command === 'resume' || command === 'fork' ? 'cli' : command

/** A flag with a meaning of its own, as the layer it would be. */
const flagLayer = ({
  origin,
  value,
}: {
  readonly origin: string
  readonly value: Record<string, string>
}): ConfigLayer => ({
  name: 'flags',
  origin,
  folder: null,
  value,
  version: '',
  disabled: null,
  ignored: {},
  hooksFrom: null,
})

/** One line per layer, the highest first, disabled and missing ones too. */
const describeLayer = ({ name, origin, version, disabled }: ConfigLayer) => ({
  name,
  source: origin,
  version,
  disabled,
})

/** A moment between two tries of a torn read; the resolver is synchronous throughout. */
function waitSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds * 4)
}
