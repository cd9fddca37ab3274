/** One `KEY=value` of a dotenv file. */
export interface DotEnvEntry {
  readonly name: string
  readonly value: string
}

const NAME = /^[ \t]*(?:export[ \t]+)?([A-Za-z0-9_.-]+)[ \t]*(?:=|:(?=[ \t]))[ \t]*/

/** Entries in the order of the file; of two equal names the later one wins. A quoted value may span lines. */
export function parseDotEnv(text: string): readonly DotEnvEntry[] {
  const found = new Map<string, string>()
  let rest = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  while (rest !== '') {
    const head = NAME.exec(rest)
    let after = head === null ? rest : rest.slice(head[0].length)
    const quote = head === null ? '' : (after[0] ?? '')
    const end = quote === '"' || quote === "'" || quote === '`' ? closing(after, quote) : -1
    if (head?.[1] !== undefined) {
      const line = after.slice(0, lineEnd(after))
      const value = end > 0 ? after.slice(1, end) : (line.split('#')[0] ?? '').trim()
      found.set(head[1], quote === '"' && end > 0 ? value.replace(/\\n/g, '\n').replace(/\\r/g, '\r') : value)
      if (end > 0) after = after.slice(end + 1)
    }
    rest = after.slice(lineEnd(after) + 1)
  }
  return [...found].map(([name, value]) => ({ name, value }))
}

function lineEnd(text: string): number {
  const end = text.indexOf('\n')
  return end < 0 ? text.length : end
}

/** Where the quote closes that `text` begins with; a backslash before it keeps it open. -1 when it never does. */
function closing(text: string, quote: string): number {
  for (let at = 1; at < text.length; at += 1) if (text[at] === quote && text[at - 1] !== '\\') return at
  return -1
}

/**
 * Why a variable of the `.env` in the working directory is dropped; null when it counts. That file belongs to whoever wrote the project.
 * Verified for `OPENCLAW_*` and ordinary names; the credential names are documented as a class, the list here is only its shape, so that
 * a name the runtime drops for another reason may pass.
 */
export function dropReason(name: string): string | null {
  const upper = name.toUpperCase()
  if (upper.startsWith('OPENCLAW_')) return 'the .env of a working directory may not set OPENCLAW_*'
  if (/_(BASE_URL|ENDPOINT|API_HOST|HOMESERVER)$/.test(upper))
    return 'the .env of a working directory may not move an endpoint'
  if (/(_API_KEYS?|_ACCESS_KEY|_AUTH_TOKEN|_OAUTH_TOKEN|_API_TOKEN|_API_SECRET|_TOKEN|_SECRET_ACCESS_KEY)$/.test(upper))
    return 'the .env of a working directory may not set credentials'
  if (
    /^(PATH|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|NODE_OPTIONS|NODE_TLS_REJECT_UNAUTHORIZED|LD_PRELOAD|AWS_\w+)$/.test(upper)
  )
    return 'the .env of a working directory may not change how programs run'
  return null
}
