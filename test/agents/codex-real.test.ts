import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, it, type TestContext } from 'vitest'
import { parseFlags } from '../../daemon/runtimes/codex/resolve/flags.ts'
import { requireAgentBinary, withoutAgents } from '../kit/agent-binaries.ts'
import { askServer, portable, readPrompt, resolvedPrompt, resolvedServer } from '../kit/codex-answers.ts'
import { type LaidOddTree, layOddTree, oddTrees, pluginTrees, rulesFiles } from '../kit/codex-odd-trees.ts'
import { labelled, resolveLaid } from '../kit/codex-tree.ts'
import { canShadowEtc } from '../kit/run-claude-code.ts'
import { type CodexStart, ISOLATED, runCodex, startAppServer } from '../kit/run-codex.ts'
import { type ResponsesItem, startScriptedResponses } from '../kit/scripted-responses.ts'

/**
 * What we resolve against what the real program says and sends. Where the two differ, the program is right. With REPRISE_RECORD=1 its
 * answers are written down for the conformance suite, which runs without the program.
 */
const skip = withoutAgents()
if (skip) console.warn('REPRISE_WITHOUT_AGENTS=1: nothing is compared with the real program of Codex')
const recordTo =
  process.env.REPRISE_RECORD === '1'
    ? path.resolve(import.meta.dirname, '../fixtures/codex/odd-trees-0.171.0.json')
    : null
const recorded: Record<string, unknown> = {}

it.skipIf(skip)('has the real program at hand', () => {
  expect(requireAgentBinary('codex')).toMatch(/codex/)
})

/** The flags every part of the program takes, and the one only its main command takes. */
function splitFlags(flags: readonly string[]): {
  readonly config: string[]
  readonly profile: string[]
  readonly place: string[]
} {
  const config: string[] = []
  const profile: string[] = []
  const place: string[] = []
  for (const { name, values } of parseFlags(flags).all) {
    if (name === '--profile') profile.push('-p', ...values)
    else if (name === '--cd') place.push('-C', ...values)
    else if (name !== null) config.push(name, ...values)
  }
  return { config, profile, place }
}

async function lay(
  name: string,
  context: TestContext,
): Promise<{ laid: LaidOddTree; start: Omit<CodexStart, 'args'> }> {
  const tree = oddTrees[name]
  if (tree === undefined) throw new Error(`no tree ${name}`)
  const laid = layOddTree(tree)
  context.onTestFinished(laid.remove)
  if (laid.hasEtc && !(await canShadowEtc())) context.skip('no private mount namespace on this machine')
  return { laid, start: { laid, cwd: laid.cwd, withEtc: laid.hasEtc } }
}

const compared = Object.entries(oddTrees).filter(([, tree]) => tree.refused !== true)

describe.skipIf(skip).concurrent('what would enter the first request, and what the server says of itself', () => {
  for (const [name] of compared) {
    it(name, async (context) => {
      const { laid, start } = await lay(name, context)
      const { config, profile, place } = splitFlags(laid.flags)
      const flags = [...ISOLATED, ...config]
      // With the default model the answer begins with the vendor's own prompt.
      const more = ['-c', 'approval_policy="never"', '-c', 'model="gpt-5.5"']
      const prompt = await runCodex({
        ...start,
        args: [...profile, ...place, 'debug', 'prompt-input', ...flags, ...more, 'hello'],
      })
      expect(prompt.code, prompt.stderr).toBe(0)
      // Resolved after the first start, which unpacks the bundled skills.
      const promptFlags = [...profile, ...place, ...flags, ...more]
      const said = readPrompt(JSON.parse(prompt.stdout) as ResponsesItem[])
      // It does not show memories, which exec does send.
      expect(resolvedPrompt(resolveLaid(laid, { cwd: laid.cwd, flags: promptFlags }))).toEqual({
        ...said,
        memory: expect.toSatisfy(() => true),
      })

      const server = await startAppServer({ ...start, flags })
      const cwd = place[1] ?? laid.cwd
      const answers = await askServer(server, cwd).finally(() => server.close())
      expect(resolvedServer(resolveLaid(laid, { cwd: laid.cwd, flags: ['app-server', ...place, ...flags] }))).toEqual(
        answers,
      )
      recorded[name] = { prompt: portable(said, laid.there), server: portable(answers, laid.there) }
    })
  }
  afterAll(() => {
    if (recordTo === null) return
    mkdirSync(path.dirname(recordTo), { recursive: true })
    writeFileSync(recordTo, `${JSON.stringify(recorded, null, 1)}\n`)
  })
})

