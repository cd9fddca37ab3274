import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { RebuiltRequest } from '../../daemon/runtimes/adapter.ts'
import { codex } from '../../daemon/runtimes/codex/index.ts'
import {
  type CodexRollout,
  codexPlace,
  codexRollouts,
  codexThread,
  codexUnit,
  makeCodexHome,
} from '../kit/codex-home.ts'
import { contentOf, looseUnit } from '../kit/read-session.ts'
import { rebuildAll } from '../kit/rebuild-requests.ts'

const fixtures = join(import.meta.dirname, '../fixtures/codex')
const scratch = mkdtempSync(join(tmpdir(), 'reprise-codex-requests-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const rebuild = async (name: CodexRollout): Promise<readonly RebuiltRequest[]> =>
  (
    await rebuildAll(codex, looseUnit(join(fixtures, `rollouts/${name}.jsonl`), codexThread(name), '/home/dev/.codex'))
  ).map(({ request }) => request)

const itemSchema = z.looseObject({ type: z.string() })
const requestSchema = z.looseObject({
  model: z.string(),
  input: z.array(itemSchema),
  reasoning: z.looseObject({ effort: z.string() }),
  client_metadata: z.looseObject({ thread_id: z.string() }),
})
const runs = { 'direct-edit-test-fix': 6, 'code-mode-edit-test-fix': 4, 'subagent-lanes': 5 } as const
const sent = Object.keys(runs).flatMap((run) =>
  readdirSync(join(fixtures, 'exchanges', run))
    .filter((name) => name.endsWith('.req.json'))
    .sort()
    .map((name) => ({
      name: `${run}/${name}`,
      body: requestSchema.parse(JSON.parse(readFileSync(join(fixtures, 'exchanges', run, name), 'utf8'))),
    })),
)
const rollouts = Object.keys(codexRollouts).filter((name): name is CodexRollout => Object.hasOwn(codexRollouts, name))

/** Which of its thread's requests an exchange is; lanes of several threads share one endpoint. */
function placeOf(name: string): { readonly rollout: CodexRollout; readonly n: number } {
  const run = name.split('/')[0]
  const thread = sent.find((each) => each.name === name)?.body.client_metadata.thread_id
  const lane = sent.filter((each) => each.name.startsWith(`${run}/`) && each.body.client_metadata.thread_id === thread)
  const rollout = rollouts.find((each) => codexThread(each) === thread)
  if (rollout === undefined) throw new Error(`no session of ${name}`)
  return { rollout, n: lane.findIndex((each) => each.name === name) }
}

const textOf = (message: RebuiltRequest['messages'][number] | undefined): string =>
  message?.blocks.map(({ text }) => text).join('\n') ?? ''

describe('requests of Codex', () => {
  it('holds all recorded exchanges', () => expect(sent).toHaveLength(15))

  it.each(sent.map(({ name }) => name))('rebuilds the input of %s as it was sent', async (name) => {
    const { rollout, n } = placeOf(name)
    const wanted = sent.find((each) => each.name === name)?.body
    const all = await rebuild(rollout)
    const request = all[n]
    const input = z.array(itemSchema).parse(request?.body.input)
    const first = wanted?.input[0]
    if (first?.type === 'additional_tools') {
      expect(input).toEqual(wanted?.input)
      expect(request?.tools.length).toBeGreaterThan(5)
      expect(request?.why).toBe('Codex records neither the other parameters of a request nor a digest of it')
    } else {
      // Base instructions of models with direct tools are sent without the lines about tools they do not have.
      expect(input.slice(1)).toEqual(wanted?.input.slice(1))
      expect(input[0]).toMatchObject({ type: 'message', role: 'developer' })
      expect(request?.tools).toEqual([])
      expect(request?.why).toContain('what is sent may leave out lines about tools the model does not have')
      expect(request?.why).toContain('tool definitions are not in the record')
    }
    expect(request?.model).toBe(wanted?.model)
    const effort = z.object({ effort: z.string().optional() }).optional().parse(request?.body.reasoning)?.effort
    if (effort !== undefined) expect(effort).toBe(wanted?.reasoning.effort)
    expect(request?.system).toHaveLength(1)
    expect(request?.messages.every(({ asSent }) => asSent)).toBe(true)
    // Nothing in the record vouches for the whole of it.
    expect(request).toMatchObject({ exact: false, digest: null })
    expect(all).toHaveLength(sent.filter((each) => placeOf(each.name).rollout === rollout).length)
  })

  it('says what was new since the request before', async () => {
    const all = await rebuild('direct-edit-test-fix')
    expect(all.map(({ before }) => before?.kept ?? null)).toEqual([null, 3, 7, 9, 12, 14])
    for (const { before } of all.slice(1))
      expect(before).toMatchObject({ kept: before?.messages, parametersChanged: false })
    expect(all[1]?.messages.slice(3).map(({ role, blocks }) => [role, blocks[0]?.kind, blocks[0]?.label])).toEqual([
      ['assistant', 'thinking', 'Thinking'],
      ['assistant', 'text', 'Text'],
      ['assistant', 'call', 'Call apply_patch'],
      ['tool', 'result', 'Result of apply_patch'],
    ])
  })

  it('begins anew after a compaction, with what it kept', async () => {
    const all = await rebuild('approved-interrupted-compacted')
    const [summary, after] = all.slice(-2)
    expect(summary?.why).toContain('the instruction that asks for the summary is not in the record')
    expect(summary?.messages.some((message) => textOf(message).includes('aborted by user'))).toBe(true)
    expect(after?.messages.map(({ role }) => role)).toEqual(['user', 'developer', 'user', 'user', 'user', 'user'])
    expect(textOf(after?.messages.at(-2))).toContain('SUMMARY: one file was written.')
    expect(textOf(after?.messages.at(-1))).toBe('after compaction')
    expect(after?.before).toMatchObject({ kept: 0 })
  })

  it('leaves out what a revert took back, and says so where the beginning is in another thread', async () => {
    const root = mkdtempSync(join(scratch, 'revert-'))
    const { home } = makeCodexHome(root)
    const thread = codexThread('resumed')
    const at = { timestamp: '2026-11-30T15:57:00.000Z' }
    const items = [
      {
        ordinal: 23,
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'another way' }] },
        metadata: { history_sequence: 7 },
      },
      {
        ordinal: 24,
        type: 'response_item',
        payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so be it' }] },
        metadata: { history_sequence: 8, sampled_through_sequence: 7 },
      },
    ]
    appendFileSync(
      codexPlace(home, codexRollouts['resumed-after-revert']),
      items.map((item) => `${JSON.stringify({ ...at, ...item })}\n`).join(''),
    )
    const file = join(root, 'lines.jsonl')
    writeFileSync(file, contentOf(codex, codexUnit(home, thread)))
    const request = (await rebuildAll(codex, looseUnit(file, thread, home))).at(-1)?.request
    const texts = request?.messages.map(textOf) ?? []
    expect(texts).toContain('first prompt')
    expect(texts).toContain('First done')
    expect(texts.at(-1)).toBe('another way')
    expect(texts).not.toContain('second prompt')

    const [fork] = await rebuild('forked')
    expect(fork?.why).toContain(`it goes on from thread ${thread}, whose records are not in this one`)
    expect(fork?.messages.map(textOf).at(-1)).toBe('fork prompt')
  })

  it('takes turns out that were taken back, and says what an older compaction does not tell', async () => {
    const said = (role: string, text: string) => ({
      type: 'response_item',
      payload: { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] },
    })
    const file = join(scratch, 'older.jsonl')
    const id = '01a22d2b-0000-7000-8000-000000000001'
    const lines = [
      { type: 'session_meta', payload: { id, cwd: '/w', cli_version: '0.60.0' } },
      said('user', 'one'),
      said('assistant', 'first'),
      said('user', 'two'),
      said('assistant', 'second'),
      { type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: 1 } },
      said('user', 'three'),
      said('assistant', 'third'),
      { type: 'compacted', payload: { message: 'what went before' } },
      said('user', 'four'),
      said('assistant', 'fourth'),
    ]
    writeFileSync(
      file,
      lines.map((line) => `${JSON.stringify({ timestamp: '2025-12-01T00:00:00.000Z', ...line })}\n`).join(''),
    )
    const all = (await rebuildAll(codex, looseUnit(file, id))).map(({ request }) => request)
    expect(all.map(({ messages }) => messages.map(textOf))).toEqual([
      ['one'],
      ['one', 'first', 'two'],
      ['one', 'first', 'three'],
      ['one', 'three', 'what went before', 'four'],
    ])
    expect(all.flatMap(({ messages }) => messages).some(({ asSent }) => asSent)).toBe(false)
    expect(all[3]?.why).toContain('does not say what a compaction kept')
    expect(all[3]?.why).toContain('the base instructions are not in the record')
  })
})
