import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EndpointName, endpoints, exportFormats } from '../../contract/index.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, root, type TestHome } from '../kit/fixture-home.ts'
import { type Planted, plantedSecrets } from '../kit/secrets.ts'
import { type Talk, turn, uuid, writeSession } from '../kit/sessions.ts'
import { allEvents } from '../kit/snapshot.ts'

/**
 * B24: keys of every family planted wherever an agent may leave them. Through the real daemon, nothing it stores, answers, prints or
 * exports holds one; and what is left still reads.
 */
const planted = plantedSecrets()
const talk: Talk = {
  session: 'b2412000-0000-4000-8000-000000000001',
  cwd: '/home/dev/shop',
  startedAt: '2026-10-01T08:00:00.000Z',
}
/** Halves as they stand in two records; of the second one nothing may be left. */
const halvesOf = ({ secret, text }: Planted): readonly [string, string] => {
  const at = text.indexOf(secret) + Math.ceil(secret.length / 2)
  return [text.slice(0, at), text.slice(at)]
}
const splitting = planted.filter(({ splits, family }) => splits || family === 'private-key')
const needles = [
  ...planted.map(({ secret }) => secret),
  ...splitting.map((one) => halvesOf(one)[1].split('\n')[0] ?? '').filter((half) => half.length >= 8),
]
const leaksIn = (where: string, text: string | Buffer): string[] =>
  needles.filter((needle) => text.includes(needle)).map((needle) => `${where}: ${needle.slice(0, 10)}…`)

let home: TestHome
let daemon: TestDaemon
let run: string

