import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Output } from '../../../contract/endpoints.ts'
import { readRecord } from '../../../main/daemon/find.ts'
import { chooseHost } from '../../../main/launch/hosts.ts'
import { isReading, progressLine } from '../../../main/launch/progress.ts'
import { summarise } from '../../../main/launch/summary.ts'

type Status = Output<'status.get'>
const progress = (part: Partial<Status['progress'][number]>): Status['progress'][number] => ({
  home: 'h',
  phase: 'reading',
  files_done: 0,
  files_total: 0,
  bytes_done: 0,
  bytes_total: 0,
  sessions: 0,
  events: 0,
  searchable: 0,
  started_at: '',
  ...part,
})
const status = (part: Partial<Status> = {}): Status => ({
  daemon: {
    pid: 1,
    version: '0.1.0',
    contract: 1,
    started_at: '',
    data_dir: '/h/data',
    socket: '/h/s',
    url: null,
    state: 'ready',
    sample: false,
  },
  homes: [],
  looked: [],
  watches: { count: 0, limit: null, polling: 0 },
  lag_ms: 0,
  store: { bytes: 0, runs: 0, events: 0, manifests: 0 },
  gaps: [],
  gap_count: 0,
  progress: [],
  vault: { key_store: 'file', note: null, objects: 0 },
  rollbacks: { last: null, open: [] },
  ...part,
})

const home = {
  id: 'h',
  runtime: 'claude-code',
  path: '/h/.claude',
  found_by: '',
  version: null,
  version_from: 'unknown',
  state: 'ok',
  reason: null,
  watched: true,
  watching: { watched: 1, wanted: 1, polling: false, why: null },
  sessions: 2,
  unreadable: 3,
  bytes: 0,
  retention: null,
  last_read_at: null,
} as const

const made: string[] = []
const folder = () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'reprise-unit-'))
  made.push(dir)
  return dir
}
const program = (dir: string, name: string, text = '#!/bin/sh\n') => {
  const file = path.join(dir, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text, { mode: 0o755 })
  return file
}
afterEach(() => {
  for (const dir of made.splice(0)) fs.rmSync(dir, { recursive: true })
})

describe('the progress line', () => {
  it('sums over homes, by bytes where they are known', () => {
    const line = progressLine({
      progress: [
        progress({ files_done: 1, files_total: 4, bytes_done: 30, bytes_total: 40, sessions: 2 }),
        progress({ files_total: 1, bytes_total: 60 }),
      ],
    })
    expect(line).toContain('30 %')
    expect(line).toContain('1 of 5 files, 2 sessions')
    expect(line).toContain(`[${'█'.repeat(6)}${'░'.repeat(14)}]`)
  })
  it('goes on until every home that can be read was read once', () => {
    expect(isReading(status({ homes: [home] }))).toBe(true)
    expect(isReading(status({ homes: [{ ...home, last_read_at: '2026-11-30T00:00:00.000Z' }] }))).toBe(false)
    expect(isReading(status({ homes: [{ ...home, state: 'unreadable' }] }))).toBe(false)
  })
  it('is over when words are all that is left to index', () => {
    expect(isReading(status({ progress: [progress({ phase: 'indexing' })] }))).toBe(false)
    expect(isReading(status({ progress: [progress({ phase: 'idle' }), progress({ phase: 'discovering' })] }))).toBe(
      true,
    )
  })
})

describe('the summary', () => {
  it('names every place looked in when no agent is there, and offers the sample', () => {
    const text = summarise(
      status({
        looked: [
          { runtime: 'claude-code', places: ['/h/.claude', '/x'], found: 0, supported: true },
          { runtime: 'codex', places: [], found: 0, supported: false },
        ],
      }),
      [],
      '/h',
    )
    expect(text).toContain('No agent that this version reads was found')
    expect(text).toContain('looked in ~/.claude and /x')
    expect(text).toMatch(/Codex\s+not read by this version yet/)
    expect(text).toContain('npm run demo')
  })
  it('does not call a runtime absent that is only not read yet', () => {
    const text = summarise(
      status({
        homes: [home],
        looked: [{ runtime: 'codex', places: ['/h/.codex'], found: 0, supported: false }],
        gap_count: 2,
      }),
      [],
      '/h',
    )
    expect(text).toContain('version unknown, 2 sessions, 3 unreadable lines')
    expect(text).toMatch(/Codex\s+not read by this version yet/)
    expect(text).toContain('2 gaps')
  })
})

describe('the host of the window', () => {
  const silent = () => {}
  it('is none without a display', () => {
    expect(chooseHost({ root: folder(), env: { PATH: '/usr/bin' }, say: silent }).kind).toBe('none')
  })
  it('is Electron where its program is', () => {
    const root = folder()
    const electron = program(root, 'node_modules/electron/dist/electron')
    fs.writeFileSync(path.join(root, 'node_modules/electron/path.txt'), 'electron')
    expect(chooseHost({ root, env: { DISPLAY: ':1', PATH: '' }, say: silent })).toEqual({
      kind: 'electron',
      program: electron,
    })
  })
  it('is a browser where Electron cannot be fetched, and the failure is remembered', () => {
    const root = folder()
    const browser = program(folder(), 'chromium')
    const attempts = path.join(root, 'attempts')
    program(
      root,
      'node_modules/electron/install.js',
      `require('fs').appendFileSync(${JSON.stringify(attempts)}, 'x'); process.exit(1)`,
    )
    const env = { DISPLAY: ':1', PATH: path.dirname(browser) }
    for (let i = 0; i < 2; i += 1)
      expect(chooseHost({ root, env, say: silent })).toEqual({ kind: 'browser', program: browser })
    expect(fs.readFileSync(attempts, 'utf8')).toBe('x')
  })
  it('gives up a download that hangs', () => {
    const root = folder()
    program(root, 'node_modules/electron/install.js', 'setInterval(() => {}, 1000)')
    const began = Date.now()
    expect(
      chooseHost({ root, env: { DISPLAY: ':1', PATH: '', REPRISE_DOWNLOAD_SECONDS: '1' }, say: silent }).kind,
    ).toBe('none')
    expect(Date.now() - began).toBeLessThan(8000)
  })
  it('passes by a browser that only stands for a snap', () => {
    const stub = program(folder(), 'chromium-browser', '#!/bin/sh\nexec /snap/bin/chromium "$@"\n')
    expect(
      chooseHost({
        root: folder(),
        env: { DISPLAY: ':1', PATH: path.dirname(stub), REPRISE_NO_DOWNLOAD: '1' },
        say: silent,
      }).kind,
    ).toBe('none')
  })
})

describe('daemon.json', () => {
  it.each([
    '',
    '{',
    '{"pid":1}',
    '[]',
    '{"pid":"1","version":"0","contract":1,"nonce":"n","socket":"s","startedAt":"t"}',
  ])('%j is no daemon', (text) => {
    const dir = folder()
    fs.writeFileSync(path.join(dir, 'daemon.json'), text)
    expect(readRecord(dir)).toBeNull()
  })
})
