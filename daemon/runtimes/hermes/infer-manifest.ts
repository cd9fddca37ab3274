import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { MANIFEST_VERSION, type ManifestBody, type ManifestSource } from '../../../contract/index.ts'
import { type EffectivePiece, effectiveDigest, textDigest } from '../../manifest/effective-text.ts'
import type { StretchEvidence } from '../adapter.ts'
import { asName, asNumber, asRow } from '../shared/fields.ts'
import type { HermesRecord } from './evidence.ts'
import { blockedBy } from './tool-results.ts'

type Unknown = ManifestBody['unknown'][number]
const RULE = 'as the stored system prompt shows it (0.20.0)'

/** URI of what stands before the parts that come from files, and of the skills index in it. */
const HEAD_URI = 'record:system-prompt'
const SKILLS_URI = 'record:skills-index'

/** Pieces of the user's own text in the order of the prompt. What varies by day or by the state of the repository is none of them. */
export function piecesOf({ prompt }: HermesRecord): readonly EffectivePiece[] {
  if (prompt === undefined || prompt.head === null) return []
  return [
    { path: HEAD_URI, label: null, text: prompt.head },
    ...(prompt.skills_index === null ? [] : [{ path: SKILLS_URI, label: null, text: prompt.skills_index }]),
    ...prompt.project.map(({ label, text }) => ({ path: label, label: null, text })),
    ...(prompt.memory === null ? [] : [{ path: 'MEMORY.md', label: null, text: prompt.memory }]),
    ...(prompt.user === null ? [] : [{ path: 'USER.md', label: null, text: prompt.user }]),
  ]
}

export function recordedTexts(
  stretch: StretchEvidence,
): readonly { digest: ReturnType<typeof textDigest>; text: string }[] {
  return piecesOf(stretch.record).map(({ text }) => ({ digest: textDigest(text), text }))
}

/**
 * What a session can still tell of its configuration (R21, R53, R54). The prompt was stored once and is what was sent, also on a resume;
 * files on disk say nothing about it.
 */
export function inferManifest(stretch: StretchEvidence): ManifestBody {
  const record: HermesRecord = stretch.record
  const unknown: Unknown[] = []
  const empty: ManifestBody['empty'] = []
  const instructions = inferInstructions(stretch, record, unknown, empty)
  const capabilities = inferCapabilities(record, unknown, empty)
  if (stretch.startedAt === null)
    unknown.push({
      field: 'created_at',
      why:
        record.local_start === undefined
          ? 'no row carries a time'
          : `the record has local times without a zone only (${record.local_start})`,
    })
  const standing: readonly (readonly [string, string])[] = [
    ['settings', 'config.yaml does not stand in the record'],
    ['principal', 'the account does not stand in the record'],
    ['policy.permissions', 'approvals do not stand in the record, except those of calls that were refused'],
    ['policy.trust', 'the record does not say whether project skills were trusted'],
    ['execution.runtime_version', 'the database names no version of the program'],
    ['execution.runtime_digest', 'the program does not stand in the record'],
    ['execution.flags', 'the command line does not stand in the record'],
    ['execution.environment', 'environment variables do not stand in the record'],
    ['execution.sandbox', 'the record does not say which terminal backend ran the commands'],
    ['execution.repo', 'the record names at most the root and the branch of the repository'],
    ['capabilities.plugins', 'the record does not list plugins'],
    ['capabilities.hooks', 'the record does not list hooks'],
    ['capabilities.mcp_servers', 'only tools named after a server show that it was there'],
  ]
  for (const [field, why] of standing) unknown.push({ field, why })
  if (record.newer_schema === true)
    unknown.push({
      field: 'context.session_ref',
      why: `the database has schema ${record.schema ?? 'unknown'}, newer than any that was read here: columns of it may mean something else`,
    })
  return {
    manifest_version: MANIFEST_VERSION,
    run_id: null,
    stretch: stretch.n,
    created_at: stretch.startedAt ?? '1970-01-01T00:00:00.000Z',
    origin: 'inferred',
    task: { id: null, input_digest: record.prompt_digest ?? null },
    principal: { subject: null, tenant: null, auth_context_ref: null },
    instructions,
    settings: {},
    capabilities,
    execution: inferExecution(stretch, record, unknown),
    context: inferContext(stretch, record, unknown),
    policy: {
      revision: null,
      permissions: { mode: modeOf(record), allow: [], ask: [], deny: [] },
      trust: { trusted: null, source: null },
      managed: [],
    },
    external: inferExternal(record),
    empty,
    unknown,
  }
}

