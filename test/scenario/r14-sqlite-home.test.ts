import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { clearLeftovers } from '../../daemon/capture/clear-leftovers.ts'
import { SourceBusy } from '../../daemon/runtimes/adapter.ts'
import {
  COPY_FOLDER,
  databaseStamp,
  readDatabase,
  UnreadableDatabase,
} from '../../daemon/runtimes/shared/sqlite-home.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// R14: agents keep their sessions in SQLite databases they are writing to. Reading one disturbs neither its owner nor the user's files.

const directory = temporaryDirectory('sqlite')
const databaseIn = (name = 'state #1?%20 é.db'): string => path.join(directory(), 'home', name)
const copies = (): string => path.join(directory(), 'copies')

const startWriter = async (file: string, mode: string, forMs: number, manner: string): Promise<Writer> => {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', path.join(import.meta.dirname, 'r14-writer-child.ts'), file, mode, String(forMs), manner],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let said = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (let waited = 0; !said.startsWith('ready') && child.exitCode === null && waited < 20_000; waited += 20)
    await sleep(20)
  return {
    child,
    isWriting: () => !said.includes('closing') && child.exitCode === null,
    async result() {
      await exited
      return JSON.parse(said.split('\n')[2] ?? 'null') as { rounds: number; refused: number }
    },
    exited,
  }
}
interface Writer {
  readonly child: ChildProcess
  readonly exited: Promise<void>
  isWriting(): boolean
  result(): Promise<{ rounds: number; refused: number }>
}

interface State {
  readonly rows: number
  readonly counted: number
  readonly round: number
  readonly newest: number
}

const readState = (file: string): State =>
  readDatabase(
    file,
    (db) => {
      const counter = db.get('select rows, round from counter')
      const counted = db.get('select count(*) as n, max(round) as newest from entry')
      // Every page is touched: a torn state would show as damage here.
      expect(db.get("select count(*) as n from pragma_integrity_check where integrity_check <> 'ok'")).toMatchObject({
        n: 0,
      })
      return {
        rows: Number(counter?.rows),
        round: Number(counter?.round),
        counted: Number(counted?.n),
        newest: Number(counted?.newest ?? 0),
      }
    },
    { temporary: copies() },
  )

const looks = (folder: string): string[] =>
  fs.readdirSync(folder).map((name) => {
    const { size, mtimeNs, ino, mode } = fs.statSync(path.join(folder, name), { bigint: true })
    return [name, size, mtimeNs, ino, mode].join(' ')
  })

describe('a database that is written to while it is captured', () => {
  it.each([
    ['wal', 'steady'],
    ['wal', 'reopen'],
    ['delete', 'steady'],
    ['persist', 'steady'],
  ])('gives whole states and never refuses its owner a lock (%s, %s)', async (mode, manner) => {
    const file = databaseIn()
    fs.mkdirSync(path.dirname(file))
    fs.mkdirSync(copies())
    const writer = await startWriter(file, mode, 2500, manner)
    let read = 0
    let busy = 0
    let last = 0
    const names = new Set<string>()
    while (writer.isWriting()) {
      try {
        const { rows, counted, round, newest } = readState(file)
        expect(counted).toBe(rows)
        expect(newest).toBeLessThanOrEqual(round)
        expect(round).toBeGreaterThanOrEqual(last)
        last = round
        read++
      } catch (error) {
        if (!(error instanceof SourceBusy)) throw error
        busy++
      }
      for (const name of fs.readdirSync(path.dirname(file))) names.add(name.slice(path.basename(file).length))
      await sleep(1)
    }
    const { rounds, refused } = await writer.result()
    expect(refused).toBe(0)
    expect(rounds).toBeGreaterThan(20)
    // A writer that never rests may leave no settled moment where there is no log; with one there always is a state to read.
    if (mode === 'wal' && manner === 'steady') expect(read).toBeGreaterThan(10)
    expect(read + busy).toBeGreaterThan(0)
    expect([...names].every((end) => ['', '-wal', '-shm', '-journal'].includes(end))).toBe(true)
    // What its owner left when it closed, and nothing of ours.
    if (mode !== 'persist') expect(fs.readdirSync(path.dirname(file))).toEqual([path.basename(file)])
    const before = looks(path.dirname(file))
    const end = readState(file)
    expect(end.counted).toBe(end.rows)
    expect(looks(path.dirname(file))).toEqual(before)
    expect(fs.readdirSync(copies())).toEqual([])
  })

  it('reads what a killed owner had committed, and changes nothing of what it left', async () => {
    for (const mode of ['wal', 'delete'] as const) {
      const file = databaseIn(`${mode}.db`)
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.mkdirSync(copies(), { recursive: true })
      for (let n = 0; n < 4; n++) {
        const writer = await startWriter(file, mode, 60_000, 'steady')
        await sleep(100 + n * 37)
        writer.child.kill('SIGKILL')
        await writer.exited
        await sleep(30)
        const before = looks(path.dirname(file))
        const state = readState(file)
        expect(state.counted).toBe(state.rows)
        expect(state.round).toBeGreaterThan(0)
        expect(readState(file)).toEqual(state)
        expect(looks(path.dirname(file))).toEqual(before)
        // Also when the index of the log is lost: then it is a copy that is read.
        if (mode === 'wal' && fs.existsSync(`${file}-shm`)) {
          fs.rmSync(`${file}-shm`)
          expect(readState(file)).toEqual(state)
          expect(fs.existsSync(`${file}-shm`)).toBe(false)
        }
      }
    }
    expect(fs.readdirSync(copies())).toEqual([])
  })

  it('is let go of at once, so that its owner can clear up behind itself', () => {
    const file = databaseIn()
    fs.mkdirSync(path.dirname(file))
    const owner = new DatabaseSync(file)
    owner.exec('pragma journal_mode = wal; create table t (v); insert into t values (1), (2)')
    for (let n = 0; n < 50; n++) {
      const values = readDatabase(file, (db) => {
        for (const row of db.each('select v from t order by v')) return row.v
        return null
      })
      expect(values).toBe(1)
    }
    // The owner is in this process here, which makes SQLite hold one more.
    expect(openFilesOf(file)).toBeLessThanOrEqual(5)
    owner.close()
    expect(fs.readdirSync(path.dirname(file))).toEqual([path.basename(file)])
  })
})

