import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import canonicalize from 'canonicalize'
import { claudeCode } from '../../../daemon/runtimes/claude-code/index.ts'
import { sessionFile } from '../sessions.ts'
import type { RunOptions, World } from './plants.ts'

type Row = Readonly<Record<string, unknown>>

export type Deed =
  | { readonly say: string }
  | { readonly read: string; readonly brings?: string }
  | { readonly write: string; readonly content: string }
  | { readonly bash: string; readonly output: string; readonly failed?: boolean }
  | { readonly skill: string }
  | { readonly call: string; readonly input: Row }

export interface ClaudeRun extends RunOptions {
  readonly n: number
  readonly prompt: string
  readonly deeds: readonly Deed[]
}

const TOOLS = ['Bash', 'Edit', 'Read', 'Skill', 'Write']
const DEFAULT_MODEL = 'claude-opus-5-5'

/**
 * A session on disk as Claude Code 2.1.332 leaves it (runtime page 4 and 5): start attachments with the files that really lie in the tree,
 * the shape of the request, one row for each answer and result. Written in one go, begun now, as a daemon that watches would meet it.
 */
export const writeClaudeRun = ({ home }: World, cwd: string, run: ClaudeRun): string => {
  const session = `5e550000-0000-4000-8000-${String(run.n).padStart(12, '0')}`
  const version = run.version ?? '2.1.332'
  const model = run.model ?? DEFAULT_MODEL
  const rows: Row[] = []
  let leaf: string | null = null
  let clock = Date.now() - 2000
  let count = 0
  const id = (kind: string): string => {
    count += 1
    return `${kind}${String(run.n).padStart(4, '0')}-0000-4000-8000-${String(count).padStart(12, '0')}`
  }
  const add = (row: Row): string => {
    const uuid = id('aaaa')
    clock += 10
    rows.push({
      parentUuid: leaf,
      isSidechain: false,
      ...row,
      uuid,
      timestamp: new Date(clock).toISOString(),
      userType: 'external',
      entrypoint: 'sdk-cli',
      cwd,
      sessionId: session,
      version,
      gitBranch: 'main',
    })
    leaf = uuid
    return uuid
  }
  const attach = (attachment: Row, rendered?: string): void => {
    add({
      attachment,
      type: 'attachment',
      ...(rendered === undefined ? {} : { rendered: [{ content: rendered }], renderedRole: 'user' }),
    })
  }
  const answer = (block: Row): void => {
    add({
      type: 'assistant',
      requestedModel: model,
      effort: 'medium',
      message: {
        id: id('msg_'),
        type: 'message',
        role: 'assistant',
        model,
        content: [block],
        stop_reason: block.type === 'tool_use' ? 'tool_use' : 'end_turn',
        usage: { input_tokens: 10, output_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 3 },
      },
    })
  }
  const call = (name: string, input: Row, content: string, result: unknown, failed = false): void => {
    const use = id('toolu_')
    answer({ type: 'tool_use', id: use, name, input })
    add({
      type: 'user',
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: use, content, ...(failed ? { is_error: true } : {}) }],
      },
      toolUseResult: result,
    })
  }

  add({ type: 'user', message: { role: 'user', content: run.prompt }, permissionMode: 'default' })
  const loaded = loadedFiles(home, cwd, version)
  attach({
    type: 'environment',
    snapshot: {
      workingDirectory: cwd,
      isWorktree: false,
      isGitRepo: true,
      platform: 'linux',
      shell: 'bash',
      osVersion: 'Linux 6.1.0',
    },
  })
  attach({ type: 'model', identity: { modelId: model } })
  if (loaded.length > 0) {
    const shown = loaded
      .map(({ path: file, label, content }) => `Contents of ${file} (${label}):\n\n${content}`)
      .join('\n\n')
    attach(
      {
        type: 'instructions',
        files: loaded.map(({ path: file, type, content, isRule }) => ({ path: file, type, content, isRule })),
      },
      `<vendor text>\n\n${shown}`,
    )
  }
  attach({ type: 'session_context', context: { gitStatus: statusShown(cwd) } })
  const tools = [...TOOLS, ...(run.mcpTools ?? [])].map((name) => ({
    name,
    description: `<what ${name} does>`,
    input_schema: { type: 'object' },
  }))
  const shape = { system: [{ type: 'text', text: '<system prompt>' }], tools }
  const shapeHash = createHash('sha256')
    .update(canonicalize(shape) ?? '')
    .digest('hex')
  const at = new Date(clock).toISOString()
  rows.push({ type: 'api-request-shape', sessionId: session, shapeHash, timestamp: at, version, shape })
  rows.push({
    type: 'api-request',
    sessionId: session,
    id: id('bbbb'),
    timestamp: at,
    version,
    querySource: 'sdk',
    shapeHash,
    params: { model, max_tokens: 128_000 },
    keep: 0,
    tail: [],
  })
  for (const deed of run.deeds) {
    if ('say' in deed) answer({ type: 'text', text: deed.say })
    else if ('read' in deed) {
      const content = fs.readFileSync(deed.read, 'utf8')
      call('Read', { file_path: deed.read }, content, {
        type: 'text',
        file: { filePath: deed.read, content, numLines: 1, startLine: 1, totalLines: 1 },
      })
      if (deed.brings !== undefined) {
        const raw = fs.readFileSync(deed.brings, 'utf8')
        const text = raw.replace(/^---\n[\s\S]*?\n---\n/, '')
        attach({
          type: 'nested_memory',
          path: deed.brings,
          content: {
            path: deed.brings,
            type: 'Project',
            content: text,
            contentDiffersFromDisk: text !== raw,
            rawContent: raw,
            isRule: deed.brings.includes('/rules/'),
          },
          displayPath: path.relative(cwd, deed.brings),
        })
      }
    } else if ('write' in deed) {
      fs.mkdirSync(path.dirname(deed.write), { recursive: true })
      const before = fs.existsSync(deed.write) ? fs.readFileSync(deed.write, 'utf8') : null
      fs.writeFileSync(deed.write, deed.content)
      call('Write', { file_path: deed.write, content: deed.content }, 'written', {
        type: before === null ? 'create' : 'update',
        filePath: deed.write,
        content: deed.content,
        structuredPatch: [],
        originalFile: before,
      })
    } else if ('bash' in deed)
      call(
        'Bash',
        { command: deed.bash },
        deed.output,
        deed.failed ? `Error: ${deed.output}` : { stdout: deed.output, stderr: '', interrupted: false },
        deed.failed,
      )
    else if ('skill' in deed)
      call('Skill', { skill: deed.skill }, 'launched', { success: true, commandName: deed.skill })
    else call(deed.call, deed.input, '<answer of the server>', {})
  }
  const file = sessionFile(home, { session, cwd, startedAt: at })
  fs.mkdirSync(path.dirname(file), { recursive: true })
  // In one step, so that the daemon meets a session whose start is complete.
  fs.writeFileSync(`${file}.part`, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  fs.renameSync(`${file}.part`, file)
  return session
}

