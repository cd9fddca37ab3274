import { describe, expect, it } from 'vitest'
import { call, event, item, meta, output, readRecords, said, thread } from './records.ts'

const kinds = ({ events }: ReturnType<typeof readRecords>) => events.map(({ kind, lines }) => [kind, lines])

describe('words that stand twice', () => {
  it('are read once whichever record comes first', () => {
    const reading = readRecords([
      meta(),
      event('user_message', { message: 'hello' }),
      said('user', 'hello'),
      said('assistant', 'hi'),
      event('agent_message', { message: 'hi' }),
      event('agent_reasoning', { text: 'hm' }),
      item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }),
    ])
    expect(kinds(reading)).toEqual([
      ['note', [1]],
      ['prompt', [2, 3]],
      ['model', [4, 5, 6, 7]],
    ])
    expect(reading.words.map(({ role, text }) => [role, text])).toEqual([
      ['prompt', 'hello'],
      ['answer', 'hi'],
      ['thinking', 'hm'],
    ])
  })

  it('are two when they were said twice', () => {
    const twice = [said('user', 'go on'), event('user_message', { message: 'go on' })]
    const reading = readRecords([meta(), ...twice, said('assistant', 'yes'), ...twice, said('assistant', 'yes')])
    expect(reading.events.map(({ kind }) => kind)).toEqual(['note', 'prompt', 'model', 'prompt', 'model'])
  })

  it('are found although one of them names an image', () => {
    const reading = readRecords([
      meta(),
      item({
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', image_url: 'data:' },
        ],
      }),
      event('user_message', { message: 'look', images: ['data:'] }),
    ])
    expect(kinds(reading)).toEqual([
      ['note', [1]],
      ['prompt', [2, 3]],
    ])
  })
})

describe('replies', () => {
  it('end with an output, with a usage record, and where the model had seen something else', () => {
    const usage = (input: number) => ({
      type: 'token_usage_record',
      payload: { thread_id: thread, usage: { input_tokens: input, cached_input_tokens: 40, output_tokens: 3 } },
    })
    const reading = readRecords([
      meta(),
      said('user', 'a'),
      said('assistant', 'one'),
      call('c1', 'exec_command', { cmd: 'ls' }),
      output('c1', 'Process exited with code 0\nOutput:\n'),
      said('assistant', 'two'),
      usage(100),
      said('assistant', 'three'),
      item({ type: 'message', role: 'assistant', content: [] }, { sampled_through_sequence: 7 }),
      item({ type: 'message', role: 'assistant', content: [] }, { sampled_through_sequence: 9 }),
    ])
    expect(reading.events.filter(({ kind }) => kind === 'model').map(({ lines, tokens }) => [lines, tokens])).toEqual([
      [[3, 4], null],
      [[6], { input: 60, output: 3, cache_read: 40, cache_write: 0 }],
      [[8, 9], null],
      [[10], null],
    ])
    expect(reading.summary).toMatchObject({ requests: 1, tokens: { input: 60, cache_read: 40, output: 3 } })
  })

  it('are counted by running totals where responses have no records, falls included', () => {
    const total = (input: number, last: number) =>
      event('token_count', {
        info: {
          total_token_usage: { input_tokens: input, output_tokens: 1, total_tokens: input + 1 },
          last_token_usage: { input_tokens: last, output_tokens: 1, total_tokens: last + 1 },
        },
      })
    const reading = readRecords([
      meta(),
      said('user', 'a'),
      said('assistant', 'one'),
      total(10, 10),
      total(10, 10),
      said('user', 'b'),
      said('assistant', 'two'),
      total(30, 20),
      said('user', 'c'),
      said('assistant', 'three'),
      total(5, 5),
    ])
    expect(reading.summary.tokens).toEqual({ input: 35, output: 2, cache_read: 0, cache_write: 0 })
    expect(reading.summary.requests).toBeNull()
    expect(reading.events.filter(({ kind }) => kind === 'model').map(({ tokens }) => tokens?.input)).toEqual([
      10, 20, 5,
    ])
  })

  it('of a fork do not count what its parent used', () => {
    const reading = readRecords([
      meta({ forked_from_id: '01a22d2b-0000-7000-8000-000000000002' }),
      said('user', 'a'),
      said('assistant', 'one'),
      event('token_count', {
        info: {
          total_token_usage: { input_tokens: 110, output_tokens: 11, total_tokens: 121 },
          last_token_usage: { input_tokens: 10, output_tokens: 1, total_tokens: 11 },
        },
      }),
    ])
    expect(reading.summary.tokens).toEqual({ input: 10, output: 1, cache_read: 0, cache_write: 0 })
  })
})

