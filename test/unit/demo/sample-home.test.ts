import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changeSampleHome } from '../../../daemon/demo/change-sample.ts'
import { type SampleHome, writeSampleHome } from '../../../daemon/demo/sample-home.ts'
import { runTests } from '../../../daemon/demo/shop-files.ts'

const now = new Date('2026-11-30T16:00:00.000Z')
let dir = ''
let sample: SampleHome
let sessions: Map<string, readonly Record<string, unknown>[]>

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'reprise-sample-'))
  sample = writeSampleHome({ dir, now })
  sessions = readSessions(sample.claudeHome)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function readSessions(claudeHome: string): Map<string, readonly Record<string, unknown>[]> {
  const found = new Map<string, readonly Record<string, unknown>[]>()
  for (const path of filesBelow(join(claudeHome, 'projects'))) {
    if (!path.endsWith('.jsonl')) continue
    const rows: Record<string, unknown>[] = []
    for (const line of readFileSync(path, 'utf8').trimEnd().split('\n')) {
      try {
        rows.push(JSON.parse(line))
      } catch {
        rows.push({ torn: line })
      }
    }
    found.set(path, rows)
  }
  return found
}

const rowsOf = (session: string) => {
  for (const [path, rows] of sessions) if (path.endsWith(`${session}.jsonl`)) return rows
  throw new Error(`no session ${session}`)
}
type Shape = { readonly system: readonly unknown[]; readonly tools: readonly unknown[] }
const sha256 = (value: string) => createHash('sha256').update(value, 'utf8').digest('hex')
const text = (value: unknown) => JSON.stringify(value)

