import { classesOf, entropyOf } from './entropy.ts'
import { INNER_TEMPLATE, isUuid, kindOfName, STAND_IN } from './find-assignments.ts'
import type { Finding } from './redactor.ts'

/**
 * Secrets given to programs: `--token X`, `--password=X`, `["--api-key", "X"]`, `mysql -pX`, `echo X | sudo -S`. Only where a flag stands
 * anything is looked at; the flag's whole name is judged, then what follows it.
 */
const FLAG = /(?<=^|[^\w-]|\\[nrtb])--?([A-Za-z][\w-]{0,48})/g
/** `"--token", "X"`, on one line or several, raw or escaped. */
const NEXT_ITEM = /\\*["'`](?:\s|\\+[nrt]){0,60},?(?:\s|\\+[nrt]){0,60}\\*(?=["'`])/y
/** The next item of a YAML list. */
const NEXT_LINE = /\\*["']?[ \t]{0,8}(?:\\+r|\r)?(?:\n|\\+n)[ \t]{0,40}-[ \t]{1,8}/y
const NEXT_WORD = /[ \t]{0,20}[=,]?[ \t]{0,20}/y
const QUOTED = /\\*["'`]/y
const WORD = /[^\s"'`\\;&|<>]{4,4096}/y
const LONGEST_VALUE = 4096

type Kind = 'password' | 'aws-secret' | 'secret' | 'token' | 'api-key' | 'authorization'

/** What a flag promises (without its dashes), or null. */
function kindOfFlag(name: string): Kind | null {
  const kind = kindOfName(name)
  if (kind !== null) return kind === 'cookie' ? null : kind
  if (/^(?:pass|.*[-_]pass)$/i.test(name)) return 'password'
  return /^(?:pat|bearer|key)$/i.test(name) ? 'api-key' : null
}

/** Flags of one letter, whose meaning depends on the program: what stands before them on their line. `glued`: the value follows at once. */
const SHORT: readonly { readonly flag: RegExp; readonly program: RegExp }[] = [
  {
    flag: /^p./,
    program: /(?:mysql|mariadb)[a-z_-]{0,12}(?:["',\s\\]|$)|(?:^|[\s"'/])7z[ar]?["',\s\\]|sshpass["',\s\\]/i,
  },
  {
    flag: /^p$/,
    program: /sshpass["',\s\\]|mongo(?:sh|dump|restore|export|import)?["',\s\\]|(?:^|[\s"'])login["',\s\\]|htpasswd/i,
  },
  { flag: /^a$/, program: /redis-cli["',\s\\]/i },
  { flag: /^w$/, program: /ldap[a-z]{3,10}["',\s\\]/i },
  { flag: /^P$/, program: /(?:zip|sqlcmd|bcp)["',\s\\]/i },
]
/** How far before a flag its program may stand. */
const LINE = 240

/** Words that stand for a value in a usage line. */
const USAGE =
  /^(?:pass(?:word|wd|phrase)?|pwd|token|secret|key|api[-_]?key|value|string|str|text|required|optional|your|my|some|the|example|redacted|placeholder|stdin|file|env|prompt|yes|no)(?:[-_ ](?:here|value|token|password|key|secret|string|name|var|file))*$|^(?:your|my|some|enter)[-_ ]/i
const VARIABLE = /^[A-Z][A-Z_]*$/
const WORDS = /^[A-Za-z]+(?:[-_ ./,:'()]+[A-Za-z]+)*$/
const PATH =
  /^(?:\.{0,2}\/|~\/|[A-Za-z]:[\\/]|https?:|file:|(?:id|type|src|source|env|file|fd)[=:])|\.(?:pem|key|crt|json|ya?ml|txt|env)$/

/**
 * Family under which the value of a flag is covered, or null. `sure`: it can be nothing but a value, as an item of a list of arguments; else
 * it may be a word of a sentence and has to look like a secret.
 */
export function judgeOption(flag: string, given: string, sure: boolean): string | null {
  const name = /^--?([A-Za-z][\w-]*)$/.exec(flag)?.[1]
  const kind = name === undefined ? null : kindOfFlag(name)
  return kind !== null && judge(kind, name === 'key', given.trim(), sure) ? kind : null
}

function judge(kind: Kind, vague: boolean, text: string, sure: boolean): boolean {
  if (text.length < (sure ? 4 : 5) || text.startsWith('-') || text.includes('\u2039') || STAND_IN.test(text))
    return false
  if (INNER_TEMPLATE.test(text) || PATH.test(text) || USAGE.test(text) || VARIABLE.test(text)) return false
  if (/\s/.test(text)) return sure && kind === 'password' && /\d/.test(text) && text.split(/\s+/).length <= 6
  if (vague) return text.length >= 16 && /\d/.test(text) && entropyOf(text) >= 3
  if (/^\d+$/.test(text)) return kind === 'password' ? sure : text.length >= 12
  if (sure) return kind === 'password' || text.length >= 6
  if (WORDS.test(text)) return text.length >= 24 && entropyOf(text) >= 4
  if (/[()[\]{}]/.test(text) && kind !== 'password') return false
  if (kind === 'password') return classesOf(text) >= 2 && (/\d/.test(text) || classesOf(text) >= 3)
  return isUuid(text) || (text.length >= 8 && /\d/.test(text) && entropyOf(text) >= 2.4)
}

interface Value {
  readonly start: number
  readonly text: string
  readonly quoted: boolean
}

export function findOptions(text: string): Finding[] {
  const findings: Finding[] = []
  if (!text.includes('-')) return findings
  FLAG.lastIndex = 0
  for (let hit = FLAG.exec(text); hit !== null; hit = FLAG.exec(text)) {
    const name = hit[1] ?? ''
    const end = hit.index + hit[0].length
    const kind = kindOfFlag(name)
    const found = kind === null ? shortFlag(text, hit.index, name, end) : longFlag(text, hit.index, name, kind, end)
    if (found !== null) findings.push(found)
  }
  return findings
}

function longFlag(text: string, at: number, name: string, kind: Kind, end: number): Finding | null {
  const item = after(text, end, NEXT_ITEM) ?? after(text, end, NEXT_LINE)
  const from = item ?? after(text, end, NEXT_WORD) ?? end
  if (from === end) return null
  const value = valueAt(text, from)
  if (value === null) return null
  const sure =
    item !== null
      ? inList(text, at)
      : text.charAt(end) === '=' || (value.quoted && text.charAt(end) !== ',') || isLogin(text, at)
  return judge(kind, /^key$/i.test(name), value.text, sure) ? findingOf(value, kind) : null
}

/** `mysql -pX`, `sshpass -p X`, `redis-cli -a X`, `echo X | sudo -S`. */
function shortFlag(text: string, at: number, name: string, end: number): Finding | null {
  const first = name.charCodeAt(0)
  // p, a, w, P, and any cluster with S.
  if (first !== 112 && first !== 97 && first !== 119 && first !== 80 && !(name.length <= 4 && name.includes('S')))
    return null
  if (text.charAt(at + 1) === '-') return null
  const before = text.slice(Math.max(0, at - LINE), at)
  if (name.length <= 4 && name.includes('S')) return pipedIn(before, at) ?? givenIn(text, before, end)
  const line = before.slice(
    Math.max(
      0,
      ...['\n', '|', ';', '&', '\\n'].map((sign) => {
        const last = before.lastIndexOf(sign)
        return last < 0 ? 0 : last + sign.length
      }),
    ),
  )
  if (!SHORT.some(({ flag, program }) => flag.test(name) && program.test(line))) return null
  const glued = name.length > 1
  const from = glued ? at + 2 : (after(text, end, NEXT_ITEM) ?? after(text, end, NEXT_WORD) ?? end)
  const value = valueAt(text, from)
  return value !== null && judge('password', false, value.text, true) ? findingOf(value, 'password') : null
}

const PIPED =
  /(?:echo|printf)(?:[ \t]+-[neE]+)*[ \t]+(?:\\*(["'])(.{3,200}?)\\*\1|([^\s"'\\|;&]{3,200}))[ \t]*\|[ \t]*sudo[ \t][^|;&]{0,40}$/
function pipedIn(before: string, at: number): Finding | null {
  const hit = before.includes('sudo') ? PIPED.exec(before) : null
  if (hit === null) return null
  const secret = (hit[2] ?? hit[3] ?? '').replace(/\\+n$/, '')
  if (STAND_IN.test(secret)) return null
  const start = at - before.length + hit.index + hit[0].indexOf(secret, 5)
  return { start, end: start + secret.length, family: 'password' }
}

/** `sudo -S … <<< "X"` */
function givenIn(text: string, before: string, end: number): Finding | null {
  if (!/sudo[ \t][^|;&]{0,40}$/.test(before)) return null
  const hit = /^[^\n<]{0,160}<<<[ \t]*/.exec(text.slice(end, end + 170))
  const value = hit === null ? null : valueAt(text, end + hit[0].length)
  return value !== null && judge('password', false, value.text, true) ? findingOf(value, 'password') : null
}

function after(text: string, at: number, pattern: RegExp): number | null {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}

function valueAt(text: string, from: number): Value | null {
  QUOTED.lastIndex = from
  const opener = QUOTED.exec(text)?.[0]
  if (opener !== undefined) {
    const start = from + opener.length
    const length = text.slice(start, start + LONGEST_VALUE).indexOf(opener)
    const value = length < 0 ? null : text.slice(start, start + length)
    return value === null || value.includes('\n') ? null : { start, text: value, quoted: true }
  }
  WORD.lastIndex = from
  const word = WORD.exec(text)?.[0].replace(/[.,:)\]}]+$/, '')
  return word === undefined ? null : { start: from, text: word, quoted: false }
}

/** Whether the flag is an item of a list in brackets, not an argument of a call such as `add_argument('--token', 'name')`. */
function inList(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 2000), at)
  return before.lastIndexOf('(') <= before.lastIndexOf('[')
}

const isLogin = (text: string, at: number): boolean =>
  /(?:^|[\s"'])login[ \t](?:(?!\\+n)[^\n|;&]){0,120}$/.test(text.slice(Math.max(0, at - 130), at))

const findingOf = ({ start, text }: Value, family: string): Finding => {
  const lead = text.length - text.trimStart().length
  return { start: start + lead, end: start + text.trimEnd().length, family }
}
