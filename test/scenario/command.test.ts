import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFixtureHome, root, type TestHome } from '../kit/fixture-home.ts'

let home: TestHome
beforeAll(() => {
  home = makeFixtureHome()
})
afterAll(() => {
  reprise('stop')
  home.remove()
})

const reprise = (...args: string[]) => run(home, {}, args)
const run = (where: TestHome, env: Record<string, string>, args: readonly string[]) => {
  const done = spawnSync(process.execPath, [path.join(root, 'bin/reprise.mjs'), ...args], {
    env: { ...where.env, ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 27,
  })
  return { code: done.status, out: done.stdout, note: done.stderr, json: () => JSON.parse(done.stdout) }
}

describe('the command', () => {
  it('says that the daemon is not running, with the code for it', () => {
    const text = reprise('status')
    expect(text).toMatchObject({ code: 5, out: '' })
    expect(text.note).toContain('reprise start')
    expect(reprise('status', '--json').json().error).toMatchObject({ code: 'daemon_unreachable', status: 503 })
  })

  it('starts the daemon when it needs it, reads everything, and lists it', () => {
    const synced = reprise('sync-now', '--json')
    expect(synced.code).toBe(0)
    expect(synced.json()).toMatchObject({ sessions: 15, unreadable: [] })
    const { runs } = reprise('runs', '--json').json()
    expect(runs.length).toBe(15)
    for (const run of runs)
      expect(Object.keys(run)).toEqual(
        expect.arrayContaining([
          'id',
          'session',
          'runtime',
          'runtime_version',
          'home',
          'workspace',
          'title',
          'started_at',
          'ended_at',
          'status',
          'parent',
          'relation',
          'forked_at',
          'stretches',
          'events',
          'calls',
          'tokens',
          'manifest',
          'coverage',
        ]),
      )
    expect(runs.map((run: { started_at: string }) => run.started_at)).toEqual(
      runs
        .map((run: { started_at: string }) => run.started_at)
        .sort()
        .reverse(),
    )
    expect(reprise('runs', '--workspace', '/home/dev/replays/wt-7', '--json').json().runs.length).toBe(2)
    expect(reprise('runs', '--limit', '3').out.trim().split('\n').length).toBe(4)
  })

  it('takes a run by id, prefix, session id, `last`, and as a point or a stretch', () => {
    const session = '30000000-0000-4000-8000-000000000001'
    const whole = reprise('show', session, '--json').json()
    const { id, stretches } = whole.run
    expect(whole.events[0]).toMatchObject({ seq: 1, kind: 'prompt' })
    for (const name of [id, id.slice(0, 7), session]) expect(reprise('show', name, '--json').json().run.id).toBe(id)
    expect(reprise('show', `${id}@3`, '--json').json().events.length).toBe(3)
    expect(reprise('show', 'last', '--json').json().run.session).toBe('80000000-0000-4000-8000-000000000002')
    const first = reprise('manifest', `${id}#1`, '--json').json()
    expect(first.integrity.manifest_digest).toBe(stretches[0].manifest)
    expect(first.stretch).toBe(1)
    expect(reprise('manifest', stretches[0].manifest.slice(7, 19), '--json').json()).toEqual(first)
  })

  it('names what was not found or is ambiguous, with candidates', () => {
    expect(reprise('show', 'nothing')).toMatchObject({ code: 3 })
    const several = reprise('show', '2000', '--json')
    expect(several.code).toBe(3)
    expect(several.json().error).toMatchObject({ code: 'ambiguous', status: 409 })
    expect(several.json().error.candidates.length).toBe(4)
    expect(reprise('manifest', 'sha256:'.padEnd(71, '0'))).toMatchObject({ code: 3 })
    expect(reprise('show', 'last@9999')).toMatchObject({ code: 3 })
  })

  it('refuses wrong usage with code 2 and one JSON document', () => {
    for (const args of [
      ['runs', '--limit', 'many'],
      ['runs', '--since', 'yesterdayish'],
      ['runs', '--runtime', 'nobody'],
      ['manifest'],
      ['watch-home', '/tmp'],
      ['nonsense'],
    ])
      expect(reprise(...args, '--json').code, args.join(' ')).toBe(2)
    expect(reprise('runs', '--limit', 'many', '--json').json().error).toMatchObject({
      code: 'wrong_usage',
      status: 400,
      message: expect.stringContaining('--limit'),
    })
    expect(reprise('search', '...', '--json').code).toBe(2)
  })

  it('resolves what would be in force now, and stores it as a target', () => {
    const workspace = path.join(home.home, 'shop')
    fs.mkdirSync(workspace, { recursive: true })
    fs.writeFileSync(path.join(workspace, 'CLAUDE.md'), 'Prices are in cents.\n')
    const made = reprise('manifest', '--runtime', 'claude-code', '--workspace', workspace, '--json').json()
    expect(made.origin).toBe('resolved')
    const target = made.integrity.manifest_digest
    expect(reprise('manifest', target, '--json').json()).toEqual(made)
    const { pieces } = reprise('instructions', target, '--json').json()
    expect(pieces.map((piece: { text: string }) => piece.text)).toContain('Prices are in cents.')
    expect(reprise('manifest', '--runtime', 'claude-code', '--workspace', path.join(home.home, 'nowhere')).code).toBe(3)
    const gone = path.join(home.home, 'gone')
    for (const args of [
      ['manifest', '--runtime', 'claude-code', '--workspace', workspace, '--home', gone],
      ['diff', target, 'now', '--workspace', workspace, '--home', gone],
    ]) {
      const refused = reprise(...args, '--json')
      expect(refused.code, args.join(' ')).toBe(3)
      expect(refused.json().error.message).toContain(`home: ${gone} is no directory`)
    }
    for (const options of [
      ['--runtime', 'claude-code'],
      ['--workspace', workspace],
      ['--home', gone],
      ['--flag=--bare'],
    ])
      expect(reprise('manifest', target, ...options).code, options.join(' ')).toBe(2)
    const bare = reprise(
      'manifest',
      '--runtime',
      'claude-code',
      '--workspace',
      workspace,
      '--flag=--bare',
      '--json',
    ).json()
    expect(bare.instructions.sources.filter((source: { position: number | null }) => source.position !== null)).toEqual(
      [],
    )
  })

  it('adds and drops a home', () => {
    const other = path.join(home.home, 'other')
    fs.mkdirSync(path.join(other, 'projects'), { recursive: true })
    expect(reprise('watch-home', other, '--runtime', 'claude-code', '--json').json().home).toMatchObject({
      path: other,
      runtime: 'claude-code',
    })
    expect(reprise('status', '--json').json().homes.length).toBe(2)
    expect(reprise('forget-home', other, '--json').json()).toEqual({ forgotten: [other] })
    expect(reprise('status', '--json').json().homes.length).toBe(1)
    expect(reprise('forget-home', other).code).toBe(3)
    expect(reprise('watch-home', path.join(home.home, 'nowhere'), '--runtime', 'claude-code').code).toBe(3)
  })

  it('verifies the store and says what is damaged', () => {
    expect(reprise('check', '--json').json()).toMatchObject({ ok: true, damaged: [] })
    expect(reprise('reindex', '--json').json()).toMatchObject({ runs: 15 })
  })

  it('ends quietly when its reader does', () => {
    const piped = spawnSync(
      'bash',
      [
        '-c',
        `"${process.execPath}" "${path.join(root, 'bin/reprise.mjs')}" show 30000000-0000-4000-8000-000000000001 --json | head -c 100 >/dev/null; echo "\${PIPESTATUS[0]}"`,
      ],
      { env: home.env, encoding: 'utf8' },
    )
    expect(piped.stdout.trim()).toBe('0')
    expect(piped.stderr).toBe('')
  })

  it('stops the daemon, and keeps off a store that another process has', () => {
    expect(run(home, { REPRISE_NO_DAEMON: '1' }, ['runs', '--json']).json().error).toMatchObject({
      code: 'store_busy',
      status: 503,
    })
    expect(run(home, { REPRISE_NO_DAEMON: '1' }, ['runs']).code).toBe(5)
    expect(reprise('stop').code).toBe(0)
    expect(reprise('stop', '--json').json()).toEqual({ stopped: false, pid: null })
  })

  it('works without a daemon', () => {
    const alone = makeFixtureHome()
    try {
      const here = (...args: string[]) => run(alone, { REPRISE_NO_DAEMON: '1' }, args)
      expect(here('sync-now', '--json').json()).toMatchObject({ sessions: 15 })
      expect(here('runs', '--json').json().runs.length).toBe(15)
      expect(here('show', '40000000-0000-4000-8000-000000000001', '--json').json().run.calls).toEqual({
        total: 9,
        failed: 7,
      })
      expect(fs.existsSync(path.join(alone.data, 'daemon.json'))).toBe(false)
    } finally {
      alone.remove()
    }
  })
})
