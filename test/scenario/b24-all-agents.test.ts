import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '../../contract/index.ts'
import { codexPlace, codexRollouts, codexThread, makeCodexHome } from '../kit/codex-home.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { layHermesHome, writeDatabase } from '../kit/hermes-home.ts'
import { addAgentDatabase, appendEvent, changeDatabase } from '../kit/openclaw-home.ts'
import { plantedSecrets } from '../kit/secrets.ts'
import { allEvents } from '../kit/snapshot.ts'

/** B24 for the sessions of every other agent: keys of all families, whole and in halves, in files and in databases. */
const planted = plantedSecrets()
const OPENCLAW = '46362ce9-bc67-41c7-83a6-68ec89201695'
const HERMES = '20261130_161653_587d95'
const halves = planted
  .filter(({ splits }) => splits)
  .map(
    ({ secret }) =>
      [secret.slice(0, Math.ceil(secret.length / 2)), secret.slice(Math.ceil(secret.length / 2))] as const,
  )
const needles = [...planted.map(({ secret }) => secret), ...halves.map(([, second]) => second)]
const leaksIn = (where: string, text: string | Buffer): string[] =>
  needles.filter((needle) => text.includes(needle)).map((needle) => `${where}: ${needle.slice(0, 10)}…`)

/** What a person, a model and a tool say, in order. */
const said: readonly (readonly ['user' | 'assistant' | 'tool', string])[] = [
  ...planted.flatMap(({ text }) => [
    ['user', `please use ${text} now`] as const,
    ['assistant', `I used ${text} as you said`] as const,
    ['tool', `the output has ${text} in it`] as const,
    ['tool', Buffer.from(`first line\nTHE_VALUE ${text}\nthe last line of it\n`).toString('base64')] as const,
  ]),
  ...halves.flatMap(([first, second]) => [
    ['assistant', `the first half is ${first}`] as const,
    ['assistant', `${second} was the second one`] as const,
  ]),
  ['user', 'and these are the last words'],
]

function plantCodex(root: string): void {
  const { home } = makeCodexHome(root)
  const file = codexPlace(home, codexRollouts['direct-edit-test-fix'])
  const at = (n: number) => new Date(Date.parse('2026-11-30T16:10:00.000Z') + n * 1000).toISOString()
  const lines = said.flatMap(([role, text], n) => {
    const line = (payload: object) => JSON.stringify({ timestamp: at(n), type: 'response_item', payload })
    if (role !== 'tool')
      return [
        line({
          type: 'message',
          role,
          content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
        }),
      ]
    const id = `call_${n}`
    return [
      line({
        type: 'function_call',
        name: 'shell_command',
        arguments: JSON.stringify({ command: `echo ${text}` }),
        call_id: id,
      }),
      line({ type: 'function_call_output', call_id: id, output: text }),
    ]
  })
  fs.appendFileSync(file, lines.map((line) => `${line}\n`).join(''))
}

function plantOpenclaw(home: string): void {
  const file = addAgentDatabase(path.join(home, '.openclaw'), 'main', 'agent-db')
  changeDatabase(file, (db) => {
    let parentId: string | null = null
    for (const [n, [role, text]] of said.entries()) {
      const id = `planted-${n}`
      const content = [{ type: 'text', text }]
      const message =
        role === 'tool'
          ? { role: 'toolResult', toolCallId: `call-${n}`, toolName: 'exec', content, isError: false }
          : { role, content }
      appendEvent(db, OPENCLAW, {
        type: 'message',
        id,
        parentId,
        timestamp: new Date(Date.parse('2026-11-30T16:10:00.000Z') + n * 1000).toISOString(),
        message,
      })
      parentId = id
    }
  })
}

function plantHermes(home: string): void {
  writeDatabase(layHermesHome(home, 'state-db-v25'), (db) => {
    const insert = db.prepare(
      'insert into messages (session_id, role, content, tool_name, timestamp) values (?, ?, ?, ?, ?)',
    )
    for (const [n, [role, text]] of said.entries())
      insert.run(
        HERMES,
        role,
        role === 'tool' ? JSON.stringify({ output: text }) : text,
        role === 'tool' ? 'terminal' : null,
        1796056000 + n,
      )
  })
}

let made: TestHome
let daemon: TestDaemon
let runs: readonly Run[]

beforeAll(async () => {
  made = makeEmptyHome()
  plantCodex(path.dirname(made.home))
  plantOpenclaw(made.home)
  plantHermes(made.home)
  daemon = await startDaemon(made)
  await daemon.call('sync.now', {})
  runs = (await daemon.call('runs.list', {})).runs
}, 120_000)
afterAll(async () => {
  await daemon.stop()
  made.remove()
})

const sessions: readonly (readonly [string, string])[] = [
  ['codex', codexThread('direct-edit-test-fix')],
  ['openclaw', OPENCLAW],
  ['hermes', HERMES],
]

describe('B24 for every agent', () => {
  it.each(sessions)(
    '%s: in no answer and no export, and the rest still reads',
    async (runtime, session) => {
      const run = runs.find((one) => one.runtime === runtime && one.session === session)
      expect(run, `${runtime} ${session}`).toBeDefined()
      const id = String(run?.id)
      const events = await allEvents(daemon, id)
      expect(events.length).toBeGreaterThan(said.length / 2)
      const answers = [JSON.stringify(events), (await daemon.call('runs.recover', { run: id })).text]
      for (const { seq } of events)
        answers.push(JSON.stringify(await daemon.call('runs.event', { run: id, seq, whole: true })))
      expect(answers.flatMap((text, n) => leaksIn(`${runtime} ${n}`, text))).toEqual([])
      const all = answers.join('')
      expect(all).toMatch(/please use ‹secret:[a-z-]+:[0-9a-f]{8}› now/)
      expect(all).toContain('and these are the last words')
      for (const format of ['bundle', 'md', 'json'] as const) {
        const file = path.join(path.dirname(made.home), `${runtime}.${format === 'bundle' ? 'tar.gz' : format}`)
        await daemon.call('export.run', { run: id, format, file })
        const written = fs.readFileSync(file)
        expect(leaksIn(`${runtime} ${format}`, format === 'bundle' ? gunzipSync(written) : written)).toEqual([])
      }
    },
    120_000,
  )

  it('in no search, no object of the store, no file beside it and no log', async () => {
    for (const needle of needles) expect((await daemon.call('search.run', { text: needle })).total, needle).toBe(0)
    expect((await daemon.call('search.run', { text: 'these are the last words' })).total).toBeGreaterThanOrEqual(3)
    await daemon.stop()
    const objects = execFileSync(
      'git',
      ['--git-dir', path.join(made.data, 'store.git'), 'cat-file', '--batch', '--batch-all-objects', '--unordered'],
      { maxBuffer: 1 << 29 },
    )
    const leaks = leaksIn('objects', objects)
    for (const name of fs.readdirSync(made.data, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(made.data, name)
      if (fs.statSync(file).isFile()) leaks.push(...leaksIn(name, fs.readFileSync(file)))
    }
    expect(leaks).toEqual([])
    daemon = await startDaemon(made)
  }, 60_000)
})
