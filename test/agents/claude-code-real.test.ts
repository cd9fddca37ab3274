import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { matchLazy } from '../../daemon/runtimes/claude-code/resolve/index.ts'
import { requireAgentBinary, withoutAgents } from '../kit/agent-binaries.ts'
import { layOddTree, oddTrees, resolveOddTree } from '../kit/claude-code-odd-trees.ts'
import { pluginTrees, settingsTrees } from '../kit/claude-code-settings-trees.ts'
import { expected, layConfigTree, prepare, resolveStart } from '../kit/claude-code-tree.ts'
import {
  instructionBlock,
  joinPieces,
  nestedLoads,
  type Piece,
  portable,
  resolvedPieces,
  splitBlock,
} from '../kit/instruction-block.ts'
import { canShadowEtc, runRealClaudeCode } from '../kit/run-claude-code.ts'
import { type ScriptedServer, startScriptedMessages } from '../kit/scripted-messages.ts'

/**
 * What we resolve against what the real program sends to its model. Where the two differ, the program is right. With REPRISE_RECORD=1 the
 * answers for the odd trees are written down for the conformance suite, which runs without the program.
 */
const skip = withoutAgents()
if (skip) console.warn('REPRISE_WITHOUT_AGENTS=1: nothing is compared with the real program of Claude Code')
const recordTo =
  process.env.REPRISE_RECORD === '1'
    ? path.resolve(import.meta.dirname, '../fixtures/claude-code/odd-trees-2.1.332.json')
    : null
const recorded: Record<string, { pieces: Piece[]; lazy: string[] }> = {}

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const one of cleanUp.splice(0).reverse()) await one()
})

async function model(touch: readonly string[] = []): Promise<ScriptedServer> {
  const server = await startScriptedMessages((_, n) => {
    const file = touch[n - 1]
    return {
      blocks:
        file === undefined
          ? [{ type: 'text', text: 'done' }]
          : [{ type: 'tool_use', name: 'Read', input: { file_path: file } }],
    }
  })
  cleanUp.push(server.close)
  return server
}

function compare(body: unknown, resolution: Resolution): void {
  const block = instructionBlock(body)
  const ours = resolvedPieces(resolution)
  // Piece by piece first, because it says where; then the whole, because a text may look like a heading.
  expect(ours).toEqual(splitBlock(block))
  expect(joinPieces(ours)).toBe(block ?? '')
}

it.skipIf(skip)('has the real program at hand', () => {
  expect(requireAgentBinary('claude-code')).toMatch(/claude/)
})

describe.skipIf(skip)('start situations, piece by piece', () => {
  for (const name of Object.keys(expected.scenarios)) {
    it(name, async (context) => {
      const tree = layConfigTree()
      cleanUp.push(tree.remove)
      const start = prepare(name, tree)
      if (start.managed && !(await canShadowEtc())) context.skip('no private mount namespace on this machine')
      const resolution = resolveStart(tree, start)
      const server = await model()
      const run = await runRealClaudeCode({
        home: tree.home,
        cwd: start.cwd,
        args: ['-p', 'hello', ...start.flags, '--output-format', 'stream-json', '--verbose'],
        baseUrl: server.url,
        env: start.env,
        ...(start.managed ? { managedDir: path.join(tree.root, 'etc/claude-code') } : {}),
      })
      expect(run.code, run.stderr).toBe(0)
      compare(server.messages[0]?.body, resolution)
      compareInit(run.stdout, resolution)
      const warned = /Ignoring \d+ permissions\.allow/.test(run.stderr)
      expect(resolution.body.policy.permissions.allow.some((entry) => entry.ignored !== null)).toBe(warned)
    })
  }
})

