import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, type TestContext } from 'vitest'
import type { RebuiltRequest, SessionUnit } from '../../daemon/runtimes/adapter.ts'
import { codex } from '../../daemon/runtimes/codex/index.ts'
import { withoutAgents } from '../kit/agent-binaries.ts'
import { git } from '../kit/claude-code-tree.ts'
import { type LaidCodex, layCodex, resolveLaid } from '../kit/codex-tree.ts'
import { contentOf, looseUnit, readSession } from '../kit/read-session.ts'
import { rebuildAll } from '../kit/rebuild-requests.ts'
import { ISOLATED, runCodex, startAppServer } from '../kit/run-codex.ts'
import { type ResponsesBody, startScriptedResponses } from '../kit/scripted-responses.ts'

/** What we read of sessions that the real program writes, against what it really sent and did. */
const skip = withoutAgents()
if (skip) console.warn('REPRISE_WITHOUT_AGENTS=1: no session of the real program of Codex is read')

const HOME_RULES = 'Rules of the home.\n'
const files = {
  'home/dev/.codex/AGENTS.md': HOME_RULES,
  'home/dev/.codex/config.toml': 'developer_instructions = "Be brief."\n',
  'home/dev/demo/AGENTS.md': 'Rules of the repository.\n',
  'home/dev/demo/kept.txt': 'old\n',
  'home/dev/demo/.agents/skills/greet/SKILL.md': '---\nname: greet\ndescription: Greets.\n---\nSay hello.\n',
}

interface Lab {
  readonly laid: LaidCodex
  readonly cwd: string
  readonly provider: readonly string[]
  readonly bodies: readonly ResponsesBody[]
  readonly run: (args: readonly string[]) => Promise<string>
  readonly units: () => readonly SessionUnit[]
}

async function lab(context: TestContext, script: Parameters<typeof startScriptedResponses>[0] = []): Promise<Lab> {
  const laid = layCodex(files)
  context.onTestFinished(laid.remove)
  const cwd = laid.here('/home/dev/demo')
  git(cwd, 'init', '-q', '-b', 'main', '.')
  git(cwd, 'add', '-A')
  git(cwd, 'commit', '-qm', 'init')
  const server = await startScriptedResponses(script)
  context.onTestFinished(server.close)
  const value = `{name="Lab",base_url="${server.url}",wire_api="responses",env_key="LAB_KEY"}`
  const provider = ['-c', 'model_provider="lab"', '-c', `model_providers.lab=${value}`]
  return {
    laid,
    cwd,
    provider,
    bodies: server.bodies,
    async run(args) {
      const { code, stdout, stderr } = await runCodex({ laid, cwd, args })
      expect(code, stderr + stdout).toBe(0)
      return stdout
    },
    units: () =>
      [
        ...codex.listSessions(laid.codexHome, (problem) => {
          throw new Error(JSON.stringify(problem))
        }),
      ].sort((a, b) => (a.file < b.file ? -1 : 1)),
  }
}

/** Requests as they would be rebuilt, also of a thread in several files. */
async function rebuild(laid: LaidCodex, unit: SessionUnit): Promise<readonly RebuiltRequest[]> {
  const file = path.join(laid.root, 'lines.jsonl')
  writeFileSync(file, contentOf(codex, unit))
  return (await rebuildAll(codex, looseUnit(file, unit.session, unit.home))).map(({ request }) => request)
}

const command = (id: string, cmd: string) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'exec_command',
  arguments: JSON.stringify({ cmd }),
})
const patch = (id: string, input: string) => ({
  type: 'custom_tool_call',
  id: `ctc_${id}`,
  call_id: id,
  name: 'apply_patch',
  input,
})
const EXEC = ['exec', '--skip-git-repo-check', '--json', ...ISOLATED]

