import type { ManifestBody, RunStatus, RunUse } from '../../../contract/index.ts'
import type { EventFact } from './events.ts'
import { isInside } from './inside.ts'
import { knowledgeOf } from './knowledge.ts'
import { looksLikeTest } from './test-commands.ts'
import { collectUse, isDeclared, mcpServerOf, mcpToolOf, sameModel, sameServer, type Used } from './use.ts'

export interface UsedRun {
  readonly id: string
  readonly status: RunStatus
  /** Versions its records name, in order of appearance. */
  readonly versions: readonly string[]
  readonly events: readonly EventFact[]
  readonly stretches: readonly { readonly n: number; readonly digest: string; readonly body: ManifestBody }[]
  /** Stretches without a manifest. */
  readonly unfrozen: number
}

type Mismatch = RunUse['mismatches'][number]

/** What a run used of what its manifests declare, where it differs from them, and how it ended. Works for failed runs too (R92–R98). */
export const describeUse = (run: UsedRun): RunUse => {
  const { events, stretches } = run
  const use = collectUse(events)
  const bodies = stretches.map(({ body }) => body)
  const last = bodies.at(-1) ?? null
  return {
    run: run.id,
    manifests: stretches.map(({ digest }) => digest),
    used: use.items
      .filter(({ name }) => !/^<.*>$/.test(name))
      .map((item) => ({
        kind: item.kind,
        name: item.name,
        declared: declaredIn(bodies, item),
        times: item.times,
        first_seq: item.first,
        version: versionOf(last, item),
      })),
    unused: unusedOf(last, use.items),
    mismatches: mismatchesOf(run, use.items),
    reconciled: {
      state: run.status === 'running' || run.status === 'open' ? 'open' : run.status === 'failed' ? 'failed' : 'done',
      final: finalEffects(events),
      tests: events.flatMap((event) =>
        event.kind === 'tool' && event.tool !== null && runsCommands(event.tool) && looksLikeTest(event.summary)
          ? [{ seq: event.seq, command: event.summary, ok: event.ok }]
          : [],
      ),
      effects: events.flatMap(({ seq, id, kind, effects }) => (effects.length > 0 ? [{ seq, id, kind }] : [])),
      models: use.items.filter(({ kind, name }) => kind === 'model' && !/^<.*>$/.test(name)).map(({ name }) => name),
      tools: use.items
        .filter(({ kind }) => kind === 'tool' || kind === 'mcp tool')
        .map((item) => ({ name: item.name, schema_digest: versionOf(last, item) })),
      policy_revision: last?.policy.revision ?? null,
    },
    steps: stepsOf(run, last),
    unknown: unknownsOf(run, last),
  }
}

const runsCommands = (tool: string): boolean => /bash|shell|exec|command|terminal|process|run/i.test(tool)

const declaredIn = (bodies: readonly ManifestBody[], { kind, name }: Used): boolean | null => {
  const answers = bodies.map((body) => {
    const knowledge = knowledgeOf(body)
    return isDeclared(body, kind, name, (plain) => knowledge.why(plain, false) !== null)
  })
  if (answers.includes(true)) return true
  return answers.length === 0 || answers.includes(null) ? null : false
}

/** The digest of a tool's schema, or of what was invoked, where the manifest holds one. */
const versionOf = (body: ManifestBody | null, { kind, name }: Used): string | null => {
  if (body === null) return null
  const { tools, mcp_servers, skills, plugins, agents, commands } = body.capabilities
  switch (kind) {
    case 'tool':
    case 'mcp tool': {
      const own = tools.find((tool) => tool.name === name)?.schema_digest
      if (own) return own
      const server = mcp_servers.find((one) => sameServer(mcpServerOf(name) ?? '', one.name))
      return server?.tools?.find((tool) => tool.name === mcpToolOf(name))?.schema_digest ?? null
    }
    case 'skill':
    case 'command':
    case 'plugin':
    case 'agent': {
      const found = [...skills, ...commands, ...plugins, ...agents].find(
        (one) => one.name === name || one.name.replace(/@.*$/, '') === name,
      )
      return found?.version ?? found?.digest ?? null
    }
    default:
      return null
  }
}

