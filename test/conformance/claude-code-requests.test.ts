import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { RebuiltRequest } from '../../daemon/runtimes/adapter.ts'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { looseUnit } from '../kit/read-session.ts'
import { rebuildAll } from '../kit/rebuild-requests.ts'
import { normaliseRequest } from '../kit/sent-request.ts'

const fixtures = join(import.meta.dirname, '../fixtures/claude-code')
const projects = join(fixtures, 'sessions/projects')
const scratch = mkdtempSync(join(tmpdir(), 'reprise-requests-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const sessionFiles = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(root, name))
const rebuild = (file: string) => rebuildAll(claudeCode, looseUnit(file, basename(file, '.jsonl')))

const exchangeSchema = z.object({
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.record(z.string(), z.unknown()),
})
const exchanges = readdirSync(join(fixtures, 'exchanges'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.request.json'))
  .sort()

describe('requests of Claude Code', () => {
  const rebuilt = new Map<string, RebuiltRequest[]>()
  beforeAll(async () => {
    for (const file of sessionFiles(projects)) {
      const key = basename(file, '.jsonl').replace(/^agent-/, '')
      rebuilt.set(key, [...(rebuilt.get(key) ?? []), ...(await rebuild(file)).map(({ request }) => request)])
    }
  })

  it('holds all recorded exchanges', () => expect(exchanges.length).toBe(35))

  it.each(exchanges)('rebuilds %s as it was sent', (name) => {
    const exchange = exchangeSchema.parse(JSON.parse(readFileSync(join(fixtures, 'exchanges', name), 'utf8')))
    const header = (wanted: string) => exchange.headers.find(([key]) => key.toLowerCase() === wanted)?.[1]
    const key = header('x-claude-code-agent-id') ?? header('x-claude-code-session-id') ?? ''
    const sent = normaliseRequest(exchange.body, header('anthropic-beta') ?? '')
    const same = rebuilt.get(key)?.filter(({ body }) => isDeepStrictEqual(body.messages, sent.messages))
    expect(same).toHaveLength(1)
    expect(same?.[0]).toMatchObject({ exact: true, why: null })
    expect(same?.[0]?.body).toEqual(sent)
  })

  it('rebuilds every request of the recorded sessions exactly, forks, resumes and compactions included', () => {
    const all = [...rebuilt.values()].flat()
    // Three replies of the fork were copied: their requests are in the session they were copied from.
    expect(all.filter(({ exact }) => !exact).map(({ why }) => why)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('its request is not in the record')),
    )
    expect(all.length).toBeGreaterThan(55)
    for (const { messages } of all.filter(({ exact }) => exact))
      expect(messages.every(({ asSent }) => asSent)).toBe(true)
  })

  it('says what was new since the request before', async () => {
    const [first, second] = await rebuild(join(projects, '-home-dev-demo/10000000-0000-4000-8000-000000000001.jsonl'))
    expect(first?.request.before).toBeNull()
    expect(second?.request.before).toEqual({
      line: first?.reply.line,
      kept: 2,
      messages: 2,
      shapeChanged: false,
      parametersChanged: false,
    })
    expect(second?.request.messages.map(({ role }) => role)).toEqual(['user', 'system', 'assistant', 'user'])
    expect(
      second?.request.messages.slice(2).flatMap(({ blocks }) => blocks.map(({ kind, label }) => [kind, label])),
    ).toEqual([
      ['text', 'Text'],
      ['call', 'Call Bash'],
      ['result', 'Result of Bash'],
    ])
  })

  it('does not call exact what is not: one word changed, a blob or the shape gone, a base gone', async () => {
    const original = readFileSync(join(projects, '-home-dev-demo/10000000-0000-4000-8000-000000000001.jsonl'), 'utf8')
    const lines = original.trimEnd().split('\n')
    const change = async (name: string, changed: readonly string[]) => {
      const file = join(scratch, `${name}.jsonl`)
      writeFileSync(file, changed.map((line) => `${line}\n`).join(''))
      return (await rebuild(file)).map(({ request }) => request)
    }
    const without = (pick: (line: string) => boolean) => lines.filter((line) => !pick(line))
    const exactness = (requests: readonly RebuiltRequest[]) => requests.map(({ exact }) => exact)

    const word = await change(
      'word',
      lines.map((line) => (line.includes('"type":"tool_result"') ? line.replaceAll('ok 1', 'ok 2') : line)),
    )
    expect(exactness(word)).toEqual([true, true, true, true, false, false, false])
    expect(word[4]?.why).toContain('1 of its 10 messages could not be rebuilt and is shown as the conversation has it')
    expect(word[4]?.messages).toHaveLength(10)
    expect(word[4]?.messages.map(({ asSent }) => asSent)).toEqual([...Array(9).fill(true), false])
    expect(JSON.stringify(word[4]?.messages.at(-1))).toContain('ok 2')

    const shapeless = await change(
      'shape',
      without((line) => line.includes('"type":"api-request-shape"')),
    )
    expect(exactness(shapeless)).toEqual(Array(7).fill(false))
    expect(shapeless[0]).toMatchObject({
      why: expect.stringContaining('system prompt and tools are not in the record'),
      tools: [],
    })
    expect(shapeless[6]?.messages.every(({ asSent }) => asSent)).toBe(true)

    const first = (line: string) => line.includes('"type":"api-request"') && line.includes('"keep":0')
    const baseless = await change('base', without(first))
    expect(exactness(baseless)).toEqual(Array(7).fill(false))
    expect(baseless[0]?.why).toContain('its request is not in the record')
    expect(baseless[6]?.why).toContain('a request it builds on is not in the record')
    expect(baseless[6]?.tools.length).toBeGreaterThan(10)
    expect(JSON.stringify(baseless[6]?.messages)).toContain('Add a median function')

    const blobless = await change(
      'blob',
      without((line) => line.includes('"type":"api-request-blob"')),
    )
    expect(exactness(blobless)).toEqual(Array(7).fill(false))
    expect(blobless[0]?.messages.map(({ role }) => role)).toEqual(['user', 'system'])
    expect(JSON.stringify(blobless[0]?.messages[0])).toContain('Add a median function')
    expect(blobless[6]?.messages).toHaveLength(14)
  })

  it('keeps every message in its place when several of one request could not be rebuilt', async () => {
    const original = readFileSync(join(projects, '-home-dev-demo/30000000-0000-4000-8000-000000000002.jsonl'), 'utf8')
    const file = join(scratch, 'several.jsonl')
    writeFileSync(
      file,
      original
        .split('\n')
        .map((line) => (line.includes('"type":"user"') ? line.replace('second prompt', 'other prompt') : line))
        .map((line) =>
          line.includes('"type":"tool_result"') ? line.replace('"content":"', '"content":"other ') : line,
        )
        .join('\n'),
    )
    const request = (await rebuild(file)).at(-1)?.request
    expect(request?.exact).toBe(false)
    expect(request?.messages.map(({ role, asSent }) => [role, asSent])).toEqual([
      ['user', true],
      ['system', true],
      ['assistant', true],
      ['user', false],
      ['assistant', true],
      ['user', false],
      ['assistant', true],
      ['user', true],
    ])
    expect(request?.messages[3]?.blocks[0]?.text).toBe('other prompt')
    expect(request?.messages[5]?.blocks[0]?.text).toMatch(/^other /)
  })

  it('puts together a request of a version that recorded none, parallel calls included', async () => {
    const original = readFileSync(join(projects, '-home-dev-demo/40000000-0000-4000-8000-000000000001.jsonl'), 'utf8')
    const wanted = rebuilt.get('40000000-0000-4000-8000-000000000001')?.at(-1)
    const file = join(scratch, 'older.jsonl')
    const rows = original
      .trimEnd()
      .split('\n')
      .filter((line) => !line.includes('"type":"api-request') && !line.includes('"type":"attachment"'))
      .map((line) => line.replace(/,?"requestRef":"[^"]*"/, ''))
    writeFileSync(file, rows.map((line) => `${line}\n`).join(''))
    const last = (await rebuild(file)).at(-1)?.request
    expect(last).toMatchObject({ exact: false, digest: null, why: expect.stringContaining('does not record requests') })
    const callsAndResults = (request: RebuiltRequest | undefined) =>
      request?.messages.flatMap(({ role, blocks }) =>
        blocks.filter(({ kind }) => kind === 'call' || kind === 'result').map(({ label, text }) => [role, label, text]),
      )
    expect(callsAndResults(last)).toEqual(callsAndResults(wanted))
    expect(last?.before?.kept).toBe((last?.messages.length ?? 0) - 2)
  })

  it('has something to show for every reply whose texts were changed after it was recorded', async () => {
    for (const file of sessionFiles(join(fixtures, 'actual-use')))
      for (const { request } of await rebuild(file)) {
        expect(request.exact).toBe(false)
        expect(request.why).toMatch(/./)
        expect(request.messages.length).toBeGreaterThan(1)
      }
  })
})
