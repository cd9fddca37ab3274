import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { openclaw } from '../../../daemon/runtimes/openclaw/index.ts'
import { git } from '../claude-code-tree.ts'
import { openclawFixtures } from '../openclaw-home.ts'
import type { PlantedRuntime, RunOptions, World } from './plants.ts'

type Row = Readonly<Record<string, unknown>>

/** The recorded session whose rows are told again, with the places, ids and times of the run that is wanted. */
const RECORDED = '46362ce9-bc67-41c7-83a6-68ec89201695'
const RECORDED_END = Date.parse('2026-11-30T16:04:57.400Z')
const TABLES = ['schema_meta', 'session_nodes', 'session_windows', 'transcript_events', 'trajectory_runtime_events']

const put = (file: string, content: string): void => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}
const inWork = ({ workspace }: World, ...parts: readonly string[]): string => path.join(workspace, ...parts)
const stateOf = ({ home }: World): string => path.join(home, '.openclaw')
const skill = (name: string, body: string): string =>
  `---\nname: ${name}\ndescription: what ${name} is for\n---\n${body}\n`

const config = (world: World, more: Row = {}): void =>
  put(
    path.join(stateOf(world), 'openclaw.json'),
    JSON.stringify({
      agents: { defaults: { model: { primary: 'demo/scripted-1' }, workspace: world.workspace, skipBootstrap: true } },
      tools: { profile: 'coding' },
      env: { vars: { SHOP_CURRENCY: 'EUR' } },
      ...more,
    }),
  )

const open = (file: string): DatabaseSyncInstance => new DatabaseSync(file)

/** An agent's database with the tables of the recorded one, and nothing in them. */
const layDatabase = (world: World): string => {
  const file = path.join(stateOf(world), 'agents/main/agent/openclaw-agent.sqlite')
  if (fs.existsSync(file)) return file
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const from = open(recordedDatabase(world))
  const to = open(file)
  to.exec('pragma user_version = 23')
  for (const table of TABLES) {
    const { sql } = from.prepare("select sql from sqlite_master where name = ? and type = 'table'").get(table) as {
      sql: string
    }
    to.exec(sql.replaceAll(/,\s*FOREIGN KEY[^)]*\)\s*REFERENCES[^)]*\)[^,)]*/g, ''))
  }
  copyRows(from, to, 'schema_meta', '1 = 1', (row) => row)
  from.close()
  to.close()
  return file
}

const recordedDatabase = ({ test }: World): string => {
  const file = path.join(path.dirname(test.home), 'recorded.sqlite')
  if (!fs.existsSync(file)) fs.copyFileSync(path.join(openclawFixtures, 'agent-db/openclaw-agent.sqlite'), file)
  return file
}

const copyRows = (
  from: DatabaseSyncInstance,
  to: DatabaseSyncInstance,
  table: string,
  where: string,
  change: (row: Row) => Row | null,
): void => {
  for (const row of from.prepare(`select * from ${table} where ${where}`).all() as Row[]) {
    const changed = change(row)
    if (changed === null) continue
    const names = Object.keys(changed)
    to.prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`).run(
      ...(names.map((name) => changed[name]) as string[]),
    )
  }
}

interface OpenClawRun extends RunOptions {
  readonly n: number
  /** Words of the recorded session that this one has instead. */
  readonly words: Readonly<Record<string, string>>
  readonly skill?: string
}

const writeOpenClawRun = (world: World, run: OpenClawRun): string => {
  const file = layDatabase(world)
  const session = `5e550000-0000-4000-8000-${String(run.n).padStart(12, '0')}`
  const key = `agent:main:explicit:run${run.n}`
  const end = Date.now()
  // Told in a tenth of the time it took, so that runs one after the other do not overlap.
  const moved = (time: number): number => Math.round(end - (RECORDED_END - time) / 10)
  const tell = (text: string): string => {
    let told = text
      .replaceAll(RECORDED, session)
      .replaceAll('agent:main:main', key)
      .replaceAll('/home/dev/.openclaw/workspace', world.workspace)
      .replace(
        /"(id|parentId|runId|traceId)":"([0-9a-f]{2})(?=[0-9a-f]{6}-)/g,
        (_, name: string) => `"${name}":"${String(run.n).padStart(2, '0')}`,
      )
      .replaceAll(/2026-11-30T16:0\d:\d\d\.\d{3}Z/g, (time) => new Date(moved(Date.parse(time))).toISOString())
      .replaceAll(/\b17960546\d{5}\b|\b17960547\d{5}\b/g, (time) => String(moved(Number(time))))
    for (const [from, to] of Object.entries(run.words)) told = told.replaceAll(from, to)
    if (run.version !== undefined) told = told.replaceAll('2026.9.6', run.version)
    if (run.model !== undefined) told = told.replaceAll('"scripted-1"', JSON.stringify(run.model))
    return told
  }
  const whole = (row: Row): Row =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'string' ? tell(value) : typeof value === 'number' && value > 1e12 ? moved(value) : value,
      ]),
    )
  const from = open(recordedDatabase(world))
  const to = open(file)
  to.exec('begin')
  copyRows(from, to, 'session_windows', `session_id = '${RECORDED}'`, whole)
  copyRows(from, to, 'session_nodes', `current_session_id = '${RECORDED}'`, (row) => {
    const entry = JSON.parse(tell(String(row.entry_json))) as { systemPromptReport: Record<string, unknown> }
    const { files, skills } = reportedOf(world)
    entry.systemPromptReport.injectedWorkspaceFiles = files
    entry.systemPromptReport.skills = { promptChars: 100, entries: skills.map((name) => ({ name, blockChars: 100 })) }
    return { ...whole(row), entry_json: JSON.stringify(entry) }
  })
  copyRows(from, to, 'trajectory_runtime_events', `session_id = '${RECORDED}'`, whole)
  // The recorded second turn is left out: what counts is one turn.
  copyRows(from, to, 'transcript_events', `session_id = '${RECORDED}' and seq <= 21`, whole)
  to.exec('commit')
  from.close()
  to.close()
  return session
}

