import { describe, expect, it } from 'vitest'
import { Copies } from '../../../../daemon/runtimes/hermes/copies.ts'
import { Effects } from '../../../../daemon/runtimes/hermes/effects.ts'
import { readPromptParts } from '../../../../daemon/runtimes/hermes/prompt-parts.ts'
import { denialOf, readToolResult, succeeded } from '../../../../daemon/runtimes/hermes/tool-results.ts'

const BAR = '═'.repeat(46)

describe('the parts of a stored prompt', () => {
  const prompt = [
    'Somebody.\n\nGuidance.',
    '<available_skills>\n  ops: for operations\n    - deploy: Deploy it: all.\n    - bare\n  general:\n    - other: x\n</available_skills>',
    'More guidance.',
    'Workspace (snapshot):\n- Root: /w\n- Branch: main',
    'A line of the profile.',
    '# Project Context\n\nThe files:\n\n## ../AGENTS.md\n\nRoot\n\n## Rules\n\nnot a file\n\n## AGENTS.md\n\nLeaf',
    `${BAR}\nMEMORY (notes) [1% — 5/2,200 chars]\n${BAR}\none\n§\n${BAR}\ntwo`,
    `${BAR}\nUSER PROFILE (who) [1% — 5/1,375 chars]\n${BAR}\nme`,
    'Conversation started: Monday, November 30, 2026\nModel: m-1\nProvider: custom\nPlatform: cli',
  ].join('\n\n')

  it('are told by their marks, whatever the texts quote', () => {
    const parts = readPromptParts(prompt)
    expect(parts.head).toBe('Somebody.\n\nGuidance.\n\n\n\nMore guidance.')
    expect(parts.skills).toEqual([
      { name: 'deploy', description: 'Deploy it: all.', category: 'ops' },
      { name: 'bare', description: null, category: 'ops' },
      { name: 'other', description: 'x', category: 'general' },
    ])
    expect(parts.workspace).toBe('- Root: /w\n- Branch: main')
    expect(parts.project).toEqual([
      { label: '../AGENTS.md', text: '## ../AGENTS.md\n\nRoot\n\n## Rules\n\nnot a file' },
      { label: 'AGENTS.md', text: '## AGENTS.md\n\nLeaf' },
    ])
    expect(parts.memory).toBe(`${BAR}\nMEMORY (notes) [1% — 5/2,200 chars]\n${BAR}\none\n§\n${BAR}\ntwo`)
    expect(parts.user).toBe(`${BAR}\nUSER PROFILE (who) [1% — 5/1,375 chars]\n${BAR}\nme`)
    expect(parts).toMatchObject({ model: 'm-1', provider: 'custom', platform: 'cli' })
  })

  it('are one piece when the prompt is of another form', () => {
    expect(readPromptParts('inline legacy prompt')).toMatchObject({
      head: 'inline legacy prompt',
      project: [],
      memory: null,
    })
  })
})

describe('rows inserted again', () => {
  let id = 0
  const row = (more: Record<string, unknown>): Record<string, unknown> => ({
    id: ++id,
    active: 1,
    compacted: 0,
    content: '',
    timestamp: 1000 + id,
    ...more,
  })
  const call = (name: string, args = '{}', callId = 'call_0') =>
    JSON.stringify([{ id: callId, function: { name, arguments: args } }])
  const place = (rows: readonly Record<string, unknown>[]) => {
    const copies = new Copies()
    return rows.map(
      (one, at) => copies.place(one, (rows[at + 1]?.timestamp as number | undefined) ?? null).copyOf?.id ?? null,
    )
  }

  it('are not told by the id of a call: a provider may count from zero in every reply', () => {
    id = 0
    expect(
      place([
        row({ role: 'user', content: 'go' }),
        row({ role: 'assistant', tool_calls: call('terminal', '{"command":"a"}') }),
        row({ role: 'tool', tool_call_id: 'call_0', content: 'a' }),
        row({ role: 'assistant', tool_calls: call('terminal', '{"command":"a"}') }),
        row({ role: 'tool', tool_call_id: 'call_0', content: 'a' }),
        row({ role: 'user', content: 'go' }),
      ]),
    ).toEqual([null, null, null, null, null, null])
  })

  it('stand behind archived ones, and what is asked again later is no copy', () => {
    id = 0
    const archived = { active: 0, compacted: 1 }
    expect(
      place([
        row({ ...archived, role: 'user', content: 'continue' }),
        row({ ...archived, role: 'assistant', tool_calls: call('read_file', '{"path":"x"}', 'c1') }),
        row({ ...archived, role: 'tool', tool_call_id: 'c1', content: 'long' }),
        row({ role: 'user', content: '[CONTEXT COMPACTION — REFERENCE ONLY] summary' }),
        row({ role: 'assistant', tool_calls: call('read_file', '{"path":"x"}', 'c1') }),
        row({ role: 'tool', tool_call_id: 'c1', content: 'short' }),
        row({ role: 'assistant', content: 'done' }),
        row({ role: 'user', content: 'continue' }),
      ]),
    ).toEqual([null, null, null, null, 2, 3, null, null])
  })
})

