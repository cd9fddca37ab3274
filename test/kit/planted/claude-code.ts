import fs from 'node:fs'
import path from 'node:path'
import { git } from '../claude-code-tree.ts'
import { type Deed, writeClaudeRun } from './claude-code-session.ts'
import type { PlantedRuntime, RunOptions, World } from './plants.ts'

const put = (file: string, content: string): void => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}
const state = ({ home, workspace }: World, trusted: boolean, more: Record<string, unknown> = {}): void =>
  put(
    path.join(home, '.claude.json'),
    JSON.stringify({ numStartups: 3, ...more, projects: { [workspace]: { hasTrustDialogAccepted: trusted } } }),
  )
const inWork = ({ workspace }: World, ...parts: readonly string[]): string => path.join(workspace, ...parts)
const inHome = ({ home }: World, ...parts: readonly string[]): string => path.join(home, '.claude', ...parts)
const memory = (world: World): string =>
  inHome(world, 'projects', world.workspace.replaceAll(/[^A-Za-z0-9]/g, '-'), 'memory', 'MEMORY.md')
const rule = (paths: string): string => `---\npaths: ${paths}\n---\nRetries wait longer each time.\n`

const BAD: readonly Deed[] = [{ bash: 'npm test', output: '1 failed', failed: true }, { say: 'One test fails.' }]
const GOOD: readonly Deed[] = [{ bash: 'npm test', output: '4 passed' }, { say: 'All tests pass.' }]

/** The rule comes in when its paths match the file that is read. */
export const deedsOf = (world: World, { ending }: RunOptions, mcp: readonly string[]): readonly Deed[] => {
  const file = inWork(world, '.claude/rules/http.md')
  const matches = /paths: src\/\*\*/.test(fs.readFileSync(file, 'utf8'))
  const bad = ending === 'bad'
  return [
    { say: 'I look at the code first.' },
    { read: inWork(world, 'src/retry.ts'), ...(matches ? { brings: file } : {}) },
    { skill: 'release-check' },
    { bash: 'printf %s "$SHOP_CURRENCY"', output: 'set' },
    // A server's tool that is new is tried by the run that has it.
    ...mcp.filter((name) => !name.endsWith('__list')).map((name) => ({ call: name, input: { id: 7 } })),
    { write: inWork(world, 'out/retry.ts'), content: bad ? 'export const wait = 0\n' : 'export const wait = 200\n' },
    ...(bad ? BAD : GOOD),
  ]
}