/** What the program reports of the files that really lie in the workspace. */
const reportedOf = (world: World): { readonly files: readonly Row[]; readonly skills: readonly string[] } => {
  const { body } = openclaw.resolve({
    home: stateOf(world),
    cwd: world.workspace,
    flags: ['--local'],
    version: '2026.9.6',
    surroundings: {
      platform: 'linux',
      userHome: world.home,
      env: { HOME: world.home },
      systemRoot: '',
      now: () => new Date(),
    },
  })
  const files = body.instructions.sources
    .filter(({ position, path: place }) => position !== null && place !== null)
    .map((source) => ({
      name: path.basename(source.path ?? ''),
      path: source.path,
      missing: false,
      rawChars: source.injected_chars,
      injectedChars: source.injected_chars,
      truncated: source.truncated !== null,
    }))
  return { files, skills: body.capabilities.skills.filter(({ status }) => status === 'active').map(({ name }) => name) }
}

export const plantedOpenClaw: PlantedRuntime = {
  runtime: 'openclaw',

  lay(world) {
    put(inWork(world, '.gitignore'), 'out/\n')
    put(inWork(world, 'AGENTS.md'), 'Prices are in cents.\n')
    put(inWork(world, 'SOUL.md'), 'Calm.\n')
    put(inWork(world, 'MEMORY.md'), '- The shop sells tea.\n')
    put(inWork(world, 'skills/release-check/SKILL.md'), skill('release-check', 'Run the tests twice.'))
    config(world)
    layDatabase(world)
    git(world.workspace, 'init', '-q', '-b', 'main', '.')
    git(world.workspace, 'add', '-A')
    git(world.workspace, 'commit', '-qm', 'initial')
  },

  reset: () => undefined,

  run: (world, n, options) =>
    writeOpenClawRun(world, {
      ...options,
      n,
      words: {
        // The skill is used by reading it; the variable is named by a command.
        '"arguments":{"path":"notes.txt"}': `"arguments":{"path":"${inWork(world, 'skills/release-check/SKILL.md')}"}`,
        'wc -l notes.txt': 'echo $SHOP_CURRENCY',
        ...(options.ending === 'bad'
          ? { '"newText":"gamma"': '"newText":"delta"', '"text":"notes are ready"': '"text":"notes are lost"' }
          : {}),
      },
    }),

  runWriting: (world, n, { writes, content }) => {
    fs.writeFileSync(writes, content)
    return writeOpenClawRun(world, { n, words: { 'notes.txt': writes, 'CALL write': 'PLEASE write' } })
  },

  addIrrelevant(world) {
    put(inWork(world, 'skills/letters/SKILL.md'), skill('letters', 'Be kind.'))
    const file = path.join(stateOf(world), 'openclaw.json')
    const value = JSON.parse(fs.readFileSync(file, 'utf8')) as { env: { vars: Record<string, string> }; ui?: Row }
    value.env.vars.GARDEN_GNOME = 'yes'
    value.ui = { seamColor: '#ff4500' }
    put(file, JSON.stringify(value))
  },

  plants: [
    {
      name: 'program version',
      first: () => ({ version: '2026.9.4' }),
      expect: { kind: 'program', class: 'configuration', title: /2026\.9\.4 → 2026\.9\.6/ },
    },
    {
      name: 'truncation',
      plant: (world) =>
        put(inWork(world, 'AGENTS.md'), `Prices are in cents.\n${'Mind the gap between two prices. '.repeat(700)}\n`),
      expect: { kind: 'truncation', class: 'configuration', title: /^AGENTS\.md is now cut at \d+ / },
    },
    {
      name: 'memory changed by another run',
      plant: async (world, other) =>
        void (await other({ writes: inWork(world, 'MEMORY.md'), content: '- The shop sells coffee.\n' })),
      expect: { kind: 'memory', class: 'configuration', title: /^Memory MEMORY\.md changed by run r_[0-9a-f]+$/ },
    },
    {
      name: 'skill body',
      plant: (world) =>
        put(inWork(world, 'skills/release-check/SKILL.md'), skill('release-check', 'Run the tests never.')),
      expect: { kind: 'skill', class: 'configuration', title: /^SKILL body of release-check changed$/ },
    },
    {
      name: 'environment variable',
      plant: (world) => config(world, { env: { vars: { SHOP_CURRENCY: 'USD' } } }),
      expect: {
        kind: 'environment',
        class: 'configuration',
        title: /^Environment variable SHOP_CURRENCY has another value/,
      },
    },
    {
      name: 'model alias moved',
      second: () => ({ model: 'scripted-2' }),
      expect: {
        kind: 'model',
        class: 'external state',
        title: /points to another model: .*scripted-1 → .*scripted-2$/,
      },
    },
  ],
}
