import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { joinAgents } from '../../../daemon/runtimes/codex/effective-pieces.ts'
import { codex } from '../../../daemon/runtimes/codex/index.ts'
import { git } from '../claude-code-tree.ts'
import { codexPlace } from '../codex-home.ts'
import type { PlantedRuntime, RunOptions, World } from './plants.ts'

type Row = Readonly<Record<string, unknown>>

const put = (file: string, content: string): void => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}
const inWork = ({ workspace }: World, ...parts: readonly string[]): string => path.join(workspace, ...parts)
const inHome = ({ home }: World, ...parts: readonly string[]): string => path.join(home, '.codex', ...parts)

const userConfig = ({ workspace }: World, trust: string, more = ''): string =>
  `model = "gpt-5.5"\n${more}[projects."${workspace}"]\ntrust_level = "${trust}"\n`
const skill = (name: string, body: string): string =>
  `---\nname: ${name}\ndescription: what ${name} is for\n---\n${body}\n`

type Deed =
  | { readonly say: string }
  | { readonly run: string; readonly output: string; readonly code: number }
  | { readonly skill: string }

interface CodexRun extends RunOptions {
  readonly n: number
  readonly prompt: string
  readonly deeds: readonly Deed[]
}

/**
 * A rollout as Codex 0.171.0 leaves it (runtime page 4, fixtures `codex/rollouts`): head, context messages with the AGENTS.md text that
 * really lies in the tree, settings of the turn, items and outputs. Placeholders stand where the vendor's words would.
 */