const unusedOf = (body: ManifestBody | null, used: readonly Used[]): RunUse['unused'] => {
  if (body === null) return []
  const { skills, commands, agents, plugins, hooks, tools, mcp_servers } = body.capabilities
  const names = (kinds: readonly Used['kind'][]): readonly string[] =>
    used.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name)
  const active = (list: readonly { readonly name: string; readonly status: string }[]): readonly string[] =>
    list.filter(({ status }) => status === 'active' || status === 'lazy').map(({ name }) => name)
  const [usedSkills, usedAgents, usedPlugins, usedHooks, usedTools] = [
    names(['skill', 'command']),
    names(['agent']),
    names(['plugin']),
    names(['hook']),
    names(['tool', 'mcp tool']),
  ]
  const left = (kind: string, declared: readonly string[], isUsed: (name: string) => boolean): RunUse['unused'] =>
    [...new Set(declared)].filter((name) => !isUsed(name)).map((name) => ({ kind, name }))
  return [
    ...left('skill', active(skills), (name) => usedSkills.includes(name)),
    ...left('command', active(commands), (name) => usedSkills.includes(name)),
    ...left('agent', active(agents), (name) => usedAgents.some((one) => one.startsWith(name))),
    ...left(
      'plugin',
      active(plugins),
      (name) =>
        usedPlugins.includes(name.replace(/@.*$/, '')) ||
        usedSkills.some((one) => one.startsWith(`${name.replace(/@.*$/, '')}:`)),
    ),
    ...left('hook', active(hooks), (name) => usedHooks.some((one) => one.split(/[: ]/)[0] === name.split(/[: ]/)[0])),
    ...left('mcp server', active(mcp_servers), (name) =>
      usedTools.some(
        (tool) =>
          sameServer(mcpServerOf(tool) ?? '', name) || sameServer(mcpServerOf(tool) ?? '', name.replaceAll(':', '_')),
      ),
    ),
    ...left(
      'tool',
      tools.map(({ name }) => name),
      (name) => usedTools.includes(name),
    ),
    ...left('rule', lazyRules(body), (name) => names(['rule', 'instructions', 'memory']).includes(name)),
  ]
}
const lazyRules = ({ instructions }: ManifestBody): readonly string[] =>
  instructions.sources
    .filter(({ status, kind }) => status === 'lazy' && (kind === 'rule' || kind === 'instructions'))
    .map(({ path, uri }) => path ?? uri)

/** Where the run was not what its manifest says (R98). */
const mismatchesOf = ({ events, stretches, versions }: UsedRun, used: readonly Used[]): Mismatch[] => {
  const found: Mismatch[] = []
  const seen = new Set<string>()
  const add = (mismatch: Mismatch): void => {
    const key = `${mismatch.what}\0${mismatch.declared}\0${mismatch.actual}`
    if (!seen.has(key)) found.push(mismatch)
    seen.add(key)
  }
  const byStretch = new Map(stretches.map(({ n, body }) => [n, body]))
  for (const event of events) {
    const body = byStretch.get(event.stretch)
    if (!body) continue
    const { model, cwd } = body.execution
    if (event.model !== null && model !== null && !/^<.*>$/.test(event.model) && !sameModel(model, event.model))
      add({
        what: 'model',
        declared: model,
        actual: event.model,
        seq: event.seq,
        message: `the manifest names ${model}, ${event.model} answered`,
      })
    if (event.cwd !== null && cwd !== null && !isInside(event.cwd, cwd))
      add({
        what: 'working directory',
        declared: cwd,
        actual: event.cwd,
        seq: event.seq,
        message: `started in ${cwd}, at work in ${event.cwd}`,
      })
  }
  for (const { body } of stretches) {
    const knowledge = knowledgeOf(body)
    const { runtime_version } = body.execution
    if (runtime_version !== null && versions.length > 0 && !versions.includes(runtime_version))
      add({
        what: 'program version',
        declared: runtime_version,
        actual: versions.join(', '),
        seq: null,
        message: `the manifest names version ${runtime_version}, the records ${versions.join(', ')}`,
      })
    if (knowledge.why('capabilities.tools', false) === null && body.capabilities.tools.length > 0)
      for (const item of used)
        if (
          (item.kind === 'tool' || item.kind === 'mcp tool') &&
          !stretches.some(({ body: other }) => other.capabilities.tools.some(({ name }) => name === item.name))
        )
          add({
            what: 'tool',
            declared: null,
            actual: item.name,
            seq: item.first,
            message: `${item.name} was called and is not among the tools of the manifest`,
          })
    const other = body.unknown.find(
      ({ field, why }) => field === 'instructions.sources' && /other instruction text/.test(why),
    )
    if (other)
      add({
        what: 'instructions',
        declared: null,
        actual: body.instructions.effective_digest ?? 'unknown',
        seq: null,
        message: other.why,
      })
  }
  return found
}

