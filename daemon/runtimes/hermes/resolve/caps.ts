import { pointsOf } from './text.ts'

/** Limits of one context file (runtime page 5.3, both verified versions). */
export interface Cap {
  readonly characters: number
  /** Null when the limit is sure; else why it may be larger in the running program. */
  readonly unsure: string | null
}

const LEAST = 20_000
const MOST = 500_000

/** `configured` is `context_file_max_chars`, `contextLength` the window of the model in tokens. */
export function capOf(configured: unknown, contextLength: unknown): Cap {
  if (typeof configured === 'number' && configured > 0) return { characters: Math.floor(configured), unsure: null }
  if (typeof contextLength !== 'number' || contextLength <= 0)
    return {
      characters: LEAST,
      unsure:
        'no setting names the window of the model; the program asks the service for it and may allow longer files',
    }
  return { characters: Math.max(LEAST, Math.floor(Math.min(contextLength * 4 * 0.06, MOST))), unsure: null }
}

export interface Capped {
  readonly text: string
  readonly truncated: { readonly at: number; readonly unit: 'characters' } | null
}

/** Keeps head and tail around a marker that names counts and the absolute path: the length of the result depends on the path. */
export function cut(text: string, cap: number, name: string, file: string): Capped {
  const points = pointsOf(text)
  if (points <= cap) return { text, truncated: null }
  const all = [...text]
  const head = Math.floor(cap * 0.7)
  const tail = Math.floor(cap * 0.2)
  const marker = `\n\n[...truncated ${name}: kept ${head}+${tail} of ${points} chars. The middle is omitted — if you need the full instructions, read the complete file with the read_file tool: ${file}]\n\n`
  return {
    text: all.slice(0, head).join('') + marker + all.slice(points - tail).join(''),
    truncated: { at: head, unit: 'characters' },
  }
}