/** The first line of the stream names servers, agents, skills and the model the program ended up with. */
function compareInit(stdout: string, { body }: Resolution): void {
  const init = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): unknown => JSON.parse(line))
    .find(
      (row): row is Record<string, unknown> =>
        typeof row === 'object' && row !== null && 'subtype' in row && row.subtype === 'init',
    )
  if (init === undefined) throw new Error('the stream has no init line')
  const servers = (Array.isArray(init.mcp_servers) ? init.mcp_servers : [])
    .map((server: { name: string }) => server.name)
    .sort()
  expect(
    body.capabilities.mcp_servers
      .filter((server) => server.status === 'active')
      .map((server) => server.name)
      .sort(),
  ).toEqual(servers)
  const { agents, skills, commands } = body.capabilities
  const named = (key: string): ReadonlySet<string> => new Set(Array.isArray(init[key]) ? init[key].map(String) : [])
  // Skills are callable like commands; the list of skills proper leaves some of them out.
  for (const [ours, real] of [
    [agents, named('agents')],
    [skills, named('slash_commands')],
    [commands, named('slash_commands')],
  ] as const) {
    for (const { name } of ours.filter((one) => one.status !== 'lazy')) {
      const isActive = [...ours, ...skills].some((one) => one.name === name && one.status === 'active')
      expect([name, isActive]).toEqual([name, real.has(name)])
    }
  }
  if (body.execution.model !== null) expect(init.model).toBe(body.execution.model)
}

describe.skipIf(skip)('odd trees, piece by piece, and what a touch brings in', () => {
  for (const [name, tree] of Object.entries(oddTrees)) {
    it(name, async (context) => {
      const laid = layOddTree(tree)
      cleanUp.push(laid.remove)
      if (laid.managedDir !== null && !(await canShadowEtc()))
        context.skip('no private mount namespace on this machine')
      const resolution = resolveOddTree(laid)
      const server = await model(laid.touch)
      const run = await runRealClaudeCode({
        home: laid.home,
        cwd: laid.cwd,
        args: ['-p', 'hello', ...laid.flags, ...(laid.touch.length > 0 ? ['--allowedTools', 'Read'] : [])],
        baseUrl: server.url,
        env: laid.env,
        ...(laid.managedDir === null ? {} : { managedDir: laid.managedDir }),
      })
      expect(run.code, run.stderr).toBe(0)
      const lazy = laid.touch.length > 0 ? nestedLoads(path.join(laid.home, '.claude')) : []
      if (recordTo !== null) {
        const inside = (files: readonly string[]): string[] => files.map((file) => file.replaceAll(laid.root, '<root>'))
        recorded[name] = {
          pieces: portable(splitBlock(instructionBlock(server.messages[0]?.body)), laid.root),
          lazy: inside(lazy),
        }
      }
      compare(server.messages[0]?.body, resolution)
      const loaded = new Set<string>()
      const ours: string[] = []
      for (const file of laid.touch) {
        for (const found of matchLazy(resolution, file, loaded)) {
          ours.push(found)
          loaded.add(found)
        }
      }
      expect(ours).toEqual(lazy)
    })
  }
  afterAll(() => {
    if (recordTo === null) return
    mkdirSync(path.dirname(recordTo), { recursive: true })
    writeFileSync(recordTo, `${JSON.stringify(recorded, null, 1)}\n`)
  })
})

describe.skipIf(skip)('settings: what the shell and the model see', () => {
  for (const [name, tree] of Object.entries(settingsTrees)) {
    it(name, async (context) => {
      const laid = layOddTree(tree)
      cleanUp.push(laid.remove)
      if (laid.managedDir !== null && !(await canShadowEtc()))
        context.skip('no private mount namespace on this machine')
      const { body, problems } = resolveOddTree(laid)
      const server = await startScriptedMessages((_, n) => ({
        blocks: [
          n === 1 ? { type: 'tool_use', name: 'Bash', input: { command: 'env' } } : { type: 'text', text: 'done' },
        ],
      }))
      cleanUp.push(server.close)
      const run = await runRealClaudeCode({
        home: laid.home,
        cwd: laid.cwd,
        args: ['-p', 'hello', '--allowedTools', 'Bash', ...laid.flags],
        baseUrl: server.url,
        env: laid.env,
        ...(laid.managedDir === null ? {} : { managedDir: laid.managedDir }),
      })
      expect(run.code, run.stderr).toBe(0)
      const seen = [...JSON.stringify(server.messages[1]?.body).matchAll(/(LAB_\w+)=/g)].map((match) => match[1])
      const ours = Object.keys(body.settings).flatMap((key) => (key.startsWith('env.LAB_') ? [key.slice(4)] : []))
      expect(ours.sort()).toEqual([...new Set(seen)].sort())
      const real = server.messages[0]?.body
      if (body.execution.model !== null) expect(real).toMatchObject({ model: body.execution.model })
      else expect(JSON.stringify(real)).not.toContain('"model":"m-')
      // The program says on standard error that it refuses a file; so do we.
      expect(problems.length > 0).toBe(/did not load/.test(run.stderr))
    })
  }
})