describe('calls', () => {
  it('are paired by id only; ids that a server gives again are told apart', () => {
    const reading = readRecords([
      meta(),
      call('call_0', 'exec_command', { cmd: 'a' }),
      output('call_0', 'Process exited with code 0'),
      call('call_0', 'exec_command', { cmd: 'b' }),
      output('call_0', 'Process exited with code 3'),
      output('call_9', 'of nothing'),
      call('call_1', 'exec_command', { cmd: 'c' }),
    ])
    const calls = reading.events.filter(({ kind }) => kind === 'tool')
    expect(calls.map(({ summary, ok }) => [summary, ok])).toEqual([
      ['a', true],
      ['b', false],
      ['Result of a call that is not in the record', true],
      ['c', null],
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(4)
    expect(reading.summary.openCalls).toBe(1)
  })

  it('of older versions tell their end in JSON', () => {
    const reading = readRecords([
      meta({ cli_version: '0.50.0', history_mode: undefined }),
      call('c1', 'shell', { command: ['bash', '-lc', 'make'] }),
      output('c1', JSON.stringify({ output: 'no rule', metadata: { exit_code: 2, duration_seconds: 0.1 } })),
      item({
        type: 'local_shell_call',
        call_id: 'c2',
        status: 'completed',
        action: { type: 'exec', command: ['ls', '-l'] },
      }),
      output('c2', { content: 'total 0', success: true }),
      call('c3', 'shell', { command: ['bash', '-lc', 'rm -r x'] }),
      output('c3', 'exec command rejected by user'),
    ])
    const calls = reading.events.filter(({ kind }) => kind === 'tool' || kind === 'denied')
    expect(calls.map(({ kind, tool, summary, ok, effectsState }) => [kind, tool, summary, ok, effectsState])).toEqual([
      ['tool', 'shell', 'make', false, 'none'],
      ['tool', 'local_shell', 'ls -l', true, 'none'],
      ['tool', 'shell', 'rm -r x', false, 'complete'],
      ['denied', 'shell', 'exec command rejected by user', false, 'not_applicable'],
    ])
    expect(reading.words.filter(({ role }) => role === 'output').map(({ text }) => text)).toContain('no rule')
  })

  it('show what a patch did from its text where no record does', () => {
    const patch =
      '*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: sub/b.txt\n*** Move to: c.txt\n@@\n-x\n+y\n+z\n*** Delete File: /abs/d.txt\n*** End Patch'
    const reading = readRecords([
      meta({ history_mode: undefined }),
      call('c1', 'shell', { command: ['bash', '-lc', `apply_patch <<'EOF'\n${patch}\nEOF`], workdir: '/elsewhere' }),
      output('c1', JSON.stringify({ output: 'Success', metadata: { exit_code: 0 } })),
      call('c2', 'shell', { command: ['apply_patch', patch] }),
      output('c2', JSON.stringify({ output: 'no', metadata: { exit_code: 1 } })),
    ])
    const [done, failed] = reading.events.filter(({ kind }) => kind === 'tool')
    expect(done?.effectsState).toBe('partial')
    expect(
      done?.effects.map(({ path, change, before, after, addedLines, removedLines }) => [
        path,
        change,
        before === null,
        after === null,
        addedLines,
        removedLines,
      ]),
    ).toEqual([
      ['/elsewhere/a.txt', 'add', true, false, 2, 0],
      ['/elsewhere/sub/b.txt', 'delete', true, true, null, null],
      ['/elsewhere/c.txt', 'add', true, true, 2, 1],
      ['/abs/d.txt', 'delete', true, true, null, null],
    ])
    expect(failed).toMatchObject({ ok: false, effects: [], effectsState: 'none' })
  })

  it('read both forms of recorded changes, and those that were declined or failed', () => {
    const done = (id: string, status: string, changes: unknown) =>
      event('item_completed', {
        turn_id: 't',
        item: { type: 'FileChange', id, status, changes, stdout: '', stderr: 'why not' },
      })
    const reading = readRecords([
      meta(),
      item({ type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: 'x' }),
      event('patch_apply_end', {
        call_id: 'c1',
        success: true,
        changes: {
          '/w/a': { delete: { content: 'gone\n' } },
          '/w/b': { update: { unified_diff: '@@ -1 +1 @@\n-a\n+b\n', move_path: null } },
        },
      }),
      item({ type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: 'x' }),
      done('c2', 'failed', { '/w/c': { type: 'add', content: 'x' } }),
      item({ type: 'custom_tool_call', call_id: 'c3', name: 'apply_patch', input: 'x' }),
      done('c3', 'declined', { '/w/c': { type: 'add', content: 'x' } }),
    ])
    const calls = reading.events.filter(({ kind }) => kind === 'tool')
    expect(
      calls.map(({ ok, effectsState, effects }) => [
        ok,
        effectsState,
        effects.map(({ path, change }) => [path, change]),
      ]),
    ).toEqual([
      [
        true,
        'complete',
        [
          ['/w/a', 'delete'],
          ['/w/b', 'change'],
        ],
      ],
      [false, 'none', []],
      [false, 'complete', []],
    ])
    expect(calls[0]?.effects[0]).toMatchObject({
      after: null,
      before: expect.stringMatching(/^sha256:/),
      removedLines: 1,
    })
    expect(reading.events.filter(({ kind }) => kind === 'denied').map(({ summary }) => summary)).toEqual(['why not'])
  })

  it('of a script that runs several at once are told apart by their words', () => {
    const script = (id: string, cmd: string) =>
      item({
        type: 'custom_tool_call',
        call_id: id,
        name: 'exec',
        input: `await tools.exec_command({cmd: ${JSON.stringify(cmd)}})`,
      })
    const ran = (id: string, cmd: string) =>
      event('item_completed', {
        turn_id: 't',
        item: {
          type: 'CommandExecution',
          id,
          command: ['/bin/bash', '-lc', cmd],
          status: 'completed',
          exit_code: 0,
          aggregated_output: '',
        },
      })
    const reading = readRecords([
      meta(),
      event('task_started', { turn_id: 't' }),
      script('s1', 'echo "1"'),
      script('s2', 'echo "2"'),
      ran('exec-2', 'echo "2"'),
      ran('exec-1', 'echo "1"'),
      ran('exec-3', 'echo 3'),
      output('s1', 'Script completed'),
      output('s2', 'Script completed'),
    ])
    const of = (id: string) => reading.events.find(({ toolUseId }) => toolUseId === id)
    expect(of('exec-1')?.parentSeq).toBe(of('s1')?.seq)
    expect(of('exec-2')?.parentSeq).toBe(of('s2')?.seq)
    // It may belong to either: it hangs on the reply.
    expect(of('exec-3')?.parentSeq).toBe(reading.events.find(({ kind }) => kind === 'model')?.seq)
  })

  it('of the provider have no output of their own, and stand twice', () => {
    const reading = readRecords([
      meta(),
      event('item_completed', { item: { type: 'WebSearch', id: 'ws_1', query: 'weather' } }),
      item({ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'weather' } }),
      item({ type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'search', query: 'news' } }),
      event('web_search_end', { call_id: 'ws_2', query: 'news' }),
    ])
    expect(
      reading.events
        .filter(({ kind }) => kind === 'tool')
        .map(({ tool, summary, ok, lines }) => [tool, summary, ok, lines]),
    ).toEqual([
      ['web_search', 'weather', true, [2, 3]],
      ['web_search', 'news', true, [4, 5]],
    ])
    expect(reading.summary.openCalls).toBe(0)
  })
})