describe('the sample while it is looked at', () => {
  it('changes its own settings once, and never a file somebody wrote', () => {
    const place = mkdtempSync(join(tmpdir(), 'reprise-sample-'))
    try {
      const { home } = writeSampleHome({ dir: place, now })
      expect(changeSampleHome(home)).toBe(true)
      const settings = JSON.parse(readFileSync(join(home, '.claude/settings.json'), 'utf8'))
      expect(settings).toMatchObject({ model: 'opus', cleanupPeriodDays: 30 })
      expect(settings.permissions.deny).toBeUndefined()
      expect(changeSampleHome(home)).toBe(false)
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  })
})

describe('the sample home', () => {
  it('holds fourteen sessions, a subagent and two workspaces, nothing from the future', () => {
    expect(sessions.size).toBe(15)
    expect(sample.workspaces).toHaveLength(2)
    for (const [path, rows] of sessions) {
      for (const row of rows) {
        if (typeof row.timestamp === 'string') expect(row.timestamp <= now.toISOString(), path).toBe(true)
        if (typeof row.timestamp === 'string') expect(row.timestamp >= '2026-11-20', path).toBe(true)
      }
      expect(statSync(path).mtime.getTime()).toBeLessThanOrEqual(now.getTime())
    }
  })

  it('is the same for the same place, time and seed, and another for another seed', () => {
    const digest = (home: string) =>
      filesBelow(home)
        .filter((path) => !path.includes('/.git/'))
        .map((path) => `${path} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`)
    const before = digest(dir)
    rmSync(join(dir, 'home'), { recursive: true })
    writeSampleHome({ dir, now })
    expect(digest(dir)).toEqual(before)
    rmSync(join(dir, 'home'), { recursive: true })
    writeSampleHome({ dir, now, seed: 1 })
    expect(digest(dir)).not.toEqual(before)
    rmSync(join(dir, 'home'), { recursive: true })
    writeSampleHome({ dir, now })
  })

  it('tells the truth about its tests: good before, bad now, for the reason the story gives', () => {
    const shop = sample.workspaces[0] ?? ''
    const git = (...args: string[]) =>
      spawnSync('git', ['-C', shop, '-c', 'safe.directory=*', ...args], { encoding: 'utf8' })
    const run = () => spawnSync('bash', ['-c', runTests], { cwd: shop, encoding: 'utf8' })
    expect(git('status', '--short').stdout).toBe(' M src/config.js\n')
    const bad = run()
    expect(bad.status).toBe(1)
    expect(text(rowsOf(sample.badSession))).toContain(text(`Exit code 1\n${bad.stdout.trimEnd()}`).slice(1, -1))
    git('stash')
    const good = run()
    git('stash', 'pop')
    expect(good.status).toBe(0)
    expect(text(rowsOf(sample.goodSession))).toContain(text(good.stdout.trimEnd()).slice(1, -1))
    const nested = (session: string) => rowsOf(session).filter((row) => text(row).includes('"nested_memory"'))
    expect(nested(sample.goodSession)).toHaveLength(0)
    expect(nested(sample.triedSession)).toHaveLength(0)
    expect(nested(sample.badSession)).toHaveLength(1)
    const task = 'Add a timeout of two seconds to the client settings.'
    for (const session of [sample.triedSession, sample.badSession]) expect(text(rowsOf(session))).toContain(task)
    expect(git('log', '--format=%s', '-1', '--', '.claude/rules/payments.md').stdout.trim()).toBe(
      'Apply the payments rule to all sources',
    )
  })

  it('links every row to its parent and every result to its call, and ends edits where the next begins', () => {
    for (const [path, rows] of sessions) {
      const seen = new Set<unknown>()
      const calls = new Set<string>()
      const files = new Map<string, string>()
      for (const row of rows) {
        if (typeof row.uuid !== 'string') continue
        if (row.parentUuid !== null) expect(seen.has(row.parentUuid), `${path}: ${row.uuid}`).toBe(true)
        seen.add(row.uuid)
        for (const found of text(row.message ?? null).matchAll(/"type":"tool_use","id":"(\w+)"/g))
          calls.add(found[1] ?? '')
        for (const found of text(row.message ?? null).matchAll(/"tool_use_id":"(\w+)"/g))
          expect(calls.has(found[1] ?? '')).toBe(true)
        const result = row.toolUseResult as {
          filePath?: string
          originalFile?: string | null
          oldString?: string
          newString?: string
          content?: string
        }
        if (result?.filePath === undefined || result.originalFile === undefined) continue
        const known = files.get(result.filePath)
        if (known !== undefined) expect(result.originalFile).toBe(known)
        files.set(
          result.filePath,
          result.content ?? (result.originalFile ?? '').replace(result.oldString ?? '', () => result.newString ?? ''),
        )
      }
    }
  })

  it('has what the demo shows: fork, compaction, resume, failures, retries, an old version, a torn line, a secret', () => {
    const all = [...sessions.values()].flat()
    const uuids = new Map<unknown, Set<unknown>>()
    for (const row of all)
      if (typeof row.uuid === 'string') uuids.set(row.uuid, (uuids.get(row.uuid) ?? new Set()).add(row.sessionId))
    expect([...uuids.values()].filter((ids) => ids.size === 2).length).toBeGreaterThan(10)
    const has = (part: string) => all.filter((row) => text(row).includes(part)).length
    expect(has('"subtype":"compact_boundary"')).toBe(1)
    expect(has('"subtype":"api_error"')).toBe(3)
    expect(has('"is_error":true')).toBeGreaterThanOrEqual(6)
    expect(has('"version":"2.0.21"')).toBeGreaterThan(5)
    expect(has('"version":"2.1.205"')).toBeGreaterThan(5)
    expect(has('"type":"file-history-delta"')).toBe(1)
    expect(all.filter((row) => 'torn' in row)).toHaveLength(1)
    expect(has('SHOP_TOKEN=ghp_')).toBeGreaterThan(0)
    expect(has('"agentType":"test-reader"')).toBeGreaterThan(0)
  })

  it('digests requests as the runtime does: the first of each session, rebuilt from its rows, gives its digest', () => {
    let rebuilt = 0
    for (const rows of sessions.values()) {
      const shapes = new Map(
        rows.filter((row) => row.type === 'api-request-shape').map((row) => [row.shapeHash, row.shape as Shape]),
      )
      const blobs = new Map(rows.filter((row) => row.type === 'api-request-blob').map((row) => [row.hash, row.message]))
      const ids = new Set<unknown>()
      for (const row of rows) {
        if (row.type !== 'api-request') continue
        if (row.base !== undefined) expect(ids.has(row.base)).toBe(true)
        ids.add(row.id)
        const shape = shapes.get(row.shapeHash)
        expect(shape).toBeDefined()
        const tail = row.tail as readonly string[]
        if (row.keep !== 0 || !tail.every((hash) => blobs.has(hash))) continue
        for (const hash of tail) expect(sha256(canonicalize(blobs.get(hash)) ?? '')).toBe(hash)
        const body = structuredClone({
          ...(row.params as object),
          ...shape,
          messages: tail.map((hash) => blobs.get(hash)),
        })
        for (const { path, value } of row.cacheControl as readonly {
          path: readonly (string | number)[]
          value: unknown
        }[]) {
          let at: Record<string | number, unknown> = body as never
          for (const key of path) at = at[key] as never
          at.cache_control = value
        }
        expect(sha256(canonicalize(body) ?? '')).toBe(row.requestDigest)
        rebuilt += 1
      }
      for (const row of rows)
        if (row.type === 'assistant' && row.requestRef !== undefined && row.requestSessionId === undefined)
          expect(ids.has(row.requestRef)).toBe(true)
    }
    expect(rebuilt).toBeGreaterThanOrEqual(12)
  })
})