/** A call of a tool and its result. */
const call = (n: number, tool: string, input: object, output: unknown, result: object): string[] => {
  const common = { isSidechain: false, cwd: talk.cwd, sessionId: talk.session, version: '2.1.100', gitBranch: 'main' }
  const at = (s: number) => new Date(Date.parse(talk.startedAt) + n * 60_000 + s * 1000).toISOString()
  const id = `toolu_${String(n).padStart(8, '0')}`
  return [
    JSON.stringify({
      ...common,
      parentUuid: null,
      type: 'assistant',
      uuid: uuid(n * 10),
      timestamp: at(0),
      message: {
        id: `msg_call_${n}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-test',
        content: [{ type: 'tool_use', id, name: tool, input }],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
    JSON.stringify({
      ...common,
      parentUuid: uuid(n * 10),
      type: 'user',
      uuid: uuid(n * 10 + 1),
      timestamp: at(1),
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: output }] },
      toolUseResult: result,
    }),
  ]
}

/** Two texts of the model in a row, as two rows of one reply and as two replies. */
const saidInHalves = (n: number, [first, second]: readonly [string, string], together: boolean): string[] =>
  [first, second].map((text, half) =>
    JSON.stringify({
      isSidechain: false,
      cwd: talk.cwd,
      sessionId: talk.session,
      version: '2.1.100',
      parentUuid: null,
      type: 'assistant',
      uuid: uuid(n * 10 + half),
      timestamp: new Date(Date.parse(talk.startedAt) + n * 60_000 + half * 100).toISOString(),
      message: {
        id: `msg_half_${n}${together ? '' : `_${half}`}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-test',
        content: [{ type: 'text', text }],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
  )

const linesOfSession = (): string[] => {
  let n = 0
  const lines = turn(talk, n++, `Deploy the shop with ${planted[0]?.text} today`, 'Of course.')
  for (const one of planted) {
    const { text } = one
    lines.push(...turn(talk, n++, `Here it is: ${text} , keep it`, `I have ${text} and go on`))
    lines.push(
      ...call(n++, 'Bash', { command: `echo ${text}` }, `out ${text} end`, { stdout: `out ${text} end`, stderr: text }),
    )
    const content = `# settings\nvalue ${text}\nlast line\n`
    lines.push(
      ...call(n++, 'Write', { file_path: '/home/dev/shop/notes.txt', content }, 'File created', {
        type: 'create',
        filePath: '/home/dev/shop/notes.txt',
        content,
        structuredPatch: [
          { oldStart: 0, oldLines: 0, newStart: 1, newLines: 3, lines: content.split('\n').map((l) => `+${l}`) },
        ],
        originalFile: text,
      }),
    )
    const blob = Buffer.from(`first line\nTHE_VALUE ${text}\nlast line of it\n`).toString('base64')
    lines.push(
      ...call(n++, 'Bash', { command: 'base64 x' }, blob, { stdout: blob.replace(/.{76}/g, '$&\n'), stderr: '' }),
    )
  }
  for (const one of splitting) {
    const [first, second] = halvesOf(one)
    for (const together of [true, false])
      lines.push(...saidInHalves(n++, [`the key begins ${first}`, `${second} ends here`], together))
    // Two chunks of one result.
    const chunks = [`chunk ${first}`, `${second} rest`].map((text) => ({ type: 'text', text }))
    lines.push(...call(n++, 'mcp__vault__read', { name: 'x' }, chunks, chunks))
  }
  return [...lines, ...turn(talk, n++, 'And the last words of it all', 'Everything is deployed now.')]
}

const reprise = (...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    const options = { env: home.env, encoding: 'utf8' as const, maxBuffer: 1 << 28 }
    execFile(process.execPath, [path.join(root, 'bin/reprise.mjs'), ...args], options, (_, out, note) =>
      resolve(out + note),
    )
  })

beforeAll(async () => {
  home = makeEmptyHome()
  const claude = path.join(home.home, '.claude')
  const work = path.join(home.home, 'work')
  fs.mkdirSync(claude)
  fs.mkdirSync(work)
  fs.writeFileSync(
    path.join(claude, 'settings.json'),
    JSON.stringify({ env: Object.fromEntries(planted.map(({ text }, n) => [`VALUE_${n}`, text])), model: 'sonnet' }),
  )
  fs.writeFileSync(
    path.join(home.home, '.claude.json'),
    JSON.stringify({
      mcpServers: Object.fromEntries(
        planted.map(({ text }, n) => [
          `server-${n}`,
          { type: 'http', url: 'https://127.0.0.1/mcp', headers: { Authorization: `Bearer ${text}`, 'x-note': text } },
        ]),
      ),
    }),
  )
  fs.writeFileSync(path.join(claude, '.credentials.json'), JSON.stringify({ token: planted[1]?.text }))
  fs.writeFileSync(
    path.join(work, 'CLAUDE.md'),
    `# Rules\n${planted.map(({ text }) => `Use ${text} .`).join('\n')}\nBe kind.\n`,
  )
  writeSession(home.home, talk, linesOfSession())
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  const { runs } = await daemon.call('runs.list', {})
  run = String(runs[0]?.id)
}, 120_000)
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

describe('B24: keys of every family', () => {
  it('are twelve families and more', () => {
    expect(new Set(planted.map(({ family }) => family)).size).toBeGreaterThanOrEqual(12)
    expect(splitting.length).toBeGreaterThanOrEqual(12)
  })

  it('are in no answer of any endpoint', async () => {
    const work = path.join(home.home, 'work')
    const { manifest } = await daemon.call('manifest.resolve', { runtime: 'claude-code', workspace: work })
    const digest = manifest.integrity.manifest_digest
    const claude = path.join(home.home, '.claude')
    const inHome = (name: string) => ({ home: claude, path: path.join(claude, name) })
    const inputs: Partial<Record<EndpointName, readonly object[]>> = {
      'timeline.page': [{ density_buckets: 10 }],
      'runs.list': [{}],
      'runs.get': [{ run }],
      'runs.ticks': [{ run }],
      'runs.files': [{ run, seq: 10_000 }],
      'runs.recover': [{ run }],
      'manifest.get': [{ target: digest }, { target: run }],
      'manifest.instructions': [
        { target: digest, all: true },
        { target: run, all: true },
      ],
      'search.run': planted.flatMap(({ secret }) => [{ text: secret }, { text: 'deploy' }]),
      'runs.use': [{ run }],
      'compare.partners': [{ run }],
      'compare.run': [{ a: run, b: digest }],
      'drift.look': [{}],
      'drift.list': [{}],
      'search.configuration': planted.flatMap(({ secret }) => [{ text: secret }, { text: 'model' }]),
      'status.get': [{}],
      'health.gaps': [{}],
      'health.unreadable': [{}],
      'settings.get': [{}],
      'sensitive.reads': [{}],
      'store.check': [{}],
      'workspaces.list': [{}],
      'runs.file': [{ run, seq: 1, path: 'CLAUDE.md', side: 'after' }],
      'runs.blame': [{ run, path: 'CLAUDE.md' }],
      'rollback.plan': [{ target: digest, scope: { home: true, project: true } }],
      'rollback.list': [{}],
      'rollback.get': [{ id: 'b_none' }],
      'pins.list': [{}],
      'files.list': [{ home: path.join(home.home, '.claude'), workspace: work }],
      'files.get': ['settings.json', 'CLAUDE.md'].map(inHome),
      'files.versions': ['settings.json', 'CLAUDE.md'].map(inHome),
      'files.blame': ['settings.json', 'CLAUDE.md'].map(inHome),
    }
    const said: string[] = []
    // A change of configuration with a key on both of its sides.
    const settings = path.join(home.home, '.claude/settings.json')
    const before = fs.readFileSync(settings, 'utf8')
    await daemon.call('drift.look', {})
    fs.writeFileSync(settings, before.replace('VALUE_0', 'VALUE_NEW').replace('sonnet', String(planted[3]?.secret)))
    await daemon.call('drift.look', {})
    const { changes } = await daemon.call('drift.list', {})
    expect(changes.some(({ kind }) => kind === 'configuration')).toBe(true)
    for (const { id } of changes) said.push(`drift ${JSON.stringify(await daemon.call('drift.get', { id }))}`)
    // How something fails says as much as what is answered.
    for (const [name, list] of Object.entries(inputs) as [EndpointName, readonly object[]][])
      for (const input of list)
        said.push(
          `${name} ${JSON.stringify(await daemon.call(name, input as never).catch((error: unknown) => [String(error), error]))}`,
        )
    const events = await allEvents(daemon, run)
    said.push(`events ${JSON.stringify(events)}`)
    for (const { seq } of events)
      for (const whole of [true, false])
        said.push(`event ${seq} ${JSON.stringify(await daemon.call('runs.event', { run, seq, whole }))}`)
    for (const seq of [3, 60, events.length])
      said.push(JSON.stringify(await daemon.call('runs.context', { run, seq, whole: true })))
    expect(said.flatMap((text) => leaksIn(text.slice(0, 24), text))).toEqual([])
    expect(said.join('')).toContain('‹secret:')
    // What was asked is every read that can say anything of a session or a configuration.
    const silent = new Set([
      'daemon.handshake',
      'folders.complete',
      'health.facts',
      'runs.events',
      'drift.get',
      'runs.event',
      'runs.context',
      // Their parts are not there yet.
      'store.sizes',
      'hooks.status',
      'hooks.plan',
      'hooks.event',
    ])
    const reads = (Object.keys(endpoints) as EndpointName[]).filter((name) => endpoints[name].kind === 'read')
    expect(reads.filter((name) => !(name in inputs) && !silent.has(name))).toEqual([])
  }, 120_000)

  it('cannot be searched for', async () => {
    for (const needle of needles) expect((await daemon.call('search.run', { text: needle })).total, needle).toBe(0)
  })

  it('are not in what the commands print', async () => {
    const said: string[] = []
    for (const args of [
      ['status'],
      ['runs'],
      ['runs', '--json'],
      ['show', run],
      ['show', run, '--json'],
      ['context', `${run}@40`],
      ['context', `${run}@40`, '--json'],
      ['search', 'deploy'],
      ['manifest', run],
      ['manifest', run, '--json'],
      ['manifest', '--runtime', 'claude-code', '--workspace', path.join(home.home, 'work'), '--json'],
      ['instructions', run, '--all'],
      ['reveal', `${run}@1`],
      ['check'],
      ['diff', run, 'last'],
      ['diff', run, run, '--json'],
      ['search', '--config', 'model'],
      ['show', planted[0]?.secret ?? ''],
    ])
      said.push(await reprise(...args))
    expect(said.flatMap((text, n) => leaksIn(`command ${n}`, text))).toEqual([])
    expect(said.join('')).toContain('‹secret:')
  }, 60_000)

  it('are in no exported file, and are counted', async () => {
    for (const format of exportFormats) {
      const file = path.join(home.home, `run.${format === 'bundle' ? 'tar.gz' : format}`)
      const { redactions, bytes } = await daemon.call('export.run', { run, format, file })
      const written = fs.readFileSync(file)
      expect(written.length).toBe(bytes)
      expect(fs.statSync(file).mode & 0o777).toBe(0o600)
      const text = format === 'bundle' ? gunzipSync(written) : written
      expect(leaksIn(format, text)).toEqual([])
      expect(redactions).toBeGreaterThan(planted.length * 4)
      expect((text.toString().match(/‹secret:[a-z0-9-]+:[0-9a-f]{8}›/g) ?? []).length).toBeGreaterThanOrEqual(
        redactions,
      )
    }
    const file = path.join(home.home, 'incident.tar.gz')
    await daemon.call('export.incident', { a: run, b: run, file })
    expect(leaksIn('incident', gunzipSync(fs.readFileSync(file)))).toEqual([])
  }, 120_000)

  it('leave everything else as it was', async () => {
    const events = await allEvents(daemon, run)
    const prompt = await daemon.call('runs.event', { run, seq: 1, whole: true })
    expect(prompt.parts[0]?.body.text).toMatch(/^Deploy the shop with ‹secret:anthropic:[0-9a-f]{8}› today$/)
    const last = await daemon.call('runs.event', { run, seq: events.length, whole: true })
    expect(last.parts[0]?.body.text).toBe('Everything is deployed now.')
    const text = (await daemon.call('runs.recover', { run })).text
    const rows = text.trimEnd().split('\n')
    expect(rows.length).toBe(linesOfSession().length)
    for (const row of rows) expect(() => JSON.parse(row)).not.toThrow()
    // Equal secrets have equal placeholders, and no two families share one.
    const names = new Map<string, string>()
    for (const [, family = '', digest = ''] of text.matchAll(/‹secret:([a-z0-9-]+):([0-9a-f]{8})›/g)) {
      expect(names.get(digest) ?? family, digest).toBe(family)
      names.set(digest, family)
    }
    expect(names.size).toBeGreaterThanOrEqual(planted.length)
    const { hits } = await daemon.call('search.run', { text: 'everything is deployed' })
    expect(hits.length).toBeGreaterThan(0)
  })

  it('are in no object of the store, in no file beside it, and in no log', async () => {
    await daemon.stop()
    const objects = execFileSync(
      'git',
      ['--git-dir', path.join(home.data, 'store.git'), 'cat-file', '--batch', '--batch-all-objects', '--unordered'],
      { maxBuffer: 1 << 29 },
    )
    const files = fs
      .readdirSync(home.data, { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(home.data, name))
      .filter((file) => fs.statSync(file).isFile())
    expect(files.some((file) => file.endsWith('index.db'))).toBe(true)
    expect(files.some((file) => file.endsWith('.log'))).toBe(true)
    const leaks = [
      ...leaksIn('objects', objects),
      ...files.flatMap((file) => leaksIn(path.relative(home.data, file), fs.readFileSync(file))),
    ]
    expect(leaks).toEqual([])
    const output = fs.readFileSync(path.join(path.dirname(home.data), 'daemon-output.log'))
    expect(leaksIn('output', output)).toEqual([])
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
  }, 60_000)
})
