import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@playwright/test'
import type { DesktopBridge } from '../../contract/desktop.ts'
import { callDaemon } from '../../main/daemon/call.ts'
import { findDaemon, readRecord } from '../../main/daemon/find.ts'
import { listeningPorts, processTree, readConnections, traceConnections } from '../kit/connect-trace.ts'
import { startDaemon } from '../kit/daemon.ts'
import { electronProgram, openDesktop } from '../kit/electron.ts'
import { makeEmptyHome, makeFixtureHome, root, type TestHome } from '../kit/fixture-home.ts'

let made: TestHome
test.beforeEach(() => {
  made = makeEmptyHome()
})
/** Whatever a test did, no daemon of it stays. */
test.afterEach(async () => {
  const found = await findDaemon(made.data)
  if (found !== null) {
    await callDaemon(found.record.socket, 'daemon.stop', {}).catch(() => undefined)
    for (let i = 0; i < 100 && alive(found.record.pid); i += 1) await sleep(50)
    if (alive(found.record.pid)) process.kill(found.record.pid, 'SIGKILL')
  }
  made.remove()
})

const alive = (pid: number) => {
  try {
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

test.describe('the daemon', () => {
  test('is started by the window when it is away, inherits nothing of it and outlives it', async () => {
    const desktop = await openDesktop(made)
    await expect.poll(() => readRecord(made.data)).not.toBeNull()
    const pid = readRecord(made.data)?.pid ?? 0
    const links = fs.readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [`${fd} ${fs.readlinkSync(`/proc/${pid}/fd/${fd}`)}`]
      } catch {
        return []
      }
    })
    expect(links.filter((link) => /\.pak|\.bin$|icudtl|\/dev\/shm|memfd|electron/.test(link))).toEqual([])
    expect(links.find((link) => link.startsWith('2 '))).toContain('start.log')
    // With an inherited descriptor this close waits until its limit.
    const began = Date.now()
    await desktop.close()
    expect(Date.now() - began).toBeLessThan(5000)
    expect((await findDaemon(made.data))?.record.pid).toBe(pid)
  })

  test('of an older version is replaced', async () => {
    fs.mkdirSync(made.data, { recursive: true, mode: 0o700 })
    const socket = path.join(made.data, 'old.sock')
    // Stands for a daemon that an update left running: answers the handshake with an old version, ends when asked to.
    const program = `
      const http = require('http'), fs = require('fs')
      const [socket, info] = process.argv.slice(1)
      http.createServer((request, response) => {
        request.resume().on('end', () => {
          const stop = request.url === '/rpc/daemon.stop'
          response.end(JSON.stringify(stop ? { ok: true } : { version: '0.0.9', contract: 0, pid: process.pid, nonce: 'old' }))
          if (stop) setTimeout(() => process.exit(0), 100)
        })
      }).listen(socket, () => fs.writeFileSync(info, JSON.stringify({ pid: process.pid, version: '0.0.9', contract: 0, nonce: 'old', socket, startedAt: new Date().toISOString() })))`
    const old = spawn(process.execPath, ['-e', program, socket, path.join(made.data, 'daemon.json')], {
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => old.once('exit', resolve))
    try {
      await expect.poll(() => readRecord(made.data)?.pid).toBe(old.pid)
      const desktop = await openDesktop(made)
      expect(await ended).toBe(0)
      await expect.poll(async () => (await findDaemon(made.data))?.handshake.version).toBe('0.1.0')
      await desktop.close()
    } finally {
      if (old.exitCode === null) old.kill('SIGKILL')
    }
  })

  test('that ends is noticed, said, and started again from the window', async () => {
    const daemon = await startDaemon(made)
    const desktop = await openDesktop(made)
    await daemon.kill()
    const band = desktop.page.getByRole('alert').filter({ hasText: 'not reachable' })
    await expect(band).toBeVisible({ timeout: 15_000 })
    await band.getByRole('button', { name: 'Start the daemon' }).click()
    await expect(band).toBeHidden({ timeout: 30_000 })
    expect((await findDaemon(made.data))?.record.pid).not.toBe(daemon.record.pid)
    await desktop.close()
  })
})

