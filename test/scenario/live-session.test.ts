import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { type Talk, turn, writeSession } from '../kit/sessions.ts'
import { allEvents } from '../kit/snapshot.ts'

let home: TestHome
let daemon: TestDaemon
let workspace: string
let talk: Talk
beforeEach(async () => {
  home = makeEmptyHome()
  workspace = path.join(home.home, 'shop')
  fs.mkdirSync(workspace)
  fs.writeFileSync(path.join(workspace, 'CLAUDE.md'), 'Prices are in cents.\n')
  fs.mkdirSync(path.join(home.home, '.claude/projects'), { recursive: true })
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  talk = {
    session: '11fe0000-0000-4000-8000-000000000001',
    cwd: workspace,
    startedAt: new Date(Date.now() - 1000).toISOString(),
  }
})
afterEach(async () => {
  await daemon.stop()
  home.remove()
})

const until = async <T>(look: () => Promise<T | null>, within: number): Promise<{ value: T; waited: number }> => {
  const began = Date.now()
  while (Date.now() - began < within) {
    const value = await look()
    if (value !== null) return { value, waited: Date.now() - began }
    await sleep(20)
  }
  throw new Error(`nothing within ${within} ms`)
}
const run = async () =>
  (await daemon.call('runs.list', {})).runs.find(({ session }) => session === talk.session) ?? null

describe('a session that is being written', () => {
  it('appears when it begins and grows with every line, without anyone asking', async () => {
    const file = writeSession(home.home, talk, turn(talk, 0, 'first question', 'first answer'))
    const begun = await until(run, 15_000)
    expect(begun.value.events).toBe(2)
    const [prompt, answer] = turn(talk, 1, 'second question', 'second answer', { at: new Date().toISOString() })
    fs.appendFileSync(file, `${prompt}\n`)
    await until(async () => ((await run())?.events === 3 ? true : null), 15_000)
    // Half a line is not a record yet, and is not lost: it is read when the rest of it is there.
    fs.appendFileSync(file, String(answer).slice(0, 80))
    await sleep(400)
    expect((await run())?.events).toBe(3)
    expect((await run())?.unreadable_lines).toBe(0)
    fs.appendFileSync(file, `${String(answer).slice(80)}\n`)
    await until(async () => ((await run())?.events === 4 ? true : null), 15_000)
    const events = await allEvents(daemon, String((await run())?.id))
    expect(events.map(({ summary }) => summary)).toEqual([
      'first question',
      'first answer',
      'second question',
      'second answer',
    ])
  })

  it('gets the configuration that was in force when it began, frozen', async () => {
    writeSession(home.home, talk, turn(talk, 0, 'how much is it', 'four hundred', { at: new Date().toISOString() }))
    const { value } = await until(async () => {
      const found = await run()
      return found?.manifest ? found : null
    }, 30_000)
    const frozen = (await daemon.call('manifest.get', { target: String(value.manifest) })).manifest
    expect(frozen.origin).toBe('captured')
    expect(
      frozen.instructions.sources.find(({ path: file }) => file === path.join(workspace, 'CLAUDE.md')),
    ).toMatchObject({ status: 'loaded', position: 0 })
    fs.writeFileSync(path.join(workspace, 'CLAUDE.md'), 'Prices are in euros.\n')
    await daemon.call('sync.now', {})
    const text = await daemon.call('manifest.instructions', { target: value.id })
    expect(text.pieces[0]?.text).toBe('Prices are in cents.')
    const now = await daemon.call('manifest.resolve', { runtime: 'claude-code', workspace })
    expect(now.manifest.instructions.effective_digest).not.toBe(frozen.instructions.effective_digest)
  })

  it('is pushed to open windows, which can resume where they left off', async () => {
    const heard: { id: number; push: { type: string } }[] = []
    const listen = (last: number | null) =>
      new Promise<() => void>((resolve) => {
        const request = http.get(
          {
            socketPath: daemon.record.socket,
            path: '/events',
            headers: last === null ? {} : { 'last-event-id': String(last) },
          },
          (response) => {
            let text = ''
            response.on('error', () => undefined)
            response.on('data', (chunk: Buffer) => {
              text += chunk.toString()
              const parts = text.split('\n\n')
              text = parts.pop() ?? ''
              for (const part of parts) {
                const id = /^id: (\d+)$/m.exec(part)?.[1]
                const data = /^data: (.*)$/m.exec(part)?.[1]
                if (id && data) heard.push({ id: Number(id), push: JSON.parse(data) })
              }
            })
            resolve(() => request.destroy())
          },
        )
        request.on('error', () => undefined)
      })
    const close = await listen(null)
    writeSession(home.home, talk, turn(talk, 0, 'first question', 'first answer'))
    await until(async () => (heard.some(({ push }) => push.type === 'run') ? true : null), 15_000)
    close()
    const last = heard.at(-1)?.id ?? 0
    heard.length = 0
    fs.appendFileSync(
      path.join(home.home, '.claude/projects', workspace.replaceAll(/[^A-Za-z0-9]/g, '-'), `${talk.session}.jsonl`),
      `${turn(talk, 1, 'more', 'done').join('\n')}\n`,
    )
    await until(async () => ((await run())?.events === 4 ? true : null), 15_000)
    await sleep(300)
    const again = await listen(last)
    await until(async () => (heard.some(({ push }) => push.type === 'run') ? true : null), 15_000)
    expect(heard[0]?.id).toBe(last + 1)
    again()
  })
})

describe('a last line that was never finished', () => {
  const old = () => new Date(Date.now() - 3_600_000)

  it('is waited for while the file is fresh, told of when it is still, and read whole if it goes on after all', async () => {
    const [prompt, answer] = turn(talk, 0, 'first question', 'first answer') as [string, string]
    const file = writeSession(home.home, talk, [prompt])
    fs.appendFileSync(file, answer.slice(0, 60))
    await daemon.call('sync.now', {})
    expect(await run()).toMatchObject({ events: 1, unreadable_lines: 0 })

    fs.utimesSync(file, old(), old())
    const { unreadable } = await daemon.call('sync.now', {})
    expect(unreadable).toMatchObject([{ path: file, line: 2, bytes: 60, repaired: false }])
    expect(await run()).toMatchObject({ events: 1, unreadable_lines: 1 })

    fs.appendFileSync(file, `${answer.slice(60)}\n`)
    expect((await daemon.call('sync.now', {})).unreadable).toEqual([])
    expect(await run()).toMatchObject({ events: 2, unreadable_lines: 0 })
  })
})