describe('results of tools', () => {
  it.each([
    ['{"output": "x", "exit_code": 0, "error": null}', true],
    ['{"output": "", "exit_code": 2, "error": null}', false],
    ['{"output": "", "exit_code": -1, "error": "timed out"}', false],
    ['{"success": false}', false],
    ['{"status": "dispatched"}', true],
    ['{"status": "blocked", "error": "no"}', false],
    ['[terminal] ran `x` -> exit 1, 3 lines output', false],
    ['[terminal] ran `x` -> exit 0, 3 lines output', true],
    ['plain words about an Error', true],
    ['Error: no such tool', false],
  ])('%s', (text, ok) => expect(succeeded(readToolResult(text))).toBe(ok))

  it('are apart from what came in with them, blocked files too', () => {
    const text =
      '{"exit_code": 0}\n\n[Subdirectory context discovered: a/AGENTS.md]\n[BLOCKED: AGENTS.md contained potential prompt injection (role_hijack, read_secrets). Content not loaded.]\n\n[Subdirectory context discovered: b/CLAUDE.md]\nB\n\nmore'
    const result = readToolResult(text)
    expect(result.value).toEqual({ exit_code: 0 })
    expect(result.hints).toMatchObject([
      { path: 'a/AGENTS.md', blocked: ['role_hijack', 'read_secrets'] },
      { path: 'b/CLAUDE.md', text: 'B\n\nmore', blocked: null },
    ])
    expect(denialOf(readToolResult('{"status": "blocked", "error": "BLOCKED: refused"}'))).toBe('BLOCKED: refused')
    expect(denialOf(result)).toBeNull()
  })
})

describe('effects', () => {
  it('of a call that failed are none, of a command nobody knows', () => {
    const effects = new Effects('/h')
    expect(effects.of('write_file', { path: 'a', content: 'x' }, { error: 'no' }, false, '/w')).toEqual({
      effects: [],
      effectsState: 'complete',
    })
    expect(effects.of('terminal', { command: 'rm a' }, { exit_code: 0 }, true, '/w')).toEqual({
      effects: [],
      effectsState: 'none',
    })
    expect(effects.of('read_file', { path: 'a' }, {}, true, '/w').effectsState).toBe('not_applicable')
  })

  it('of a patch that stands on nothing we know are the path and the lines', () => {
    const diff = '--- a//w/a.txt\n+++ b//w/a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n'
    const made = new Effects('/h').of(
      'patch',
      { path: 'a.txt' },
      { success: true, diff, files_modified: ['/w/a.txt'] },
      true,
      '/w',
    )
    expect(made).toEqual({
      effectsState: 'partial',
      effects: [
        {
          path: '/w/a.txt',
          change: 'change',
          by: 'edit tool',
          before: null,
          after: null,
          addedLines: 2,
          removedLines: 1,
        },
      ],
    })
  })

  it('of a patch of several files are told file by file', () => {
    const effects = new Effects('/h')
    effects.of(
      'write_file',
      { path: '/w/a.txt', content: 'one\n' },
      { bytes_written: 4, resolved_path: '/w/a.txt' },
      true,
      '/w',
    )
    const diff =
      '--- a//w/a.txt\n+++ b//w/a.txt\n@@ -1 +1 @@\n-one\n+1\n--- /dev/null\n+++ b//w/b.txt\n@@ -0,0 +1 @@\n+new\n'
    const made = effects.changes(
      'patch',
      {},
      { success: true, diff, files_modified: ['/w/a.txt'], files_created: ['/w/b.txt'], files_deleted: ['/w/c.txt'] },
      '/w',
    )
    expect(made.map(({ path, change, before, after }) => [path, change, before, after])).toEqual([
      ['/w/a.txt', 'change', 'one\n', '1\n'],
      ['/w/b.txt', 'add', null, 'new\n'],
      ['/w/c.txt', 'delete', null, null],
    ])
  })

  it('of a memory write that only waits for approval are none', () => {
    expect(new Effects('/h').of('memory', { target: 'user' }, { success: true, staged: true }, true, null)).toEqual({
      effects: [],
      effectsState: 'complete',
    })
  })
})