test.describe('the window', () => {
  test('is confined: no navigation, no second window, nothing remote, no Node', async () => {
    const desktop = await openDesktop(made)
    const { app, page } = desktop
    const opened = await app.evaluateHandle(({ shell }) => {
      const list: string[] = []
      shell.openExternal = async (url: string) => {
        list.push(url)
      }
      return list
    })
    let reached = 0
    const server = http.createServer((_request, response) => {
      reached += 1
      response.end('<title>elsewhere</title>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const elsewhere = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
    try {
      for (const url of [elsewhere, 'file:///etc/passwd', 'app://other/', 'javascript:document.title="x"']) {
        await page.evaluate((to) => {
          location.href = to
        }, url)
        await page.waitForTimeout(150)
        expect(page.url()).toMatch(/^app:\/\/ui\//)
      }
      await page.evaluate((to) => {
        for (const url of [to, 'https://user:pw@example.org/', 'smb://host/share', 'https://example.org/docs'])
          window.open(url)
      }, elsewhere)
      await page.waitForTimeout(300)
      expect(app.windows()).toHaveLength(1)
      expect(await opened.jsonValue()).toEqual(['https://example.org/docs'])

      const attempts = await page.evaluate(async (to) => {
        const loads = (element: HTMLImageElement | HTMLIFrameElement) =>
          new Promise<string>((resolve) => {
            element.onload = () => resolve('loaded')
            element.onerror = () => resolve('refused')
            element.src = to
            document.body.append(element)
            setTimeout(() => resolve('nothing'), 1000)
          })
        return {
          fetch: await fetch(to, { mode: 'no-cors' }).then(
            () => 'fetched',
            () => 'refused',
          ),
          image: await loads(document.createElement('img')),
          socket: await new Promise<string>((resolve) => {
            try {
              const socket = new WebSocket(to.replace('http', 'ws'))
              socket.onopen = () => resolve('open')
              socket.onerror = () => resolve('refused')
            } catch {
              resolve('refused')
            }
          }),
          node: [
            typeof Reflect.get(window, 'require'),
            typeof Reflect.get(window, 'process'),
            typeof Reflect.get(window, 'module'),
          ],
          camera: await navigator.permissions.query({ name: 'geolocation' }).then((each) => each.state),
        }
      }, elsewhere)
      expect(attempts).toEqual({
        fetch: 'refused',
        image: 'refused',
        socket: 'refused',
        node: ['undefined', 'undefined', 'undefined'],
        camera: 'denied',
      })
      await page.evaluate((to) => {
        const frame = document.createElement('iframe')
        frame.src = to
        document.body.append(frame)
      }, elsewhere)
      await page.waitForTimeout(300)
      expect(reached).toBe(0)
    } finally {
      server.close()
      await desktop.close()
    }
  })

  test('reads its own files only', async () => {
    const desktop = await openDesktop(made)
    const answers = await desktop.page.evaluate(async () => {
      const ask = async (path: string) => {
        const response = await fetch(path)
        return `${response.status} ${(await response.text()).includes('"name": "reprise"') ? 'LEAKED' : 'fine'}`
      }
      return [
        await ask('/..%2f..%2fpackage.json'),
        await ask('/%2e%2e/%2e%2e/package.json'),
        await ask('/assets/none.js'),
        await ask('/%E0%A4%A'),
      ]
    })
    expect(answers).toEqual(['400 fine', expect.stringMatching(/ fine$/), '404 fine', '400 fine'])
    await desktop.close()
  })

  test('checks what the page asks of the desktop', async () => {
    const desktop = await openDesktop(made)
    const { app, page } = desktop
    await app.evaluate(({ dialog, shell }) => {
      dialog.showOpenDialog = (async () => ({
        canceled: false,
        filePaths: ['/chosen'],
      })) as typeof dialog.showOpenDialog
      shell.showItemInFolder = (shown: string) => {
        Reflect.set(globalThis, 'shown', shown)
      }
    })
    const answers = await page.evaluate(async (home) => {
      const bridge: DesktopBridge = Reflect.get(globalThis, 'reprise')
      const say = (promise: Promise<unknown>) =>
        promise.then(String, (error: Error) =>
          error.message.replace(/^Error invoking remote method '[^']+': Error: /, ''),
        )
      const wrong: unknown = 'purple'
      return [
        await say(bridge.pickFolder('Choose a folder')),
        await say(bridge.pickFolder('')),
        await say(bridge.showInFolder(home)),
        await say(bridge.showInFolder('relative')),
        await say(bridge.showInFolder('/does/not/exist')),
        await say(bridge.setTheme(wrong as 'dark')),
        await say(bridge.setTheme('dark')),
        await say(bridge.copyText('copied words')),
      ]
    }, made.home)
    expect(answers).toEqual([
      '/chosen',
      'desktop:pick-folder: wrong argument',
      'undefined',
      'only an absolute path can be shown',
      '/does/not/exist does not exist',
      'desktop:set-theme: wrong argument',
      'undefined',
      'undefined',
    ])
    expect(await app.evaluate(() => Reflect.get(globalThis, 'shown'))).toBe(made.home)
    expect(await app.evaluate(({ clipboard }) => clipboard.readText())).toBe('copied words')
    expect(await app.evaluate(({ nativeTheme }) => nativeTheme.themeSource)).toBe('dark')
    await expect.poll(() => page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true)
    await desktop.close()
  })

  test('comes back where it was, and not smaller than it can be used', async () => {
    const first = await openDesktop(made)
    await first.app.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0]?.setBounds({ x: 60, y: 80, width: 900, height: 640 }),
    )
    await first.page.waitForTimeout(800)
    await first.close()
    const second = await openDesktop(made)
    const bounds = await second.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds())
    expect(bounds).toMatchObject({ width: 900, height: 640 })
    await second.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.setSize(100, 100))
    await expect
      .poll(() => second.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getMinimumSize()))
      .toEqual([420, 480])
    await second.close()
    // A file that is not readable counts as none.
    fs.writeFileSync(path.join(made.data, 'window/window.json'), '{ broken')
    const third = await openDesktop(made)
    expect(await third.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getSize())).toEqual([
      1280, 820,
    ])
    await third.close()
  })

  test('exists once per data directory', async () => {
    const desktop = await openDesktop(made)
    const flags = [root, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu']
    const second = spawn(electronProgram, flags, { env: { ...made.env }, stdio: 'ignore' })
    const code = await Promise.race([
      new Promise((resolve) => second.once('exit', resolve)),
      sleep(15_000, 'still there'),
    ])
    if (second.exitCode === null) second.kill('SIGKILL')
    expect(code).toBe(0)
    expect(desktop.app.windows()).toHaveLength(1)
    await desktop.close()
  })
})

