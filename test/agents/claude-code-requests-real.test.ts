import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { withoutAgents } from '../kit/agent-binaries.ts'
import { looseUnit } from '../kit/read-session.ts'
import { rebuildAll } from '../kit/rebuild-requests.ts'
import { runRealClaudeCode } from '../kit/run-claude-code.ts'
import { type ScriptedAnswer, startScriptedMessages } from '../kit/scripted-messages.ts'
import { normaliseRequest } from '../kit/sent-request.ts'

/** What we rebuild from the transcript against what the real program sent, byte for byte of its texts. */
const base = mkdtempSync(path.join(os.tmpdir(), 'reprise-real-requests-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const bodySchema = z.record(z.string(), z.unknown())

describe.skipIf(withoutAgents())('requests of the real program', () => {
  it('are rebuilt exactly: rules that load on the way, hooks, parallel calls, a directory change, a resume', async () => {
    const home = path.join(base, 'home')
    const cwd = path.join(base, 'shop')
    for (const folder of [home, path.join(cwd, 'packages/api'), path.join(home, '.claude')])
      mkdirSync(folder, { recursive: true })
    const write = (name: string, text: string) => writeFileSync(path.join(cwd, name), text)
    write('CLAUDE.md', '# Shop\nUse tabs.\n')
    write('packages/api/CLAUDE.md', 'Never log a price.\n')
    write('packages/api/price.js', 'export const price = 3\n')
    const context = { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'checked by the hook' } }
    writeFileSync(
      path.join(home, '.claude/settings.json'),
      JSON.stringify({
        hooks: {
          PostToolUse: [
            { matcher: 'Bash', hooks: [{ type: 'command', command: `echo '${JSON.stringify(context)}'` }] },
          ],
        },
      }),
    )
    const call = (name: string, input: unknown) => ({ type: 'tool_use', name, input }) as const
    const bash = (command: string) => call('Bash', { command, description: 'looks' })
    const file = path.join(cwd, 'packages/api/price.js')
    const answers: readonly ScriptedAnswer[] = [
      { blocks: [{ type: 'text', text: 'Looking.' }, call('Read', { file_path: file })] },
      { blocks: [bash('echo one'), bash('echo two; exit 3'), call('Read', { file_path: path.join(cwd, 'none.js') })] },
      { blocks: [call('Edit', { file_path: file, old_string: '= 3', new_string: '= 4' })] },
      { blocks: [bash('cd packages/api && pwd')] },
      ...Array.from({ length: 6 }, (_, n) => ({ blocks: [bash(`echo round ${n}`)] })),
      { blocks: [{ type: 'text', text: 'Done with ünïcode and “quotes”.' }] },
      { blocks: [{ type: 'text', text: 'Done again.' }] },
    ]
    const server = await startScriptedMessages((_, n) => answers[n - 1] ?? { blocks: [{ type: 'text', text: 'end' }] })
    const session = 'd0000000-0000-4000-8000-000000000001'
    const args = ['--output-format', 'json', '--allowedTools', 'Bash', 'Read', 'Edit', 'Write']
    try {
      for (const more of [
        ['-p', 'change the price', '--session-id', session],
        ['-p', 'once more', '--resume', session],
      ])
        expect((await runRealClaudeCode({ home, cwd, args: [...more, ...args], baseUrl: server.url })).code).toBe(0)
    } finally {
      await server.close()
    }
    const projects = path.join(home, '.claude/projects')
    const name = readdirSync(projects, { recursive: true, encoding: 'utf8' }).find((one) =>
      one.endsWith(`${session}.jsonl`),
    )
    const rebuilt = await rebuildAll(claudeCode, looseUnit(path.join(projects, String(name)), session))
    expect(rebuilt.length).toBe(answers.length)
    expect(rebuilt.map(({ request }) => request.why)).toEqual(rebuilt.map(() => null))
    const sent = server.messages.map(({ headers, body }) =>
      normaliseRequest(bodySchema.parse(body), String(headers['anthropic-beta'])),
    )
    expect(rebuilt.map(({ request }) => request.body)).toEqual(sent)
  })
})