describe('stretches', () => {
  const settings = event('thread_settings_applied', { thread_settings: { model: 'm' } })
  const turn = (id: string, more: Readonly<Record<string, unknown>> = {}) => [
    event('task_started', { turn_id: id, ...more }),
    said('user', `prompt ${id}`),
    said('assistant', 'yes'),
    event('task_complete', { turn_id: id }),
  ]
  const exec = { turn_attribution: { turn_trigger: 'exec', initiating_agent_path: null } }

  it('begin anew with every turn of exec, and when settings were applied between two turns', () => {
    const one = readRecords([meta({ source: 'exec' }), ...turn('a', exec), settings, ...turn('b', exec)])
    expect(one.stretches.map(({ cause }) => cause)).toEqual(['start', 'resume'])
    const other = readRecords([meta({ source: 'vscode' }), ...turn('a'), ...turn('b'), settings, ...turn('c')])
    expect(other.stretches.map(({ cause, firstSeq }) => [cause, firstSeq])).toEqual([
      ['start', 1],
      ['unknown', 6],
    ])
    expect(other.summary.stretches[1]?.record).toMatchObject({ doubt: expect.stringContaining('does not say which') })
    const subagent = { turn_attribution: { turn_trigger: 'exec', initiating_agent_path: '/root' } }
    expect(
      readRecords([meta({ source: 'exec' }), ...turn('a', subagent), ...turn('b', subagent)]).stretches,
    ).toHaveLength(1)
  })

  it('keep what a later record belongs to', () => {
    const late = event('item_completed', {
      turn_id: 'a',
      item: {
        type: 'CommandExecution',
        id: 'exec-late',
        command: ['sleep'],
        exit_code: -1,
        status: 'failed',
        aggregated_output: '',
      },
    })
    const { events } = readRecords([meta({ source: 'exec' }), ...turn('a', exec), ...turn('b', exec), late])
    expect(events.at(-1)).toMatchObject({ toolUseId: 'exec-late', stretch: 1, ok: false })
  })

  it('do not begin with the head of another thread that an older version copied', () => {
    const other = '01a22d2b-0000-7000-8000-000000000002'
    const { events, stretches, summary } = readRecords([
      meta({ cli_version: '0.60.0' }),
      meta({ id: other }),
      said('user', 'x'),
    ])
    expect(events[1]).toMatchObject({ kind: 'resume', originSession: other })
    expect(stretches).toHaveLength(1)
    expect(summary).toMatchObject({ session: thread, otherSessionIds: [other] })
  })
})

