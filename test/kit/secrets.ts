import { createRedactor } from '../../daemon/secrets/create-redactor.ts'
import { createEgress, type Egress } from '../../daemon/secrets/egress.ts'

export interface Planted {
  readonly family: string
  /** What must not be found anywhere afterwards. */
  readonly secret: string
  /** As it stands in a text. */
  readonly text: string
  /** Recognised by its own form, so that it can be told in halves too. */
  readonly splits: boolean
}

/** Deterministic text that looks random; never a real key. Put together here so that no file holds a key-like word. */
export function noise(length: number, alphabet: string, seed: number): string {
  let state = seed * 2654435761 + 12345
  let out = ''
  for (let n = 0; n < length; n += 1) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    out += alphabet[(state >> 8) % alphabet.length] ?? ''
  }
  return out
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const DIGITS = '0123456789'
export const ALNUM = UPPER + LOWER + DIGITS
const HEX = '0123456789abcdef'
const BASE32 = `${UPPER}234567`

const own = (family: string, secret: string): Planted => ({ family, secret, text: secret, splits: true })
const named = (family: string, secret: string, text: string): Planted => ({ family, secret, text, splits: false })

export function plantedSecrets(): readonly Planted[] {
  const pem = Array.from({ length: 12 }, (_, n) => noise(64, `${ALNUM}+/`, 900 + n))
  const inBase64 = ['sk-', 'ant-api03-', noise(40, ALNUM, 31)].join('')
  const wrapped = Buffer.from(`# environment\nANTHROPIC_API_KEY=${inBase64}\nDEBUG=1\n`).toString('base64')
  return [
    own('anthropic', ['sk-', 'ant-api03-', noise(93, `${ALNUM}_-`, 1), 'AA'].join('')),
    own('openai', ['sk-', 'proj-', noise(120, ALNUM, 2)].join('')),
    own('openai', ['sk-', noise(20, ALNUM, 3), 'T3BlbkFJ', noise(20, ALNUM, 4)].join('')),
    own('github', ['ghp', noise(36, ALNUM, 5)].join('_')),
    own('github', ['github', 'pat', noise(22, ALNUM, 6), noise(59, ALNUM, 7)].join('_')),
    own('gitlab', ['glpat', noise(20, ALNUM, 8)].join('-')),
    own('aws-key-id', ['AKIA', noise(16, BASE32, 9)].join('')),
    named('aws-secret', noise(40, `${ALNUM}/+`, 10), `aws_secret_access_key = ${noise(40, `${ALNUM}/+`, 10)}`),
    own('slack', ['xoxb', noise(12, DIGITS, 11), noise(13, DIGITS, 12), noise(24, ALNUM, 13)].join('-')),
    own(
      'slack-webhook',
      [
        'hooks.slack.com/',
        'services/T',
        noise(10, UPPER + DIGITS, 14),
        '/B',
        noise(10, UPPER + DIGITS, 15),
        '/',
        noise(24, ALNUM, 16),
      ].join(''),
    ),
    own('google', ['AIza', noise(35, `${ALNUM}_-`, 17)].join('')),
    own(
      'jwt',
      [
        Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url'),
        Buffer.from('{"sub":"1234567890","name":"someone"}').toString('base64url'),
        noise(43, ALNUM, 18),
      ].join('.'),
    ),
    own('npm', ['npm', noise(36, ALNUM, 19)].join('_')),
    own('pypi', ['pypi-AgEIcHlwaS5vcmc', noise(120, ALNUM, 20)].join('')),
    own('hugging-face', ['hf', noise(34, ALNUM, 21)].join('_')),
    own('sendgrid', ['SG', noise(22, ALNUM, 22), noise(43, ALNUM, 23)].join('.')),
    own('stripe', ['sk', 'live', noise(24, ALNUM, 24)].join('_')),
    own('digitalocean', ['dop', 'v1', noise(64, HEX, 25)].join('_')),
    own('age', ['AGE-SECRET-KEY-1', noise(58, UPPER + DIGITS, 26)].join('')),
    named(
      'telegram',
      `${noise(9, '123456789', 27)}:AA${noise(33, ALNUM, 28)}`,
      `${noise(9, '123456789', 27)}:AA${noise(33, ALNUM, 28)}`,
    ),
    named(
      'private-key',
      pem[5] ?? '',
      ['-----BEGIN RSA ', 'PRIVATE KEY-----\n', pem.join('\n'), '\n-----END RSA ', 'PRIVATE KEY-----'].join(''),
    ),
    named('url-credentials', 'tr0ub4dor-and-3', 'postgres://app:tr0ub4dor-and-3@db.internal:5432/main'),
    named('authorization', noise(32, ALNUM, 29), `Authorization: Bearer ${noise(32, ALNUM, 29)}`),
    named(
      'authorization',
      'c29tZW9uZTpodW50ZXIyLWFnYWlu',
      'curl -H "Authorization: Basic c29tZW9uZTpodW50ZXIyLWFnYWlu" http://x',
    ),
    named('password', 'hunter2-Again!', 'DB_PASSWORD=hunter2-Again!'),
    named('api-key', noise(40, HEX, 30), `"apiKey": "${noise(40, HEX, 30)}"`),
    named('api-key', noise(36, ALNUM, 33), `["x-api-key", "${noise(36, ALNUM, 33)}"]`),
    named('token', noise(40, ALNUM, 34), `{"name":"SERVICE_TOKEN","value":"${noise(40, ALNUM, 34)}"}`),
    named(
      'azure',
      noise(86, `${ALNUM}+/`, 32),
      `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${noise(86, `${ALNUM}+/`, 32)}==;`,
    ),
    named('base64-anthropic', wrapped.slice(24, 64), `data:text/plain;base64,${wrapped}`),
  ]
}

/** The gate of a daemon, with a key of its own. */
export const testGate = (): Egress => createEgress(createRedactor(Buffer.alloc(32, 7)))