function inferInstructions(
  stretch: StretchEvidence,
  record: HermesRecord,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): ManifestBody['instructions'] {
  const { prompt } = record
  const pieces = piecesOf(record)
  if (prompt === undefined || prompt.head === null) {
    const why =
      prompt === undefined
        ? 'the session has no system prompt yet, or a log that holds none'
        : 'the database names a system prompt it does not hold'
    unknown.push({ field: 'instructions.effective_digest', why }, { field: 'instructions.sources', why })
  } else {
    unknown.push(
      { field: 'instructions.sources', why: 'files that were found and lost the choice leave no trace in the record' },
      {
        field: 'instructions.identity',
        why: 'where SOUL.md ends and the guidance of the program begins does not show in the prompt',
      },
    )
    if (prompt.project.length === 0)
      empty.push({ category: 'instructions', why: 'no project context file entered the system prompt' })
  }
  const sources = pieces.map((piece, position): ManifestSource => sourceOf(stretch, piece, position))
  const lazy = (record.lazy ?? []).map((hint): ManifestSource => {
    const file = stretch.cwd === null ? null : path.posix.join(stretch.cwd, hint.path)
    return {
      ...blank(file === null ? `record:${hint.path}` : uriOf(file), file),
      scope: 'path',
      kind: 'instructions',
      label: hint.path,
      position: null,
      status: hint.blocked === null ? 'lazy' : 'not_loaded',
      reason: hint.blocked === null ? null : `kept out by the security scan (${hint.blocked.join(', ')})`,
      rule: 'appended to the result of the call that touched its directory (0.20.0)',
      text_digest: hint.text_digest,
      trigger: hint.trigger,
      truncated: null,
      scan: { result: hint.blocked === null ? 'clean' : 'rejected', rules: [...(hint.blocked ?? [])] },
      used: true,
      ...(hint.truncated ? { cut: true } : {}),
    }
  })
  return {
    effective_digest: effectiveDigest(pieces),
    resolved_order: [...new Set(sources.map(({ scope }) => scope))],
    sources: [...sources, ...lazy.filter(({ uri }, at, all) => all.findIndex((one) => one.uri === uri) === at)],
  }
}