/** The state of the work tree as the program tells it its model, with a placeholder for the vendor's words. */
const statusShown = (cwd: string): string => {
  const told = execFileSync('git', ['status', '--short'], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  })
  const log = execFileSync('git', ['log', '--oneline', '-5'], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  })
  return `<vendor text>\n\nCurrent branch: main\n\nStatus:\n${told.trimEnd() || '(clean)'}\n\nRecent commits:\n${log.trimEnd()}`
}

/** What the program would load for a start here; that this is what it loads is held by the tests against the real program. */
const loadedFiles = (home: string, cwd: string, version: string) => {
  const resolution = claudeCode.resolve({
    home: path.join(home, '.claude'),
    cwd,
    flags: [],
    version,
    surroundings: {
      platform: 'linux',
      userHome: home,
      env: { HOME: home, PATH: process.env.PATH },
      systemRoot: '',
      now: () => new Date(),
    },
  })
  const sources = new Map(resolution.body.instructions.sources.map((source) => [source.uri, source]))
  const types: Readonly<Record<string, string>> = {
    managed: 'Managed',
    user: 'User',
    local: 'Local',
    memory: 'AutoMem',
  }
  return resolution.order.map((uri) => {
    const source = sources.get(uri)
    return {
      path: source?.path ?? uri,
      type: types[source?.scope ?? ''] ?? 'Project',
      label: source?.label ?? '',
      content: resolution.texts.get(uri)?.text ?? '',
      isRule: source?.kind === 'rule',
    }
  })
}
