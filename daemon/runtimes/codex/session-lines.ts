import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { Decompress } from 'fzstd'
import type { SessionUnit } from '../adapter.ts'
import { asList, asNames, asRow } from '../shared/fields.ts'

const CHUNK = 1024 * 1024

/**
 * The lines of a thread that is no plain file, oldest first: several files one after the other, a compressed file, or the one document of
 * the first format, whose items become lines. Lines of the agent's own files are handed on as they are, damaged ones too; only blank ones
 * are left out.
 */
export function writeLines(unit: SessionUnit, write: (line: string) => void): void {
  const named = asNames(unit.meta.files)
  const files = named.length > 0 ? named.map((name) => join(unit.home, name)) : [unit.file]
  for (const file of files) {
    if (file.endsWith('.json')) writeDocument(file, write)
    else writeFileLines(file, write)
  }
}

function writeDocument(file: string, write: (line: string) => void): void {
  let document: ReturnType<typeof asRow>
  try {
    document = asRow(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file} is not valid JSON: ${error.message}`)
    throw error
  }
  const session = asRow(document?.session)
  if (document === null || session === null) throw new Error(`${file} holds no session: the key "session" is missing`)
  write(JSON.stringify(session))
  for (const item of asList(document.items)) write(JSON.stringify(item))
}

function writeFileLines(file: string, write: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let open = ''
  const take = (text: string): void => {
    const lines = (open + text).split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') write(line.replace(/\r$/, ''))
  }
  const read = file.endsWith('.zst') ? readCompressed : readPlain
  read(file, (bytes) => take(decoder.write(bytes)))
  take(decoder.end())
  if (open.trim() !== '') write(open.replace(/\r$/, ''))
}

class Enough extends Error {}

/** The first line of a compressed file; null when there is none. */
export function readFirstLine(file: string): string | null {
  let first: string | null = null
  try {
    writeFileLines(file, (line) => {
      first = line
      throw new Enough()
    })
  } catch (error) {
    if (!(error instanceof Enough)) throw error
  }
  return first
}

function readPlain(file: string, give: (bytes: Buffer) => void): void {
  const fd = openSync(file, 'r')
  try {
    const buffer = Buffer.allocUnsafe(CHUNK)
    for (let n = readSync(fd, buffer, 0, CHUNK, null); n > 0; n = readSync(fd, buffer, 0, CHUNK, null))
      give(buffer.subarray(0, n))
  } finally {
    closeSync(fd)
  }
}

function readCompressed(file: string, give: (bytes: Buffer) => void): void {
  const stream = new Decompress((chunk) => give(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)))
  try {
    // The decoder keeps what it is given until it is used.
    readPlain(file, (bytes) => stream.push(Uint8Array.from(bytes)))
    stream.push(new Uint8Array(0), true)
  } catch (error) {
    if (error instanceof Enough || (error instanceof Error && 'code' in error && typeof error.code === 'string'))
      throw error
    throw new Error(`${file} cannot be decompressed: ${error instanceof Error ? error.message : String(error)}`)
  }
}