function sourceOf(stretch: StretchEvidence, { path: shown, text }: EffectivePiece, position: number): ManifestSource {
  const base = { position, status: 'loaded', rule: RULE, text_digest: textDigest(text), used: true } as const
  if (shown === HEAD_URI)
    return {
      ...blank(HEAD_URI, null),
      ...base,
      scope: 'identity',
      kind: 'instructions',
      label: 'identity and guidance',
    }
  if (shown === SKILLS_URI)
    return { ...blank(SKILLS_URI, null), ...base, scope: 'skills', kind: 'skill', label: 'skills index' }
  const memory = shown === 'MEMORY.md' || shown === 'USER.md'
  const file = memory
    ? path.join(stretch.home, 'memories', shown)
    : stretch.cwd === null
      ? null
      : path.posix.join(stretch.cwd, shown)
  const blocked = memory ? null : blockedBy(text.slice(text.indexOf('\n\n') + 2))
  const entries = memory && text.includes('\n[BLOCKED: ')
  return {
    ...blank(file === null ? `record:${shown}` : uriOf(file), file),
    ...base,
    scope: memory ? 'memory' : 'project',
    kind: memory ? 'memory' : 'instructions',
    label: shown,
    reason: blocked === null ? null : `only a note that it was kept out entered (${blocked.join(', ')})`,
    truncated: null,
    ...(/\n\n\[\.\.\.truncated /.test(text) ? { cut: true } : {}),
    scan:
      blocked !== null
        ? { result: 'rejected', rules: [...blocked] }
        : { result: entries ? 'flagged' : 'clean', rules: [] },
  }
}

const blank = (uri: string, file: string | null): ManifestSource => ({
  uri,
  path: file,
  scope: '',
  kind: 'instructions',
  label: null,
  position: null,
  status: 'loaded',
  reason: null,
  rule: null,
  digest: null,
  text_digest: null,
  bytes: null,
  imported_by: [],
  trigger: null,
  truncated: null,
  scan: null,
  used: null,
  classification: 'private',
})

/** The same form as the resolver gives a file; a path of another platform stays as it is shown. */
const uriOf = (file: string): string => (file.startsWith('/') ? pathToFileURL(file).href : `record:${file}`)

function inferCapabilities(
  record: HermesRecord,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): ManifestBody['capabilities'] {
  const usedTools = new Set(record.used_tools ?? [])
  const usedSkills = new Set(record.used_skills ?? [])
  const listed = record.prompt?.head !== undefined && record.prompt.head !== null
  if (!listed) unknown.push({ field: 'capabilities.skills', why: 'there is no system prompt that lists them' })
  else if (record.prompt?.skills.length === 0)
    empty.push({ category: 'skills', why: 'the system prompt lists no skill' })
  if (record.tools === undefined)
    unknown.push({
      field: 'capabilities.tools',
      why: 'the tools of a session are in the database from schema 30 on, before that only in a snapshot or a log',
    })
  else if (record.tools.some(({ schema_digest }) => schema_digest === null))
    unknown.push({ field: 'capabilities.tools.schema_digest', why: 'the record names tools without their definitions' })
  unknown.push(
    {
      field: 'capabilities.commands',
      why: 'Hermes has no command files; slash commands of skills stand among the skills',
    },
    { field: 'capabilities.agents', why: 'a delegated task is described by its call, not by a file' },
  )
  const names = new Set([...(record.tools ?? []).map(({ name }) => name), ...usedTools])
  return {
    skills: (record.prompt?.skills ?? []).map(({ name, description, category }) => ({
      name,
      version: null,
      digest: null,
      source: 'record:system-prompt',
      status: 'active',
      reason: null,
      description,
      used: usedSkills.has(name),
      category,
    })),
    commands: [],
    agents: [],
    plugins: [],
    hooks: [],
    mcp_servers: [],
    tools: [...names].map((name) => ({
      name,
      schema_digest: record.tools?.find((tool) => tool.name === name)?.schema_digest ?? null,
      policy_profile: null,
      removed_by: null,
      used: usedTools.has(name),
    })),
  }
}

function inferExecution(stretch: StretchEvidence, record: HermesRecord, unknown: Unknown[]): ManifestBody['execution'] {
  const config = record.model_config
  const reasoning = config?.reasoning_config
  if (record.model === undefined) unknown.push({ field: 'execution.model', why: 'no row names a model' })
  if (stretch.cwd === null) unknown.push({ field: 'execution.cwd', why: 'no row names a directory' })
  if (record.source === undefined) unknown.push({ field: 'execution.surface', why: 'no row names a platform' })
  if (record.base_url === undefined)
    unknown.push({
      field: 'execution.endpoint_profile',
      why: 'the address of the service is written down with the first call only',
    })
  if (reasoning === undefined || reasoning === null)
    unknown.push({
      field: 'execution.reasoning',
      why: 'the record sets no effort; the default depends on the provider',
    })
  const root = record.git_root ?? null
  return {
    runtime: 'hermes',
    runtime_version: null,
    runtime_digest: null,
    surface: record.source ?? null,
    model: record.model ?? null,
    endpoint_profile: record.base_url === undefined ? null : withoutCredentials(record.base_url),
    reasoning:
      reasoning === undefined || reasoning === null
        ? null
        : (asName(asRow(reasoning)?.effort) ?? JSON.stringify(reasoning)),
    flags: null,
    environment: [],
    sandbox: { mode: null, network_policy: null },
    cwd: stretch.cwd,
    repo:
      root === null
        ? null
        : { root, sha: null, branch: stretch.branch, dirty_digest: null, worktree: null, submodules: [] },
    image: null,
    provider: record.provider ?? null,
    profile: record.profile ?? profileOf(stretch.home),
    ...(config === undefined ? {} : { parameters: parametersOf(config) }),
  }
}

/** A profile is a home of its own below `profiles/` (runtime page 3.1). */
export function profileOf(home: string): string {
  return path.basename(path.dirname(home)) === 'profiles' ? path.basename(home) : 'default'
}

function parametersOf(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { max_iterations, max_tokens, reasoning_config, yolo_mode } = config
  return {
    max_iterations: asNumber(max_iterations),
    max_tokens: asNumber(max_tokens),
    reasoning_config: reasoning_config ?? null,
    yolo_mode: typeof yolo_mode === 'boolean' ? yolo_mode : null,
  }
}

const modeOf = (record: HermesRecord): string | null =>
  typeof record.model_config?.yolo_mode === 'boolean' ? (record.model_config.yolo_mode ? 'yolo' : 'ask') : null

/**
 * The session snapshot is referred to with its prompt, model configuration and parent (R54); messages, tokens and times are the run's.
 * What of it is configuration stands in its own field and is compared there.
 */
function inferContext(stretch: StretchEvidence, record: HermesRecord, unknown: Unknown[]): ManifestBody['context'] {
  const blocks = [
    ['MEMORY.md', record.prompt?.memory ?? null],
    ['USER.md', record.prompt?.user ?? null],
  ] as const
  const shown = blocks.filter(([, text]) => text !== null)
  if (shown.length === 0)
    unknown.push({ field: 'context.memory', why: 'no memory entered the prompt: it may have been empty or off' })
  else unknown.push({ field: 'context.memory.digest', why: 'the prompt holds the entries, not the bytes of the files' })
  return {
    session_ref: stretch.session,
    memory_manifest_digest: null,
    memory_enabled: shown.length > 0 ? true : null,
    memory: shown.map(([name, text]) => ({
      path: path.join(stretch.home, 'memories', name),
      digest: null,
      bytes: null,
      truncated: null,
      local_to_machine: true,
      text_digest: text === null ? null : textDigest(text),
      profile: profileOf(stretch.home),
    })),
    retrieval_snapshot: null,
    session_snapshot: {
      from: record.from ?? null,
      schema: record.schema ?? null,
      system_prompt:
        record.prompt === undefined
          ? null
          : {
              digest: record.prompt.digest === '' ? null : record.prompt.digest,
              hash: record.prompt.hash,
              characters: record.prompt.characters,
              started: record.started_line ?? null,
            },
      model_config: record.model_config ?? null,
      parent_session: record.parent ?? null,
      relation: record.relation ?? null,
    },
  }
}

function inferExternal(record: HermesRecord): ManifestBody['external'] {
  const model = record.model ?? 'the model'
  return [
    {
      kind: 'model',
      name: model,
      state: 'not_captured',
      digest: null,
      reason: 'the model behind a name is not ours to see',
    },
    ...(record.prompt?.workspace === null || record.prompt?.workspace === undefined
      ? []
      : [
          {
            kind: 'git',
            name: 'workspace snapshot at the start of the session',
            state: 'captured' as const,
            digest: textDigest(record.prompt.workspace),
            reason: null,
          },
        ]),
  ]
}

/** An address as it may be shown. */
export function withoutCredentials(url: string): string {
  try {
    const parsed = new URL(url)
    if (parsed.username === '' && parsed.password === '' && parsed.search === '') return url
    parsed.username = ''
    parsed.password = ''
    return parsed.search === '' ? parsed.href : `${parsed.href.slice(0, parsed.href.indexOf('?'))}?…`
  } catch {
    return url.replace(/\/\/[^/@]*@/, '//').replace(/\?.*$/, '?…')
  }
}
