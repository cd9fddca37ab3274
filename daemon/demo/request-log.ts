import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Json, Row } from './steps.ts'
import { text, toolShapes } from './tool-outcomes.ts'

export interface Message {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: readonly Json[]
}

export interface RequestSetup {
  readonly model: string
  readonly version: string
  readonly querySource: string
  readonly memoryFolder: string
  readonly agentId?: string
}

/** What was sent to the model so far, and the rows the runtime keeps of it (runtime page 4.4 and 5.2, 2.1.332). */
export class RequestLog {
  readonly messages: Message[] = []
  private sent = 0
  private last: string | null = null
  private shapeHash = ''
  private readonly setup: RequestSetup

  constructor(setup: RequestSetup) {
    this.setup = setup
  }

  /** After a compaction the conversation begins anew. */
  clear(): void {
    this.messages.length = 0
    this.sent = 0
    this.last = null
    this.shapeHash = ''
  }

  /** Rough size of what goes over the wire, in tokens. */
  size(): number {
    const characters = this.messages.reduce((sum, message) => sum + JSON.stringify(message.content).length, 14_000)
    return Math.ceil(characters / 4)
  }

  /** Rows of one request with the given id. */
  send(id: string, at: string): readonly { readonly type: string; readonly row: Row }[] {
    const { model, version, agentId } = this.setup
    const rows: { type: string; row: Row }[] = []
    const own: Row = agentId === undefined ? {} : { agentId }
    const system = [
      text('<system identity line>'),
      text(`<system prompt> memory directory: ${this.setup.memoryFolder}/`),
    ]
    const shape = { system, tools: toolShapes }
    const shapeHash = sha256(canon(shape))
    if (shapeHash !== this.shapeHash) {
      this.shapeHash = shapeHash
      rows.push({ type: 'api-request-shape', row: { ...own, shapeHash, timestamp: at, version, shape } })
    }
    const hashes = this.messages.map((message) => sha256(canon(message)))
    const keep = this.last === null ? 0 : this.sent
    this.messages.forEach((message, n) => {
      // Only what cannot be rebuilt from the rows is kept: the first message, with attachments folded in, and system messages.
      if (n >= keep && (message.role === 'system' || n === 0))
        rows.push({
          type: 'api-request-blob',
          row: { ...own, hash: hashes[n], message: { role: message.role, content: message.content } },
        })
    })
    const params = {
      model,
      betas: ['claude-code-20250219', 'interleaved-thinking-2025-05-14'],
      max_tokens: 128_000,
      thinking: { type: 'adaptive', display: 'updates' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      output_config: { effort: 'medium' },
    }
    const value = { type: 'ephemeral' }
    const lastMessage = this.messages.length - 1
    const lastBlock = (this.messages[lastMessage]?.content.length ?? 1) - 1
    const cached = (block: Json): Json => (isObject(block) ? { ...block, cache_control: value } : block)
    const wire = {
      ...params,
      tools: toolShapes,
      system: system.map(cached),
      messages: this.messages.map((message, n) => ({
        role: message.role,
        content: message.content.map((block, at) => (n === lastMessage && at === lastBlock ? cached(block) : block)),
      })),
    }
    rows.push({
      type: 'api-request',
      row: {
        ...own,
        id,
        timestamp: at,
        version,
        querySource: this.setup.querySource,
        shapeHash,
        params,
        thread: { type: 'none' },
        echoWireToolInputs: false,
        ...(this.last === null ? {} : { base: this.last }),
        keep,
        tail: hashes.slice(keep),
        cacheControl: [
          { path: ['system', 0], value },
          { path: ['system', 1], value },
          { path: ['messages', lastMessage, 'content', lastBlock], value },
        ],
        requestDigest: sha256(canon(wire)),
      },
    })
    this.last = id
    this.sent = this.messages.length
    return rows
  }
}

function isObject(value: Json): value is { readonly [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const sha256 = (value: string): string => createHash('sha256').update(value, 'utf8').digest('hex')

/** `canon` of the runtime page: keys sorted at every level, no spaces, nothing escaped that need not be. */
const canon = (value: unknown): string => canonicalize(value) ?? 'null'