describe.skipIf(skip)('plugins, skills, commands and agents', () => {
  for (const [name, tree] of Object.entries(pluginTrees)) {
    it(name, async () => {
      const laid = layOddTree(tree)
      cleanUp.push(laid.remove)
      const resolution = resolveOddTree(laid)
      const server = await model()
      const run = await runRealClaudeCode({
        home: laid.home,
        cwd: laid.cwd,
        args: ['-p', 'hello', ...laid.flags, '--output-format', 'stream-json', '--verbose'],
        baseUrl: server.url,
      })
      expect(run.code, run.stderr).toBe(0)
      compareInit(run.stdout, resolution)
      const sent = JSON.stringify(server.messages[0]?.body)
      const { skills, commands, agents } = resolution.body.capabilities
      for (const one of [...skills, ...commands, ...agents]) {
        if (one.description === null || one.model_invocable === false) continue
        expect([one.name, one.description, one.status === 'active']).toEqual([
          one.name,
          one.description,
          sent.includes(one.description),
        ])
      }
    })
  }
})

describe.skipIf(skip)("the program's own report of what it loaded", () => {
  for (const name of [
    'root',
    'subdir',
    'linked-worktree',
    'external-imports-approved',
    'untrusted',
    'no-git',
    'no-git-subdir',
    'setting-sources=user',
    'setting-sources=project',
    'setting-sources=local',
    'config-dir-empty',
    'config-dir-copy+excludes',
    'claudeMdExcludes',
    'agents-md-fallback',
    'agents-md-suppressed-by-local',
    'agents-md-disabled',
    'settings-flag',
  ]) {
    it(name, async () => {
      const tree = layConfigTree()
      cleanUp.push(tree.remove)
      const start = prepare(name, tree)
      const resolution = resolveStart(tree, start)
      const run = await runRealClaudeCode({
        home: tree.home,
        cwd: start.cwd,
        args: ['-p', '/context', '--output-format', 'json', '--strict-mcp-config', ...start.flags],
        // Nobody listens there: the report needs no model.
        baseUrl: 'http://127.0.0.1:9',
        env: { ...start.env, CLAUDE_CODE_MAX_RETRIES: '0' },
      })
      const answer: unknown = JSON.parse(run.stdout)
      const report = typeof answer === 'object' && answer !== null && 'result' in answer ? String(answer.result) : ''
      const files = [
        ...(report.split('### Memory Files')[1] ?? '').split('\n### ')[0]!.matchAll(/^\| (\w+) \| (.+) \| [^|]+ \|$/gm),
      ]
        .map(([, type, file]) => ({ type, path: file }))
        .filter(({ type }) => type !== 'Type')
      const groups: Readonly<Record<string, string>> = {
        managed: 'Managed',
        user: 'User',
        local: 'Local',
        memory: 'AutoMem',
      }
      const ours = resolution.order.map((uri) => {
        const source = resolution.body.instructions.sources.find((one) => one.uri === uri)
        return { type: groups[source?.scope ?? ''] ?? 'Project', path: source?.path }
      })
      // The report lists the fallback files last; in the prompt they stand in the order of their directories.
      const isFallback = name.startsWith('agents-md')
      const sorted = (list: readonly { path?: string | null | undefined }[]) =>
        isFallback ? [...list].sort((a, b) => ((a.path ?? '') < (b.path ?? '') ? -1 : 1)) : list
      expect(sorted(ours)).toEqual(sorted(files))
    })
  }
})