describe('what a crash left', () => {
  it('is removed at the next start: what dead processes copied, and nothing of anybody else', () => {
    fs.mkdirSync(copies())
    const dead = spawnSync(process.execPath, ['-e', '0']).pid
    const names = [`${COPY_FOLDER}${dead}-aaaaaa`, `${COPY_FOLDER}${process.pid}-bbbbbb`, 'other', 'lines-1-cc']
    for (const name of names) fs.mkdirSync(path.join(copies(), name))
    fs.writeFileSync(path.join(copies(), `${COPY_FOLDER}${dead}-aaaaaa`, 'copy.db'), 'in clear')
    const own = path.join(directory(), 'tmp')
    fs.mkdirSync(own)
    for (const name of ['lines-1-cc', 'notes']) fs.writeFileSync(path.join(own, name), 'in clear')
    expect(clearLeftovers(own, copies())).toBe(2)
    expect(fs.readdirSync(copies()).sort()).toEqual(names.slice(1).sort())
    expect(fs.readdirSync(own)).toEqual(['notes'])
  })
})

describe('a database at rest', () => {
  it('gives every kind of value, and numbers larger than a double holds', () => {
    const file = databaseIn()
    fs.mkdirSync(path.dirname(file))
    const owner = new DatabaseSync(file)
    owner.exec(
      "pragma user_version = 23; create table t (i, big, r, s, b, n); insert into t values (7, 9007199254740993, 0.5, 'ü\n', x'00ff', null)",
    )
    owner.close()
    expect(
      readDatabase(file, (db) => [db.get('select * from t where i = ?', 7), db.get('pragma home.user_version')]),
    ).toEqual([
      { i: 7, big: 9007199254740993n, r: 0.5, s: 'ü\n', b: new Uint8Array([0, 255]), n: null },
      { user_version: 23 },
    ])
  })

  it('has a stamp that changes with every commit', () => {
    const file = databaseIn()
    fs.mkdirSync(path.dirname(file))
    expect(databaseStamp(file)).toBeNull()
    const owner = new DatabaseSync(file)
    owner.exec('pragma journal_mode = wal; create table t (v)')
    const stamps = new Set<string>()
    for (let n = 0; n < 20; n++) {
      owner.exec('insert into t values (1)')
      const stamp = databaseStamp(file)
      stamps.add(`${stamp?.size} ${stamp?.mtime}`)
    }
    expect(stamps.size).toBe(20)
    owner.close()
  })

  it('cannot be written to, and says what it is when it is none', () => {
    const file = databaseIn()
    fs.mkdirSync(path.dirname(file))
    const owner = new DatabaseSync(file)
    owner.exec('create table t (v)')
    owner.close()
    expect(() => readDatabase(file, (db) => db.all('insert into t values (1)'))).toThrow(
      /readonly|read-only|query_only/i,
    )
    fs.writeFileSync(file, 'not a database '.repeat(400))
    expect(() => readDatabase(file, (db) => db.all('select 1 from t'))).toThrow(UnreadableDatabase)
    fs.rmSync(file)
    expect(() => readDatabase(file, (db) => db.all('select 1'))).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })
})

function openFilesOf(file: string): number {
  if (process.platform !== 'linux') return 0
  return fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(file)
    } catch {
      return false
    }
  }).length
}
