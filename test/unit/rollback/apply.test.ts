import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyChanges } from '../../../daemon/rollback/apply.ts'
import { type Disk, realDisk } from '../../../daemon/rollback/disk.ts'
import { openJournals } from '../../../daemon/rollback/journal.ts'
import { changesTo, look, plant } from '../../kit/rollback-tree.ts'
import { temporaryDirectory } from '../../kit/temporary-directory.ts'

const directory = temporaryDirectory('apply')
const root = (): string => path.join(directory(), 'w')
const journals = () => openJournals(path.join(directory(), 'journal'))
const apply = async (wanted: Readonly<Record<string, string>>, disk: Disk = realDisk()) =>
  applyChanges({ disk, journals: journals() }, 'b_1', await changesTo(root(), wanted))

const begin = {
  'a.txt': 'one',
  'bin/run': '!#!/bin/sh',
  'keep/me': 'kept',
  link: '-> a.txt',
  'new\nline \xff': 'odd',
  folder: null,
}

describe('applying changes', () => {
  it('writes, makes, links, changes modes and deletes; everything else keeps even its times', async () => {
    plant(root(), begin)
    const kept = path.join(root(), 'keep/me')
    fs.utimesSync(kept, 1, 1)
    const times = fs.statSync(path.join(root(), 'bin/run')).mtimeMs
    const applied = await apply({
      'a.txt': 'two',
      'bin/run': '#!/bin/sh',
      link: '-> keep/me',
      'new\nline \xff': '-',
      'deep/er/file': '!x',
    })
    expect(applied).toMatchObject({ outcome: 'done', left: null })
    expect(look(root())).toEqual({
      'a.txt': 'two',
      'bin/run': '#!/bin/sh',
      'deep/er/file': '!x',
      folder: null,
      'keep/me': 'kept',
      link: '-> keep/me',
    })
    expect(fs.statSync(kept).mtimeMs).toBe(1000)
    expect(fs.statSync(path.join(root(), 'bin/run')).mtimeMs).toBeCloseTo(times, 0)
    expect(journals().list().journals).toEqual([])
  })

  it('turns files into folders and folders into files, and removes folders it emptied', async () => {
    plant(root(), { a: 'file', 'b/c/d': 'deep', 'b/e': '-> nowhere', 'f/g': 'x' })
    expect(await apply({ a: '-', 'a/inside': 'now', 'b/c/d': '-', 'b/e': '-', b: 'flat', 'f/g': '-' })).toMatchObject({
      outcome: 'done',
    })
    expect(look(root())).toEqual({ 'a/inside': 'now', b: 'flat' })
  })

  it('is a conflict where anything changed since it was looked at, and then nothing is done', async () => {
    plant(root(), begin)
    const changes = await changesTo(root(), { 'a.txt': 'two', 'keep/me': '-', fresh: 'x' })
    fs.writeFileSync(path.join(root(), 'keep/me'), 'changed')
    const before = look(root())
    const parts = { disk: realDisk(), journals: journals() }
    expect(await applyChanges(parts, 'b_1', changes)).toMatchObject({ outcome: 'conflict', why: /changed since/ })
    expect(look(root())).toEqual(before)
    plant(root(), { 'b/c': 'x', 'b/unknown': 'y' })
    expect(await apply({ 'b/c': '-', b: 'flat' })).toMatchObject({ outcome: 'conflict', why: /unknown is in the way/ })
  })

  it('never goes through a link, and replaces hard links instead of writing through them', async () => {
    plant(directory(), { 'outside/x': 'theirs', 'w/file': 'mine' })
    fs.linkSync(path.join(root(), 'file'), path.join(directory(), 'outside/hard'))
    fs.symlinkSync('../outside', path.join(root(), 'inside'))
    expect(await apply({ 'inside/x': 'ours' })).toMatchObject({ outcome: 'conflict', why: /no folder/ })
    expect(await apply({ file: 'ours' })).toMatchObject({ outcome: 'done' })
    expect(look(path.join(directory(), 'outside'))).toEqual({ hard: 'mine', x: 'theirs' })
    // A link that is put in the way in the last moment is not followed either.
    plant(root(), { 'sub/f': '1' })
    const disk = realDisk()
    const sly: Disk = {
      ...disk,
      create: async (...args) => {
        await disk.create(...args)
        fs.rmSync(path.join(root(), 'sub'), { recursive: true })
        fs.symlinkSync('../outside', path.join(root(), 'sub'))
      },
    }
    expect((await apply({ 'sub/f': '2' }, sly)).outcome).not.toBe('done')
    expect(look(path.join(directory(), 'outside'))).toEqual({ hard: 'mine', x: 'theirs' })
  })

  it('loses nothing of what somebody writes in the very moment of the swap', async () => {
    plant(root(), { a: 'one', b: 'one' })
    const disk = realDisk()
    let written = false
    const during: Disk = {
      ...disk,
      rename(from, to) {
        if (to.endsWith('/a') && !written) fs.writeSync(fd, 'LATE')
        written ||= to.endsWith('/a')
        disk.rename(from, to)
      },
    }
    const fd = fs.openSync(path.join(root(), 'a'), 'r+')
    const applied = await apply({ a: 'two', b: 'two' }, during)
    fs.closeSync(fd)
    expect(applied).toMatchObject({ outcome: 'done', items: [{ conflict: /somebody wrote/ }, { conflict: null }] })
    expect(look(root())).toEqual({ a: 'LATE', b: 'two' })
  })
})
