import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { type EndpointName, endpoints, RepriseError } from '../../../contract/index.ts'
import { createDispatch } from '../../../daemon/api/dispatch.ts'
import type { Handlers } from '../../../daemon/api/handlers.ts'
import { createPushHub } from '../../../daemon/api/push-hub.ts'
import { openLog } from '../../../daemon/log.ts'
import { root } from '../../kit/fixture-home.ts'
import { ALNUM, noise, plantedSecrets, testGate } from '../../kit/secrets.ts'

const gate = testGate()
const planted = plantedSecrets()
const key = planted[0]?.secret ?? ''
const wrapped = (text: string) => ({ list: [{ deep: { title: `before ${text} after` } }], [text]: 1 })
const silent = () => undefined

/** An input every endpoint of the table accepts, made from its schema. */
function inputFor(name: EndpointName): unknown {
  const known: Record<string, unknown> = {
    run: 'last',
    seq: 1,
    target: 'last',
    runtime: 'claude-code',
    workspace: '/w',
    path: '/w',
    prefix: '/w',
    text: 'words',
    ref: 'e:r_000000000000:1:p0:0-1',
    reason: 'a test looks',
    a: 'last',
    b: 'last',
    id: 'd_1',
    format: 'md',
    file: '/tmp/x',
    side: 'before',
    scope: {},
    how: 'finish',
    name: 'x',
    home: '/h',
    expected: null,
    version: 'v_1',
    action: 'install',
    when: 'before',
    session: null,
    tool: null,
    tool_use_id: null,
    cwd: null,
    limit_ms: 0,
  }
  for (let input: Record<string, unknown> = {}, round = 0; round < 12; round += 1) {
    const parsed = endpoints[name].input.safeParse(input)
    if (parsed.success) return input
    const field = String(parsed.error.issues[0]?.path[0])
    if (known[field] === undefined) throw new Error(`${name}: the test knows no value for ${field}`)
    input = { ...input, [field]: known[field] }
  }
  throw new Error(`${name}: no input was accepted`)
}

describe('the gate', () => {
  const names = Object.keys(endpoints) as EndpointName[]

  it.each(names.filter((name) => name !== 'sensitive.reveal'))(
    'covers what %s answers, and how it fails',
    async (name) => {
      const answering = createDispatch({ [name]: () => wrapped(key) } as unknown as Handlers, {
        changed: silent,
        log: silent,
        gate,
      })
      const answer = await answering(name, inputFor(name), { via: 'socket' })
      expect(answer.ok).toBe(true)
      expect(JSON.stringify(answer)).not.toContain(key)
      expect(JSON.stringify(answer)).toContain('before ‹secret:anthropic:')
      for (const error of [new RepriseError('refused', `no ${key}`, `use ${key}`, [key]), new Error(`boom ${key}`)]) {
        const failing = createDispatch(
          {
            [name]: () => {
              throw error
            },
          } as unknown as Handlers,
          { changed: silent, log: silent, gate },
        )
        const failed = await failing(name, inputFor(name), { via: 'socket' })
        expect(failed.ok).toBe(false)
        expect(JSON.stringify(failed)).not.toContain(key)
      }
    },
  )

  it('covers what a wrong call repeats of itself', async () => {
    const dispatch = createDispatch({} as unknown as Handlers, { changed: silent, log: silent, gate })
    expect(JSON.stringify(await dispatch(key, {}, { via: 'socket' }))).not.toContain(key)
  })

  it('covers pushed facts and the log, before anything is cut', () => {
    const hub = createPushHub(gate)
    const seen: unknown[] = []
    hub.subscribe(null, ({ push }) => seen.push(push))
    hub.send({ type: 'run', run: `r ${key}`, events: 1, status: 'done' })
    expect(JSON.stringify(seen)).not.toContain(key)
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gate-'))
    const file = path.join(folder, 'x.log')
    const log = openLog(file, () => new Date(0), gate)
    // Cut first, the half of a key that is left would not be recognised.
    for (let n = 470; n < 500; n += 1)
      log('error', 'fault', { message: `${'.'.repeat(n)} ${key}`, file: `/tmp/${key}` })
    const written = fs.readFileSync(file, 'utf8')
    fs.rmSync(folder, { recursive: true })
    expect(written).not.toContain(key.slice(0, 20))
    expect(written.split('\n').length).toBe(31)
  })

  it('covers every family in text and under a name, twice the same, and counts', () => {
    const passage = gate.open()
    for (const { text, secret } of planted) {
      const once = passage.text(`a ${text} b`)
      expect(once).not.toContain(secret)
      expect(gate.text(once)).toBe(once)
      expect(JSON.stringify(gate.value({ deep: [{ text }] }))).not.toContain(secret)
    }
    expect(passage.redactions).toBeGreaterThanOrEqual(planted.length)
  })

  it('gives the very value back where nothing is hidden', () => {
    const value = { a: [1, 2, { b: 'plain words of a session' }], at: '2026-11-30T12:00:00.000Z' }
    expect(gate.value(value)).toBe(value)
  })

  it('finds a key and a key block wherever a very long text is searched in parts', () => {
    const line = `${'word '.repeat(12)}\n`
    const block = [
      '-----BEGIN RSA ',
      `PRIVATE KEY-----\n${Array.from({ length: 40 }, (_, n) => noise(64, ALNUM, n)).join('\n')}\n`,
      '-----END RSA ',
      'PRIVATE KEY-----\n',
    ].join('')
    const part = 4 * 1024 * 1024
    for (const shift of [0, 30, 900, 1800, 2600]) {
      const before = line.repeat(Math.ceil(part / line.length)).slice(0, part - shift - (shift % line.length))
      const text = gate.text(`${before}\n${block}${line.repeat(1000)} ${key} ${line}`)
      expect(text).not.toContain(noise(64, ALNUM, 0))
      expect(text).not.toContain(noise(64, ALNUM, 39))
      expect(text).not.toContain(key)
    }
  })
})

describe('the ways out of the daemon', () => {
  const sources = fs
    .readdirSync(path.join(root, 'daemon'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('demo/'))
    .map((name) => ({ name, text: fs.readFileSync(path.join(root, 'daemon', name), 'utf8') }))
  const using = (pattern: RegExp) =>
    sources
      .filter(({ text }) => pattern.test(text))
      .map(({ name }) => name)
      .sort()

  it('are few, and each is known here: a new one has to go through the gate', () => {
    // Endpoints are answered in one place, behind `createDispatch`.
    expect(using(/Response\.json\(|new Response\(/)).toEqual(['api/http.ts'])
    // One function writes to the terminal, through a gate of its own; the sample's paths are its own.
    expect(using(/process\.(?:stdout|stderr)\.write|console\.\w+\(/)).toEqual(['index.ts'])
    // Only the gate makes a text that an export takes.
    expect(using(/as Cleared\b/)).toEqual(['secrets/egress.ts'])
    expect(using(/appendFile/)).toEqual(['log.ts'])
  })
})