describe('other records', () => {
  it('show what was put in for the model by its kind', () => {
    const reading = readRecords([
      meta(),
      item({
        type: 'message',
        role: 'developer',
        content: [
          { type: 'input_text', text: 'be brief' },
          {
            type: 'input_text',
            text: '## Memory\n========= MEMORY_SUMMARY BEGINS =========\nlikes tea\n========= MEMORY_SUMMARY ENDS =========',
          },
          { type: 'input_text', text: 'from a hook' },
        ],
        internal_chat_message_metadata_passthrough: {
          content_item_kinds: ['generic.developer_instructions', 'memories.instructions', 'hooks.additional_context'],
        },
      }),
      said('user', '# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nrules\n</INSTRUCTIONS>'),
      said('user', '<skill>\n<name>greet</name>\n<path>/s/SKILL.md</path>\nhello\n</skill>'),
      said('user', '<environment_context>\n  <cwd>/other</cwd>\n</environment_context>'),
      item({ type: 'ghost_snapshot', ghost_commit: { id: 'abc123' } }),
      event('thread_rolled_back', { num_turns: 2 }),
      event('stream_error', { message: 'lost the line' }),
      event('thread_name_updated', { thread_name: 'A name' }),
      event('error', { message: 'out of quota' }),
    ])
    expect(reading.events.map(({ kind, summary, ok }) => [kind, summary, ok])).toEqual([
      ['note', 'session began: version 0.171.0', null],
      ['instructions', 'be brief', null],
      ['memory', 'memory summary', null],
      ['hook', 'from a hook', null],
      ['instructions', 'AGENTS.md instructions for /w', null],
      ['skill', 'greet', null],
      ['context', 'environment_context: /other', null],
      ['checkpoint', 'commit abc123', null],
      ['note', 'went back by 2 turns: they are no longer part of the conversation', null],
      ['error', 'lost the line', false],
      ['error', 'out of quota', false],
    ])
    expect(reading.summary).toMatchObject({ failed: true, checkpoints: 1, agentTitle: 'A name', workspaces: ['/w'] })
    expect(reading.summary.stretches[0]?.record).toMatchObject({
      developer: 'be brief',
      memory: 'likes tea',
      agents: { directory: '/w', text: 'rules' },
      used_skills: ['greet'],
    })
  })

  it('tell a change of settings within a thread', () => {
    const context = (more: Readonly<Record<string, unknown>>) => ({
      type: 'turn_context',
      payload: { cwd: '/w', model: 'm1', approval_policy: 'never', sandbox_policy: { type: 'read-only' }, ...more },
    })
    const { events } = readRecords([
      meta(),
      context({}),
      context({}),
      context({ model: 'm2', cwd: '/v', effort: 'high' }),
    ])
    expect(events.map(({ kind, summary }) => [kind, summary])).toEqual([
      ['note', 'session began: version 0.171.0'],
      ['context', 'model: m1 → m2, effort: none → high, cwd: /w → /v'],
    ])
  })

  it('are kept and counted when nobody knows them', () => {
    const reading = readRecords([
      meta(),
      event('brand_new', { x: 1 }),
      event('item_completed', { item: { type: 'BrandNew' } }),
      { type: 'brand_new', payload: {} },
      item({ type: 'brand_new' }),
      { timestamp: undefined, type: undefined, record_type: 'brand_new' },
    ])
    expect(reading.unknown.map(({ type }) => type)).toEqual([
      'event_msg/brand_new',
      'event_msg/item_completed/BrandNew',
      'brand_new',
      'response_item/brand_new',
      'record_type=brand_new',
    ])
    expect(reading.events.filter(({ kind }) => kind === 'unknown')).toHaveLength(5)
  })
})
