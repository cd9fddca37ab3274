import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { RepriseError } from '../../contract/errors.ts'
import { type GitContext, gitArguments } from './core.ts'
import { type ObjectType, objectId } from './objects.ts'

export interface GitObject {
  readonly oid: string
  readonly type: ObjectType
  readonly content: Buffer
}

interface Request {
  readonly oid: string
  readonly resolve: (object: GitObject | null) => void
  readonly reject: (error: Error) => void
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/**
 * One long-lived `git cat-file --batch`. Objects are asked for by id only, so no name ever has to be quoted, and each answer's
 * SHA-1 is checked here: a byte changed in a pack or a loose object is `damaged`, never content (R68).
 */
export class ObjectReader {
  private child: Child | null = null
  private readonly waiting: Request[] = []
  private chunks: Buffer[] = []
  private buffered = 0
  private header: { readonly oid: string; readonly type: ObjectType; readonly size: number } | null = null
  private said = ''
  private closed = false

  constructor(
    private readonly context: GitContext,
    private readonly gitDir: string,
  ) {}

  /**
   * The object, or null when git cannot give it: it is not there, or a loose file is no zlib stream (git says "missing" to both).
   * Whoever was led here by a tree or ref takes null for damage. Throws `damaged`.
   */
  read(oid: string): Promise<GitObject | null> {
    if (!/^[0-9a-f]{40}$/.test(oid)) return Promise.reject(new TypeError(`not an object id: ${oid.slice(0, 80)}`))
    if (this.closed) return Promise.reject(new Error('the object reader is closed'))
    return new Promise((resolve, reject) => {
      this.waiting.push({ oid, resolve, reject })
      this.start().stdin.write(`${oid}\n`)
    })
  }

  async close(): Promise<void> {
    this.closed = true
    const child = this.child
    if (child === null) return
    await new Promise<void>((resolve) => {
      child.once('close', () => resolve())
      child.stdin.end()
    })
  }

  private start(): Child {
    if (this.child !== null) return this.child
    const child = spawn(this.context.program, gitArguments(this.gitDir, ['cat-file', '--batch']), {
      env: this.context.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    this.child = child
    this.said = ''
    child.stdin.on('error', () => {})
    child.stdout.on('data', (chunk: Buffer) => this.take(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.said = (this.said + chunk.toString('utf8')).slice(-4000)
    })
    child.on('error', (error) => this.ended(child, error))
    child.on('close', () => this.ended(child, null))
    return child
  }

  private take(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.buffered += chunk.length
    while (this.next()) {}
  }

  /** Takes one complete answer out of the buffer; false when more bytes are needed. */
  private next(): boolean {
    if (this.header === null) {
      const joined = this.join()
      const end = joined.indexOf(0x0a)
      if (end < 0) return false
      const line = joined.toString('latin1', 0, end)
      this.keep(joined.subarray(end + 1))
      const found = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)$/.exec(line)
      if (found === null) {
        const request = this.waiting.shift()
        if (line.endsWith(' missing')) request?.resolve(null)
        else request?.reject(new RepriseError('damaged', `Object ${request.oid} cannot be read: ${line.slice(0, 200)}`))
        return true
      }
      this.header = { oid: found[1] ?? '', type: found[2] as ObjectType, size: Number(found[3]) }
    }
    const { oid, type, size } = this.header
    if (this.buffered < size + 1) return false
    const joined = this.join()
    // A copy for small answers, so that a few bytes do not keep a large chunk alive.
    const content = size < 4096 ? Buffer.from(joined.subarray(0, size)) : joined.subarray(0, size)
    this.keep(joined.subarray(size + 1))
    this.header = null
    const request = this.waiting.shift()
    if (request !== undefined) {
      if (objectId(type, content) === request.oid) request.resolve({ oid, type, content })
      else request.reject(new RepriseError('damaged', `Object ${request.oid} was altered: its digest does not match.`))
    }
    return true
  }

  private join(): Buffer {
    const only = this.chunks.length === 1 ? this.chunks[0] : undefined
    return only ?? Buffer.concat(this.chunks)
  }

  private keep(rest: Buffer): void {
    this.chunks = rest.length === 0 ? [] : [rest]
    this.buffered = rest.length
  }

  /** Git ends the process on an object it cannot unpack: the first open request is the cause, the others are asked again. */
  private ended(child: Child, error: Error | null): void {
    if (this.child !== child) return
    this.child = null
    this.chunks = []
    this.buffered = 0
    this.header = null
    const [first, ...others] = this.waiting.splice(0)
    if (first === undefined) return
    if (error === null)
      first.reject(
        new RepriseError('damaged', `Object ${first.oid} cannot be read: ${this.said.trim() || 'git ended'}`),
      )
    else first.reject(error)
    if (error !== null || this.closed) {
      for (const request of others) request.reject(error ?? new Error('the object reader is closed'))
      return
    }
    for (const request of others) {
      this.waiting.push(request)
      this.start().stdin.write(`${request.oid}\n`)
    }
  }
}
