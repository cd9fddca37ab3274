import http from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ResponsesServer {
  /** Base address of the provider, `/v1` included. */
  readonly url: string
  /** Bodies of the requests for an answer, in order of arrival. */
  readonly bodies: readonly ResponsesBody[]
  close(): Promise<void>
}

export interface ResponsesBody {
  readonly model: string
  readonly reasoning?: { readonly effort?: string }
  readonly input: readonly ResponsesItem[]
  readonly client_metadata?: Readonly<Record<string, string>>
}

export interface ResponsesItem {
  readonly type: string
  readonly role?: string
  readonly content?: readonly { readonly text?: string }[]
}

/**
 * A model that answers with the items of `script`, request by request, and then always "done", over the streaming form of the Responses
 * protocol, on loopback only. It stands in for the one thing a test may fake: the model's answers.
 */
export async function startScriptedResponses(
  script: readonly (readonly Readonly<Record<string, unknown>>[])[] = [],
): Promise<ResponsesServer> {
  const bodies: ResponsesBody[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => response.destroy())
    request.on('end', () => {
      if (request.method !== 'POST' || !request.url?.endsWith('/responses')) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such route"}}')
        return
      }
      bodies.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as ResponsesBody)
      const id = `resp_${bodies.length}`
      const content = [{ type: 'output_text', text: 'done' }]
      const usage = {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 2,
      }
      const done = { type: 'message', role: 'assistant', id: `msg_${bodies.length}`, content }
      const items = script[bodies.length - 1] ?? [done]
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of [
        { type: 'response.created', response: { id } },
        ...items.map((item, at) => ({ type: 'response.output_item.done', output_index: at, item })),
        { type: 'response.completed', response: { id, usage } },
      ])
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    bodies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
