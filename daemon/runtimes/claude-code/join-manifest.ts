import type { ManifestBody } from '../../../contract/index.ts'

/**
 * One manifest from what was resolved on the disk when a stretch began and from what its own record says a moment later. The record is
 * right about what it shows (version, model, tools, the text that entered); the resolution knows everything else: winners and losers,
 * what was not loaded and why, permissions, trust.
 */
export const joinManifest = (resolved: ManifestBody, inferred: ManifestBody): ManifestBody => {
  const { execution: seen } = inferred
  const shown = inferred.instructions.effective_digest
  const differs = shown !== null && resolved.instructions.effective_digest !== shown
  const known = new Set<string>()
  const pick = <T>(field: string, ours: T | null, theirs: T | null): T | null => {
    if (ours !== null) known.add(field)
    return ours ?? theirs
  }
  const execution: ManifestBody['execution'] = {
    ...resolved.execution,
    runtime_version: pick('execution.runtime_version', seen.runtime_version, resolved.execution.runtime_version),
    surface: pick('execution.surface', seen.surface, resolved.execution.surface),
    model: pick('execution.model', seen.model, resolved.execution.model),
    reasoning: pick('execution.reasoning', seen.reasoning, resolved.execution.reasoning),
    cwd: seen.cwd ?? resolved.execution.cwd,
    // What only the record of a run shows.
    ...pickKnown(seen, ['requested_model', 'parameters', 'platform', 'system_prompt_digest']),
  }
  if (seen.system_prompt_digest !== undefined) known.add('instructions.system_prompt')
  const tools = inferred.capabilities.tools.length > 0 ? inferred.capabilities.tools : resolved.capabilities.tools
  // A list of the tools that were called is not the list of those there were.
  const toolsUnknown = inferred.unknown.filter(({ field }) => field === 'capabilities.tools')
  if (inferred.capabilities.tools.length > 0) known.add('capabilities.tools')
  return {
    ...resolved,
    origin: 'captured',
    created_at: inferred.created_at,
    task: inferred.task,
    instructions: differs ? { ...resolved.instructions, effective_digest: shown } : resolved.instructions,
    execution,
    capabilities: { ...resolved.capabilities, tools },
    external: [...resolved.external, ...inferred.external],
    context: { ...resolved.context, session_ref: inferred.context.session_ref },
    policy: {
      ...resolved.policy,
      permissions: {
        ...resolved.policy.permissions,
        mode: inferred.policy.permissions.mode ?? resolved.policy.permissions.mode,
      },
    },
    unknown: [
      ...resolved.unknown.filter(({ field }) => !known.has(field)),
      ...(known.has('capabilities.tools') ? toolsUnknown : []),
      ...(differs
        ? [
            {
              field: 'instructions.sources',
              why: 'the session shows other instruction text than the files gave when they were read a moment later; the effective digest is that of the session',
            },
          ]
        : []),
      { field: 'execution.flags', why: 'a session does not name the flags it was started with' },
    ].filter((entry, n, all) => all.findIndex(({ field }) => field === entry.field) === n),
  }
}

const pickKnown = (from: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])))
