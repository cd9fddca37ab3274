import path from 'node:path'
import canonicalize from 'canonicalize'
import { MANIFEST_VERSION, type ManifestBody } from '../../../../contract/index.ts'
import { effectiveDigest } from '../../../manifest/effective-text.ts'
import type { Resolution, ResolveRequest, SourceText } from '../../adapter.ts'
import { bytesDigest, isInside, openDisk } from '../../shared/disk.ts'
import { findRepository } from '../../shared/repo.ts'
import { resolveCapabilities } from './capabilities.ts'
import { isOn, readEnvironment, recordEnvironment } from './environment.ts'
import { flagSources, recordFlags } from './flag-sources.ts'
import { parseFlags } from './flags.ts'
import { resolveHooks } from './hooks.ts'
import { ancestorsOf } from './instruction-places.ts'
import { resolveInstructions } from './instructions.ts'
import type { JsonReading } from './json-file.ts'
import { beforeStart, explainEmpty, stateSettings, toManifestSource, type Unknown } from './manifest-parts.ts'
import { resolveMcp } from './mcp.ts'
import { readMemory } from './memory.ts'
import { credentialSources, outsideFiles, unexercisedSources } from './outside.ts'
import { managedDirectory, memoryDirectory, stateFilePath } from './places.ts'
import { AGENTS_FILE_PLUGIN, resolvePlugins } from './plugins.ts'
import { resolvePolicy } from './policy.ts'
import { listOf, mergeSettings, readSettings, scalarOf } from './settings.ts'
import { SourceList } from './sources.ts'
import { readStateFile } from './state-file.ts'
import {
  addedDirectories,
  agentsOfFlag,
  chooseModel,
  endpoint,
  readNarrowing,
  textOrNull,
  whyInstructionsOff,
  whyMemoryOff,
} from './switches.ts'

export { matchLazy } from './lazy.ts'

/**
 * The configuration that would be in force if Claude Code started in `cwd` now. Reads files only: no process runs, nothing is written.
 * What cannot be read or is not known stands in `unknown` or as a source with status `unknown`; it is never left out.
 */
export function resolveClaudeCode(request: ResolveRequest): Resolution {
  const { surroundings } = request
  const managedDir = managedDirectory(surroundings.platform)
  const disk = openDisk(surroundings.systemRoot, managedDir, request.overlay)
  const reading: JsonReading = { disk, pause: waitSync }
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
      .filter((directory) => repository === null || isInside(directory, repository.top)),
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
    problems: [
      ...(disk.isDirectory(cwd) ? [] : [{ path: cwd, message: 'the start directory does not exist' }]),
      ...state.problems,
      ...settings.problems,
      ...mcp.problems,
      ...plugins.problems,
    ],
  }
}

const withoutRepeats = (list: readonly string[]): string[] => [...new Set(list)]

/** A moment between two tries of a torn read; the resolver is synchronous throughout. */
function waitSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds * 4)
}
