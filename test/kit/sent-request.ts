import { z } from 'zod'

const blockSchema = z.looseObject({ type: z.string() })
const messageSchema = z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(blockSchema)]) })

/**
 * A request of Claude Code as it came over the wire, reduced to what its digest is made of: no metadata, stream and attribution line,
 * every message as blocks, the betas of the header.
 */
export function normaliseRequest(body: Readonly<Record<string, unknown>>, betas: string): Record<string, unknown> {
  const { metadata: _, stream: __, safeguards: ___, ...rest } = body
  return {
    ...rest,
    betas: betas.split(','),
    system: z
      .array(z.looseObject({ text: z.string() }))
      .parse(body.system)
      .filter(({ text }) => !text.startsWith('x-anthropic-billing-header')),
    messages: z
      .array(messageSchema)
      .parse(body.messages)
      .map((message) =>
        typeof message.content === 'string'
          ? { ...message, content: [{ type: 'text', text: message.content }] }
          : message,
      ),
  }
}
