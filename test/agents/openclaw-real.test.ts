import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { requireAgentBinary, withoutAgents } from '../kit/agent-binaries.ts'
import { type RealTree, realTrees } from '../kit/openclaw-real-trees.ts'
import { layOpenClawHome, type OpenClawHome, resolvedPieces } from '../kit/openclaw-tree.ts'
import { runRealOpenClaw } from '../kit/run-openclaw.ts'
import { startScriptedCompletions } from '../kit/scripted-completions.ts'

/**
 * What we resolve against what the real program sends to its model. Where the two differ, the program is right. A turn takes several
 * seconds, so that all trees run first, a few at a time, each with a home, a state directory and a model of its own.
 */
const skip = withoutAgents()
if (skip) console.warn('REPRISE_WITHOUT_AGENTS=1: nothing is compared with the real program of OpenClaw')

const requestSchema = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
})
interface Compared {
  readonly before: Resolution
  /** After the run: links to the skills of plugins are made by it. */
  readonly after: Resolution
  readonly code: number | null
  readonly stderr: string
  readonly request: z.infer<typeof requestSchema> | null
}

/** More at once only makes two cores wait for each other. */
const AT_ONCE = 2
const TIMEOUT = 300_000
const compared = new Map<string, Promise<Compared>>()
const homes: OpenClawHome[] = []
afterAll(async () => {
  await Promise.allSettled(compared.values())
  for (const home of homes) home.remove()
}, TIMEOUT)

async function run(tree: RealTree): Promise<Compared> {
  const home = layOpenClawHome()
  homes.push(home)
  const model = await startScriptedCompletions()
  try {
    tree.lay(home)
    mkdirSync(path.join(home.home, 'tmp'), { recursive: true })
    // Found on the search path, the program's own skills and templates can be looked at.
    mkdirSync(path.join(home.home, 'bin'))
    symlinkSync(requireAgentBinary('openclaw'), path.join(home.home, 'bin/openclaw'))
    const scripted = { id: 'scripted-1', name: 'scripted', contextWindow: 200_000, maxTokens: 8192, input: ['text'] }
    const own = tree.config?.(home) ?? {}
    const agents = z.looseObject({}).parse(own.agents ?? {})
    const defaults = {
      skipBootstrap: true,
      ...z.looseObject({}).parse(agents.defaults ?? {}),
      ...tree.defaults?.(home),
      model: 'lab/scripted-1',
    }
    const flags = tree.flags?.(home) ?? []
    home.write(
      '.openclaw/openclaw.json',
      JSON.stringify({
        models: {
          providers: { lab: { baseUrl: model.url, apiKey: 'none', api: 'openai-completions', models: [scripted] } },
        },
        ...own,
        agents: { ...agents, defaults },
      }),
    )
    const isExec = flags[0] === 'exec'
    const cwd = tree.cwd?.(home) ?? path.join(home.state, 'workspace')
    const env = { PATH: `${path.join(home.home, 'bin')}:/usr/local/bin:/usr/bin:/bin` }
    const args = ['agent', ...(isExec ? [...flags, '--model', 'lab/scripted-1'] : ['--local', ...flags]), '--json']
    const resolve = (): Resolution => home.resolve({ cwd, flags: args, env })
    const before = resolve()
    // A start that names no agent is owned by the one there is; the program asks for the name all the same.
    const needsName = !isExec && !flags.includes('--agent') && !flags.includes('--session-key')
    const done = await runRealOpenClaw({
      home: home.home,
      state: home.state,
      cwd,
      args: [...args, ...(needsName ? ['--agent', 'main'] : []), ...(isExec ? ['hello'] : ['--message', 'hello'])],
      env,
      timeoutMs: 120_000,
    })
    const sent = requestSchema.safeParse(model.completions[0]?.body)
    return { before, after: resolve(), code: done.code, stderr: done.stderr, request: sent.success ? sent.data : null }
  } finally {
    await model.close()
  }
}

/** Every tree waits for the one `AT_ONCE` places before it. */
beforeAll(() => {
  if (skip) return
  const started: Promise<unknown>[] = []
  for (const [name, tree] of Object.entries(realTrees)) {
    const done = Promise.resolve(started[started.length - AT_ONCE]).then(() => run(tree))
    compared.set(name, done)
    started.push(done.catch(() => null))
  }
})

/** The system message: a text, or a list of blocks. */
function systemText({ messages }: z.infer<typeof requestSchema>): string {
  const content = messages.find((message) => message.role === 'system')?.content
  if (typeof content === 'string') return content
  return z
    .array(z.looseObject({ text: z.string() }))
    .parse(content)
    .map((block) => block.text)
    .join('\n')
}

/** From the first heading of a file to the end of the section; null when there is no section. */
function projectContext(system: string): string | null {
  const start = system.indexOf('\n# Project Context\n')
  if (start < 0) return null
  const end = system.indexOf('\n<!-- /openclaw:attempt:STABLE', start)
  return system.slice(system.indexOf('\n## /', start) + 1, end < 0 ? undefined : end)
}

const plain = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')

describe.skipIf(skip)('piece by piece, skill by skill, tool by tool', () => {
  for (const name of Object.keys(realTrees)) {
    it(name, { timeout: TIMEOUT }, async () => {
      const done = await compared.get(name)
      if (done === undefined || done.request === null) throw new Error(`no request came: ${done?.code} ${done?.stderr}`)
      expect(done.code, done.stderr).toBe(0)
      const { before, after, request } = done
      expect(before.body.execution.refused).toBeNull()
      const system = systemText(request)

      const pieces = resolvedPieces(before)
      const section = projectContext(system)
      expect([...(section ?? '').matchAll(/^## (\/.+)$/gm)].map((match) => match[1])).toEqual(
        pieces.map((piece) => piece.path),
      )
      expect(pieces.map((piece) => `## ${piece.path}\n${piece.text}`).join('\n')).toBe(section ?? '')

      const listed = [
        ...system.matchAll(
          /<skill>\s*<name>(.*?)<\/name>\s*<description>(.*?)<\/description>\s*<location>(.*?)<\/location>/gs,
        ),
      ]
      expect(
        after.body.capabilities.skills
          .filter((skill) => skill.status === 'active')
          .map((skill) => ({ name: skill.name, description: skill.description, location: skill.location })),
      ).toEqual(
        listed.map(([, skill = '', about = '', place = '']) => ({
          name: plain(skill),
          description: plain(about),
          location: plain(place),
        })),
      )

      const sent = (request.tools ?? []).map((tool) => tool.function.name)
      const prefixes = before.body.capabilities.mcp_servers
        .filter((server) => !server.tools_removed_by)
        .map((server) => String(server.tool_prefix))
      const isOfServer = (tool: string): boolean => prefixes.some((prefix) => tool.startsWith(prefix))
      expect(
        before.body.capabilities.tools
          .filter((tool) => tool.presented === 'in the request')
          .map((tool) => tool.name)
          .sort(),
      ).toEqual(sent.filter((tool) => !isOfServer(tool)).sort())
      for (const prefix of prefixes) expect(sent.some((tool) => tool.startsWith(prefix))).toBe(true)
      expect(request).toMatchObject({ model: before.body.execution.model?.split('/')[1] })
    })
  }
})
