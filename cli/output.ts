import { type ErrorBody, errorCodes, RepriseError } from '../contract/index.ts'

/** Where a command writes: answers to `out`, progress and warnings to `note`. With `json`, `out` gets exactly one document. */
export interface Terminal {
  readonly json: boolean
  readonly colour: boolean
  readonly columns: number
  out(text: string): void
  note(text: string): void
}

export const printJson = (terminal: Terminal, value: unknown): void => terminal.out(JSON.stringify(value, null, 2))

/** Columns as wide as their content; the last one is cut to the terminal, never wrapped. */
export const printTable = (terminal: Terminal, head: readonly string[], rows: readonly (readonly string[])[]): void => {
  const lines = [head, ...rows]
  const widths = head.map((_, n) => Math.max(...lines.map((line) => displayWidth(line[n] ?? ''))))
  for (const line of lines) {
    const text = line
      .map((cell, n) => (n === line.length - 1 ? cell : cell + ' '.repeat((widths[n] ?? 0) - displayWidth(cell))))
      .join('  ')
    terminal.out(terminal.columns > 0 && displayWidth(text) > terminal.columns ? cut(text, terminal.columns) : text)
  }
}

/** Wide signs (CJK, emoji) take two columns. */
const displayWidth = (text: string): number => {
  let width = 0
  for (const sign of text)
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        sign,
      )
        ? 2
        : 1
  return width
}

const cut = (text: string, columns: number): string => {
  let width = 0
  let kept = ''
  for (const sign of text) {
    width += displayWidth(sign)
    if (width >= columns) return `${kept}…`
    kept += sign
  }
  return kept
}

/** Control characters never reach the terminal from a record: they could move the cursor or hide text. */
export const plain = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

export const formatBytes = (bytes: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let size = bytes
  let unit = 0
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit += 1
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`
}

export const formatTime = (instant: string | null): string => {
  if (instant === null || instant === '') return 'no time'
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return 'no time'
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Prints a failure and gives the exit code of its kind. */
export const printFailure = (terminal: Terminal, error: unknown): number => {
  const failure: ErrorBody =
    error instanceof RepriseError
      ? error.toBody()
      : {
          code: 'internal',
          status: errorCodes.internal.status,
          message: error instanceof Error ? error.message : String(error),
          hint: null,
        }
  if (terminal.json) printJson(terminal, { error: failure })
  else {
    terminal.note(`reprise: ${plain(failure.message)}`)
    if (failure.hint) terminal.note(`  ${plain(failure.hint)}`)
    for (const candidate of failure.candidates ?? []) terminal.note(`  ${plain(candidate)}`)
  }
  return errorCodes[failure.code].exit
}