/** Every path that was changed, with its last known content. */
const finalEffects = (events: readonly EventFact[]): RunUse['reconciled']['final'] => {
  const last = new Map<string, RunUse['reconciled']['final'][number]>()
  for (const { seq, effects } of events)
    for (const { path, change, after } of effects) {
      const before = last.get(path)
      last.set(path, {
        path,
        change: before?.change === 'add' && change === 'change' ? 'add' : change,
        after: change === 'delete' ? null : after,
        seq,
      })
    }
  return [...last.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

const stepsOf = ({ status, stretches, unfrozen, events }: UsedRun, last: ManifestBody | null): RunUse['steps'] => {
  const inferred = last?.origin === 'inferred'
  const none = last === null ? 'no manifest was made for this run' : null
  const over = status !== 'running' && status !== 'open'
  const open = over ? null : 'the run goes on'
  const fromRecord = 'only what the record of the run shows; the files were not looked at when it began'
  return [
    {
      step: 'discover',
      state: none ? 'not_possible' : inferred ? 'partial' : 'done',
      why: none ?? (inferred ? fromRecord : null),
    },
    {
      step: 'resolve',
      state: none ? 'not_possible' : inferred || (last?.unknown.length ?? 0) > 0 ? 'partial' : 'done',
      why:
        none ??
        (inferred
          ? fromRecord
          : (last?.unknown.length ?? 0) > 0
            ? `${last?.unknown.length} fields are not known`
            : null),
    },
    {
      step: 'validate',
      state: none ? 'not_possible' : notScanned(last) > 0 ? 'partial' : 'done',
      why: none ?? (notScanned(last) > 0 ? `${notScanned(last)} texts were not at hand to be scanned` : null),
    },
    {
      step: 'freeze',
      state: none ? 'failed' : unfrozen > 0 ? 'partial' : 'done',
      why: none ?? (unfrozen > 0 ? `${unfrozen} of ${unfrozen + stretches.length} stretches have no manifest` : null),
    },
    {
      step: 'execute',
      state: status === 'failed' ? 'failed' : over ? 'done' : 'open',
      why: status === 'failed' ? 'the run ended with an error' : open,
    },
    { step: 'use', state: over ? 'done' : 'open', why: open },
    {
      step: 'reconcile',
      state: !over ? 'open' : events.some(hidesEffects) ? 'partial' : 'done',
      why:
        open ?? (events.some(hidesEffects) ? 'commands may have changed files without leaving it in the record' : null),
    },
  ]
}
const notScanned = (body: ManifestBody | null): number =>
  (body?.instructions.sources ?? []).filter(({ scan, position }) => position !== null && scan?.result === 'not_scanned')
    .length
const hidesEffects = ({ kind, tool, effects }: EventFact): boolean =>
  kind === 'tool' && tool !== null && runsCommands(tool) && effects.length === 0

const unknownsOf = (run: UsedRun, last: ManifestBody | null): RunUse['unknown'] => {
  const unknown: RunUse['unknown'] = []
  if (last === null) return [{ field: 'manifests', why: 'no manifest was made for this run' }]
  if (run.unfrozen > 0) unknown.push({ field: 'manifests', why: `${run.unfrozen} stretches have no manifest` })
  for (const { field, why } of last.unknown)
    if (/^capabilities\.|^instructions\.sources$|^execution\.(model|runtime_version|cwd)$/.test(field))
      unknown.push({ field, why })
  return unknown
}
