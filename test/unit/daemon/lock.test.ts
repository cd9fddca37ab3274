import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { takeWriterLock } from '../../../daemon/lock.ts'

let dir: string
beforeAll(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'lock-'))
})
afterAll(() => fs.rmSync(dir, { recursive: true }))

describe('the writer lock', () => {
  it('is held by one at a time and free again after its release', () => {
    const file = path.join(dir, 'a.lock')
    const first = takeWriterLock(file)
    expect(() => takeWriterLock(file)).toThrow(/another Reprise/)
    first.release()
    takeWriterLock(file).release()
  })

  it('is held against another process, and gone when that process is killed', async () => {
    const file = path.join(dir, 'b.lock')
    const program = `const { DatabaseSync } = require(${JSON.stringify(createRequire(import.meta.url).resolve('@photostructure/sqlite'))}); const db = new DatabaseSync(${JSON.stringify(file)}); db.exec('pragma journal_mode = delete; pragma locking_mode = exclusive; begin exclusive'); console.log('held'); setInterval(() => {}, 1000)`
    const holder = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => holder.stdout.once('data', resolve))
    expect(() => takeWriterLock(file)).toThrow(/another Reprise/)
    const ended = new Promise((resolve) => holder.once('exit', resolve))
    holder.kill('SIGKILL')
    await ended
    takeWriterLock(file).release()
  })
})
