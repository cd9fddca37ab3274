export type KeyPath = readonly (string | number)[]

/** `value` left out: the key goes away. */
export interface KeyEdit {
  readonly key: KeyPath
  readonly value?: unknown
}

/** Replaces `[start, end)` of a text. */
export interface TextSplice {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Refused {
  readonly refused: string
  /** 1-based, where that is known. */
  readonly line?: number
  readonly column?: number
}

export function isRefused(value: object): value is Refused {
  return 'refused' in value
}

export function showKey(key: KeyPath): string {
  return key
    .map((part, at) => {
      if (typeof part === 'number') return `[${part}]`
      const plain = /^[\w$-]+$/.test(part) ? part : JSON.stringify(part)
      return at === 0 ? plain : `.${plain}`
    })
    .join('')
}

export function splice(text: string, splices: readonly TextSplice[]): string {
  const ordered = [...splices].sort((a, b) => b.start - a.start || b.end - a.end)
  let result = text
  for (const one of ordered) result = result.slice(0, one.start) + one.text + result.slice(one.end)
  return result
}

/** 1-based line of each offset asked for, without counting from the beginning each time. */
export function lineFinder(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}

/** Line end that most lines of the text have. */
export function lineEndOf(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1
  const windows = text.split('\r\n').length - 1
  return windows * 2 > all ? '\r\n' : '\n'
}
