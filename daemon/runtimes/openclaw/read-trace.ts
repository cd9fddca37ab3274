import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { asInstantText, asList, asName, asNames, asNumber, asRow, asText, type Row } from '../shared/fields.ts'
import type { PromptReport, ReportedFile, Trace, TracedPlugin } from './evidence.ts'
import { readListedSkills, readProjectContext } from './project-context.ts'
import { instantOf } from './unit-meta.ts'

/** Trajectory events of one session, in order, as what they say of the configuration of each turn. */
export function readTraces(events: Iterable<Row>): readonly Trace[] {
  const traces: Trace[] = []
  const compiled = new Map<string, Pick<Trace, 'tools' | 'instructions' | 'skills'>>()
  const runs: string[] = []
  for (const event of events) {
    const run = asName(event.runId) ?? ''
    const data = asRow(event.data)
    if (data === null) continue
    if (event.type === 'context.compiled') {
      if (!compiled.has(run)) compiled.set(run, readCompiled(data))
    } else if (event.type === 'trace.metadata') {
      const at = asInstantText(event.ts)
      if (at === null) continue
      traces.push(readTrace(at, data))
      runs.push(run)
    }
  }
  return traces.map((trace, n) => ({ ...trace, ...compiled.get(runs[n] ?? '') }))
}

/** Entries of a long list are replaced by a mark (`[Truncated]`): then it is not the list. */
function readCompiled(data: Row): Pick<Trace, 'tools' | 'instructions' | 'skills'> {
  const prompt = asText(data.systemPrompt)
  const names = asList(data.tools).map((tool) => asName(asRow(tool)?.name))
  const isPrompt = prompt?.includes('## Tooling') === true
  return {
    tools: Array.isArray(data.tools) && !names.includes(null) ? names.filter((name) => name !== null) : null,
    instructions: prompt !== null && isPrompt ? readProjectContext(prompt) : null,
    skills: prompt !== null && isPrompt ? readListedSkills(prompt) : null,
  }
}

function readTrace(at: string, data: Row): Trace {
  const harness = asRow(data.harness)
  const model = asRow(data.model)
  const os = asRow(harness?.os)
  const config = asRow(asRow(data.config)?.redacted)
  return {
    at,
    version: asName(harness?.version),
    git: asName(harness?.gitSha),
    node: asName(asRow(harness?.runtime)?.node),
    platform: os === null ? null : [asName(os.platform), asName(os.arch), asName(os.release)].filter(Boolean).join(' '),
    command: commandOf(asNames(harness?.invocation)),
    provider: asName(model?.provider),
    model: asName(model?.name),
    api: asName(model?.api),
    thinking: asName(model?.thinkLevel),
    fast: typeof model?.fastMode === 'boolean' ? model.fastMode : null,
    config_digest: config === null ? null : digestOf(config),
    tool_policy: config === null ? null : policyOf(asRow(config.tools)),
    plugins: pluginsOf(asRow(data.plugins)),
    tools: null,
    instructions: null,
    skills: null,
  }
}

/** The command line holds the prompt; only what names the way of running is kept, in the words a resolution uses. */
function commandOf(invocation: readonly string[]): string | null {
  const words = invocation.slice(2)
  const first = words.findIndex((word, at) => /^[a-z][a-z-]*$/.test(word) && !(words[at - 1] ?? '').startsWith('--'))
  if (first === -1) return null
  const [command = '', next] = words.slice(first)
  if (command !== 'agent') return command
  return next === 'exec' ? 'agent exec' : words.includes('--local') ? 'agent --local' : 'gateway'
}

function policyOf(tools: Row | null): Trace['tool_policy'] {
  return {
    profile: asName(tools?.profile),
    allow: asNames(tools?.allow),
    also_allow: asNames(tools?.alsoAllow),
    deny: asNames(tools?.deny),
  }
}

/** Null when the list is cut: what is not in it may be loaded all the same. */
function pluginsOf(plugins: Row | null): readonly TracedPlugin[] | null {
  if (plugins === null || !Array.isArray(plugins.entries)) return null
  return plugins.entries.flatMap((item): TracedPlugin[] => {
    const entry = asRow(item)
    const id = asName(entry?.id)
    if (entry === null || id === null) return []
    return [
      {
        id,
        version: asName(entry.version),
        origin: asName(entry.origin),
        activated: entry.activated === true || entry.status === 'loaded',
        reason: asName(entry.activationReason),
        source: asName(entry.source),
      },
    ]
  })
}

/** `systemPromptReport` (runtime page 5.8); null when it is of another shape. */
export function readReport(value: unknown): PromptReport | null {
  const report = asRow(value)
  if (report === null || !Array.isArray(report.injectedWorkspaceFiles)) return null
  const prompt = asRow(report.systemPrompt)
  return {
    at: instantOf(report.generatedAt),
    workspace: asName(report.workspaceDir),
    files: report.injectedWorkspaceFiles.flatMap((item): ReportedFile[] => {
      const file = asRow(item)
      const path = asName(file?.path)
      if (file === null || path === null) return []
      return [
        {
          name: asName(file.name) ?? path,
          path,
          missing: file.missing === true,
          raw: asNumber(file.rawChars) ?? 0,
          injected: asNumber(file.injectedChars) ?? 0,
          truncated: file.truncated === true,
        },
      ]
    }),
    tools: named(asRow(report.tools)?.entries).map(({ name, row }) => {
      const hash = asName(row.schemaHash)
      return { name, schema_digest: hash !== null && /^[0-9a-f]{64}$/.test(hash) ? `sha256:${hash}` : null }
    }),
    skills: named(asRow(report.skills)?.entries).map(({ name }) => name),
    prompt: { characters: asNumber(prompt?.chars), hash: asName(prompt?.hash) },
    max_characters: asNumber(report.bootstrapMaxChars),
    total_max_characters: asNumber(report.bootstrapTotalMaxChars),
    sandbox: asName(asRow(report.sandbox)?.mode),
  }
}

function named(entries: unknown): readonly { readonly name: string; readonly row: Row }[] {
  return asList(entries).flatMap((item) => {
    const row = asRow(item)
    const name = asName(row?.name)
    return row === null || name === null ? [] : [{ name, row }]
  })
}

/** Two turns with equal text here had the same configuration, as far as the trajectory shows it. */
export function fingerprintOf({
  at: _,
  tools: _tools,
  instructions: _texts,
  skills: _skills,
  ...trace
}: Trace): string {
  return JSON.stringify(trace)
}

const digestOf = (value: Row): string =>
  `sha256:${createHash('sha256')
    .update(canonicalize(value) ?? 'null', 'utf8')
    .digest('hex')}`
