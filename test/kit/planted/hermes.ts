import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { hermes } from '../../../daemon/runtimes/hermes/index.ts'
import { git } from '../claude-code-tree.ts'
import { hermesFixtures } from '../hermes-home.ts'
import type { PlantedRuntime, RunOptions, World } from './plants.ts'

type Row = Readonly<Record<string, unknown>>

/** The recorded session whose rows are told again, with the places, ids and times of the run that is wanted. */
const RECORDED = '20261130_161525_c9524f'
const RECORDED_END = 1_796_055_326.48

const put = (file: string, content: string): void => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}
const inWork = ({ workspace }: World, ...parts: readonly string[]): string => path.join(workspace, ...parts)
const homeOf = ({ home }: World, ...parts: readonly string[]): string => path.join(home, '.hermes', ...parts)
const skill = (name: string, body: string): string =>
  `---\nname: ${name}\ndescription: what ${name} is for\n---\n${body}\n`

const recorded = ({ test }: World): DatabaseSyncInstance => {
  const file = path.join(path.dirname(test.home), 'recorded.db')
  if (!fs.existsSync(file)) fs.copyFileSync(path.join(hermesFixtures, 'state-db-v25/state.db'), file)
  return new DatabaseSync(file)
}

/** The database of the home, as the recorded one without its sessions. */
const layDatabase = (world: World): void => {
  const file = homeOf(world, 'state.db')
  fs.mkdirSync(homeOf(world, 'sessions'), { recursive: true })
  fs.copyFileSync(path.join(hermesFixtures, 'state-db-v25/state.db'), file)
  const db = new DatabaseSync(file)
  db.exec(
    'pragma foreign_keys = off; delete from messages; delete from session_model_usage; delete from sessions; delete from system_prompts; delete from async_delegations',
  )
  db.close()
}

interface HermesRun extends RunOptions {
  readonly n: number
  readonly words: Readonly<Record<string, string>>
}

const writeHermesRun = (world: World, run: HermesRun): string => {
  const session = `20261130_1700${String(run.n).padStart(2, '0')}_${randomBytes(3).toString('hex')}`
  const end = Date.now() / 1000
  const moved = (time: number): number => end - (RECORDED_END - time) / 4
  const model = run.model ?? 'scripted-1'
  const tell = (text: string): string => {
    let told = text
      .replaceAll(RECORDED, session)
      .replaceAll('/home/dev/he-demo', world.workspace)
      .replaceAll('call_lab_00', `call_r${run.n}_`)
      .replaceAll('fc_lab_00', `fc_r${run.n}_`)
    for (const [from, to] of Object.entries(run.words)) told = told.replaceAll(from, to)
    return told.replaceAll('scripted-1', model)
  }
  const whole = (row: Row): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'string' ? tell(value) : typeof value === 'number' && value > 1.7e9 ? moved(value) : value,
      ]),
    )
  const insert = (db: DatabaseSyncInstance, table: string, row: Row): void => {
    const names = Object.keys(row)
    db.prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`).run(
      ...(names.map((name) => row[name]) as string[]),
    )
  }
  const from = recorded(world)
  const to = new DatabaseSync(homeOf(world, 'state.db'))
  to.exec('pragma foreign_keys = off; begin')
  const prompt = promptOf(world, model)
  const hash = createHash('sha256').update(prompt).digest('hex')
  to.prepare('insert or ignore into system_prompts (hash, prompt) values (?, ?)').run(hash, prompt)
  for (const row of from.prepare('select * from sessions where id = ?').all(RECORDED) as Row[])
    insert(to, 'sessions', { ...whole(row), system_prompt_hash: hash, cwd: world.workspace })
  for (const row of from.prepare('select * from messages where session_id = ? order by id').all(RECORDED) as Row[]) {
    const { id: _, ...rest } = whole(row)
    insert(to, 'messages', rest)
  }
  for (const row of from.prepare('select * from session_model_usage where session_id = ?').all(RECORDED) as Row[])
    insert(to, 'session_model_usage', whole(row))
  to.exec('commit')
  from.close()
  to.close()
  return session
}

/** The stored prompt with the texts that really lie in the tree, placeholders where the vendor's words would stand. */
const promptOf = (world: World, model: string): string => {
  const resolution = hermes.resolve({
    home: homeOf(world),
    cwd: world.workspace,
    flags: [],
    version: null,
    surroundings: {
      platform: 'linux',
      userHome: world.home,
      env: { HOME: world.home },
      systemRoot: '',
      now: () => new Date(),
    },
  })
  const texts = resolution.order.map((uri) => ({ uri, text: resolution.texts.get(uri)?.text ?? '' }))
  const soul = texts.find(({ uri }) => uri.endsWith('SOUL.md'))?.text ?? ''
  const project = texts.filter(({ text }) => text.startsWith('## ')).map(({ text }) => text)
  const memories = texts.filter(({ text }) => text.startsWith('═')).map(({ text }) => text)
  return [
    soul,
    '<vendor guidance>',
    `Workspace (snapshot at session start):\n- Root: ${world.workspace}\n- Branch: main\n- Status: clean`,
    ...(project.length === 0
      ? []
      : [
          `# Project Context\n\nThe following project context files have been loaded and should be followed:\n\n${project.join('\n\n')}`,
        ]),
    ...memories,
    `Conversation started: Monday, November 30, 2026\nModel: ${model}\nProvider: custom\nPlatform: cli`,
  ].join('\n\n')
}