const writeCodexRun = (world: World, cwd: string, run: CodexRun): string => {
  const now = new Date()
  const id = `01a22d2b-0000-7000-8000-${String(run.n).padStart(12, '0')}`
  const turn = `01a22d2c-0000-7000-8000-${String(run.n).padStart(12, '0')}`
  const model = run.model ?? 'gpt-5.5'
  const lines: Row[] = []
  let clock = now.getTime() - 2000
  const add = (type: string, payload: Row): void => {
    clock += 10
    lines.push({ timestamp: new Date(clock).toISOString(), ordinal: lines.length, type, payload })
  }
  const context = (role: string, what: string, text: string): void =>
    add('response_item', {
      type: 'message',
      id: `msg_${run.n}_${lines.length}`,
      role,
      content: [{ type: 'input_text', text }],
      internal_chat_message_metadata_passthrough: { turn_id: turn, content_item_kinds: [what] },
    })
  const resolution = codex.resolve({
    home: path.join(world.home, '.codex'),
    cwd,
    flags: [],
    version: run.version ?? '0.171.0',
    surroundings: {
      platform: 'linux',
      userHome: world.home,
      env: { HOME: world.home, PATH: process.env.PATH },
      systemRoot: '',
      now: () => now,
    },
  })
  const agents = joinAgents(
    resolution.order.flatMap((uri) => {
      const source = resolution.body.instructions.sources.find((one) => one.uri === uri)
      const isAgents = source?.path?.endsWith('AGENTS.md') || source?.path?.endsWith('AGENTS.override.md')
      return source && isAgents ? [{ scope: source.scope, text: resolution.texts.get(uri)?.text ?? null }] : []
    }),
  )
  const sha = execFileSync('git', ['rev-parse', 'HEAD'], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd },
  }).trim()
  add('session_meta', {
    session_id: id,
    id,
    timestamp: now.toISOString(),
    cwd,
    originator: 'codex_exec',
    cli_version: run.version ?? '0.171.0',
    source: 'exec',
    thread_source: 'user',
    model_provider: 'openai',
    base_instructions: { text: '<built-in base instructions>', provenance: { type: 'model', model } },
    history_mode: 'paginated',
    git: { commit_hash: sha, branch: 'main' },
  })
  add('event_msg', {
    type: 'task_started',
    turn_id: turn,
    root_turn_id: turn,
    model_context_window: 258_400,
    collaboration_mode_kind: 'default',
  })
  context(
    'developer',
    'permissions.instructions',
    '<permissions instructions>\n<built-in text>\n</permissions instructions>',
  )
  if (agents !== null)
    context(
      'user',
      'agents_md.instructions',
      `# AGENTS.md instructions for ${cwd}\n\n<INSTRUCTIONS>\n${agents}\n</INSTRUCTIONS>`,
    )
  context(
    'user',
    'environments.environment_context',
    `<environment_context>\n  <cwd>${cwd}</cwd>\n  <shell>bash</shell>\n  <current_date>2026-11-30</current_date>\n  <timezone>Etc/UTC</timezone>\n</environment_context>`,
  )
  add('turn_context', {
    turn_id: turn,
    root_turn_id: turn,
    disabled_plugin_ids: [],
    cwd,
    approval_policy: 'never',
    approvals_reviewer: 'user',
    model,
    collaboration_mode: { mode: 'default', settings: { model, reasoning_effort: null, developer_instructions: null } },
    multi_agent_version: 'v1',
    realtime_active: false,
    summary: 'none',
    sandbox_policy: {
      type: 'workspace-write',
      network_access: false,
      exclude_tmpdir_env_var: false,
      exclude_slash_tmp: false,
    },
  })
  context('user', 'user.text', run.prompt)
  run.deeds.forEach((deed, at) => {
    const call = `call_${run.n}_${at}`
    if ('say' in deed)
      add('response_item', {
        type: 'message',
        id: `msg_${run.n}_a${at}`,
        role: 'assistant',
        content: [{ type: 'output_text', text: deed.say }],
        internal_chat_message_metadata_passthrough: { turn_id: turn },
      })
    else if ('skill' in deed)
      context(
        'user',
        'skills.selected_skill_instructions',
        `<skill>\n<name>${deed.skill}</name>\n<path>${deed.skill}/SKILL.md</path>\n<body of the skill>\n</skill>`,
      )
    else {
      add('response_item', {
        type: 'function_call',
        id: `fc_${run.n}_${at}`,
        name: 'exec_command',
        arguments: JSON.stringify({ cmd: deed.run }),
        call_id: call,
      })
      add('response_item', {
        type: 'function_call_output',
        id: `fco_${run.n}_${at}`,
        call_id: call,
        output: `Wall time: 0.0000 seconds\nProcess exited with code ${deed.code}\nOutput:\n${deed.output}\n`,
      })
    }
  })
  add('event_msg', {
    type: 'task_complete',
    turn_id: turn,
    root_turn_id: turn,
    last_agent_message: 'Done.',
    duration_ms: 800,
  })
  const stamp = now.toISOString().slice(0, 19).replaceAll(':', '-')
  const file = codexPlace(path.join(world.home, '.codex'), `rollout-${stamp}-${id}.jsonl`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(`${file}.part`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  fs.renameSync(`${file}.part`, file)
  return id
}

export const plantedCodex: PlantedRuntime = {
  runtime: 'codex',

  lay(world) {
    put(inWork(world, '.gitignore'), 'out/\n')
    put(inWork(world, 'AGENTS.md'), 'Prices are in cents.\n')
    put(inWork(world, 'src/AGENTS.md'), 'Retries wait longer each time.\n')
    put(inWork(world, '.agents/skills/release-check/SKILL.md'), skill('release-check', 'Run the tests twice.'))
    put(inWork(world, '.codex/config.toml'), 'model_reasoning_effort = "high"\n')
    put(inHome(world, 'config.toml'), userConfig(world, 'trusted'))
    git(world.workspace, 'init', '-q', '-b', 'main', '.')
    git(world.workspace, 'add', '-A')
    git(world.workspace, 'commit', '-qm', 'initial')
  },

  reset: () => undefined,

  run(world, n, options) {
    const bad = options.ending === 'bad'
    return writeCodexRun(world, options.cwd ?? world.workspace, {
      ...options,
      n,
      prompt: 'Fix the flaky retry test.',
      deeds: [
        { skill: 'release-check' },
        { say: 'I look at the code first.' },
        { run: 'cat src/retry.ts', output: 'export const wait = 100', code: 0 },
        ...(bad ? [{ run: 'sed -i s/100/0/ src/retry.ts', output: '', code: 0 }] : []),
        { run: 'npm test', output: bad ? '1 failed' : '4 passed', code: bad ? 1 : 0 },
        { say: bad ? 'One test fails.' : 'All tests pass.' },
      ],
    })
  },

  runWriting: (world, n) =>
    writeCodexRun(world, world.workspace, { n, prompt: 'Keep this in mind.', deeds: [{ say: 'Noted.' }] }),

  addIrrelevant(world) {
    put(inWork(world, '.agents/skills/letters/SKILL.md'), skill('letters', 'Be kind.'))
    const config = inHome(world, 'config.toml')
    put(
      config,
      `${fs.readFileSync(config, 'utf8')}\n[tui]\ntheme = "light"\n\n[shell_environment_policy.set]\nGARDEN_GNOME = "yes"\n`,
    )
  },

  plants: [
    {
      name: 'program version',
      first: () => ({ version: '0.170.2' }),
      expect: { kind: 'program', class: 'configuration', title: /0\.170\.2 → 0\.171\.0/ },
    },
    {
      name: 'truncation',
      plant: (world) =>
        put(inWork(world, 'AGENTS.md'), `Prices are in cents.\n${'Mind the gap between two prices. '.repeat(1100)}\n`),
      expect: { kind: 'truncation', class: 'configuration', title: /^AGENTS\.md is now cut at 32768 bytes$/ },
    },
    {
      name: 'trust revoked',
      plant: (world) => put(inHome(world, 'config.toml'), userConfig(world, 'untrusted')),
      expect: {
        kind: 'trust',
        class: 'configuration',
        title: /^Trust in this folder was revoked: no longer in force .*\.codex\/config\.toml/,
      },
    },
    {
      name: 'setting overridden',
      plant: (world) =>
        put(inWork(world, '.codex/config.toml'), 'model_reasoning_effort = "high"\nmodel = "gpt-5.5-mini"\n'),
      second: () => ({ model: 'gpt-5.5-mini' }),
      expect: {
        kind: 'setting',
        class: 'configuration',
        title: /^Settings key model overridden by \.codex\/config\.toml: gpt-5\.5 → gpt-5\.5-mini$/,
      },
    },
    {
      name: 'skill body',
      plant: (world) =>
        put(inWork(world, '.agents/skills/release-check/SKILL.md'), skill('release-check', 'Run the tests never.')),
      expect: { kind: 'skill', class: 'configuration', title: /^SKILL body of release-check changed$/ },
    },
    {
      name: 'repository',
      plant: (world) => {
        put(inWork(world, 'src/price.ts'), 'export const tea = 400\n')
        git(world.workspace, 'add', '-A')
        git(world.workspace, 'commit', '-qm', 'tea')
      },
      expect: { kind: 'repository', class: 'external state', title: /^The repository moved: [0-9a-f]+ → [0-9a-f]+$/ },
    },
  ],
}