describe.skipIf(skip)('sessions that the real program writes', () => {
  it('hold every request of a model with direct tools, over a resume and a fork', async (context) => {
    const { laid, cwd, provider, bodies, run, units } = await lab(context, [
      [command('call_a', 'ls; exit 3')],
      [
        patch(
          'call_b',
          '*** Begin Patch\n*** Add File: kept.txt\n+new\n*** Add File: sub/more.txt\n+more\n*** End Patch\n',
        ),
      ],
      [
        command('call_c', 'echo no > /usr/not-here'),
        command(
          'call_d',
          "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: kept.txt\n*** Move to: moved.txt\n@@\n-new\n+newer\n*** Delete File: sub/more.txt\n*** End Patch\nEOF\n",
        ),
      ],
    ])
    const flags = [...EXEC, '-s', 'workspace-write', '-m', 'gpt-5.5', ...provider]
    await run([...flags, 'use $greet please'])
    const [unit] = units()
    if (unit === undefined) throw new Error('no session was written')
    const first = readSession(codex, unit)
    expect(first.summary.unknownRecords).toEqual({})
    expect(first.unreadable).toEqual([])
    const calls = first.events.filter(({ kind }) => kind === 'tool')
    expect(
      calls.map(({ toolUseId, ok, effectsState, effects }) => [
        toolUseId,
        ok,
        effectsState,
        effects.map(({ path: file, change }) => [path.basename(file), change]),
      ]),
    ).toEqual([
      ['call_a', false, 'none', []],
      [
        'call_b',
        true,
        'complete',
        expect.arrayContaining([
          ['kept.txt', 'add'],
          ['more.txt', 'add'],
        ]),
      ],
      ['call_c', false, 'none', []],
      [
        'call_d',
        true,
        'complete',
        expect.arrayContaining([
          ['kept.txt', 'delete'],
          ['moved.txt', 'add'],
          ['more.txt', 'delete'],
        ]),
      ],
    ])
    expect(first.events.filter(({ kind }) => kind === 'denied').map(({ toolUseId }) => toolUseId)).toEqual(['call_c'])
    expect(first.events.filter(({ kind }) => kind === 'skill').map(({ summary }) => summary)).toEqual(['greet'])
    expect(readFileSync(path.join(cwd, 'moved.txt'), 'utf8')).toBe('newer\n')

    await run(['exec', 'resume', unit.session, '--json', ...ISOLATED, '-m', 'gpt-5.5', ...provider, 'go on'])
    const [resumed] = units()
    const again = resumed && readSession(codex, resumed)
    expect(again?.stretches.map(({ cause }) => cause)).toEqual(['start', 'resume'])
    expect(again?.summary.requests).toBe(bodies.length)

    await run(['exec', 'fork', unit.session, '--json', ...ISOLATED, '-m', 'gpt-5.5', ...provider, 'another way'])
    const fork = units().find(({ session }) => session !== unit.session)
    const forked = fork && readSession(codex, fork)
    expect(forked?.stretches.map(({ cause }) => cause)).toEqual(['fork'])
    const shared = forked?.events[0]?.rowIds.filter((id) => again?.events.some(({ rowIds }) => rowIds.includes(id)))
    expect(shared).toHaveLength(1)
    expect(forked?.summary.tokens).toMatchObject({ input: 1, output: 1 })

    const own = bodies.slice(0, -1)
    const rebuilt = await rebuild(laid, unit)
    expect(rebuilt).toHaveLength(own.length)
    // All but the base instructions, which are sent in another form than recorded.
    for (const [n, { body }] of rebuilt.entries())
      expect((body.input as unknown[]).slice(1), `request ${n + 1}`).toEqual(own[n]?.input.slice(1))
  })

  it('hold every request of a model whose tools are an item, over a compaction', async (context) => {
    const { laid, cwd, provider, bodies, units } = await lab(context)
    const server = await startAppServer({ laid, cwd, flags: [...ISOLATED, '-c', 'model="gpt-6.2-sol"', ...provider] })
    const asked = async (count: number): Promise<void> => {
      for (let waited = 0; waited < 15_000; waited += 50) {
        const done = units().flatMap(
          (unit) =>
            contentOf(codex, unit)
              .toString('utf8')
              .match(/"type":"task_complete"/g) ?? [],
        )
        if (done.length >= count) return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error(`turn ${count} did not end`)
    }
    try {
      const { thread } = (await server.call('thread/start', { cwd })) as { thread: { id: string } }
      const turn = (text: string) => server.call('turn/start', { threadId: thread.id, input: [{ type: 'text', text }] })
      await turn('one')
      await asked(1)
      if (process.platform === 'linux')
        expect(
          codex
            .describeHome(laid.codexHome, {
              platform: 'linux',
              userHome: laid.home,
              env: {},
              systemRoot: '',
              now: () => new Date(),
            })
            .live.map(({ session }) => session),
        ).toEqual([thread.id])
      await turn('two')
      await asked(2)
      await server.call('thread/compact/start', { threadId: thread.id })
      await asked(3)
      await turn('three')
      await asked(4)
      const [unit] = units()
      if (unit === undefined) throw new Error('no session was written')
      const rebuilt = await rebuild(laid, unit)
      expect(rebuilt).toHaveLength(bodies.length)
      for (const [n, { body }] of rebuilt.entries()) {
        // What asks for the summary stands in no record.
        const sent = n === 2 ? bodies[n]?.input.slice(0, -1) : bodies[n]?.input
        expect(body.input, `request ${n + 1}`).toEqual(sent)
      }
      const [stretch] = readSession(codex, unit).summary.stretches
      const inferred = stretch && codex.inferManifest(stretch)
      const resolved = resolveLaid(laid, { cwd, flags: [...ISOLATED, '-c', 'model="gpt-6.2-sol"', ...provider] })
      expect(inferred?.instructions.effective_digest).toBe(resolved.body.instructions.effective_digest)
      expect(inferred?.execution).toMatchObject({
        model: 'gpt-6.2-sol',
        surface: 'app-server (reprise-test)',
        sandbox: resolved.body.execution.sandbox.mode === null ? {} : { mode: resolved.body.execution.sandbox.mode },
      })
    } finally {
      await server.close()
    }
    expect(
      codex.describeHome(laid.codexHome, {
        platform: 'linux',
        userHome: laid.home,
        env: {},
        systemRoot: '',
        now: () => new Date(),
      }).live,
    ).toEqual([])
  })
})
