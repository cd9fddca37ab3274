import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { findDaemon } from '../../main/daemon/find.ts'
import { stopDaemon } from '../../main/daemon/start.ts'
import { makeEmptyHome, makeFixtureHome, root, type TestHome } from '../kit/fixture-home.ts'

/** `npm start` after everything is built, in the ways it goes on different machines. */
const homes: TestHome[] = []
const running: ChildProcess[] = []
afterEach(async () => {
  for (const child of running.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
  for (const made of homes.splice(0)) {
    const found = await findDaemon(made.data)
    if (found !== null) await stopDaemon(found)
    made.remove()
  }
})
const keep = (made: TestHome) => {
  homes.push(made)
  return made
}

interface Launched {
  readonly child: ChildProcess
  readonly said: { out: string; err: string }
  readonly ended: Promise<number | null>
}

function launch(made: TestHome, args: readonly string[] = [], extra: Readonly<Record<string, string>> = {}): Launched {
  const { DISPLAY: _, ...env } = made.env
  const child = spawn(process.execPath, [path.join(root, 'out/node/launch.cjs'), ...args], {
    env: { ...env, ...extra },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk.toString()
  })
  return { child, said, ended: new Promise((resolve) => child.once('close', (code) => resolve(code))) }
}

async function until(what: () => boolean, why: string): Promise<void> {
  for (let i = 0; i < 200; i += 1) {
    if (what()) return
    await sleep(100)
  }
  throw new Error(`not within 20 s: ${why}`)
}

/** A program that stands for one with a window: it writes what it was given and stays until it is ended. */
function windowProgram(
  made: TestHome,
  name: string,
  behaviour = 'setInterval(() => {}, 1000)',
): { file: string; given: () => string[] } {
  const file = path.join(path.dirname(made.home), name)
  const log = `${file}.args`
  const text = `require('fs').writeFileSync(${JSON.stringify(log)}, JSON.stringify(process.argv.slice(2))); ${behaviour}`
  fs.writeFileSync(`${file}.cjs`, text)
  fs.writeFileSync(file, `#!/bin/sh\nexec ${process.execPath} ${file}.cjs "$@"\n`, { mode: 0o755 })
  return {
    file,
    given: () => (fs.existsSync(log) ? (JSON.parse(fs.readFileSync(log, 'utf8') || '[]') as string[]) : []),
  }
}

describe('npm start', () => {
  it('tells what it found and, without a display, where to look', async () => {
    const made = keep(makeFixtureHome())
    const first = launch(made)
    expect(await first.ended).toBe(0)
    expect(first.said.out).toMatch(/Claude Code\s+~\/\.claude\s+2\.1\.332, \d+ sessions/)
    expect(first.said.out).toMatch(/\d+ runs, \d+ events/)
    const newest = first.said.out
      .split('\n')
      .filter((line) => /^ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}Claude Code/.test(line))
    expect(newest).toHaveLength(5)
    expect(newest.map((line) => line.slice(2, 18))).toEqual(
      [...newest.map((line) => line.slice(2, 18))].sort().reverse(),
    )
    const address = /http:\/\/127\.0\.0\.1:\d+\/#t=[\w-]{20,}/.exec(first.said.err)?.[0]
    expect(address).toBeDefined()
    const page = /file:\/\/(\S+open\.html)/.exec(first.said.err)?.[1] ?? ''
    expect(fs.statSync(page).mode & 0o777).toBe(0o600)
    expect(fs.readFileSync(page, 'utf8')).toContain(address)

    const pid = (await findDaemon(made.data))?.record.pid
    const second = launch(made, ['--no-window', '--json'])
    expect(await second.ended).toBe(0)
    expect(JSON.parse(second.said.out)).toMatchObject({ pid, window: null })
    // `--once` leaves nothing behind.
    const third = launch(made, ['--once'])
    expect(await third.ended).toBe(0)
    expect(await findDaemon(made.data)).toBeNull()
  })

  it('opens a browser window whose arguments carry no key, and closes the port with it', async () => {
    const made = keep(makeEmptyHome())
    const browser = windowProgram(made, 'browser')
    const { child, said, ended } = launch(made, [], { DISPLAY: ':7', REPRISE_BROWSER: browser.file })
    await until(() => browser.given().length > 0, 'the browser was started')
    const given = browser.given().join(' ')
    expect(given).toContain('--app=file://')
    expect(given).not.toMatch(/#t=|127\.0\.0\.1/)
    const found = await findDaemon(made.data)
    expect(found).not.toBeNull()
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(said.err).toContain('goes on and keeps watching')
    expect((await findDaemon(made.data))?.record.pid).toBe(found?.record.pid)
    expect(fs.existsSync(path.join(made.data, 'open.html'))).toBe(false)
  })

  it('goes on to a browser when the desktop window cannot start', async () => {
    const made = keep(makeEmptyHome())
    const broken = windowProgram(made, 'electron', 'process.exit(127)')
    const browser = windowProgram(made, 'browser', 'setTimeout(() => process.exit(0), 300)')
    const extra = { DISPLAY: ':7', ELECTRON_EXEC_PATH: broken.file, REPRISE_BROWSER: browser.file }
    const { said, ended } = launch(made, [], extra)
    expect(await ended).toBe(0)
    expect(broken.given()[0]).toBe(root)
    expect(browser.given().join(' ')).toContain('--app=')
    expect(said.err).toContain('the desktop window could not start')
  })

  it('shows the sample without touching the real home, and removes it afterwards', async () => {
    const made = keep(makeEmptyHome())
    const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'reprise-tmp-'))
    try {
      const { child, said, ended } = launch(made, ['--demo'], {
        TMPDIR: temporary,
        CLAUDE_CONFIG_DIR: path.join(made.home, 'own'),
      })
      await until(() => said.err.includes('until you press Ctrl-C'), `the sample is served: ${said.err}`)
      expect(said.out).toMatch(/Claude Code\s+~\/\.claude/)
      expect(fs.readdirSync(temporary)).toHaveLength(1)
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
      expect(fs.readdirSync(temporary)).toEqual([])
      expect(fs.readdirSync(made.home)).toEqual([])
      expect(fs.existsSync(made.data)).toBe(false)
    } finally {
      fs.rmSync(temporary, { recursive: true, force: true })
    }
  })

  it('says what is wrong when the daemon cannot start', async () => {
    const made = keep(makeEmptyHome())
    fs.writeFileSync(made.data, 'a file where the directory should be')
    const { said, ended } = launch(made, ['--no-window'])
    expect(await ended).toBe(5)
    expect(said.err).toContain(made.data)
  })
})

describe('the command of a checkout', () => {
  it('says how to build when nothing is built', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reprise-bin-'))
    try {
      fs.mkdirSync(path.join(folder, 'bin'))
      fs.copyFileSync(path.join(root, 'bin/reprise.mjs'), path.join(folder, 'bin/reprise.mjs'))
      const child = spawn(process.execPath, [path.join(folder, 'bin/reprise.mjs'), 'status'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let err = ''
      child.stderr.on('data', (chunk: Buffer) => {
        err += chunk.toString()
      })
      expect(await new Promise((resolve) => child.once('close', resolve))).toBe(2)
      expect(err).toContain('npm ci')
    } finally {
      fs.rmSync(folder, { recursive: true, force: true })
    }
  })
})
