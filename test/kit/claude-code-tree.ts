import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { resolveClaudeCode } from '../../daemon/runtimes/claude-code/resolve/index.ts'

const fixture = path.resolve(import.meta.dirname, '../fixtures/claude-code/config-tree')

const treeSchema = z.object({
  git: z.array(z.string()),
  entries: z.array(z.object({ path: z.string(), content: z.string().optional(), symlink: z.string().optional() })),
})
const instructionsSchema = z.union([
  z.literal('same-as-root'),
  z.array(z.object({ type: z.string(), path: z.string() })),
])
const tokensSchema = z.union([z.literal('same-as-root'), z.array(z.string())])
const serversSchema = z.union([
  z.literal('same-as-root'),
  z.array(z.object({ name: z.string(), status: z.string(), source: z.string() })),
])
const scenarioSchema = z.looseObject({
  cwd: z.string(),
  managed: z.boolean().optional(),
  instructions: instructionsSchema,
  agentTokens: tokensSchema,
  skillTokens: tokensSchema,
  mcpServers: serversSchema,
  env: z.record(z.string(), z.string()),
})
const expectedSchema = z.looseObject({
  scenarios: z.record(z.string(), scenarioSchema),
  permissions: z.looseObject({
    trusted: z.record(z.string(), z.string()),
    untrusted: z.record(z.string(), z.string()),
  }),
  lazyLoads: z.array(
    z.looseObject({
      call: z.object({ tool: z.string(), input: z.record(z.string(), z.string()) }),
      loaded: z.array(z.string()),
    }),
  ),
  neverLoadedInRootScenario: z.array(z.object({ path: z.string(), why: z.string() })),
  memoryIndexLimits: z.looseObject({ maxLines: z.number(), maxChars: z.number() }),
})

export const expected = expectedSchema.parse(JSON.parse(readFileSync(path.join(fixture, 'expected.json'), 'utf8')))

/** Fields of a scenario with `same-as-root` replaced. */
export function scenario(name: string) {
  const root = expected.scenarios.root
  const one = expected.scenarios[name]
  if (root === undefined || one === undefined) throw new Error(`no scenario ${name}`)
  const pick = <T>(value: T | 'same-as-root', fallback: T | 'same-as-root'): T => {
    const taken = value === 'same-as-root' ? fallback : value
    if (taken === 'same-as-root') throw new Error('the root scenario refers to itself')
    return taken as T
  }
  return {
    cwd: one.cwd,
    managed: one.managed === true,
    instructions: pick(one.instructions, root.instructions),
    agentTokens: pick(one.agentTokens, root.agentTokens),
    skillTokens: pick(one.skillTokens, root.skillTokens),
    mcpServers: pick(one.mcpServers, root.mcpServers),
    env: one.env,
  }
}

export interface LaidTree {
  /** Stands for `/` of the fixture, except for `/etc/claude-code`. */
  readonly root: string
  readonly home: string
  /** `/home/dev/…` of the fixture as a path on this machine, and back. */
  readonly here: (fixturePath: string) => string
  readonly there: (path: string) => string
  readonly remove: () => void
}

const keyOf = (directory: string): string => directory.replace(/[^A-Za-z0-9]/g, '-')

/** Lays the tree below a fresh folder. `/home/dev` becomes a path below it, in contents too; managed files lie below `etc`. */
export function layConfigTree(): LaidTree {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'reprise-tree-')))
  const here = (fixturePath: string): string =>
    fixturePath.startsWith('/home/dev')
      ? path
          .join(root, fixturePath)
          .replace('/projects/-home-dev-ws-demo/', `/projects/${keyOf(path.join(root, 'home/dev/ws/demo'))}/`)
      : fixturePath
  const there = (file: string): string =>
    (file.startsWith(root) ? file.slice(root.length) : file).replace(
      `/projects/${keyOf(path.join(root, 'home/dev/ws/demo'))}/`,
      '/projects/-home-dev-ws-demo/',
    )
  const tree = treeSchema.parse(JSON.parse(readFileSync(path.join(fixture, 'tree.json'), 'utf8')))
  for (const entry of tree.entries) {
    const file = entry.path.startsWith('etc/') ? path.join(root, entry.path) : here(`/${entry.path}`)
    mkdirSync(path.dirname(file), { recursive: true })
    if (entry.symlink !== undefined) symlinkSync(entry.symlink, file)
    else writeFileSync(file, (entry.content ?? '').replaceAll('/home/dev', path.join(root, 'home/dev')))
  }
  for (const repository of tree.git) {
    const cwd = path.join(root, repository)
    git(cwd, 'init', '-q', '-b', 'main', '.')
    git(cwd, 'add', '-A')
    git(cwd, 'commit', '-qm', 'initial')
  }
  return {
    root,
    home: path.join(root, 'home/dev'),
    here,
    there,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

export function git(cwd: string, ...args: string[]): void {
  const date = '2026-01-02T03:04:05Z'
  execFileSync('git', args, {
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Dev',
      GIT_AUTHOR_EMAIL: 'dev@example.com',
      GIT_COMMITTER_NAME: 'Dev',
      GIT_COMMITTER_EMAIL: 'dev@example.com',
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    },
  })
}

