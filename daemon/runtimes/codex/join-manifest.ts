import type { ManifestBody } from '../../../contract/index.ts'

/**
 * One manifest from what was resolved on the disk when a stretch began and from what its own record says a moment later. The record is
 * right about what it shows: version, surface, model, sandbox, approvals, commit, the AGENTS.md text that entered; the resolution knows
 * the rest: layers and who won, what was not loaded and why, trust, hooks, rules.
 */
export function joinManifest(resolved: ManifestBody, inferred: ManifestBody): ManifestBody {
  const known = new Set<string>()
  const pick = <T>(field: string, ours: T | null, theirs: T | null): T | null => {
    if (ours !== null) known.add(field)
    return ours ?? theirs
  }
  const { execution: seen } = inferred
  const shown = inferred.instructions.effective_digest
  // Without a digest the record either shows that nothing entered, or does not show what did.
  const tells = !inferred.unknown.some(({ field }) => field === 'instructions.effective_digest')
  const differs = tells && resolved.instructions.effective_digest !== shown
  const execution: ManifestBody['execution'] = {
    ...resolved.execution,
    ...extrasOf(seen),
    runtime_version: pick('execution.runtime_version', seen.runtime_version, resolved.execution.runtime_version),
    surface: pick('execution.surface', seen.surface, resolved.execution.surface),
    model: pick('execution.model', seen.model, resolved.execution.model),
    endpoint_profile: pick('execution.endpoint_profile', endpoint(seen, resolved.execution), null),
    reasoning: pick('execution.reasoning', seen.reasoning, resolved.execution.reasoning),
    cwd: seen.cwd ?? resolved.execution.cwd,
    sandbox: pick('execution.sandbox', seen.sandbox.mode, null) === null ? resolved.execution.sandbox : seen.sandbox,
    repo: joinRepo(resolved.execution.repo, seen.repo),
  }
  const defined = inferred.capabilities.tools.some(({ schema_digest }) => schema_digest !== null)
  const tools =
    defined || resolved.capabilities.tools.length === 0 ? inferred.capabilities.tools : resolved.capabilities.tools
  if (defined) known.add('capabilities.tools')
  const mode = pick('policy.permissions.mode', inferred.policy.permissions.mode, resolved.policy.permissions.mode)
  return {
    ...resolved,
    origin: 'captured',
    created_at: inferred.created_at,
    task: inferred.task,
    instructions: differs ? { ...resolved.instructions, effective_digest: shown } : resolved.instructions,
    execution,
    capabilities: { ...resolved.capabilities, tools },
    context: {
      ...resolved.context,
      session_ref: inferred.context.session_ref,
      ...('lineage' in inferred.context ? { lineage: inferred.context.lineage } : {}),
    },
    policy: { ...resolved.policy, permissions: { ...resolved.policy.permissions, mode } },
    unknown: [
      ...resolved.unknown.filter(({ field }) => !known.has(field)),
      ...(differs
        ? [
            {
              field: 'instructions.sources',
              why: 'the session shows other AGENTS.md text than the files gave when they were read a moment later; the effective digest is that of the session',
            },
          ]
        : []),
      ...inferred.unknown.filter(({ field }) => field === 'stretch'),
      { field: 'execution.flags', why: 'a session does not name the flags it was started with' },
    ].filter((entry, n, all) => all.findIndex(({ field }) => field === entry.field) === n),
  }
}

/** The record names the provider; the configuration also knows its address, when it is the same. */
function endpoint(seen: ManifestBody['execution'], resolved: ManifestBody['execution']): string | null {
  const name = seen.endpoint_profile
  const known = resolved.endpoint_profile
  return name === null || known?.startsWith(`${name} `) === true ? known : name
}

/** What only a record tells of an execution. */
function extrasOf(seen: ManifestBody['execution']): Record<string, unknown> {
  const extras: Record<string, unknown> = {}
  for (const key of ['client', 'history_mode', 'platform', 'system_prompt_digest', 'parameters'])
    if (key in seen) extras[key] = seen[key]
  return extras
}

/** The record names the commit of the moment the thread began; the disk knows the tree around it. */
function joinRepo(
  resolved: ManifestBody['execution']['repo'],
  seen: ManifestBody['execution']['repo'],
): ManifestBody['execution']['repo'] {
  if (resolved === null || seen === null) return resolved ?? seen
  return { ...resolved, sha: seen.sha ?? resolved.sha, branch: seen.branch ?? resolved.branch }
}
