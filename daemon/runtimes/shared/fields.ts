/** Rows come from a file that another program writes, in a form that changes between releases: every field is looked at, none believed. */
export type Row = Readonly<Record<string, unknown>>

export function asRow(value: unknown): Row | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : null
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Text with at least one character. */
export function asName(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export function asNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asNames(value: unknown): readonly string[] {
  return asList(value).filter((item): item is string => typeof item === 'string')
}

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** ISO 8601 in UTC with milliseconds; null for anything that names no instant (R30). */
export function asInstantText(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (UTC.test(value)) return value
  const time = Date.parse(value)
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

/** Content blocks of a message, whether it holds a string or a list. */
export function blocksOf(message: Row | null): readonly Row[] {
  const content = message?.content
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const blocks: Row[] = []
  for (const item of asList(content)) {
    const block = asRow(item)
    if (block !== null) blocks.push(block)
  }
  return blocks
}

/** Words of a `tool_result` or message content: its texts joined, other blocks named. */
export function plainText(content: unknown): string {
  if (typeof content === 'string') return content
  const texts: string[] = []
  for (const item of asList(content)) {
    const block = asRow(item)
    const text = asText(block?.text)
    if (text !== null) texts.push(text)
    else if (block !== null) texts.push(`[${asText(block.type) ?? 'block'}]`)
  }
  return texts.join('\n')
}
