import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request for a completion as it came over the wire. */
export interface SeenCompletion {
  readonly url: string
  /** Parsed body; null when it was no JSON. */
  readonly body: unknown
}

export interface CompletionServer {
  /** With `/v1`, as a provider's base address is written. */
  readonly url: string
  readonly completions: readonly SeenCompletion[]
  close(): Promise<void>
}

/** A model behind the Chat Completions protocol that says `done` to everything, on loopback only. */
export async function startScriptedCompletions(): Promise<CompletionServer> {
  const completions: SeenCompletion[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => response.destroy())
    request.on('end', () => {
      const url = request.url ?? ''
      if (!url.split('?')[0]?.endsWith('/chat/completions')) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such route"}}')
        return
      }
      completions.push({ url, body: parse(Buffer.concat(chunks)) })
      const head = {
        id: `scripted-${completions.length}`,
        object: 'chat.completion.chunk',
        created: 0,
        model: 'scripted',
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const say = (value: object): void => void response.write(`data: ${JSON.stringify({ ...head, ...value })}\n\n`)
      say({ choices: [{ index: 0, delta: { role: 'assistant', content: 'done' }, finish_reason: null }] })
      say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
      say({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } })
      response.end('data: [DONE]\n\n')
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    completions,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'))
  } catch {
    return null
  }
}
