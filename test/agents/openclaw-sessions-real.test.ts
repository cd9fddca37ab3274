import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { effectiveDigest } from '../../daemon/manifest/effective-text.ts'
import type { RawLine } from '../../daemon/runtimes/adapter.ts'
import { openclaw } from '../../daemon/runtimes/openclaw/index.ts'
import { readListedSkills, readProjectContext } from '../../daemon/runtimes/openclaw/project-context.ts'
import { agentVersion, withoutAgents } from '../kit/agent-binaries.ts'
import { contentOf, readSession } from '../kit/read-session.ts'
import { runRealOpenClaw } from '../kit/run-openclaw.ts'
import { startScriptedCompletions } from '../kit/scripted-completions.ts'

/** What we read of a session against what the real program sent to its model for it. Where the two differ, the program is right. */
const skip = withoutAgents()
if (skip) console.warn('REPRISE_WITHOUT_AGENTS=1: no session of the real program of OpenClaw is read')

const requestSchema = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).default([]),
})
const TIMEOUT = 400_000
const root = mkdtempSync(join(tmpdir(), 'reprise-openclaw-real-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

describe.skipIf(skip)('OpenClaw, the real program: sessions', () => {
  it(
    'grow at their end, hold what was sent, and tell the configuration of each turn',
    async () => {
      const state = join(root, '.openclaw')
      const workspace = join(root, 'shop')
      for (const folder of [state, workspace, join(root, 'tmp')]) mkdirSync(folder, { recursive: true })
      writeFileSync(join(workspace, 'AGENTS.md'), '# Rules\nPrices are in cents.\n')
      const model = await startScriptedCompletions()
      try {
        const scripted = (id: string) => ({ id, name: id, contextWindow: 200_000, maxTokens: 8192, input: ['text'] })
        writeFileSync(
          join(state, 'openclaw.json'),
          JSON.stringify({
            models: {
              providers: {
                lab: {
                  baseUrl: model.url,
                  apiKey: 'none',
                  api: 'openai-completions',
                  models: [scripted('small'), scripted('large')],
                },
              },
            },
            agents: { defaults: { model: 'lab/small', workspace, skipBootstrap: true } },
            tools: { profile: 'minimal', toolSearch: false },
          }),
        )
        const turn = async (words: string, ...flags: string[]): Promise<void> => {
          const args = ['agent', '--local', '--agent', 'main', '--message', words, '--json', ...flags]
          const { code, stderr } = await runRealOpenClaw({
            home: root,
            state,
            cwd: workspace,
            args,
            timeoutMs: 180_000,
          })
          expect(code, stderr).toBe(0)
        }
        const look = () => {
          const problems: unknown[] = []
          const [unit, ...others] = [...openclaw.listSessions(state, (problem) => problems.push(problem))]
          expect([problems, others]).toEqual([[], []])
          if (unit === undefined) throw new Error('the program left no session')
          return { unit, content: contentOf(openclaw, unit) }
        }
        await turn('what does it cost?')
        const first = look()
        await turn('and now?', '--model', 'lab/large')
        const second = look()
        expect(second.unit.session).toBe(first.unit.session)
        expect(second.content.subarray(0, first.content.length).equals(first.content)).toBe(true)
        expect(second.unit.stamp).not.toEqual(first.unit.stamp)

        const { events, stretches, summary } = readSession(openclaw, second.unit)
        expect(summary).toMatchObject({
          versions: [agentVersion('openclaw')],
          workspaces: [workspace],
          models: ['small', 'large'],
          unknownRecords: {},
          brokenLinks: 0,
          tokens: { input: 20, output: 2 },
        })
        expect(events.filter(({ kind }) => kind === 'prompt').map(({ summary: words }) => words)).toEqual([
          'what does it cost?',
          'and now?',
        ])
        expect(stretches.map(({ cause }) => cause)).toEqual(['start', 'resume'])

        const lines = linesOf(second.content)
        const replies = events.filter(({ kind }) => kind === 'model')
        const requests = model.completions.map(({ body }) => requestSchema.parse(body))
        expect(requests.length).toBe(2)
        for (const [n, reply] of replies.entries()) {
          const rebuilt = await openclaw.rebuildRequest(
            second.unit,
            lines.filter(({ line }) => reply.lines.includes(line)),
            {
              scan: async (visit) => {
                for (const line of lines) if (!visit(line)) return
              },
              read: async (places) => places.flatMap(({ line }) => lines.filter((one) => one.line === line)),
            },
          )
          const [system, ...messages] = z.array(z.unknown()).parse(rebuilt.body.messages)
          expect(messages).toEqual(withoutAdded(requests[n]?.messages ?? []))
          expect(plainSystem(system)).toBe(plainSystem(requests[n]?.messages[0]))
        }
        for (const [n, stretch] of summary.stretches.entries()) {
          const body = openclaw.inferManifest(stretch)
          expect(body.execution).toMatchObject({
            model: n === 0 ? 'lab/small' : 'lab/large',
            surface: 'agent --local',
            runtime_version: agentVersion('openclaw'),
          })
          const prompt = plainSystem(requests[n]?.messages[0])
          const pieces = (readProjectContext(prompt) ?? []).map(({ path, text }) => ({ path, label: null, text }))
          expect(pieces.map(({ path }) => path)).toContain(join(workspace, 'AGENTS.md'))
          expect(body.instructions.effective_digest).toBe(effectiveDigest(pieces))
          expect(body.capabilities.skills.map(({ name }) => name)).toEqual(readListedSkills(prompt))
          const names = body.capabilities.tools.map(({ name }) => name).sort()
          expect(names).toEqual(requests[n]?.tools.map((tool) => tool.function.name).sort())
        }
        const files = openclaw.inferManifest(summary.stretches[1] ?? fail()).instructions.sources
        expect(files.find(({ path }) => path === join(workspace, 'AGENTS.md'))).toMatchObject({
          status: 'loaded',
          position: 0,
          raw_chars: 28,
        })
      } finally {
        await model.close()
      }
    },
    TIMEOUT,
  )
})

/** The program covers the session id when it writes the prompt into its trajectory. */
const plainSystem = (message: unknown): string =>
  z
    .object({ role: z.literal('system'), content: z.string() })
    .parse(message)
    .content.replaceAll(/sessionId=\S+/g, 'sessionId=')

/** What the program adds to a request and writes into no transcript. */
function withoutAdded(messages: readonly { readonly role: string; readonly content: unknown }[]): readonly unknown[] {
  return messages
    .filter(
      ({ role, content }) => role !== 'system' && !JSON.stringify(content).includes('BEGIN_OPENCLAW_INTERNAL_CONTEXT'),
    )
    .map((message) =>
      message.role === 'user' && typeof message.content === 'string'
        ? {
            ...message,
            content: message.content
              .replace(/^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d [^\]]+\] /, '')
              .replace(/\n\nRuntime: agent=.*$/s, ''),
          }
        : message,
    )
}

function linesOf(content: Buffer): readonly RawLine[] {
  return content
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((text, n) => ({ line: n + 1, byte: 0, bytes: Buffer.byteLength(text), value: JSON.parse(text) as unknown }))
}

function fail(): never {
  throw new Error('not there')
}
