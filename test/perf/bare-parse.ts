import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'

/** The least any importer must do: reads every session file below a folder in pieces, splits at line ends, parses each line. */
const folder = process.argv[2] ?? ''
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
  .map((entry) => join(entry.parentPath, entry.name))
const started = performance.now()
let bytes = 0
let rows = 0
const piece = Buffer.allocUnsafe(1 << 20)
for (const path of files) {
  const file = openSync(path, 'r')
  let rest: Buffer[] = []
  for (;;) {
    const read = readSync(file, piece, 0, piece.length, null)
    if (read === 0) break
    bytes += read
    let from = 0
    for (let end = piece.indexOf(10, from); end !== -1 && end < read; end = piece.indexOf(10, from)) {
      const line =
        rest.length === 0
          ? piece.toString('utf8', from, end)
          : Buffer.concat([...rest, piece.subarray(from, end)]).toString('utf8')
      rest = []
      JSON.parse(line)
      rows += 1
      from = end + 1
    }
    if (from < read) rest.push(Buffer.from(piece.subarray(from, read)))
  }
  closeSync(file)
}
process.stdout.write(JSON.stringify({ bytes, rows, ms: performance.now() - started }))
