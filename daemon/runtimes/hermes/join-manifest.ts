import type { ManifestBody } from '../../../contract/index.ts'

/**
 * One manifest from what was resolved on disk when a session began and from what the session stored. The stored prompt is right about the
 * text that entered (runtime page 1); the resolution knows everything else: which files lost and why, settings, plugins, hooks, servers.
 */
export function joinManifest(resolved: ManifestBody, inferred: ManifestBody): ManifestBody {
  const seen = inferred.execution
  const known = new Set<string>()
  const pick = <T>(field: string, ours: T | null, theirs: T | null): T | null => {
    if (ours !== null) known.add(field)
    return ours ?? theirs
  }
  const execution: ManifestBody['execution'] = {
    ...resolved.execution,
    ...Object.fromEntries(
      ['parameters', 'profile'].flatMap((key) => (seen[key] === undefined ? [] : [[key, seen[key]]])),
    ),
    provider: seen.provider ?? resolved.execution.provider ?? null,
    surface: pick('execution.surface', seen.surface, resolved.execution.surface),
    model: pick('execution.model', seen.model, resolved.execution.model),
    endpoint_profile: pick('execution.endpoint_profile', seen.endpoint_profile, resolved.execution.endpoint_profile),
    reasoning: pick('execution.reasoning', seen.reasoning, resolved.execution.reasoning),
    cwd: seen.cwd ?? resolved.execution.cwd,
  }
  const tools = inferred.capabilities.tools.length > 0 ? inferred.capabilities.tools : resolved.capabilities.tools
  if (tools.some(({ schema_digest }) => schema_digest !== null)) known.add('capabilities.tools')
  const instructions = joinInstructions(resolved.instructions, inferred.instructions)
  if (inferred.instructions.effective_digest !== null) known.add('instructions.system_prompt')
  return {
    ...resolved,
    origin: 'captured',
    stretch: inferred.stretch,
    created_at: inferred.created_at,
    task: inferred.task,
    instructions: instructions.body,
    execution,
    capabilities: {
      ...resolved.capabilities,
      tools,
      skills: withUse(resolved.capabilities.skills, inferred.capabilities.skills),
    },
    context: {
      ...resolved.context,
      session_snapshot: inferred.context.session_snapshot,
      session_ref: inferred.context.session_ref,
    },
    policy: {
      ...resolved.policy,
      permissions: {
        ...resolved.policy.permissions,
        mode: inferred.policy.permissions.mode ?? resolved.policy.permissions.mode,
      },
    },
    external: [...resolved.external, ...inferred.external.filter(({ kind }) => kind === 'git')],
    unknown: [
      ...resolved.unknown.filter(({ field }) => !known.has(field)),
      ...instructions.differs.map((uri) => ({
        field: `instructions.sources ${uri}`,
        why: 'the session shows another text of it than the file gave when it was read a moment later; the digest is that of the session',
      })),
      { field: 'execution.flags', why: 'a session does not name the flags it was started with' },
    ].filter((entry, n, all) => all.findIndex(({ field }) => field === entry.field) === n),
  }
}

/** Sources stay those of the disk; where the prompt shows the same file, its text is the one that entered. */
function joinInstructions(
  resolved: ManifestBody['instructions'],
  inferred: ManifestBody['instructions'],
): { readonly body: ManifestBody['instructions']; readonly differs: readonly string[] } {
  if (inferred.effective_digest === null) return { body: resolved, differs: [] }
  const shown = new Map(inferred.sources.map((source) => [source.uri, source]))
  const differs: string[] = []
  const sources = resolved.sources.map((source) => {
    const seen = shown.get(source.uri)
    shown.delete(source.uri)
    if (seen === undefined || seen.text_digest === null) {
      const isText = source.kind === 'instructions' || source.kind === 'memory'
      if (source.status !== 'loaded' || !isText || source.scope === 'identity') return source
      differs.push(source.uri)
      return {
        ...source,
        status: 'not_loaded' as const,
        position: null,
        reason: 'it is on disk and does not stand in the prompt of the session',
      }
    }
    if (seen.text_digest !== source.text_digest) differs.push(source.uri)
    return {
      ...source,
      text_digest: seen.text_digest,
      status: seen.status,
      scan: seen.scan ?? source.scan,
      trigger: seen.trigger ?? source.trigger,
      used: true,
    }
  })
  return {
    body: {
      ...resolved,
      effective_digest: inferred.effective_digest,
      sources: [...sources, ...shown.values()],
    },
    differs,
  }
}

/** Skills as they were on disk, marked with whether the session asked for them. */
function withUse(
  resolved: ManifestBody['capabilities']['skills'],
  inferred: ManifestBody['capabilities']['skills'],
): ManifestBody['capabilities']['skills'] {
  const used = new Map(inferred.map(({ name, used }) => [name, used]))
  return resolved.map((skill) =>
    skill.status === 'active' ? { ...skill, used: used.get(skill.name) ?? skill.used } : skill,
  )
}
