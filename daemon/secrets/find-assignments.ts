import { classesOf, entropyOf } from './entropy.ts'
import type { Finding } from './redactor.ts'

/**
 * Secrets without a form of their own, known by the name they stand beside: `DB_PASSWORD=…`, `"apiKey": "…"`, headers, credentials in
 * a URL. Here the value has to look like one, because names alone are everywhere in code.
 */
const NAMED =
  /(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|authorization|cookie|key|_pat|auth)(?:[-_]?(?:value|base64|b64|id|\d{1,2}))?(?:\\*["'`\]]){0,2}(?:[ \t]{0,4}(?::=|=>|=|:|,|>)|(?:[ \t](?:for|of|on|at)(?:[ \t](?:the|my|our))?[ \t][\w.@-]{1,40}){0,2}[ \t](?:is|was|to)(?:[ \t]now|[ \t]be)?:?(?=[ \t]))/gi
const URL_CREDENTIALS =
  /:\\{0,4}\/\\{0,4}\/(?:([^\s"'`<>\\/@:]{0,120}):([^\s"'`<>\\/@]{2,256})|([A-Za-z0-9_-]{20,200}))@(?=[A-Za-z0-9[$_%-])/g
const USER_OPTION =
  /-(?:u|-user)[ =](?<=(?:^|[\s"'])-+user[ =]|(?:^|[\s"'])-u[ =])\\*["']?[^\s:"'\\]{1,80}:([^\s"'\\]{4,200})/g
const NETRC = /login[ \t]+\S{1,100}[ \t]+password[ \t]+([^\s"'\\]{4,200})/g

/** Values that stand for a secret or come from elsewhere: variables, templates, code, masks. */
export const STAND_IN =
  /^(?:[$%<{[(*]|\.{3}|x{3,}|-+$|#|process\.|os\.|env\.|env\[|import\.|config\.|settings\.|self\.|this\.|options\.|args\.|getenv|null\b|none\b|undefined\b|true\b|false\b|string\b|number\b|\[?redacted|changeme\b|func\b|function\b|async\b|await\b|new\b|return\b)/i
export const INNER_TEMPLATE = /\$\{|\{\{|<[a-z_-]+>|%\(|\.\.\.$/i
const ALL_WORDS = /^[A-Za-z]+(?:[-_ .][A-Za-z]+)*$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => UUID.test(text)
const SCHEME = /^(?:bearer|basic|token|digest|apikey|bot|negotiate|key|aws4-hmac-sha256)\s+/i

type Kind = 'password' | 'aws-secret' | 'secret' | 'token' | 'api-key' | 'authorization' | 'cookie'

/** What kind of secret a name promises, or null. The whole identifier is judged: `input_tokens` and `cache_key` promise none. */
export function kindOfName(name: string): Kind | null {
  const known = kinds.get(name)
  if (known !== undefined) return known
  const kind = judgeName(name)
  if (kinds.size < 4096) kinds.set(name, kind)
  return kind
}

/** The same few names come again and again: fields of answers, keys of settings. */
const kinds = new Map<string, Kind | null>()

function judgeName(name: string): Kind | null {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/(?:value|base64|b64|\d{1,2})$/, '')
  if (/accesskeyid$/.test(plain)) return null
  if (/secretaccesskey$/.test(plain)) return 'aws-secret'
  if (/authorization$/.test(plain)) return 'authorization'
  if (/cookie$/.test(plain)) return /^(?:set)?cookie$/.test(plain) ? 'cookie' : null
  if (
    /(?:password|passwd|passphrase|passcode|pwd|[a-z]pass)$/.test(plain) &&
    !/(?:by|com|sur|under|tres)pass$/.test(plain)
  )
    return 'password'
  if (
    /(?:api|access|secret|private|auth|encryption|encrypt|signing|sign|master|account|storage|subscription|servicerole|admin|sharedaccess|license|client|app|jwt|hmac|webhook|deploy)key$/.test(
      plain,
    )
  )
    return 'api-key'
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|PAT|AUTH)(?:_\d{1,2})?$/.test(name)) return 'api-key'
  if (/secret$|secretid$|secretaccess$/.test(plain)) return 'secret'
  if (/(?:token|credential|credentials|authtoken|^auth|_auth)$/.test(plain))
    return /(?:next|page|continuation|sync|nextpage|cursor|cancellation|csrfmiddleware)token$/.test(plain)
      ? null
      : 'token'
  return null
}

/** Family under which a value beside this name is covered, or null when it is no secret. */
export function judgeAssignment(name: string, value: string, quoted: boolean): string | null {
  const kind = kindOfName(name)
  if (kind === null) return null
  const text = value.trim()
  if (text.length < 6 || STAND_IN.test(text) || INNER_TEMPLATE.test(text)) return null
  switch (kind) {
    case 'authorization': {
      const rest = text.replace(SCHEME, '')
      const word = /^\S*/.exec(rest)?.[0] ?? ''
      if (STAND_IN.test(rest) || word.length < 6) return null
      return (rest !== text && (/[\d=]/.test(word) || word.length >= 20)) || (/^\S{12,}$/.test(text) && /\d/.test(text))
        ? 'authorization'
        : null
    }
    case 'cookie':
      return /[\w.-]+=[^;\s]{8,}/.test(text) && /\d/.test(text) ? 'cookie' : null
    case 'password':
      return looksLikePassword(text, quoted) ? 'password' : null
    default:
      return looksLikeKey(text, quoted) ? kind : null
  }
}

function looksLikePassword(text: string, quoted: boolean): boolean {
  if (/\s/.test(text) && (!quoted || text.split(/\s+/).length > 4 || !/\d/.test(text))) return false
  if (/^(?:\.{0,2}\/|~\/|https?:)/.test(text)) return false
  if (/^\d+$/.test(text)) return quoted && text.length >= 6
  if (!quoted && (/[()[\]{}]/.test(text) || /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(text))) return false
  if (/^[A-Za-z]+$/.test(text)) return quoted && text.length >= 20 && entropyOf(text) >= 3.8
  if (ALL_WORDS.test(text))
    return (
      quoted &&
      text.length >= 16 &&
      !/^(?:your|my|the|some|enter|new|current|confirm|forgot|reset|user|db|database|test|example)\b/i.test(text)
    )
  return classesOf(text) >= 2
}

function looksLikeKey(text: string, quoted: boolean): boolean {
  if (/\s/.test(text) || text.length < (quoted ? 10 : 14) || UUID.test(text)) return false
  if (/^(?:\.{0,2}\/|~\/|https?:|file:|sha(?:1|256|384|512)[:-]|md5:|hmac:|secret:)/.test(text)) return false
  if (!/\d/.test(text))
    return text.length >= 24 && classesOf(text) >= 2 && !ALL_WORDS.test(text) && entropyOf(text) >= 4
  if (/^\d+(?:\.\d+)*$/.test(text)) return quoted && text.length >= 16
  if (!quoted && (/[()[\]{}]/.test(text) || /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(text))) return false
  return entropyOf(text) >= (text.length >= 20 ? 3 : 2.6)
}

/**
 * `open`: the text goes on elsewhere, its last value may be cut. Offsets in the units of the text.
 */
export function findAssignments(text: string, open: boolean): Finding[] {
  const findings: Finding[] = []
  NAMED.lastIndex = 0
  for (let hit = NAMED.exec(text); hit !== null; hit = NAMED.exec(text)) {
    const name = spokenName(text, hit.index, nameBefore(text, hit.index) + (/^[\w-]+/.exec(hit[0])?.[0] ?? ''))
    const kind = kindOfName(name)
    if (kind === null) continue
    const value = valueAfter(text, hit.index + hit[0].length, hit[0], kind, open)
    if (value === null) continue
    const spoken = SPOKEN.test(hit[0])
    const said = spoken ? value.text.replace(/[.,:!?)]+$/, '') : value.text
    if (spoken && !isSpokenSecret(kind, said)) continue
    const family = judgeAssignment(name, said, value.quoted || spoken)
    if (family === null) continue
    const covered = kind === 'authorization' ? credentialsIn(value.text) : { skip: 0, length: said.trimEnd().length }
    const start = value.start + covered.skip
    findings.push({ start, end: start + covered.length, family })
    NAMED.lastIndex = value.start + value.text.length
  }
  findings.push(...findInUrls(text), ...findCredentialPairs(text))
  return findings
}

/** `password is X`, in a sentence. */
const SPOKEN = /[ \t](?:is|was|to)(?:[ \t]now|[ \t]be)?:?$/i
/** Terms with digits that sentences say of secrets: how they are made, how long they are or last. */
const TERM =
  /^(?:base\d|sha-?\d|md5|utf-?\d|oauth|argon|pbkdf|bcrypt|scrypt|[rehp]s\d{3}|aes|ed25519|x509|rsa|rfc|iso|http|ipv|uuid|k8s|i18n|s3|ec2|e2e|v?\d+(?:[.-]|x\d|st\b|nd\b|rd\b|th\b|h\b|m\b|s\b|ms\b|min|d\b|days?|hours?|bits?|bytes?|chars?|kb|mb|\+))/i

/** In a sentence only what is no word: letters and digits mixed, no code, no address. */
function isSpokenSecret(kind: Kind, text: string): boolean {
  if (!/\d/.test(text) || !/[A-Za-z]/.test(text) || TERM.test(text) || /\s|:\/\/|^[.~]?\/|[()[\]{}]/.test(text))
    return false
  if (/\.[a-z]{1,5}$|^[a-z]+(?:[-_][a-z]+)*[-_]\d{1,2}$|^[A-Z_]+\d?$/.test(text)) return false
  return kind === 'password' ? text.length >= 6 : text.length >= 12 && entropyOf(text) >= 2.8
}

/** `API key: X` is judged as `API key`, a `key` alone is none. */
function spokenName(text: string, at: number, name: string): string {
  if (!/^key$/i.test(name)) return name
  const before = /(?:api|access|secret|auth|license|licence|signing|encryption|private|admin|master)[ \t]$/i.exec(
    text.slice(Math.max(0, at - 12), at),
  )
  return before === null ? name : `${before[0].trim().replace('licence', 'license')}_key`
}

/** The part of a header's value after its scheme; one word, except where the scheme has parameters. */
function credentialsIn(value: string): { readonly skip: number; readonly length: number } {
  const scheme = SCHEME.exec(value)?.[0] ?? ''
  const rest = value.slice(scheme.length)
  const length = /^(?:digest|aws4)/i.test(scheme)
    ? rest.trimEnd().length
    : (/^\S*/.exec(rest)?.[0] ?? '').replace(/[,;]$/, '').length
  return { skip: scheme.length, length }
}

/** The part of an identifier before the keyword: letters, digits, `_`, `-`, at most 80. */
function nameBefore(text: string, end: number): string {
  let start = end
  while (start > 0 && end - start < 80 && /[\w-]/.test(text.charAt(start - 1))) start -= 1
  // The letter of an escape before the name (`\nAPI_KEY=`) is not part of it.
  if (start > 0 && text.charAt(start - 1) === '\\' && start < end) start += 1
  return text.slice(start, end)
}

interface Value {
  readonly start: number
  readonly text: string
  readonly quoted: boolean
}

const LONGEST_VALUE = 4096
const OPENER = /\\*["'`]/y
const NEXT_VALUE = /[ \t]*\\*["']value\\*["'][ \t]*:[ \t]*/iy
const PLAIN = /[^\s"'`\\,;&|<>]{4,4096}/y
const HEADER = /[^\r\n"'`\\]{4,4096}/y

function valueAfter(text: string, from: number, hit: string, kind: Kind, open: boolean): Value | null {
  let at = from
  while (at < text.length && (text.charAt(at) === ' ' || text.charAt(at) === '\t') && at - from < 8) at += 1
  if (hit.endsWith(',')) {
    // `["x-api-key", "…"]` and `{"name": "API_KEY", "value": "…"}`
    if (!/["'`]\s*,$/.test(hit)) return null
    NEXT_VALUE.lastIndex = at
    const next = NEXT_VALUE.exec(text)
    if (next !== null) at += next[0].length
  }
  OPENER.lastIndex = at
  const opener = OPENER.exec(text)?.[0]
  if (opener !== undefined) {
    const start = at + opener.length
    const near = text.slice(start, start + LONGEST_VALUE + 8)
    const length = near.indexOf(opener)
    const value = length < 0 ? near : near.slice(0, length)
    if (value.includes('\n')) return null
    if (length >= 0) return { start, text: value, quoted: true }
    return open && start + near.length === text.length ? { start, text: value, quoted: true } : null
  }
  if (hit.endsWith(',')) return null
  const pattern = kind === 'authorization' || kind === 'cookie' ? HEADER : PLAIN
  pattern.lastIndex = at
  const plain = pattern.exec(text)?.[0]
  return plain === undefined ? null : { start: at, text: plain, quoted: false }
}

function findInUrls(text: string): Finding[] {
  const findings: Finding[] = []
  if (!text.includes('@')) return findings
  URL_CREDENTIALS.lastIndex = 0
  for (let hit = URL_CREDENTIALS.exec(text); hit !== null; hit = URL_CREDENTIALS.exec(text)) {
    const end = hit.index + hit[0].length - 1
    const [, , password, token] = hit
    if (password !== undefined && !/^(?:[$<{*%]|x{3,}$|\.{3})/.test(password)) {
      findings.push({ start: end - password.length, end, family: 'url-credentials' })
    } else if (token !== undefined && /\d/.test(token) && entropyOf(token) >= 3) {
      findings.push({ start: end - token.length, end, family: 'url-credentials' })
    }
  }
  return findings
}

function findCredentialPairs(text: string): Finding[] {
  const findings: Finding[] = []
  for (const [pattern, sign] of [
    [USER_OPTION, '-u'],
    [NETRC, 'login'],
  ] as const) {
    if (!text.includes(sign)) continue
    pattern.lastIndex = 0
    for (let hit = pattern.exec(text); hit !== null; hit = pattern.exec(text)) {
      const secret = hit[1] ?? ''
      const end = hit.index + hit[0].length
      if (!STAND_IN.test(secret)) findings.push({ start: end - secret.length, end, family: 'password' })
    }
  }
  return findings
}
