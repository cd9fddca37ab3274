import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LineReader } from '../../daemon/capture/line-reader.ts'
import {
  comparePrefix,
  digestPrefix,
  fingerprintPrefix,
  type PrefixChange,
  type PrefixFingerprint,
} from '../../daemon/capture/prefix.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// B12: an agent rewrote its own transcript with only the new turn; growth and rewriting are told apart by content, not by size or time.
const directory = temporaryDirectory('b12')
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => `{"n":${from + at},"text":"${'x'.repeat(300)}"}\n`).join('')

function open<T>(use: (fd: number) => T): T {
  const fd = openSync(join(directory(), 's.jsonl'), 'r')
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

function known(): PrefixFingerprint {
  return open((fd) => {
    const reader = new LineReader(fd)
    while (reader.readBatch({ row: () => {}, unreadable: () => {} }) !== null);
    const fingerprint = fingerprintPrefix(fd, reader.cursor.byte)
    if (fingerprint === null) throw new Error('the file is shorter than what was read')
    return fingerprint
  })
}
const change = (fingerprint: PrefixFingerprint): PrefixChange => open((fd) => comparePrefix(fd, fingerprint))

it('tells growth, rewriting and shrinking apart', () => {
  const file = join(directory(), 's.jsonl')
  writeFileSync(file, lines(0, 500))
  const before = known()
  expect(change(before)).toBe('same')

  writeFileSync(file, lines(0, 501))
  expect(change(before)).toBe('grew')

  // In place, by three lines with a newer time.
  writeFileSync(file, lines(500, 503))
  expect(change(before)).toBe('shrank')

  // By rename, and longer than before.
  writeFileSync(join(directory(), 'new'), lines(1, 900))
  renameSync(join(directory(), 'new'), file)
  expect(change(before)).toBe('rewritten')

  // Same size, another end.
  writeFileSync(file, lines(0, 500).replace(/499(?=[^9]*$)/, '498'))
  expect(change(before)).toBe('rewritten')

  writeFileSync(file, '')
  expect(change(before)).toBe('shrank')
})

it('finds a change between the windows by the digest of everything', () => {
  const file = join(directory(), 's.jsonl')
  writeFileSync(file, lines(0, 1000))
  const before = known()
  const digest = open((fd) => digestPrefix(fd, before.bytes))
  const content = readFileSync(file)
  content[Math.floor(content.length / 2)] = 0x79
  writeFileSync(file, content)
  expect(change(before)).toBe('same')
  expect(open((fd) => digestPrefix(fd, before.bytes))).not.toBe(digest)
  expect(open((fd) => digestPrefix(fd, before.bytes + 1))).toBeNull()
})