/** A provider on loopback, and the flags that lead to it. */
async function model(
  context: TestContext,
): Promise<{ server: Awaited<ReturnType<typeof startScriptedResponses>>; flags: string[] }> {
  const server = await startScriptedResponses()
  context.onTestFinished(server.close)
  const provider = `{name="Lab",base_url="${server.url}",wire_api="responses",env_key="LAB_KEY"}`
  return { server, flags: ['-c', 'model_provider="lab"', '-c', `model_providers.lab=${provider}`] }
}

describe.skipIf(skip).concurrent('what exec sends to its model', () => {
  for (const [name] of compared.filter(([, tree]) => tree.exec === true)) {
    it(name, async (context) => {
      const { laid, start } = await lay(name, context)
      const { server, flags: provider } = await model(context)
      const flags = ['exec', '--skip-git-repo-check', ...ISOLATED, ...provider, ...laid.flags]
      const run = await runCodex({ ...start, args: [...flags, '--json', 'hello'] })
      expect(run.code, run.stderr + run.stdout).toBe(0)
      const resolution = resolveLaid(laid, { cwd: laid.cwd, flags })
      // A thread of the program's own may run beside the user's.
      const body = server.bodies.find((one) =>
        /"thread_source":"user"/.test(one.client_metadata?.['x-codex-turn-metadata'] ?? ''),
      )
      if (body === undefined) throw new Error('the program sent no request of the user')
      const [base, ...rest] = body.input.filter((item) => item.type === 'message')
      expect(resolvedPrompt(resolution)).toEqual(readPrompt(rest))
      const { execution } = resolution.body
      expect(execution.model).toBe(body.model)
      if (execution.reasoning !== null) expect(execution.reasoning).toBe(body.reasoning?.effort)
      expect([execution.endpoint_profile, execution.base_url]).toEqual(['lab', server.url])
      const ours = labelled(resolution, 'base instructions')
      if (ours !== null) expect(base?.content?.map((part) => part.text)).toEqual([ours])
      const context_ = body.input
        .flatMap((item) => item.content ?? [])
        .find((part) => part.text?.startsWith('<environment_context>'))
      expect(sandboxOf(context_?.text ?? '')).toBe(execution.sandbox.mode)
      // What the program warns of stands among our problems.
      const warned = run.stdout
        .split('\n')
        .filter((line) => /"type":"error"/.test(line) && !/Model metadata/.test(line))
      if (warned.length === 0) expect(resolution.problems).toEqual([])
    })
  }
})

function sandboxOf(context: string): string {
  if (!context.includes('type="restricted"')) return 'danger-full-access'
  return context.includes('access="write"') ? 'workspace-write' : 'read-only'
}

