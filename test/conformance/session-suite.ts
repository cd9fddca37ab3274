import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manifestBodySchema } from '../../contract/index.ts'
import type { RuntimeAdapter, SessionProblem, SessionUnit, Surroundings } from '../../daemon/runtimes/adapter.ts'
import { readGrowing, readSession, steadyRandom } from '../kit/read-session.ts'

export interface SessionSuite {
  readonly adapter: RuntimeAdapter
  /** Makes a home with real session files below `root`; gives its path and where the adapter should look. */
  makeHome(root: string): { readonly home: string; readonly surroundings: Surroundings }
  /** Files below the home that hold sessions, by their names. */
  isSessionFile(path: string): boolean
  /** A complete record that no version of the runtime has ever written. */
  readonly unknownRecord: string
}

/** What holds for the session side of every adapter. */
export function testSessions(name: string, suite: SessionSuite): void {
  describe(`${name}: sessions`, () => {
    const { adapter } = suite
    let root = ''
    let home = ''
    let surroundings: Surroundings
    const problems: SessionProblem[] = []
    let units: readonly SessionUnit[] = []

    beforeAll(() => {
      root = mkdtempSync(join(tmpdir(), 'reprise-suite-'))
      ;({ home, surroundings } = suite.makeHome(root))
      units = [...adapter.listSessions(home, (problem) => problems.push(problem))]
    })
    afterAll(() => rmSync(root, { recursive: true, force: true }))

    it('finds the home and describes it', () => {
      const found = adapter.findHomes(surroundings).find(({ path }) => path === home)
      expect(found).toMatchObject({ exists: true })
      expect(adapter.describeHome(home, surroundings)).toMatchObject({ state: 'ok', reason: null })
    })

    it('claims every session file exactly once, in a steady order', () => {
      const files = walk(home).filter(suite.isSessionFile)
      expect(units.map(({ file }) => file).sort()).toEqual(files.sort())
      expect(new Set(units.map(({ session }) => session)).size).toBe(units.length)
      expect(problems).toEqual([])
      expect([...adapter.listSessions(home, () => {})]).toEqual(units)
    })

    it('gives the same rows for the same bytes', () => {
      for (const unit of units) expect(readSession(adapter, unit)).toEqual(readSession(adapter, unit, 333))
    })

    it('gives the same rows however a file grows', () => {
      const random = steadyRandom(20261130)
      for (const unit of units) {
        const whole = readSession(adapter, unit)
        const content = readFileSync(unit.file)
        const step = Math.max(16, content.length / 40)
        expect(
          readGrowing(adapter, unit, content, () => Math.floor(random() * step * 2), root),
          unit.file,
        ).toEqual(whole)
      }
    })

    it('numbers events from 1 with ids of their own and links that lead somewhere', () => {
      for (const unit of units) {
        const { events, stretches, summary } = readSession(adapter, unit)
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
        expect(new Set(events.map(({ id }) => id)).size, unit.file).toBe(events.length)
        for (const { seq, parentSeq, stretch, summary: words } of events) {
          if (parentSeq !== null) expect(parentSeq >= 1 && parentSeq <= events.length && parentSeq !== seq).toBe(true)
          expect(stretch >= 1 && stretch <= Math.max(1, stretches.length)).toBe(true)
          expect(words.length).toBeLessThanOrEqual(2000)
        }
        expect(stretches.map(({ n }) => n)).toEqual(stretches.map((_, at) => at + 1))
        expect(summary.stretches.map(({ n, startedAt }) => ({ n, startedAt }))).toEqual(
          stretches.map(({ n, startedAt }) => ({ n, startedAt })),
        )
        if (summary.conversation) expect(stretches[0]).toMatchObject({ firstSeq: 1 })
        expect(summary.events).toBe(events.length)
        expect(summary.rows).toBe(Object.values(summary.recordTypes).reduce((sum, count) => sum + count, 0))
      }
    })

    it('reports a record it does not know, and keeps it', () => {
      const unit = units[0]
      if (unit === undefined) throw new Error('the suite needs a session')
      const content = Buffer.concat([readFileSync(unit.file), Buffer.from(`${suite.unknownRecord}\n`)])
      const before = readSession(adapter, unit)
      const after = readGrowing(adapter, unit, content, () => content.length, root)
      expect(after.unknown.length).toBe(before.unknown.length + 1)
      expect(Object.values(after.summary.unknownRecords).reduce((sum, count) => sum + count, 0)).toBe(
        after.unknown.length,
      )
      expect(after.events.length).toBe(before.events.length + 1)
      expect(after.events.at(-1)).toMatchObject({ kind: 'unknown', line: after.unknown.at(-1)?.line })
    })

    it('infers a valid manifest for every stretch and says what it cannot know', () => {
      for (const unit of units) {
        for (const stretch of readSession(adapter, unit).summary.stretches) {
          const body = adapter.inferManifest(stretch)
          expect(manifestBodySchema.parse(body)).toEqual(body)
          expect(body).toMatchObject({ origin: 'inferred', manifest_version: 1 })
          expect(body.unknown.length).toBeGreaterThan(0)
          expect(adapter.inferManifest(JSON.parse(JSON.stringify(stretch)))).toEqual(body)
        }
      }
    })

    it('states its facts with the versions they were seen on', () => {
      expect(adapter.facts.length).toBeGreaterThan(0)
      for (const { status, versions, fact } of adapter.facts) {
        expect(fact).not.toBe('')
        if (status === 'verified') expect(versions, fact).not.toEqual([])
      }
    })
  })
}

function walk(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const below = join(path, entry.name)
    return entry.isDirectory() ? walk(below) : [below]
  })
}
