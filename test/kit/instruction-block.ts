import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { coverMemoryNotice } from '../../daemon/runtimes/claude-code/resolve/memory.ts'

export interface Piece {
  readonly path: string
  readonly label: string | null
  readonly text: string
}

const HEAD = /(?:^|\n\n)Contents of (.+) \(([^()\n]+)\):\n\n/g

/** The instruction block of a request for a message: everything after the vendor's own sentence. Null when there is none. */
export function instructionBlock(body: unknown): string | null {
  for (const text of textsOf(body)) {
    const inside = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>\s*$/.exec(text)?.[1]
    if (inside === undefined) continue
    const start = inside.indexOf('\n\nContents of ')
    if (start >= 0) return coverMemoryNotice(inside.slice(start + 2))
  }
  return null
}

/** Pieces of a block in order. A text that quotes a heading of its own would be cut there: compare `joinPieces` as well. */
export function splitBlock(block: string | null): Piece[] {
  if (block === null) return []
  const heads = [...block.matchAll(HEAD)]
  return heads.map((head, at) => ({
    path: head[1] ?? '',
    label: head[2] ?? null,
    text: block.slice(head.index + head[0].length, heads[at + 1]?.index ?? block.length),
  }))
}

export const joinPieces = (pieces: readonly Piece[]): string =>
  pieces.map(({ path: file, label, text }) => `Contents of ${file} (${label}):\n\n${text}`).join('\n\n')

export function resolvedPieces({ body, order, texts }: Resolution): Piece[] {
  return order.map((uri) => {
    const source = body.instructions.sources.find((one) => one.uri === uri)
    const text = texts.get(uri)?.text
    if (!source || source.path === null || text === null || text === undefined) throw new Error(`${uri} has no text`)
    return { path: source.path, label: source.label, text }
  })
}

/** Paths that came in after a touch, in the order of the session's record. */
export function nestedLoads(configDir: string): string[] {
  const found: string[] = []
  const projects = path.join(configDir, 'projects')
  for (const name of readdirSync(projects, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.jsonl')) continue
    for (const line of readFileSync(path.join(projects, name), 'utf8').split('\n')) {
      if (line === '') continue
      const row: unknown = JSON.parse(line)
      if (typeof row !== 'object' || row === null || !('attachment' in row)) continue
      const attachment = row.attachment
      if (
        typeof attachment === 'object' &&
        attachment !== null &&
        'type' in attachment &&
        attachment.type === 'nested_memory' &&
        'path' in attachment
      ) {
        found.push(String(attachment.path))
      }
    }
  }
  return found
}

function* textsOf(body: unknown): Generator<string> {
  if (typeof body !== 'object' || body === null || !('messages' in body) || !Array.isArray(body.messages)) return
  for (const message of body.messages) {
    const content: unknown =
      typeof message === 'object' && message !== null && 'content' in message ? message.content : null
    if (typeof content === 'string') yield content
    if (!Array.isArray(content)) continue
    for (const block of content)
      if (typeof block === 'object' && block !== null && 'text' in block) yield String(block.text)
  }
}

/** Pieces as they are kept in a fixture: the folder of the tree taken out, long texts by their length and end. */
export function portable(pieces: readonly Piece[], root: string): Piece[] {
  const key = root.replace(/[^A-Za-z0-9]/g, '-')
  const clean = (text: string): string => text.replaceAll(root, '<root>').replaceAll(key, '<root-key>')
  return pieces.map(({ path: file, label, text }) => ({
    path: clean(file),
    label,
    text:
      text.length <= 2_000
        ? clean(text)
        : `${text.length} characters, ends in ${JSON.stringify(clean(text.slice(-120)))}`,
  }))
}
