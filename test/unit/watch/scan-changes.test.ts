import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FileStamp, type FolderMemory, type ScanResult, scanChanges } from '../../../daemon/watch/scan-changes.ts'

const none: ReadonlyMap<string, FileStamp> = new Map()
const nowMs = () => Date.now()
let home = ''
let projects = ''

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reprise-scan-'))
  projects = join(home, 'projects')
  mkdirSync(join(projects, 'a', 's1', 'subagents'), { recursive: true })
  mkdirSync(join(projects, 'b'))
  writeFileSync(join(projects, 'a', 's1.jsonl'), 'one\n')
  writeFileSync(join(projects, 'a', 's1', 'subagents', 'agent-1.jsonl'), 'sub\n')
  writeFileSync(join(projects, 'b', 's2.jsonl'), 'two\n')
})
afterEach(() => {
  chmodSync(join(projects, 'b'), 0o700)
  rmSync(home, { recursive: true, force: true })
})

function scan(
  known: ReadonlyMap<string, FileStamp>,
  more: { depth?: number; folders?: FolderMemory } = {},
): Promise<ScanResult> {
  return scanChanges({
    places: [{ path: projects, depth: more.depth ?? 3 }],
    known,
    nowMs,
    ...(more.folders ? { folders: more.folders } : {}),
  })
}