export interface Start {
  readonly cwd: string
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly configDir: string
  readonly managed: boolean
}

/** Does what the `setup` of a scenario says and tells how to start. */
export function prepare(name: string, tree: LaidTree): Start {
  const { cwd, managed } = scenario(name)
  const { home } = tree
  const ws = path.join(home, 'ws')
  const demo = path.join(ws, 'demo')
  const start: Start = { cwd: tree.here(cwd), flags: [], env: {}, configDir: path.join(home, '.claude'), managed }
  const userSettings = path.join(home, '.claude/settings.json')
  const removeOwnInstructions = (): void => {
    for (const directory of [ws, demo]) {
      for (const file of ['CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md'])
        rmSync(path.join(directory, file), { force: true })
    }
  }
  switch (name) {
    case 'root':
    case 'root+managed':
    case 'subdir':
      return start
    case 'linked-worktree':
      git(demo, 'worktree', 'add', '-q', '../wt1', '-b', 'wt1')
      return start
    case 'external-imports-approved': {
      const file = path.join(home, '.claude.json')
      const state: unknown = JSON.parse(readFileSync(file, 'utf8'))
      const schema = z.looseObject({ projects: z.record(z.string(), z.looseObject({})) })
      const parsed = schema.parse(state)
      parsed.projects[demo] = { ...parsed.projects[demo], hasClaudeMdExternalIncludesApproved: true }
      writeFileSync(file, JSON.stringify(parsed))
      return start
    }
    case 'untrusted':
      writeFileSync(path.join(home, '.claude.json'), '{}')
      return start
    case 'no-git':
    case 'no-git-subdir':
      rmSync(path.join(demo, '.git'), { recursive: true })
      return start
    case 'setting-sources=user':
    case 'setting-sources=project':
    case 'setting-sources=local':
      return { ...start, flags: ['--setting-sources', name.slice('setting-sources='.length)] }
    case 'setting-sources=none':
      return { ...start, flags: ['--setting-sources', ''] }
    case 'safe-mode':
    case 'bare':
      return { ...start, flags: [`--${name}`] }
    case 'config-dir-empty': {
      const configDir = path.join(home, 'cc')
      mkdirSync(configDir)
      return { ...start, configDir, env: { CLAUDE_CONFIG_DIR: configDir } }
    }
    case 'config-dir-copy+excludes': {
      const configDir = path.join(home, 'cc')
      cpSync(path.join(home, '.claude'), configDir, { recursive: true })
      cpSync(path.join(home, '.claude.json'), path.join(configDir, '.claude.json'))
      const flags = ['--settings', JSON.stringify({ claudeMdExcludes: [`${home}/.claude/**`] })]
      return { ...start, configDir, env: { CLAUDE_CONFIG_DIR: configDir }, flags }
    }
    case 'claudeMdExcludes':
      writeFileSync(
        userSettings,
        JSON.stringify({ claudeMdExcludes: ['**/ws/CLAUDE.md', `${demo}/.claude/rules/**`, '**/docs/d2.md'] }),
      )
      return start
    case 'agents-md-fallback':
      removeOwnInstructions()
      return start
    case 'agents-md-suppressed-by-local':
      removeOwnInstructions()
      writeFileSync(path.join(demo, 'CLAUDE.local.md'), 'TOK-PROJ-LOCAL\n')
      return start
    case 'agents-md-disabled':
      removeOwnInstructions()
      writeFileSync(userSettings, JSON.stringify({ enabledPlugins: { 'cc-plugin-agents-md@builtin': false } }))
      return start
    case 'settings-flag':
    case 'settings-flag+managed':
      return { ...start, flags: ['--settings', JSON.stringify({ env: { LAB_FLAG: '1', LAB_SCALAR: 'flag' } })] }
    case 'strict-mcp': {
      const config = {
        mcpServers: { flagmcp: { command: 'node', args: [path.join(home, 'mcp/server.mjs'), 'flagmcp'] } },
      }
      return { ...start, flags: ['--mcp-config', JSON.stringify(config), '--strict-mcp-config'] }
    }
    default:
      throw new Error(`the scenario ${name} has no setup here`)
  }
}

export const fixedNow = (): Date => new Date('2026-11-30T12:00:00.000Z')

export function resolveStart(tree: LaidTree, start: Start): Resolution {
  return resolveClaudeCode({
    home: start.configDir,
    cwd: start.cwd,
    flags: start.flags,
    version: '2.1.332',
    surroundings: {
      platform: 'linux',
      userHome: tree.home,
      env: { PATH: '/usr/bin:/bin', HOME: tree.home, ...start.env },
      systemRoot: start.managed ? tree.root : path.join(tree.root, 'no-managed-files'),
      now: fixedNow,
    },
  })
}