describe.skipIf(skip).concurrent('what keeps it from starting', () => {
  for (const [name] of Object.entries(oddTrees).filter(([, tree]) => tree.refused === true)) {
    it(name, async (context) => {
      const { laid, start } = await lay(name, context)
      const flags = ['exec', '--skip-git-repo-check', ...ISOLATED, ...laid.flags]
      // Nobody listens there, and nothing is asked: it ends before.
      const run = await runCodex({ ...start, args: [...flags, '--json', 'hello'] })
      expect(run.code).not.toBe(0)
      const { problems } = resolveLaid(laid, { cwd: laid.cwd, flags })
      expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(/the program does not start/)])
    })
  }
  for (const [name, { text, refused }] of Object.entries(rulesFiles)) {
    it(`rules: ${name}`, async (context) => {
      const laid = layOddTree({ files: { 'home/dev/.codex/rules/a.rules': text } })
      context.onTestFinished(laid.remove)
      const { server, flags: provider } = await model(context)
      const flags = ['exec', '--skip-git-repo-check', ...ISOLATED, ...provider]
      const run = await runCodex({ laid, cwd: laid.cwd, args: [...flags, '--json', 'hello'] })
      expect(run.code === 0, run.stderr).toBe(!refused)
      expect(server.bodies.length > 0).toBe(!refused)
      const { problems } = resolveLaid(laid, { cwd: laid.cwd, flags })
      expect(problems.length > 0).toBe(refused)
      // The program names the line too.
      const line = /a\.rules:(\d+)/.exec(run.stderr)?.[1]
      if (line !== undefined) expect(problems[0]?.message).toContain(`line ${line}: `)
    })
  }
})

describe.skipIf(skip).concurrent('servers of the configuration', () => {
  it('are those the program lists', async (context) => {
    const { laid, start } = await lay('mcp servers', context)
    const run = await runCodex({ ...start, args: ['mcp', 'list', '--json', ...ISOLATED] })
    const list = JSON.parse(run.stdout) as {
      readonly name: string
      readonly enabled: boolean
      readonly transport: { readonly type: string; readonly command?: string; readonly args?: readonly string[] }
    }[]
    const { mcp_servers: servers } = resolveLaid(laid, { cwd: laid.cwd, flags: ISOLATED }).body.capabilities
    expect(
      servers.map((server) => ({
        name: server.name,
        enabled: server.status === 'active',
        type: server.transport,
        command: server.command,
        args: server.transport === 'stdio' ? server.args : [],
      })),
    ).toEqual(
      list.map(({ name, enabled, transport }) => ({
        name,
        enabled,
        type: transport.type,
        command: transport.command ?? null,
        args: transport.args ?? [],
      })),
    )
  })
})

describe.skipIf(skip)('plugins', () => {
  for (const [name, tree] of Object.entries(pluginTrees)) {
    it(name, async (context) => {
      if (!(await canShadowEtc())) context.skip('no namespaces on this machine')
      const laid = layOddTree(tree)
      context.onTestFinished(laid.remove)
      const start = { laid, cwd: laid.cwd, offline: true }
      const flags = ['-c', 'analytics.enabled=false', '-c', 'model="gpt-5.5"', '-c', 'approval_policy="never"']
      const prompt = await runCodex({ ...start, args: ['debug', 'prompt-input', ...flags, 'hello'] })
      expect(prompt.code, prompt.stderr).toBe(0)
      const resolution = resolveLaid(laid, { cwd: laid.cwd, flags })
      expect(resolvedPrompt(resolution)).toEqual(readPrompt(JSON.parse(prompt.stdout) as ResponsesItem[]))
      const server = await startAppServer({ ...start, flags })
      const { hooks } = await askServer(server, laid.cwd).finally(() => server.close())
      // The second half of such a hash covers the whole plugin.
      expect(resolvedServer(resolution).hooks).toEqual(
        hooks.map((each) => ({ ...each, hash: each.hash.split('/')[0] })),
      )
      const list = await runCodex({ ...start, args: ['mcp', 'list', '--json'] })
      const servers = JSON.parse(list.stdout) as {
        readonly name: string
        readonly transport: { readonly command: string }
      }[]
      expect(
        resolution.body.capabilities.mcp_servers
          .filter((one) => one.status === 'active')
          .map(({ name: own, command }) => [own, command]),
      ).toEqual(servers.map((one) => [one.name, one.transport.command]))
    })
  }
})
