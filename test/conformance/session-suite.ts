import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manifestBodySchema } from '../../contract/index.ts'
import {
  linesFrom,
  type RuntimeAdapter,
  type SessionProblem,
  type SessionUnit,
  type Surroundings,
} from '../../daemon/runtimes/adapter.ts'
import { contentOf, readGrowing, readSession, steadyRandom } from '../kit/read-session.ts'

export interface SessionSuite {
  readonly adapter: RuntimeAdapter
  /** Makes a home with real session files below `root`; gives its path and where the adapter should look. */
  makeHome(root: string): { readonly home: string; readonly surroundings: Surroundings }
  /** Files below the home each of which is the plain file of one session, by their names. */
  isSessionFile(path: string): boolean
  /** Ids of the sessions that are no plain file (`linesFrom`); left out by a runtime that has none. */
  sessionsElsewhere?(home: string): readonly string[]
  /** For a session that is no plain file: changes to it as its runtime makes them. */
  readonly writing?: {
    readonly session: string
    /** Adds to the end of the session. */
    append(home: string): void
    /** Changes a row that was there before the last one; left out where the runtime never does. */
    changeEarlier?(home: string): void
    /** Files of the runtime's own that come and go with its writing, such as a write-ahead log. */
    isPassing?(path: string): boolean
  }
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

    it('claims every session exactly once, in a steady order', () => {
      const plain = units.filter((unit) => linesFrom(unit) === null)
      const others = units.filter((unit) => linesFrom(unit) !== null)
      expect(plain.map(({ file }) => file).sort()).toEqual(walk(home).filter(suite.isSessionFile).sort())
      expect(others.map(({ session }) => session).sort()).toEqual([...(suite.sessionsElsewhere?.(home) ?? [])].sort())
      expect(new Set(units.map(({ session }) => session)).size).toBe(units.length)
      expect(new Set(units.map(({ file }) => file)).size).toBe(units.length)
      for (const unit of units) {
        expect(unit.file.startsWith(home + sep), unit.file).toBe(true)
        expect(unit.stamp !== undefined, unit.file).toBe(linesFrom(unit) !== null)
      }
      expect(problems).toEqual([])
      expect([...adapter.listSessions(home, () => {})]).toEqual(units)
    })

    it('writes what is no plain file as lines of one object each, always in the same bytes, also from what is kept of a run', () => {
      for (const unit of units) {
        if (linesFrom(unit) === null) continue
        const content = contentOf(adapter, unit)
        expect(contentOf(adapter, rebuilt(unit)).equals(content), unit.file).toBe(true)
        for (const line of content.toString('utf8').split('\n').slice(0, -1)) {
          expect(JSON.parse(line), unit.file).toEqual(expect.objectContaining({}))
        }
        expect(readSession(adapter, rebuilt(unit))).toEqual(readSession(adapter, unit))
        expect(readSession(adapter, unit).unreadable).toEqual([])
      }
    })

    it('leaves the home as it is', () => {
      const before = looksOf(home)
      for (const unit of adapter.listSessions(home, () => {})) {
        contentOf(adapter, unit)
        for (const side of adapter.listSideFiles(unit, () => {})) expect(side.path).not.toBe('')
      }
      adapter.describeHome(home, surroundings)
      expect(looksOf(home)).toEqual(before)
    })

    it('gives the same rows for the same bytes', () => {
      for (const unit of units) expect(readSession(adapter, unit)).toEqual(readSession(adapter, unit, 333))
    })

    it('gives the same rows however a file grows', () => {
      const random = steadyRandom(20261130)
      for (const unit of units) {
        const whole = readSession(adapter, unit)
        const content = contentOf(adapter, unit)
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
      const content = Buffer.concat([contentOf(adapter, unit), Buffer.from(`${suite.unknownRecord}\n`)])
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

    it.skipIf(suite.writing === undefined)('sees growth as growth and a changed row as a change', () => {
      const { writing } = suite
      if (writing === undefined) return
      const look = (): { readonly unit: SessionUnit; readonly content: Buffer } => {
        const unit = [...adapter.listSessions(home, () => {})].find(({ session }) => session === writing.session)
        if (unit === undefined) throw new Error(`no session ${writing.session}`)
        return { unit, content: contentOf(adapter, unit) }
      }
      const names = (): string[] => walk(home).filter((path) => writing.isPassing?.(path) !== true)
      const before = look()
      const files = names()
      writing.append(home)
      const after = look()
      expect(after.unit.file).toBe(before.unit.file)
      expect(after.unit.stamp).not.toEqual(before.unit.stamp)
      expect(after.content.length).toBeGreaterThan(before.content.length)
      expect(after.content.subarray(0, before.content.length).equals(before.content)).toBe(true)
      expect(names()).toEqual(files)
      if (writing.changeEarlier === undefined) return
      writing.changeEarlier(home)
      const changed = look()
      expect(changed.unit.stamp).not.toEqual(after.unit.stamp)
      expect(changed.content.subarray(0, after.content.length).equals(after.content)).toBe(false)
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

/** A unit as it is put together again from what is kept of a run: without its stamp, its meta gone through JSON. */
function rebuilt({ stamp: _, ...unit }: SessionUnit): SessionUnit {
  return { ...unit, meta: JSON.parse(JSON.stringify(unit.meta)) }
}

const looksOf = (home: string): readonly string[] =>
  walk(home)
    .sort()
    .map((path) => {
      const { size, mtimeNs, mode } = lstatSync(path, { bigint: true })
      return `${path} ${size} ${mtimeNs} ${mode}`
    })

function walk(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const below = join(path, entry.name)
    return entry.isDirectory() ? walk(below) : [below]
  })
}
