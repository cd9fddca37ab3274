import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** A content block of a scripted answer. Ids of tool calls are filled in when left out. */
export type ScriptedBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature?: string }
  | { readonly type: 'tool_use'; readonly id?: string; readonly name: string; readonly input: unknown }

export interface ScriptedAnswer {
  readonly blocks: readonly ScriptedBlock[]
  readonly stop?: string
}

/** One request as it came over the wire. */
export interface SeenRequest {
  readonly n: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly raw: Buffer
  /** Parsed body; null when it was no JSON. */
  readonly body: unknown
}

/** Answers the n-th (from 1) request for a message. */
export type Script = (request: SeenRequest, n: number) => ScriptedAnswer

export interface ScriptedServer {
  readonly url: string
  readonly port: number
  /** Every request, probes and token counts included. */
  readonly seen: readonly SeenRequest[]
  /** Requests for a message only. */
  readonly messages: readonly SeenRequest[]
  close(): Promise<void>
}

/** Tool-input and text pieces are cut at this odd length so that a reader cannot rely on whole tokens. */
const PIECE = 37

/**
 * A model that says what the script says, over the streaming form of the Messages protocol, on loopback only. It stands in for the one
 * thing a test may fake: the model's answers.
 */
export async function startScriptedMessages(
  script: Script = () => ({ blocks: [{ type: 'text', text: 'done' }] }),
): Promise<ScriptedServer> {
  const seen: SeenRequest[] = []
  const messages: SeenRequest[] = []
  let calls = 0

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => response.destroy())
    request.on('end', () => {
      const raw = Buffer.concat(chunks)
      const entry: SeenRequest = {
        n: seen.length + 1,
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        raw,
        body: parse(raw),
      }
      seen.push(entry)
      const route = entry.url.split('?')[0] ?? ''
      if (entry.method === 'HEAD') return void response.writeHead(200).end()
      if (route.endsWith('/count_tokens')) return sendJson(response, 200, { input_tokens: 1000 })
      if (route.endsWith('/models')) return sendJson(response, 200, { data: [], has_more: false })
      if (!route.endsWith('/v1/messages')) {
        return sendJson(response, 404, { type: 'error', error: { type: 'not_found_error', message: 'no such route' } })
      }
      messages.push(entry)
      const answer = script(entry, messages.length)
      const blocks = answer.blocks.map((block) =>
        block.type === 'tool_use'
          ? { ...block, id: block.id ?? `toolu_scripted${String(++calls).padStart(6, '0')}` }
          : block,
      )
      const stop = answer.stop ?? (blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn')
      const id = `msg_scripted${String(messages.length).padStart(6, '0')}`
      const wanted = isRecord(entry.body) ? entry.body : {}
      const usage = { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 }
      const head = { id, type: 'message', role: 'assistant', model: wanted.model ?? 'scripted', stop_sequence: null }
      if (wanted.stream !== true) {
        return sendJson(response, 200, { ...head, content: blocks, stop_reason: stop, usage })
      }
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
      const say = (type: string, rest: object) =>
        response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`)
      say('message_start', {
        message: { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      })
      blocks.forEach((block, index) => {
        streamBlock(block, index, say)
      })
      say('message_delta', {
        delta: { stop_reason: stop, stop_sequence: null },
        usage: { output_tokens: usage.output_tokens },
      })
      say('message_stop', {})
      response.end()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    messages,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function streamBlock(block: ScriptedBlock, index: number, say: (type: string, rest: object) => void): void {
  const delta = (change: object) => say('content_block_delta', { index, delta: change })
  switch (block.type) {
    case 'text':
      say('content_block_start', { index, content_block: { type: 'text', text: '' } })
      for (const piece of cut(block.text)) delta({ type: 'text_delta', text: piece })
      break
    case 'thinking':
      say('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } })
      for (const piece of cut(block.thinking)) delta({ type: 'thinking_delta', thinking: piece })
      delta({ type: 'signature_delta', signature: block.signature ?? 'c2NyaXB0ZWQ=' })
      break
    case 'tool_use':
      say('content_block_start', {
        index,
        content_block: { type: 'tool_use', id: block.id, name: block.name, input: {} },
      })
      for (const piece of cut(JSON.stringify(block.input))) delta({ type: 'input_json_delta', partial_json: piece })
      break
  }
  say('content_block_stop', { index })
}

function cut(text: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += PIECE) pieces.push(text.slice(at, at + PIECE))
  return pieces.length > 0 ? pieces : ['']
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'))
  } catch {
    return null
  }
}

function sendJson(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
