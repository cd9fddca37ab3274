import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// B15: a session of more than 512 MB could not be opened at all. The reading process gets less heap than the file has bytes.
const directory = temporaryDirectory('b15')
const MB = 1024 * 1024
const TARGET = 600 * MB

it('reads 600 MB with a result of 30 MB inside in a heap of 256 MB', { timeout: 180_000 }, () => {
  const file = join(directory(), 's.jsonl')
  const rows = writeSession(file)
  const root = pathToFileURL(`${join(import.meta.dirname, '../..')}/`).href
  const script = `
    const { openSync } = await import('node:fs')
    const { LineReader } = await import('${root}daemon/capture/line-reader.ts')
    const { claudeCode } = await import('${root}daemon/runtimes/claude-code/index.ts')
    const unit = { home: '/h', session: 's', parentSession: null, relation: null, file: process.argv[1], sideFiles: [], meta: {} }
    const reader = claudeCode.openReader(unit)
    const lines = new LineReader(openSync(unit.file, 'r'))
    const counts = { events: 0, amended: 0, unreadable: 0, peak: 0 }
    const sink = { event: () => counts.events++, amend: () => counts.amended++, words() {}, stretch() {}, unknownRecord() {} }
    while (lines.readBatch({ row: (line) => reader.readLine(line, sink), unreadable: () => counts.unreadable++ }) !== null)
      counts.peak = Math.max(counts.peak, process.memoryUsage.rss())
    const { rows, tokens, openCalls } = reader.summary()
    console.log(JSON.stringify({ ...counts, rows, output: tokens.output, openCalls, byte: lines.cursor.byte }))`
  const output = execFileSync(
    process.execPath,
    ['--max-old-space-size=256', '--import', 'tsx', '--input-type=module', '--eval', script, file],
    { encoding: 'utf8', cwd: join(import.meta.dirname, '../..') },
  )
  const result = JSON.parse(output)
  expect(result).toMatchObject({ rows, unreadable: 0, openCalls: 0, events: rows, output: rows / 2 })
  expect(result.byte).toBeGreaterThan(TARGET)
  expect(result.peak).toBeLessThan(500 * MB)
})

/** Calls and results until the size is reached; the first result has 30 MB. */
function writeSession(file: string): number {
  const fd = openSync(file, 'w')
  const filler = 'some words of output\\n'.repeat(1500)
  const huge = 'x'.repeat(30 * MB)
  let size = 0
  let rows = 0
  while (size < TARGET) {
    let block = ''
    for (let n = 0; n < 100; n++, rows += 2) {
      const parent = rows === 0 ? 'null' : `"r${rows - 1}"`
      block += `{"type":"assistant","uuid":"r${rows}","parentUuid":${parent},"message":{"id":"m${rows}","role":"assistant","model":"x","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t${rows}","name":"Bash","input":{"command":"run"}}],"usage":{"output_tokens":1}}}\n`
      block += `{"type":"user","uuid":"r${rows + 1}","parentUuid":"r${rows}","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t${rows}","content":"${rows === 0 ? huge : filler}"}]}}\n`
    }
    size += writeSync(fd, block)
  }
  closeSync(fd)
  return rows
}
