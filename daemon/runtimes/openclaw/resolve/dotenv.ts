/** One `KEY=value` of a dotenv file. */
export interface DotEnvEntry {
  readonly name: string
  readonly value: string
}

const ENTRY =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)(?:[ \t]*=[ \t]*|:[ \t]+)('(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`|[^\n#]*)?[ \t]*(?:#.*)?$/gm

/** Entries in the order of the file; of two equal names the later one wins, as everywhere this form is read. */
export function parseDotEnv(text: string): readonly DotEnvEntry[] {
  const found = new Map<string, string>()
  for (const [, name = '', given = ''] of text.replace(/\r\n?/g, '\n').matchAll(ENTRY)) {
    const value = given.trim()
    const quote = value[0]
    const isQuoted = value.length > 1 && (quote === '"' || quote === "'" || quote === '`') && value.endsWith(quote)
    const inner = isQuoted ? value.slice(1, -1) : value
    found.set(name, quote === '"' && isQuoted ? inner.replace(/\\n/g, '\n').replace(/\\r/g, '\r') : inner)
  }
  return [...found].map(([name, value]) => ({ name, value }))
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
