import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EventContent, RawLine } from '../../../../daemon/runtimes/adapter.ts'
import { codex } from '../../../../daemon/runtimes/codex/index.ts'
import { type FinalEvent, looseUnit, readSession } from '../../../kit/read-session.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures')

/** Every event of a fixture with what is shown of it. */
async function describeAll(
  name: string,
): Promise<readonly { readonly event: FinalEvent; readonly content: EventContent }[]> {
  const file = join(fixtures, name)
  const unit = looseUnit(file, name, '/home/dev/.codex')
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map(
      (text, at): RawLine => ({ line: at + 1, byte: 0, bytes: 0, value: text.trim() === '' ? null : JSON.parse(text) }),
    )
  return Promise.all(
    readSession(codex, unit).events.map(async (event) => ({
      event,
      content: await codex.describeEvent(
        unit,
        event,
        lines.filter(({ line }) => event.lines.includes(line)),
        async () => ({ bytes: null, total: 0, why: null }),
      ),
    })),
  )
}
const short = ({ parts }: EventContent) => parts.map(({ role, label, text }) => [role, label, text.slice(0, 40)])

describe('what is shown of an event', () => {
  it('is something for every event of every session', async () => {
    for (const name of [
      'code-mode-edit-test-fix',
      'failing-tools',
      'approved-interrupted-compacted',
      'forked',
      'subagent-parent',
      'subagent-child',
      'legacy-history-mode',
    ])
      for (const { event, content } of await describeAll(`codex/rollouts/${name}.jsonl`)) {
        expect(content.parts.length + content.changes.length, `${name} ${event.seq} ${event.kind}`).toBeGreaterThan(0)
        for (const { text } of content.parts) expect(text).not.toBe('')
      }
  })

  it('are prompt, thoughts, answer and calls, once each', async () => {
    const all = await describeAll('codex/rollouts/direct-edit-test-fix.jsonl')
    const of = (kind: string) => all.filter(({ event }) => event.kind === kind).map(({ content }) => short(content))
    expect(of('prompt')).toEqual([[['prompt', 'Prompt', 'make calc and test it']]])
    expect(of('model')[0]).toEqual([
      ['thinking', 'Thinking', 'Thinking about step 1'],
      ['text', 'Answer', "I'll create the module and a test."],
      ['text', 'Calls apply_patch', 'apply_patch'],
    ])
    expect(of('tool')[1]).toEqual([
      ['input', 'Command', 'python3 -B test_calc.py'],
      ['input', 'Input', '{\n  "cmd": "python3 -B test_calc.py"\n}'],
      ['error', 'Error', expect.stringContaining('Chunk ID')],
    ])
    // Parts of one message are events of their own.
    expect(
      all.filter(({ event }) => event.line === 3).map(({ content }) => content.parts.map(({ label }) => label)),
    ).toEqual([['host_skills.instructions'], ['permissions.instructions'], ['tools.deferred_namespaces']])
  })

  it('are both sides of a change as far as the record holds them', async () => {
    const all = await describeAll('codex/rollouts/code-mode-edit-test-fix.jsonl')
    const changes = all.flatMap(({ event, content }) =>
      content.changes.map((change) => ({ tool: event.tool, ...change })),
    )
    expect(
      changes.map(({ tool, path, change, before, after }) => [tool, path, change, before, after?.slice(0, 34)]),
    ).toEqual([
      ['apply_patch', '/home/dev/demo/calc.py', 'add', null, 'def add(a, b):\n    return a - b\n\n\nd'.slice(0, 34)],
      ['apply_patch', '/home/dev/demo/test_calc.py', 'add', null, 'import unittest\nfrom calc import a'],
      [
        'apply_patch',
        '/home/dev/demo/calc.py',
        'change',
        'def add(a, b):\n    return a - b\n\n',
        'def add(a, b):\n    return a + b\n\n',
      ],
    ])
    expect(changes[0]?.why).toContain('does not keep what it held')
    expect(changes[2]?.why).toContain('changed places only')
  })

  it('are the output for the model and, where it is more, that of the command', async () => {
    const all = await describeAll('codex/rollouts/code-mode-edit-test-fix.jsonl')
    const nested = all.find(({ event }) => event.tool === 'exec_command')
    expect(nested && short(nested.content)).toEqual([
      ['input', 'Command', 'python3 -B test_calc.py'],
      ['error', 'Output', expect.stringContaining('F.')],
    ])
    const script = all.find(({ event }) => event.tool === 'exec')
    expect(script && short(script.content).map(([role, label]) => [role, label])).toEqual([
      ['input', 'Patch'],
      ['output', 'Output'],
    ])
    const denied = (await describeAll('codex/rollouts/failing-tools.jsonl')).filter(
      ({ event }) => event.kind === 'denied',
    )
    expect(denied.map(({ content }) => content.parts.map(({ role }) => role))).toEqual([
      ['error'],
      ['error'],
      ['error'],
    ])
  })

  it('shows nothing of the model twice in the older envelope', async () => {
    const all = await describeAll('wild/codex-0.41-first-envelope.jsonl')
    const replies = all.filter(({ event }) => event.kind === 'model')
    expect(replies.map(({ content }) => content.parts.map(({ role }) => role))).toEqual([
      ['thinking', 'text'],
      ['thinking', 'text'],
    ])
  })
})
