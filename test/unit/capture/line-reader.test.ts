import { createHash } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type LineBatch,
  type LineCursor,
  LineReader,
  type LineReaderOptions,
  type UnreadableLine,
} from '../../../daemon/capture/line-reader.ts'
import type { RawLine } from '../../../daemon/runtimes/adapter.ts'

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-lines-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Reading {
  readonly rows: readonly RawLine[]
  readonly unreadable: readonly UnreadableLine[]
  readonly batches: readonly LineBatch[]
  readonly bytes: Buffer
  readonly cursor: LineCursor
  readonly tail: LineReader['incompleteTail']
  readonly digest: string | null
}

function read(content: string | Uint8Array, options: LineReaderOptions & { finished?: boolean } = {}): Reading {
  const file = join(directory, 'file.jsonl')
  writeFileSync(file, content)
  const fd = openSync(file, 'r')
  try {
    const reader = new LineReader(fd, options)
    const rows: RawLine[] = []
    const unreadable: UnreadableLine[] = []
    const batches: LineBatch[] = []
    const parts: Buffer[] = []
    const sink = {
      row: (row: RawLine) => rows.push(row),
      unreadable: (report: UnreadableLine) => unreadable.push(report),
    }
    for (;;) {
      const batch = reader.readBatch(sink, { finished: options.finished === true })
      if (batch === null) break
      batches.push(batch)
      parts.push(Buffer.from(batch.bytes))
    }
    return {
      rows,
      unreadable,
      batches,
      bytes: Buffer.concat(parts),
      cursor: reader.cursor,
      tail: reader.incompleteTail,
      digest: reader.digest(),
    }
  } finally {
    closeSync(fd)
  }
}

