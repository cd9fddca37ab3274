import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asRunId } from '../../contract/index.ts'
import { type OpenedStore, openTestStore, sliceOf, temporaryDirectory } from '../kit/store.ts'

/** B12 and B13: what the agent does to its own files never makes our copy smaller. */
const RUN = asRunId('r_0123456789ab')
let dir: ReturnType<typeof temporaryDirectory>
let opened: OpenedStore
let source: string
beforeEach(async () => {
  dir = temporaryDirectory()
  opened = await openTestStore(join(dir.path, 'data'))
  source = join(dir.path, 's.jsonl')
})
afterEach(async () => {
  await opened.store.close()
  dir.remove()
})

const linesOf = (count: number, word: string) =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify({ n, word })}\n`).join('')

/** What a capture does: compares the prefix digest, appends what is new, or begins a generation. */
async function capture(): Promise<'appended' | 'rewritten' | 'nothing'> {
  const bytes = readFileSync(source)
  const known = (await opened.store.sessions.state(RUN)).find(({ file }) => file === 's.jsonl')
  const digest = (end: number) => `sha256:${createHash('sha256').update(bytes.subarray(0, end)).digest('hex')}`
  if (known !== undefined && (bytes.length < known.bytes || digest(known.bytes) !== known.prefixDigest)) {
    await opened.store.sessions.append(RUN, {}, [sliceOf('s.jsonl', bytes)], true)
    return 'rewritten'
  }
  if (known?.bytes === bytes.length) return 'nothing'
  const rest = bytes.subarray(known?.bytes ?? 0)
  await opened.store.sessions.append(
    RUN,
    {},
    [sliceOf('s.jsonl', rest, { lines: known?.lines ?? 0, bytes: known?.bytes ?? 0 })],
    false,
  )
  return 'appended'
}

async function textOf(generation?: number): Promise<string> {
  const pieces: Buffer[] = []
  for await (const { text } of opened.store.sessions.read(RUN, 's.jsonl', generation)) pieces.push(Buffer.from(text))
  return Buffer.concat(pieces).toString()
}

describe('B12', () => {
  it('keeps 500 lines when the file is rewritten with 3, in place or by rename, and follows the new ones', async () => {
    writeFileSync(source, linesOf(500, 'old'))
    expect(await capture()).toBe('appended')
    writeFileSync(source, linesOf(3, 'new'))
    expect(await capture()).toBe('rewritten')
    expect(await textOf()).toBe(linesOf(500, 'old'))
    expect(await textOf(2)).toBe(linesOf(3, 'new'))

    writeFileSync(`${source}.tmp`, linesOf(4, 'other'))
    renameSync(`${source}.tmp`, source)
    expect(await capture()).toBe('rewritten')
    writeFileSync(source, linesOf(9, 'other'))
    expect(await capture()).toBe('appended')
    expect(await capture()).toBe('nothing')

    await opened.store.close()
    opened = await openTestStore(join(dir.path, 'data'))
    expect(await textOf()).toBe(linesOf(500, 'old'))
    expect(await textOf(3)).toBe(linesOf(9, 'other'))
    expect(
      (await opened.store.sessions.generations(RUN, 's.jsonl')).map(({ generation, lines }) => [generation, lines]),
    ).toEqual([
      [1, 500],
      [2, 3],
      [3, 9],
    ])
    expect((await opened.store.sessions.state(RUN)).map(({ generation, lines }) => [generation, lines])).toEqual([
      [3, 9],
    ])
    expect((await opened.store.check()).damaged).toEqual([])
  })

  it('sees a rewrite to the same length by its digest', async () => {
    writeFileSync(source, linesOf(10, 'old'))
    await capture()
    writeFileSync(source, linesOf(10, 'new'))
    expect(await capture()).toBe('rewritten')
    expect(await textOf(1)).toBe(linesOf(10, 'old'))
  })

  it('an emptied file begins an empty generation', async () => {
    writeFileSync(source, linesOf(10, 'old'))
    await capture()
    writeFileSync(source, '')
    expect(await capture()).toBe('rewritten')
    expect((await opened.store.sessions.state(RUN))[0]).toMatchObject({ generation: 2, lines: 0, bytes: 0 })
    expect(await textOf()).toBe(linesOf(10, 'old'))
    writeFileSync(source, linesOf(2, 'new'))
    expect(await capture()).toBe('appended')
    expect(await textOf(2)).toBe(linesOf(2, 'new'))
  })
})

describe('B13', () => {
  it('a session whose file is gone stays readable and listed', async () => {
    writeFileSync(source, linesOf(50, 'kept'))
    await capture()
    rmSync(source)
    await opened.store.close()
    opened = await openTestStore(join(dir.path, 'data'))
    const runs = []
    for await (const { run } of opened.store.sessions.list()) runs.push(run)
    expect(runs).toEqual([RUN])
    expect(await textOf()).toBe(linesOf(50, 'kept'))
  })
})
