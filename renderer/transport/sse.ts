/** One message of a `text/event-stream`. */
export interface StreamMessage {
  readonly id: string | null
  readonly data: string
}

/** Cuts a byte stream into messages; comment lines (keep-alive) are skipped, `data` lines of one message are joined. */
export async function* readMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let id: string | null = null
  let data: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      rest += decoder.decode(value, { stream: true })
      // A CR at the very end may be half of a line end.
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { id, data: data.join('\n') }
          data = []
        } else if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5))
        else if (line.startsWith('id:')) id = line.slice(3).trim()
      }
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
