import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Dispatch } from '../../daemon/api/dispatch.ts'
import { type Listener, type Loopback, listenOnLoopback, listenOnSocket } from '../../daemon/api/listeners.ts'
import { createPushHub } from '../../daemon/api/push-hub.ts'
import { testGate } from '../kit/secrets.ts'

/** The doors of the daemon, with a dispatch that answers everything: only who gets through is asked here. */
const dispatch: Dispatch = Object.assign(() => Promise.resolve({ ok: true as const, output: { through: true } }), {
  drain: () => Promise.resolve(),
})
const hub = createPushHub(testGate())
let dir: string
let socket: string
let door: Listener
let loopback: Loopback

beforeAll(async () => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'who-'))
  fs.mkdirSync(path.join(dir, 'pages'))
  fs.writeFileSync(path.join(dir, 'pages', 'index.html'), '<p>window</p>')
  fs.writeFileSync(path.join(dir, 'outside.json'), '{"secret":1}')
  socket = path.join(dir, 'daemon.sock')
  door = await listenOnSocket(socket, { dispatch, hub, pages: path.join(dir, 'pages') })
  loopback = await listenOnLoopback({ dispatch, hub, pages: path.join(dir, 'pages') })
})
afterAll(async () => {
  await loopback.close()
  await door.close()
  fs.rmSync(dir, { recursive: true })
})

const ask = (
  options: http.RequestOptions,
  body = '{}',
): Promise<{ status: number; text: string; headers: http.IncomingHttpHeaders }> =>
  new Promise((resolve, reject) => {
    const request = http.request({ method: 'POST', path: '/rpc/status.get', ...options }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    request.on('error', reject)
    request.end(options.method === 'GET' ? undefined : body)
  })
const over = (headers: http.OutgoingHttpHeaders, more: http.RequestOptions = {}) =>
  ask({ host: '127.0.0.1', port: loopback.port, headers, ...more })
const bearer = () => ({ authorization: `Bearer ${loopback.token}` })

describe('the loopback listener', () => {
  it('answers with the token', async () => {
    expect((await over(bearer())).status).toBe(200)
  })
  it('refuses a missing and a wrong token', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer x' },
      { authorization: `Bearer ${loopback.token}x` },
      { cookie: `token=${loopback.token}` },
    ]) {
      const { status, text } = await over(headers)
      expect(status).toBe(401)
      expect(JSON.parse(text).error.code).toBe('unauthorized')
    }
    expect((await over({}, { method: 'GET', path: '/events' })).status).toBe(401)
  })
  it('refuses every other Host, even with the token (DNS rebinding)', async () => {
    for (const host of ['evil.example', `localhost:${loopback.port}`, '127.0.0.1', `127.0.0.1:${loopback.port + 1}`])
      expect((await over({ ...bearer(), host })).status).toBe(421)
    expect((await over({ host: 'evil.example' }, { method: 'GET', path: '/' })).status).toBe(421)
  })
  it('refuses a page of another origin, even with the token', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      `http://localhost:${loopback.port}`,
      `http://127.0.0.1:${loopback.port + 1}`,
    ])
      expect((await over({ ...bearer(), origin })).status).toBe(403)
    expect((await over({ ...bearer(), origin: `http://127.0.0.1:${loopback.port}` })).status).toBe(200)
  })
  it('listens on the loopback address only', () => {
    for (const addresses of Object.values(os.networkInterfaces()))
      for (const { address, internal, family } of addresses ?? [])
        if (!internal && family === 'IPv4') {
          const tried = spawnSync('node', [
            '-e',
            `require('net').connect(${loopback.port}, '${address}').on('connect', () => process.exit(9)).on('error', () => process.exit(3))`,
          ])
          expect(tried.status).toBe(3)
        }
  })
  it('serves the window with a policy that forbids everything foreign, and nothing outside its folder', async () => {
    const page = await over({}, { method: 'GET', path: '/runs/r_1' })
    expect(page.text).toContain('window')
    expect(page.headers['content-security-policy']).toContain("default-src 'self'")
    expect(page.headers['cross-origin-opener-policy']).toBe('same-origin')
    for (const path of ['/../outside.json', '/%2e%2e/outside.json', '/..%2foutside.json', '/%00/x.json'])
      expect((await over({}, { method: 'GET', path })).text).not.toContain('secret')
  })
  it('refuses a body over 8 MB', async () => {
    expect(
      (await ask({ host: '127.0.0.1', port: loopback.port, headers: bearer() }, 'x'.repeat(9 * 1024 * 1024))).status,
    ).toBe(413)
  })
})

describe('the WebSocket', () => {
  const open = (protocols: string[], headers: Record<string, string>): Promise<string> =>
    new Promise((resolve) => {
      const client = new WebSocket(`ws://127.0.0.1:${loopback.port}/ws`, protocols, { headers })
      client.on('open', () => hub.send({ type: 'changed', tags: ['runs'] }))
      client.on('message', (message: Buffer) => {
        client.close()
        resolve(message.toString())
      })
      client.on('unexpected-response', (_request, response) => resolve(String(response.statusCode)))
      client.on('error', () => resolve('error'))
    })
  const origin = () => `http://127.0.0.1:${loopback.port}`
  it('delivers pushed facts to our own page with the token', async () => {
    expect(JSON.parse(await open(['reprise', `token.${loopback.token}`], { origin: origin() })).push).toEqual({
      type: 'changed',
      tags: ['runs'],
    })
  })
  it('refuses a foreign origin, a missing origin, a wrong token, a wrong host', async () => {
    expect(await open(['reprise', `token.${loopback.token}`], { origin: 'https://evil.example' })).toBe('403')
    expect(await open(['reprise', `token.${loopback.token}`], {})).toBe('403')
    expect(await open(['reprise', 'token.wrong'], { origin: origin() })).toBe('401')
    expect(await open(['reprise'], { origin: origin() })).toBe('401')
    expect(await open(['reprise', `token.${loopback.token}`], { origin: origin(), host: 'evil.example' })).toBe('421')
  })
})

describe('the socket', () => {
  it('is open to its user only', () => {
    expect(fs.statSync(socket).mode & 0o777).toBe(0o600)
  })
  it('answers its user without a token', async () => {
    expect((await ask({ socketPath: socket })).status).toBe(200)
  })
  it.skipIf(process.getuid?.() !== 0)('refuses another local user', () => {
    fs.chmodSync(dir, 0o755)
    const program = `require('net').connect(${JSON.stringify(socket)}).on('connect', () => process.exit(9)).on('error', (error) => process.exit(error.code === 'EACCES' ? 3 : 4))`
    expect(spawnSync(process.execPath, ['-e', program], { uid: 65534, gid: 65534, cwd: '/' }).status).toBe(3)
  })
  it('replaces what a killed daemon left, and never takes over one that answers', async () => {
    await expect(listenOnSocket(socket, { dispatch, hub, pages: null })).rejects.toThrow('another process listens')
    const stale = path.join(dir, 'stale.sock')
    spawnSync(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(stale)}, () => process.kill(process.pid, 'SIGKILL'))`,
    ])
    expect(fs.existsSync(stale)).toBe(true)
    const second = await listenOnSocket(stale, { dispatch, hub, pages: null })
    await second.close()
  })
})