export const plantedHermes: PlantedRuntime = {
  runtime: 'hermes',

  lay(world) {
    put(inWork(world, '.gitignore'), 'out/\n')
    put(inWork(world, 'AGENTS.md'), 'Prices are in cents.\n')
    put(homeOf(world, 'SOUL.md'), 'You are calm.\n')
    put(
      homeOf(world, 'config.yaml'),
      'context_file_max_chars: 12000\nmodel:\n  default: scripted-1\n  provider: custom\n',
    )
    put(homeOf(world, '.env'), 'SHOP_CURRENCY=EUR\n')
    put(homeOf(world, 'memories/MEMORY.md'), 'The shop sells tea')
    put(homeOf(world, 'skills/ops/release-check/SKILL.md'), skill('release-check', 'Run the tests twice.'))
    layDatabase(world)
    git(world.workspace, 'init', '-q', '-b', 'main', '.')
    git(world.workspace, 'add', '-A')
    git(world.workspace, 'commit', '-qm', 'initial')
  },

  reset: () => undefined,

  run: (world, n, options) =>
    writeHermesRun(world, {
      ...options,
      n,
      words: {
        // The first file that was read becomes the skill; the command names the variable.
        'wc -l notes.txt': 'echo $SHOP_CURRENCY',
        '"name": "read_file", "arguments": "{\\"path\\":\\"notes.txt\\"}"':
          '"name": "skill_view", "arguments": "{\\"name\\":\\"release-check\\"}"',
        ...(options.ending === 'bad'
          ? { '\\"new_string\\":\\"gamma\\"}"': '\\"new_string\\":\\"delta\\"}"', '+gamma': '+delta' }
          : {}),
      },
    }),

  runWriting: (world, n, { writes, content }) => {
    fs.writeFileSync(writes, content)
    return writeHermesRun(world, {
      n,
      words: { [`${world.workspace}/notes.txt`]: writes, 'notes.txt': writes, 'CALL write': 'PLEASE write' },
    })
  },

  addIrrelevant(world) {
    put(homeOf(world, 'skills/ops/letters/SKILL.md'), skill('letters', 'Be kind.'))
    put(homeOf(world, '.env'), `${fs.readFileSync(homeOf(world, '.env'), 'utf8')}GARDEN_GNOME=yes\n`)
    put(
      homeOf(world, 'config.yaml'),
      `${fs.readFileSync(homeOf(world, 'config.yaml'), 'utf8')}display:\n  skin: light\n`,
    )
  },

  plants: [
    {
      name: 'memory changed by another run',
      plant: async (world, other) =>
        void (await other({ writes: homeOf(world, 'memories/MEMORY.md'), content: 'The shop sells coffee' })),
      expect: { kind: 'memory', class: 'configuration', title: /^Memory MEMORY\.md changed by run r_[0-9a-f]+$/ },
    },
    {
      name: 'skill body',
      plant: (world) =>
        put(homeOf(world, 'skills/ops/release-check/SKILL.md'), skill('release-check', 'Run the tests never.')),
      expect: { kind: 'skill', class: 'configuration', title: /^SKILL body of release-check changed$/ },
    },
    {
      name: 'truncation',
      plant: (world) =>
        put(inWork(world, 'AGENTS.md'), `Prices are in cents.\n${'Mind the gap between two prices. '.repeat(900)}\n`),
      expect: { kind: 'truncation', class: 'configuration', title: /^AGENTS\.md is now cut at \d+ / },
    },
    {
      name: 'environment variable',
      plant: (world) => put(homeOf(world, '.env'), 'SHOP_CURRENCY=USD\n'),
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