test('neither window nor daemon listens on a port or speaks to another machine', async () => {
  const home = makeFixtureHome()
  const trace = path.join(path.dirname(home.data), 'connections')
  const daemon = await startDaemon(home, traceConnections(`${trace}-daemon`))
  await daemon.idle()
  const flags = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu']
  // Not through the test runner: that opens ports of its own in the window to steer it.
  const [program = '', ...args] = [...traceConnections(`${trace}-window`), electronProgram, root, ...flags]
  const window = spawn(program, args, { env: { ...home.env }, stdio: 'ignore' })
  try {
    const toDaemon = () => fs.readFileSync(`${trace}-window`, 'utf8').split('daemon.sock').length - 1
    await expect.poll(() => (fs.existsSync(`${trace}-window`) ? toDaemon() : 0), { timeout: 30_000 }).toBeGreaterThan(3)
    await sleep(3000)
    expect(listeningPorts(processTree(window.pid ?? 0))).toEqual([])
    expect(listeningPorts([daemon.record.pid])).toEqual([])
    for (const part of ['daemon', 'window']) {
      const seen = readConnections(`${trace}-${part}`)
      expect(seen.outside, `${part} of the trace`).toEqual([])
    }
    // The trace itself works: what it should see, it saw.
    const { port } = await daemon.call('browser.open', {})
    expect(listeningPorts([daemon.record.pid])).toEqual([port])
  } finally {
    for (const pid of processTree(window.pid ?? 0).reverse()) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // ended by itself
      }
    }
    await daemon.stop()
    home.remove()
  }
})
