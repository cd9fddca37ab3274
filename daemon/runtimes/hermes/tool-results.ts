import { asName, asNumber, asRow, asText, type Row } from '../shared/fields.ts'

/** An instruction file that came in with a tool result (runtime page 5.5). */
export interface Hint {
  /** As shown: relative to the working directory. */
  readonly path: string
  readonly text: string
  /** Ids of the security scan that kept its text out; null when it entered. */
  readonly blocked: readonly string[] | null
  readonly truncated: boolean
}

export interface ToolResult {
  /** What the tool itself answered, without hints. */
  readonly text: string
  /** Most results are JSON objects; null for plain text. */
  readonly value: Row | null
  readonly hints: readonly Hint[]
}

const HINT = /\n\n\[Subdirectory context discovered: ([^\]\n]+)\]\n/g

/** Splits a tool row. Hints stand behind the result of the tool, after whatever produced it (0.20.0). */
export function readToolResult(content: string): ToolResult {
  const found = [...content.matchAll(HINT)]
  const first = found[0]
  const text = first === undefined ? content : content.slice(0, first.index)
  const hints = found.map((match, at): Hint => {
    const body = content.slice(match.index + match[0].length, found[at + 1]?.index ?? content.length)
    return {
      path: match[1] ?? '',
      text: body,
      blocked: blockedBy(body),
      truncated: /\n\n\[\.\.\.truncated /.test(body),
    }
  })
  return { text, value: parse(text), hints }
}

/** Ids in the note that replaces a blocked file. */
export function blockedBy(text: string): readonly string[] | null {
  const found = /^\[BLOCKED: .+? contained potential prompt injection \(([^)]*)\)/.exec(text)
  return found === null ? null : (found[1] ?? '').split(', ').filter((id) => id !== '')
}

function parse(text: string): Row | null {
  if (!text.startsWith('{')) return null
  try {
    return asRow(JSON.parse(text))
  } catch {
    return null
  }
}

/** Whether the call did what it was asked to. Plain text is an answer unless it begins as an error does. */
export function succeeded({ value, text }: ToolResult): boolean {
  if (value === null) {
    // What is left of a result after a compaction: `[terminal] ran … -> exit 0, 1 lines output`.
    const exit = /^\[[\w-]+\] ran .* -> exit (-?\d+)/s.exec(text)?.[1]
    if (exit !== undefined) return exit === '0'
    return !/^(Error\b|Traceback \(most recent call last\))/.test(text)
  }
  const exit = asNumber(value.exit_code)
  if (exit !== null && exit !== 0) return false
  if (asName(value.error) !== null || value.success === false) return false
  return !['error', 'blocked', 'failed', 'denied'].includes(asText(value.status) ?? '')
}

/** Why a call was not let through; null when it ran. `blocked` and the leading word are those of the program's approvals (source, 0.20.0). */
export function denialOf({ value }: ToolResult): string | null {
  const error = asText(value?.error)
  if (value?.status === 'blocked' || (error?.startsWith('BLOCKED') ?? false)) return error ?? 'blocked'
  return null
}