export const plantedClaudeCode: PlantedRuntime = {
  runtime: 'claude-code',

  lay(world) {
    // What runs write is ignored by git: only the planted difference may show in the state of the work tree.
    put(inWork(world, '.gitignore'), 'out/\n')
    put(inWork(world, 'CLAUDE.md'), 'Prices are in cents.\n')
    put(inWork(world, 'src/retry.ts'), 'export const wait = 100\n')
    put(inWork(world, '.claude/rules/http.md'), rule('src/http/**'))
    put(
      inWork(world, '.claude/skills/release-check/SKILL.md'),
      '---\nname: release-check\ndescription: checks a release\n---\nRun the tests twice.\n',
    )
    put(
      inWork(world, '.claude/settings.json'),
      JSON.stringify({ model: 'opus', env: { SHOP_CURRENCY: 'EUR' }, permissions: { allow: ['Bash(npm test)'] } }),
    )
    put(
      inWork(world, '.mcp.json'),
      JSON.stringify({ mcpServers: { tickets: { command: 'node', args: ['tickets.mjs'] } } }),
    )
    put(inHome(world, 'settings.json'), JSON.stringify({ theme: 'dark' }))
    put(memory(world), '- The shop sells tea.\n')
    state(world, true)
    git(world.workspace, 'init', '-q', '-b', 'main', '.')
    git(world.workspace, 'add', '-A')
    git(world.workspace, 'commit', '-qm', 'initial')
  },

  reset(world) {
    fs.rmSync(inWork(world, 'out'), { recursive: true, force: true })
  },

  run(world, n, options) {
    this.reset(world)
    const mcp = options.mcpTools ?? ['mcp__tickets__list']
    return writeClaudeRun(world, options.cwd ?? world.workspace, {
      ...options,
      mcpTools: mcp,
      n,
      prompt: 'Fix the flaky retry test.',
      deeds: deedsOf(world, options, mcp),
    })
  },

  runWriting(world, n, { writes, content }) {
    return writeClaudeRun(world, world.workspace, {
      n,
      prompt: 'Keep this in mind.',
      deeds: [{ write: writes, content }, { say: 'Noted.' }],
    })
  },

  addIrrelevant(world) {
    put(
      inWork(world, '.claude/skills/letters/SKILL.md'),
      '---\nname: letters\ndescription: writes letters\n---\nBe kind.\n',
    )
    put(inHome(world, 'settings.json'), JSON.stringify({ theme: 'light', env: { GARDEN_GNOME: 'yes' } }))
  },

  plants: [
    {
      name: 'program version',
      first: () => ({ version: '2.1.329' }),
      expect: { kind: 'program', class: 'configuration', title: /2\.1\.329 → 2\.1\.332/ },
    },
    {
      name: 'nested rule',
      plant: (world) => put(inWork(world, '.claude/rules/http.md'), rule('src/**')),
      expect: { kind: 'rule', class: 'configuration', title: /^Rule http\.md now matches src\/retry\.ts$/ },
    },
    {
      name: 'import lost by the start directory',
      before: (world) => {
        put(inWork(world, 'CLAUDE.md'), 'Prices are in cents.\n\n@shared/style.md\n')
        put(inWork(world, 'shared/style.md'), 'Short sentences.\n')
      },
      second: (world) => ({ cwd: inWork(world, 'src') }),
      expect: {
        kind: 'import',
        class: 'configuration',
        title: /^Import shared\/style\.md is gone because the start directory changed/,
      },
    },
    {
      name: 'setting overridden',
      plant: (world) => put(inWork(world, '.claude/settings.local.json'), JSON.stringify({ model: 'sonnet' })),
      second: () => ({ model: 'claude-sonnet-5-5' }),
      expect: {
        kind: 'setting',
        class: 'configuration',
        title: /^Settings key model overridden by .*settings\.local\.json/,
      },
    },
    {
      name: 'tool of an MCP server',
      second: () => ({ mcpTools: ['mcp__tickets__list', 'mcp__tickets__close'] }),
      expect: { kind: 'tool', class: 'external state', title: /^MCP server tickets lists 1 new tool: close$/ },
    },
    {
      name: 'memory changed by another run',
      plant: async (world, other) =>
        void (await other({ writes: memory(world), content: '- The shop sells coffee.\n' })),
      expect: { kind: 'memory', class: 'configuration', title: /^Memory MEMORY\.md changed by run r_[0-9a-f]+$/ },
    },
    {
      name: 'trust revoked',
      plant: (world) => state(world, false),
      expect: {
        kind: 'trust',
        class: 'configuration',
        title: /^Trust in this folder was revoked: no longer in force Bash\(npm test\)/,
      },
    },
    {
      name: 'model alias moved',
      second: () => ({ model: 'claude-opus-5-6' }),
      expect: {
        kind: 'model',
        class: 'external state',
        title: /alias opus points to another model: claude-opus-5-5 → claude-opus-5-6/,
      },
    },
    {
      name: 'environment variable',
      plant: (world) =>
        put(
          inWork(world, '.claude/settings.json'),
          JSON.stringify({ model: 'opus', env: { SHOP_CURRENCY: 'USD' }, permissions: { allow: ['Bash(npm test)'] } }),
        ),
      expect: {
        kind: 'environment',
        class: 'configuration',
        title: /^Environment variable SHOP_CURRENCY has another value/,
      },
    },
    {
      name: 'skill body',
      plant: (world) =>
        put(
          inWork(world, '.claude/skills/release-check/SKILL.md'),
          '---\nname: release-check\ndescription: checks a release\n---\nRun the tests never.\n',
        ),
      expect: { kind: 'skill', class: 'configuration', title: /^SKILL body of release-check changed$/ },
    },
    {
      name: 'truncation',
      plant: (world) =>
        put(memory(world), `- The shop sells tea.\n${Array.from({ length: 240 }, (_, n) => `- note ${n}\n`).join('')}`),
      expect: { kind: 'truncation', class: 'configuration', title: /MEMORY\.md is now cut at 200 lines$/ },
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
