import type { ManifestBody, ManifestSource } from '../../../contract/index.ts'
import { asRow } from '../shared/fields.ts'

/**
 * One manifest from what was resolved on the disk when a stretch began and from what its own record says. The record is right about what it
 * shows (version, model, tools and their schemas, which files entered and how much of them); the resolution knows everything else: texts,
 * winners and losers, why something was left out, policy by layer.
 */
export const joinManifest = (resolved: ManifestBody, inferred: ManifestBody): ManifestBody => {
  const { execution: seen } = inferred
  const known = new Set<string>()
  const pick = <T>(field: string, ours: T | null, theirs: T | null): T | null => {
    if (ours !== null) known.add(field)
    return ours ?? theirs
  }
  const execution: ManifestBody['execution'] = {
    ...seen,
    ...resolved.execution,
    runtime_version: pick('execution.runtime_version', seen.runtime_version, resolved.execution.runtime_version),
    surface: pick('execution.surface', seen.surface, resolved.execution.surface),
    model: pick('execution.model', seen.model, resolved.execution.model),
    reasoning: pick('execution.reasoning', seen.reasoning, resolved.execution.reasoning),
    cwd: seen.cwd ?? resolved.execution.cwd,
    // The flags of the resolution were put together from the record, nobody typed them.
    flags: null,
    agent: { ...asRow(resolved.execution.agent), ...asRow(seen.agent) },
  }
  const { tools, skills, plugins } = inferred.capabilities
  const shown = inferred.instructions.effective_digest
  const differs = shown !== null && shown !== resolved.instructions.effective_digest
  const differing = inferred.instructions.sources.flatMap((shown) => differenceOf(shown, resolved.instructions.sources))
  const listed = (field: 'tools' | 'skills' | 'plugins'): boolean =>
    inferred.capabilities[field].length > 0 &&
    !inferred.unknown.some((entry) => entry.field === `capabilities.${field}`)
  for (const field of ['tools', 'skills', 'plugins'] as const) if (listed(field)) known.add(`capabilities.${field}`)
  return {
    ...resolved,
    origin: 'captured',
    created_at: inferred.created_at,
    task: inferred.task,
    instructions: differs ? { ...resolved.instructions, effective_digest: shown } : resolved.instructions,
    execution,
    capabilities: {
      ...resolved.capabilities,
      tools: listed('tools') ? withReasons(tools, resolved.capabilities.tools) : resolved.capabilities.tools,
      skills: listed('skills') ? withDetails(skills, resolved.capabilities.skills) : resolved.capabilities.skills,
      plugins: listed('plugins') ? withDetails(plugins, resolved.capabilities.plugins) : resolved.capabilities.plugins,
    },
    context: { ...inferred.context, ...resolved.context, ...sessionOf(inferred.context, resolved.context) },
    unknown: [
      ...resolved.unknown.filter(({ field }) => !known.has(field)),
      ...(differs
        ? [
            {
              field: 'instructions.sources',
              why: 'the session shows other instruction text than the files gave when they were read a moment later; the effective digest is that of the session',
            },
          ]
        : []),
      ...differing.map((why) => ({ field: 'instructions.sources', why })),
      { field: 'execution.flags', why: 'a session does not name the flags it was started with' },
    ].filter((entry, n, all) => all.findIndex(({ field, why }) => field === entry.field && why === entry.why) === n),
  }
}

/** The session is the record's to name; its scope goes on with what the configuration says of scopes. */
function sessionOf(
  seen: ManifestBody['context'],
  resolved: ManifestBody['context'],
): Record<string, unknown> & Pick<ManifestBody['context'], 'session_ref'> {
  const { session_ref, session_scope, channel } = seen
  const scope = asRow(session_scope)
  return {
    session_ref,
    ...(scope === null ? {} : { session_scope: { ...asRow(resolved.session_scope), ...scope } }),
    ...(channel === undefined ? {} : { channel }),
  }
}

/** What the session had, with what the resolution knows of it, and what the resolution says was removed. */
function withReasons(
  seen: ManifestBody['capabilities']['tools'],
  resolved: ManifestBody['capabilities']['tools'],
): ManifestBody['capabilities']['tools'] {
  const names = new Set(seen.map(({ name }) => name))
  const known = new Map(resolved.map((tool) => [tool.name, tool]))
  return [
    ...seen.map((tool) => ({ ...known.get(tool.name), ...tool })),
    ...resolved.filter((tool) => !names.has(tool.name) && tool.removed_by !== null),
  ]
}

function withDetails(
  seen: ManifestBody['capabilities']['skills'],
  resolved: ManifestBody['capabilities']['skills'],
): ManifestBody['capabilities']['skills'] {
  const names = new Set(seen.map(({ name }) => name))
  return [
    ...seen.map((one) => {
      const found = resolved.find((other) => other.name === one.name && other.status === 'active')
      return found === undefined ? one : { ...found, used: one.used }
    }),
    ...resolved.filter((one) => !names.has(one.name) && one.status !== 'active'),
  ]
}

/** The report of the session against the files as they were read a moment later. */
function differenceOf(shown: ManifestSource, resolved: readonly ManifestSource[]): readonly string[] {
  const found = resolved.find(({ path }) => path === shown.path)
  const ours = shown.injected_chars
  const theirs = found?.injected_chars
  if (shown.status !== 'loaded' && found?.status !== 'loaded') return []
  if (found === undefined)
    return [`${shown.path} entered the context and was not found when the files were read a moment later`]
  if (typeof ours !== 'number' || typeof theirs !== 'number' || ours === theirs) return []
  return [`${ours} characters of ${shown.path} entered the context, ${theirs} when the files were read a moment later`]
}