describe('scanChanges', () => {
  it('lists what is there, as deep as asked', async () => {
    const all = await scan(none)
    expect([...all.files.keys()].sort()).toEqual([
      join(projects, 'a', 's1.jsonl'),
      join(projects, 'a', 's1', 'subagents', 'agent-1.jsonl'),
      join(projects, 'b', 's2.jsonl'),
    ])
    expect(all.added).toHaveLength(3)
    const stamp = all.files.get(join(projects, 'a', 's1.jsonl'))
    const stats = statSync(join(projects, 'a', 's1.jsonl'), { bigint: true })
    expect(stamp).toEqual({ dev: stats.dev, ino: stats.ino, size: 4, mtimeNs: stats.mtimeNs })
    expect((await scan(none, { depth: 1 })).files.size).toBe(2)
    expect((await scan(none, { depth: 0 })).files.size).toBe(0)
  })

  it('tells growth, a new file, a rewrite in place and a file replaced by rename', async () => {
    const grown = join(projects, 'a', 's1.jsonl')
    const replaced = join(projects, 'b', 's2.jsonl')
    const whole = new Date('2026-01-01T00:00:00Z')
    utimesSync(replaced, whole, whole)
    const before = await scan(none)
    appendFileSync(grown, 'more\n')
    writeFileSync(join(projects, 'a', 's3.jsonl'), 'new\n')
    writeFileSync(join(projects, 'tmp'), 'TWO\n')
    renameSync(join(projects, 'tmp'), replaced)
    utimesSync(replaced, whole, whole) // same size, same time: only the inode tells
    const after = await scan(before.files)
    expect(after.added).toEqual([join(projects, 'a', 's3.jsonl')])
    expect([...after.changed].sort()).toEqual([grown, replaced].sort())
    expect(after.vanished).toEqual([])
    const quiet = await scan(after.files)
    expect([quiet.added, quiet.changed, quiet.vanished]).toEqual([[], [], []])
  })

  it('says what vanished, with a folder or alone', async () => {
    const before = await scan(none)
    rmSync(join(projects, 'a', 's1'), { recursive: true })
    rmSync(join(projects, 'b', 's2.jsonl'))
    const after = await scan(before.files)
    expect([...after.vanished].sort()).toEqual([
      join(projects, 'a', 's1', 'subagents', 'agent-1.jsonl'),
      join(projects, 'b', 's2.jsonl'),
    ])
  })

  it.skipIf(process.getuid?.() === 0)('never takes an unreadable folder for an empty one', async () => {
    const before = await scan(none)
    chmodSync(join(projects, 'b'), 0o000)
    const after = await scan(before.files)
    expect(after.vanished).toEqual([])
    expect(after.files.has(join(projects, 'b', 's2.jsonl'))).toBe(true)
    expect(after.unreadable.map((problem) => problem.path)).toEqual([join(projects, 'b')])
  })

  it('keeps what it knew of a folder whose path leads nowhere for now', async () => {
    const before = await scan(none)
    renameSync(join(projects, 'b'), join(home, 'b'))
    symlinkSync('b', join(projects, 'b')) // a link to itself: looking at it fails with ELOOP, for every user
    const after = await scan(before.files)
    expect(after.vanished).toEqual([])
    expect(after.files.has(join(projects, 'b', 's2.jsonl'))).toBe(true)
    expect(after.unreadable).toEqual([{ path: join(projects, 'b'), reason: 'it cannot be looked at (ELOOP)' }])
    rmSync(join(projects, 'b'))
    renameSync(join(home, 'b'), join(projects, 'b'))
    expect((await scan(after.files)).added).toEqual([])
  })

  it('knows a deleted place from a home that is not there', async () => {
    const before = await scan(none)
    renameSync(home, `${home}-away`)
    const away = await scan(before.files)
    expect(away.places.get(projects)).toBe('missing')
    expect(away.vanished).toEqual([])
    expect(away.files.size).toBe(3)
    renameSync(`${home}-away`, home)
    renameSync(projects, join(home, 'elsewhere'))
    const deleted = await scan(before.files)
    expect(deleted.vanished).toHaveLength(3)
    renameSync(join(home, 'elsewhere'), projects)
  })

  it('survives links in a circle and reports a name that is no UTF-8', async () => {
    symlinkSync(projects, join(projects, 'a', 'loop'))
    symlinkSync(join(home, 'nowhere'), join(projects, 'a', 'dangling.jsonl'))
    writeFileSync(
      Buffer.concat([Buffer.from(join(projects, 'b') + '/'), Buffer.from([0xff, 0xfe]), Buffer.from('.jsonl')]),
      'x',
    )
    const found = await scan(none, { depth: 12 })
    expect(found.files.size).toBe(3)
    expect(found.unreadable).toHaveLength(1)
    expect(found.unreadable[0]?.reason).toContain('UTF-8')
  })

  it('sees every change although unchanged folders are not listed again', async () => {
    const folders: FolderMemory = new Map()
    const long = new Date(Date.now() - 60_000)
    for (const folder of [projects, join(projects, 'a'), join(projects, 'b')]) utimesSync(folder, long, long)
    let known = await scan(none, { folders })
    expect(folders.get(join(projects, 'a'))?.names).toContain('s1.jsonl')
    appendFileSync(join(projects, 'a', 's1.jsonl'), 'more\n')
    writeFileSync(join(projects, 'b', 's4.jsonl'), 'new\n')
    let after = await scan(known.files, { folders })
    expect([after.added, after.changed]).toEqual([[join(projects, 'b', 's4.jsonl')], [join(projects, 'a', 's1.jsonl')]])
    // Twice within one tick of a coarse clock: the folder's time does not move.
    const tick = new Date(Math.floor(Date.now() / 1_000) * 1_000)
    utimesSync(join(projects, 'b'), tick, tick)
    known = await scan(after.files, { folders })
    writeFileSync(join(projects, 'b', 's5.jsonl'), 'new\n')
    utimesSync(join(projects, 'b'), tick, tick)
    after = await scan(known.files, { folders })
    expect(after.added).toEqual([join(projects, 'b', 's5.jsonl')])
  })

  it('gives the event loop its turn in a large home', async () => {
    for (let n = 0; n < 1_500; n++) mkdirSync(join(projects, `p${n}`))
    for (let n = 0; n < 1_500; n++) writeFileSync(join(projects, `p${n}`, 's.jsonl'), 'x\n')
    let turns = 0
    let going = true
    const turn = () => {
      turns += 1
      if (going) setImmediate(turn)
    }
    setImmediate(turn)
    const found = await scan(none)
    going = false
    expect(found.files.size).toBe(1_503)
    expect(turns).toBeGreaterThan(3)
  })
})