describe('LineReader', () => {
  it('gives each line with its place', () => {
    const { rows, cursor } = read('{"a":1}\n\n{"b":"ü"}\r\n')
    expect(rows).toEqual([
      { line: 1, byte: 0, bytes: 7, value: { a: 1 } },
      { line: 3, byte: 9, bytes: 11, value: { b: 'ü' } },
    ])
    expect(cursor).toEqual({ byte: 21, line: 3, open: null })
  })

  it('skips a byte order mark at the start and nowhere else', () => {
    const { rows, unreadable } = read('\uFEFF{"a":1}\n{"b":2}\n')
    expect(rows.map(({ value }) => value)).toEqual([{ a: 1 }, { b: 2 }])
    expect(unreadable).toEqual([])
  })

  it('counts a blank line and calls it no error', () => {
    const { rows, unreadable, batches } = read('{"a":1}\n   \n\r\n{"b":2}\n')
    expect(rows.map(({ line }) => line)).toEqual([1, 4])
    expect(unreadable).toEqual([])
    expect(batches.reduce((sum, batch) => sum + batch.blank, 0)).toBe(2)
  })

  it.each([
    ['[1,2]', 'JSON, but an array and not an object'],
    ['17', 'JSON, but a number and not an object'],
    ['"text"', 'JSON, but a string and not an object'],
    ['null', 'JSON, but null and not an object'],
    ['{"cut":"in the mid', 'not JSON: cut or damaged'],
    ['\0\0\0\0', 'NUL bytes'],
  ])('reports %s', (line, reason) => {
    const { rows, unreadable } = read(`{"a":1}\n${line}\n{"b":2}\n`)
    expect(rows.map(({ value }) => value)).toEqual([{ a: 1 }, { b: 2 }])
    expect(unreadable).toEqual([{ line: 2, byte: 8, bytes: Buffer.byteLength(line), reason, repaired: false }])
  })

  it.each([
    ['{"a":1}{"b":"}{"}', [{ a: 1 }, { b: '}{' }], '2 objects on one line'],
    ['{"a":1} {"b":{"c":[{"d":1}]}}{"e":2}', [{ a: 1 }, { b: { c: [{ d: 1 }] } }, { e: 2 }], '3 objects on one line'],
    ['\0\0\0{"a":1}', [{ a: 1 }], 'NUL bytes'],
    [
      '{"type":"user","message":{"role":"user","content":"to{"type":"x","n":1}',
      [{ type: 'x', n: 1 }],
      'text around the record is not JSON',
    ],
  ])('recovers what %s still holds', (line, values, reason) => {
    const { rows, unreadable } = read(`${line}\n{"last":true}\n`)
    expect(rows.map(({ value }) => value)).toEqual([...values, { last: true }])
    expect(rows.slice(0, -1).every((row) => row.line === 1)).toBe(true)
    for (const row of rows.slice(0, -1))
      expect(
        JSON.parse(
          Buffer.from(line)
            .subarray(row.byte, row.byte + row.bytes)
            .toString(),
        ),
      ).toEqual(row.value)
    expect(unreadable).toEqual([{ line: 1, byte: 0, bytes: Buffer.byteLength(line), reason, repaired: true }])
  })

  it('never takes a part of a torn record for a record', () => {
    const { rows, unreadable } = read('{"type":"user","message":{"role":"user","content":[{"a":1}]},"uu\n')
    expect(rows).toEqual([])
    expect(unreadable[0]).toMatchObject({ repaired: false })
  })

  it('delivers a record with broken UTF-8 and says so', () => {
    const line = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
    const { rows, unreadable } = read(Buffer.concat([line, Buffer.from('\n{"b":"ok"}\n')]))
    expect(rows.map(({ value }) => value)).toEqual([{ a: '\uFFFD(' }, { b: 'ok' }])
    expect(unreadable).toEqual([{ line: 1, byte: 0, bytes: line.length, reason: 'not valid UTF-8', repaired: true }])
  })

  it('puts characters together that fall between two reads', () => {
    const text = `{"text":"${'äöü€😀'.repeat(50)}"}\n`
    for (const chunkBytes of [16, 17, 19, 23]) {
      const { rows, unreadable } = read(text + text, { chunkBytes })
      expect(unreadable).toEqual([])
      expect(rows.map(({ value }) => value)).toEqual([JSON.parse(text), JSON.parse(text)])
    }
  })

  it('takes a complete last line without a line end as a row, once', () => {
    const first = read('{"a":1}\n{"b":2}')
    expect(first.rows.map(({ value }) => value)).toEqual([{ a: 1 }, { b: 2 }])
    expect(first.cursor).toEqual({ byte: 15, line: 2, open: { byte: 8, records: 1 } })
    const next = read('{"a":1}\n{"b":2}\n{"c":3}\n', { from: first.cursor })
    expect(next.rows).toEqual([{ line: 3, byte: 16, bytes: 7, value: { c: 3 } }])
    expect(next.unreadable).toEqual([])
    expect(next.batches[0]).toMatchObject({ firstLine: 2, continuesLine: true, lineBytes: [1, 8] })
  })

  it('sees that a later record was written onto a line without a line end', () => {
    const first = read('{"a":1}')
    const next = read('{"a":1}{"b":2}\n', { from: first.cursor })
    expect(next.rows.map(({ line, value }) => ({ line, value }))).toEqual([{ line: 1, value: { b: 2 } }])
    expect(next.unreadable).toEqual([{ line: 1, byte: 0, bytes: 14, reason: '2 objects on one line', repaired: true }])
  })

  it('leaves an incomplete last line alone until it is whole', () => {
    const first = read('{"a":1}\n{"b":')
    expect(first.rows.length).toBe(1)
    expect(first.unreadable).toEqual([])
    expect(first.tail).toEqual({ line: 2, byte: 8, bytes: 5 })
    const next = read('{"a":1}\n{"b":2}\n', { from: first.cursor })
    expect(next.rows).toEqual([{ line: 2, byte: 8, bytes: 7, value: { b: 2 } }])
    expect(next.tail).toBeNull()
  })

  it('reports an incomplete last line when nobody will write on', () => {
    const { unreadable, tail, cursor } = read('{"a":1}\n{"b":', { finished: true })
    expect(unreadable).toEqual([{ line: 2, byte: 8, bytes: 5, reason: 'not JSON: cut or damaged', repaired: false }])
    expect(tail).toBeNull()
    expect(cursor.byte).toBe(13)
  })

  it('hands out the very bytes it consumed, and their digest', () => {
    const content = '{"a":1}\n\r\nbroken\n{"b":2}\n{"tail":'
    const { bytes, digest, batches } = read(content, { chunkBytes: 16, digest: true })
    const consumed = content.slice(0, content.lastIndexOf('\n') + 1)
    expect(bytes.toString()).toBe(consumed)
    expect(digest).toBe(`sha256:${createHash('sha256').update(consumed).digest('hex')}`)
    expect(batches.flatMap(({ lineBytes }) => [...lineBytes])).toEqual([8, 2, 7, 8])
  })

  it('gives the same rows for every way of cutting the reads', () => {
    const line = fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc
        .dictionary(fc.string({ maxLength: 5 }), fc.string({ unit: 'binary', maxLength: 40 }))
        .map((value) => JSON.stringify(value)),
      fc.constantFrom('', '\0\0', '{"a":1}{"b":2}', '{"torn":"', '{"a":1}\r', '{"x":"\u0000"}'),
    )
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.integer({ min: 16, max: 90 }),
        fc.boolean(),
        (lines, chunkBytes, end) => {
          const content = lines.map((text) => text.replaceAll('\n', ' ')).join('\n') + (end ? '\n' : '')
          const whole = read(content)
          const cut = read(content, { chunkBytes })
          expect(cut.rows).toEqual(whole.rows)
          expect(cut.unreadable).toEqual(whole.unreadable)
          expect(cut.cursor).toEqual(whole.cursor)
          expect(cut.tail).toEqual(whole.tail)
          expect(Buffer.concat([whole.bytes, Buffer.from(content).subarray(whole.cursor.byte)]).toString()).toBe(
            content,
          )
        },
      ),
    )
  })
})
