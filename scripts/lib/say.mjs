/** Words on the terminal, one shape for all scripts. Progress goes to standard error so that standard output stays readable by programs. */
const coloured = process.stderr.isTTY && !process.env.NO_COLOR
const paint = (code, text) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text)

export const step = (text) => process.stderr.write(`${paint('36', '›')} ${text}\n`)
export const good = (text) => process.stderr.write(`${paint('32', '✓')} ${text}\n`)
export const warn = (text) => process.stderr.write(`${paint('33', '!')} ${text}\n`)
export const bad = (text) => process.stderr.write(`${paint('31', '✗')} ${text}\n`)

/** Ends the script with what is wrong and what to do about it. */
export function stop(message, hint, code = 1) {
  bad(message)
  if (hint) process.stderr.write(`  ${hint}\n`)
  process.exit(code)
}
