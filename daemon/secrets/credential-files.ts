/**
 * Files that are credentials as a whole: never copied, only a keyed digest is kept ("not restorable, by design", architecture §5).
 * Names of the agents' own stores are those of their pages in the runtime notes; the rest are the usual ones of other programs an
 * agent can reach.
 */
const NAMES = new Set([
  '.credentials.json', // Claude Code
  'auth.json', // Codex, Hermes, OpenClaw, OpenCode
  'credentials.json', // OpenClaw, Google
  'auth-profiles.json', // OpenClaw
  'auth-state.json',
  // Databases of OpenClaw that hold its logins beside everything else (tables `auth_profile_store`, `auth_profile_state`).
  'openclaw-agent.sqlite',
  'openclaw.sqlite',
  'openclaw-quarantine.sqlite',
  'oauth.json',
  'oauth_creds.json', // Gemini
  'mcp-oauth-tokens.json',
  'google_accounts.json',
  'application_default_credentials.json',
  'credentials',
  'credentials.db',
  'access_tokens.db',
  'msal_token_cache.json',
  'hosts.yml', // gh
  'oauth2_token.json',
  'token.json',
  'tokens.json',
  '.netrc',
  '_netrc',
  '.pgpass',
  '.git-credentials',
  '.htpasswd',
  'secrets.json',
  'secrets.yaml',
  'secrets.yml',
  'secrets.toml',
  'master.key',
  'login data',
  'cookies',
  'cookies.sqlite',
  'key4.db',
  'logins.json',
])
const ENDINGS = /\.(?:key|pem|p12|pfx|p8|jks|keystore|kdbx|ppk|asc|gpg|age|ovpn|credentials|token|secret)$/i
const SSH_KEY = /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\.bak)?$/
const FOLDERS = new Set([
  '.ssh',
  '.gnupg',
  'credentials',
  'secrets',
  '.aws',
  'mcp-auth',
  'mcp-oauth',
  'oauth',
  'identity',
  'keyrings',
  'pairing', // Hermes
])
/** What a database keeps beside itself while it is open, and copies agents make of their own files. */
const BESIDE = /(?:-wal|-shm|-journal|\.bak(?:\.\d+)?|\.last-good|\.lock|\.tmp)$/
/** Homes of agents, whose `.env` is where they keep the keys of their providers. */
const AGENT_HOMES = /(?:^|[\\/])\.(?:claude|codex|openclaw|hermes)(?:[\\/]profiles[\\/][^\\/]+)?[\\/]\.env$/
/** Folders of logins in homes of agents, at any depth (`credentials/whatsapp/…`). */
const AGENT_STORES =
  /(?:^|[\\/])\.(?:claude|codex|openclaw|hermes)[\\/](?:[^\\/]+[\\/])*(?:credentials|pairing|oauth|mcp-oauth)[\\/]/
const PUBLIC = /\.pub$|\.(?:md|txt|example|sample|template)$/i

/**
 * Whether the file at `path` (any separators, absolute or relative) is a credential as a whole. A `.env` of a project is none, it is covered
 * line by line; that of an agent's home is.
 */
export function isCredentialFile(path: string): boolean {
  const parts = path.split(/[\\/]+/)
  const written = (parts.pop() ?? '').toLowerCase()
  const name = written.replace(BESIDE, '')
  if (AGENT_HOMES.test(path) || AGENT_STORES.test(path)) return true
  if (PUBLIC.test(name)) return false
  if (NAMES.has(name) || ENDINGS.test(name) || SSH_KEY.test(name)) return true
  const folder = (parts.pop() ?? '').toLowerCase()
  return FOLDERS.has(folder) && !['config', 'known_hosts', 'authorized_keys'].includes(name)
}
