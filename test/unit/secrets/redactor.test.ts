import { createHash, randomBytes } from 'node:crypto'
import { lintSource } from '@secretlint/core'
import { creator as preset } from '@secretlint/secretlint-rule-preset-recommend'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../../daemon/secrets/create-redactor.ts'
import { kindOfName } from '../../../daemon/secrets/find-assignments.ts'
import { PLACEHOLDER } from '../../../daemon/secrets/find-secrets.ts'
import { findInJson, redactJson } from '../../../daemon/secrets/redact-json.ts'
import { ALNUM, noise, plantedSecrets } from '../../kit/secrets.ts'

const redactor = createRedactor(Buffer.alloc(32, 7))
const planted = plantedSecrets()
/** The ways in which a text reaches a session file. */
const contexts: readonly [string, (text: string) => string][] = [
  ['plain', (text) => text],
  ['in prose', (text) => `Here is it: ${text} and more words.`],
  ['in JSON', (text) => JSON.stringify({ content: `first line\n${text}\nlast line` })],
  ['in JSON in JSON', (text) => JSON.stringify({ a: JSON.stringify({ b: `x\n${text}\ty` }) })],
  ['in JSON three deep', (text) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify([`x\n${text}`]) }) })],
  ['after a quote and in code', (text) => `const a = \`${text}\`;`],
  ['with CRLF', (text) => `a\r\n${text}\r\nb`],
  ['behind text of other scripts', (text) => `鍵は ${text} です ✓`],
]

describe('redact', () => {
  for (const [name, wrap] of contexts) {
    it(`covers every planted secret ${name}`, () => {
      for (const { secret, text, family } of planted) {
        const whole = wrap(text)
        expect(redactor.redact(whole).text.includes(secret), `${family} ${name}`).toBe(false)
        const bytes = Buffer.from(redactor.redactBytes(Buffer.from(whole)).bytes)
        expect(bytes.includes(secret), `${family} ${name}, bytes`).toBe(false)
      }
    })
  }

  it('gives the family, a stable placeholder, and different ones for other keys', () => {
    for (const { text, family } of planted) {
      const once = redactor.redact(`a ${text} b`)
      const again = redactor.redact(`other ${text}`)
      expect(once.findings.map((finding) => finding.family)).toContain(family)
      expect(once.findings.map(({ placeholder }) => placeholder)).toEqual(
        again.findings.map(({ placeholder }) => placeholder),
      )
      for (const { placeholder } of once.findings) expect(placeholder).toMatch(/^‹secret:[a-z0-9-]+:[0-9a-f]{8}›$/)
      expect(createRedactor(Buffer.alloc(32, 8)).redact(text).text).not.toBe(redactor.redact(text).text)
    }
  })

  it('changes nothing the second time', () => {
    for (const [, wrap] of contexts) {
      for (const { text } of planted) {
        const once = redactor.redact(wrap(text)).text
        expect(redactor.redact(once)).toEqual({ text: once, findings: [] })
        const bytes = redactor.redactBytes(Buffer.from(wrap(text))).bytes
        expect(redactor.redactBytes(bytes).bytes).toBe(bytes)
      }
    }
  })

  it('is idempotent for any mixture', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...planted.map(({ text }) => text),
        'password=',
        '"',
        '\\n',
        '\n',
        ': ',
        'secret',
        '://',
        '@',
        ' ',
        '‹secret:npm:12345678›',
        '›',
        '=',
      ),
      fc.string({ maxLength: 12 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = redactor.redact(pieces.join('')).text
        expect(redactor.redact(once).text).toBe(once)
        const bytes = redactor.redactBytes(Buffer.from(pieces.join(''))).bytes
        expect(Buffer.from(redactor.redactBytes(bytes).bytes).equals(bytes)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('keeps every byte outside a finding, valid UTF-8 or not', () => {
    const key = `ghp_${noise(36, ALNUM, 77)}`
    const odd = Buffer.from([0xff, 0x00, 0xc3, 0x28, 0xe2, 0x80])
    const { bytes, findings } = redactor.redactBytes(Buffer.concat([odd, Buffer.from(` ${key} `), odd]))
    expect(findings).toBe(1)
    const text = Buffer.from(bytes)
    expect(text.subarray(0, 6).equals(odd)).toBe(true)
    expect(text.subarray(-6).equals(odd)).toBe(true)
    const clean = randomBytes(4000)
    expect(redactor.redactBytes(clean).bytes).toBe(clean)
  })

  it('gives the same placeholder for a text and for its bytes', () => {
    const text = `"password": "pässwört-鍵-9" ${planted[0]?.text}`
    expect(Buffer.from(redactor.redactBytes(Buffer.from(text)).bytes).toString()).toBe(redactor.redact(text).text)
    expect(redactor.redact(text).findings).toHaveLength(2)
  })

  it('keeps the number of lines of a key block', () => {
    const block = planted.find(({ family }) => family === 'private-key')?.text ?? ''
    const text = `a\n${block}\nb\n`
    expect(redactor.redact(text).text.split('\n')).toHaveLength(text.split('\n').length)
    const escaped = JSON.stringify({ key: block })
    expect(redactor.redact(escaped).text).toMatch(/^\{"key":"‹secret:private-key:[0-9a-f]{8}›"\}$/)
  })

  it('covers halves of a key block', () => {
    const block = planted.find(({ family }) => family === 'private-key')?.text ?? ''
    const lines = block.split('\n')
    for (const half of [lines.slice(0, 7), lines.slice(6)]) {
      for (const line of half.filter((one) => !one.startsWith('-----')))
        expect(redactor.redact(half.join('\n')).text).not.toContain(line)
    }
  })

  it('keeps JSON valid', () => {
    for (const { text } of planted) {
      expect(() =>
        JSON.parse(redactor.redact(JSON.stringify({ a: [text, { b: JSON.stringify(text) }] })).text),
      ).not.toThrow()
    }
  })

  it('covers wrapped base64', () => {
    const key = ['sk-', 'ant-api03-', noise(60, ALNUM, 41)].join('')
    const base64 = Buffer.from(`first=1\nsecond=2\nKEY_OF=${key}\nthird=3\n`).toString('base64')
    const wrapped = (base64.match(/.{1,64}/g) ?? []).join('\n')
    for (const text of [wrapped, JSON.stringify(wrapped), `/path/${base64}`, `x${base64}`]) {
      const covered = redactor.redact(text).text
      for (const line of wrapped.split('\n').slice(0, 2)) expect(covered).not.toContain(line)
    }
    const long = Buffer.from(
      `${'some text that is no secret. '.repeat(400)}${key}${' more text'.repeat(300)}`,
    ).toString('base64')
    const covered = redactor.redact(long).text
    expect(covered.length).toBeGreaterThan(long.length * 0.9)
    expect(Buffer.from(covered.replaceAll(PLACEHOLDER, ''), 'base64').toString('latin1')).not.toContain(key.slice(10))
  })
})

describe('long blobs', () => {
  it('of base64url hold no key, though every anchor turns up in them by chance', () => {
    const hashes = Array.from({ length: 150_000 }, (_, n) => createHash('sha256').update(String(n)).digest())
    const blob = Buffer.concat(hashes).toString('base64url')
    expect(blob).toMatch(/sk-|hf_|gh[opsu]_/)
    expect(
      redactor.find(`"encrypted_content":"${blob}"`).map(({ start, end }) => blob.slice(start - 21, end - 21)),
    ).toEqual([])
    const key = ['sk-', 'ant-api03-', noise(40, ALNUM, 4712)].join('')
    for (const glued of [`KEY_${key}`, `MY-LONG-SERVICE-NAME-${key}`, `"${blob.slice(0, 100)}" ${key}`])
      expect(redactor.redact(glued).text).not.toContain(key)
  })
})

describe('hostile texts', () => {
  const million = 1_000_000
  const texts: Readonly<Record<string, string>> = {
    'one long word': 'a'.repeat(million),
    'one long base64 run and the end of a key': `"${'A'.repeat(million)}"\\n-----END ${'PRIVATE KEY'}-----`,
    'a key that never ends': `-----BEGIN ${'PRIVATE KEY'}-----${'A+/ \n'.repeat(million / 5)}`,
    'many beginnings of keys': `-----BEGIN ${'PRIVATE KEY'}-----`.repeat(20_000),
    'many ends of keys': `${'Q'.repeat(30)}\n-----END ${'PRIVATE KEY'}-----`.repeat(10_000),
    'many open quotes': 'password: \\\\"'.repeat(60_000),
    'many names': 'secret_token_key='.repeat(60_000),
    'many schemes': 'a://b:'.repeat(150_000),
    'many at signs': '://u:p@'.repeat(120_000),
    'many anchors': 'sk-eyJghp_AKIA'.repeat(70_000),
    backslashes: `"token": ${'\\'.repeat(million)}`,
    'nested base64': Buffer.from(Buffer.from('word '.repeat(150_000)).toString('base64')).toString('base64'),
    'many secrets': `ghp_${'a1B2'.repeat(9)} `.repeat(25_000),
  }
  for (const [name, text] of Object.entries(texts)) {
    it(`are gone through in time: ${name}`, () => {
      const once = redactor.redact(text).text
      expect(redactor.redact(once).text).toBe(once)
    })
  }
})

describe('what is no secret', () => {
  const harmless: readonly string[] = [
    `sha256:${'ab12'.repeat(16)}`,
    'd54078e9-30b8-4d1e-9c1e-6f38bee6542d',
    '"session_token_count": 12, "max_tokens": 4096, "input_tokens":15423',
    '{"tool_use_id":"toolu_01A09q90qw90lq917835lq9","id":"msg_01XFDUDYJgAACzvnptvVoYEL","requestId":"req_011CSHoEeqs5C35K2UUqR7Fy"}',
    `"signature":"${randomBytes(400).toString('base64')}"`,
    `"data":"${Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(9000)]).toString('base64')}"`,
    `"encrypted_content":"${randomBytes(800).toString('base64url')}"`,
    `"integrity": "sha512-${randomBytes(64).toString('base64')}"`,
    'password: string; const token = getToken(); secret: config.secret, apiKey: process.env.API_KEY',
    'PASSWORD=$DB_PASSWORD TOKEN=$(get) API_KEY=<your-api-key> SECRET={{ secret }} KEY=xxxxxxxxxxxxxxxx',
    'Authorization: Bearer $TOKEN',
    'Authorization: Bearer <token>',
    'the authorization: users who are signed in may read',
    '<input type="password" name="password" placeholder="Enter your password">',
    'function checkPassword(password: string, passwordHash: string) {}',
    'git commit 3f786850e387550fdab836ed7e6dc881de23001b',
    'class="sk-folding-cube sk-spinner-wave"',
    'https://example.org/path?x=1 http://localhost:3000/a@b',
    'if (text.includes("-----BEGIN RSA PRIVATE KEY-----")) warn()',
    '/home/someone/projects/reprise/daemon/secrets/find-assignments.ts',
    'import { createHash } from "node:crypto"',
    '"cache_key": "0f343b0931126a20f133d67c2b018a3b", "next_token": "eyJvZmZzZXQiOjEwMH0abcdefgh123"',
    'key: "ArrowDown" keyCode=40 sortKey: createdAt',
    '"resolved": "https://registry.example/lodash/-/lodash-4.17.21.tgz"',
    'tokenizer=cl100k_base_v2 tokenizer_config',
    'Set `api_key` in the settings, then restart',
    '"pass": 120034, "passed": 12, bypass=true1234',
  ]
  for (const text of harmless) {
    it(text.slice(0, 60), () => {
      expect(redactor.find(text).map(({ start, end, family }) => `${family} ${text.slice(start, end)}`)).toEqual([])
    })
  }
})

describe('compared with secretlint', () => {
  const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: preset }] }
  const found = async (text: string) => {
    const { messages } = await lintSource({
      source: { filePath: '/x.txt', content: text, ext: '.txt', contentType: 'text' },
      options: { config, locale: 'en', maskSecrets: false, noPhysicFilePath: true },
    })
    return messages.map(({ range, message }) => ({ range, message }))
  }

  it('covers everything its recommended rules find', async () => {
    const more = [
      `ops_eyJ${noise(300, ALNUM, 50)}`,
      `lin_api_${noise(40, ALNUM, 51)}`,
      `shpat_${noise(32, '0123456789abcdef', 52)}`,
      `mongodb://admin:${noise(12, ALNUM, 53)}@cluster0.example.net/test`,
      `mysql://root:${noise(12, ALNUM, 54)}@db.example.net:3306/x`,
      `https://someone:${noise(20, ALNUM, 55)}@git.example.net/x.git`,
      `{"type":"service_account","private_key_id":"${noise(40, '0123456789abcdef', 56)}","private_key":"${(planted.find(({ family }) => family === 'private-key')?.text ?? '').replaceAll('\n', '\\n')}","client_email":"x@y.iam.gserviceaccount.com","client_id":"1"}`,
      `//packages.example/:_authToken=npm_${noise(36, ALNUM, 57)}`,
      `AWS_SECRET_ACCESS_KEY=${noise(40, ALNUM, 58)}`,
      `"SecretAccessKey": "${noise(40, ALNUM, 59)}"`,
      `xoxp-${noise(12, '0123456789', 60)}-${noise(12, '0123456789', 61)}-${noise(12, '0123456789', 62)}-${noise(32, ALNUM, 63)}`,
      `gho_${noise(36, ALNUM, 64)} ghu_${noise(36, ALNUM, 65)} ghs_${noise(36, ALNUM, 66)} ghr_${noise(36, ALNUM, 67)}`,
    ]
    let compared = 0
    for (const text of [...planted.map((one) => one.text), ...more]) {
      const ours = redactor.find(text)
      for (const { range, message } of await found(text)) {
        compared += 1
        const overlaps = ours.some(({ start, end }) => start < range[1] && range[0] < end)
        expect(overlaps, `${message} in ${text.slice(0, 40)}`).toBe(true)
      }
      // And nothing is left for it in what we give out.
      const covered = redactor.redact(text).text
      const left = (await found(covered)).filter(({ range }) => !covered.slice(range[0], range[1]).includes('‹secret:'))
      expect(left.map(({ message }) => message)).toEqual([])
    }
    expect(compared).toBeGreaterThan(20)
  })
})

describe('JSON values', () => {
  it('judges a text by the name it stands under', () => {
    const value = {
      env: { DB_PASSWORD: 'hunter2-Again', PLAIN: 'hello' },
      settings: { 'env.API_TOKEN': { value: noise(24, ALNUM, 70) } },
      list: ['x'],
    }
    expect(findInJson(value, redactor)).toEqual([
      { where: 'env.DB_PASSWORD', family: 'password' },
      { where: 'settings.env.API_TOKEN.value', family: 'token' },
    ])
    const covered = redactJson(value, redactor)
    expect(covered.value.env.PLAIN).toBe('hello')
    expect(covered.value.env.DB_PASSWORD).toMatch(/^‹secret:password:/)
    expect(redactJson(covered.value, redactor).findings).toEqual([])
    const clean = { a: 1 }
    expect(redactJson(clean, redactor).value).toBe(clean)
  })

  it('knows which names promise a secret', () => {
    expect(
      [
        'AWS_SECRET_ACCESS_KEY',
        'apiKey',
        'x-api-key',
        'STRIPE_KEY',
        'dbPassword',
        'clientSecret',
        'authToken',
        'Set-Cookie',
      ].map(kindOfName),
    ).not.toContain(null)
    expect(
      [
        'max_tokens',
        'cache_key',
        'keyCode',
        'bypass',
        'compass',
        'nextToken',
        'tokenizer',
        'aws_access_key_id',
        'publicKey',
        'foreign_key',
      ].map(kindOfName),
    ).toEqual(Array(10).fill(null))
  })
})

describe('a key that a line end cuts', () => {
  const keys = planted.filter(({ splits }) => splits)

  it.each(keys.map((one) => [one.family, one.secret] as const))(
    '%s is covered on both lines, raw and escaped',
    (_, secret) => {
      const at = Math.ceil(secret.length / 2)
      for (const end of ['\n', '\r\n', '\n    ']) {
        const text = `start ${secret.slice(0, at)}${end}${secret.slice(at)} and more`
        for (const form of [text, JSON.stringify({ text }), JSON.stringify({ nested: JSON.stringify({ text }) })]) {
          const covered = redactor.redact(form).text
          expect(covered, form).not.toContain(secret.slice(at))
          expect(covered).toContain('and more')
          expect(covered.split('\n').length).toBe(form.split('\n').length)
        }
      }
      // The same key, whole or cut, is recognisably one.
      const [whole] = redactor.redact(`a ${secret} b`).findings
      const [cut] = redactor.redact(`a ${secret.slice(0, at)}\n${secret.slice(at)} b`).findings
      expect(cut?.placeholder).toBe(whole?.placeholder)
    },
  )

  it('ends where the next line is something else', () => {
    const key = keys[0]?.secret ?? ''
    for (const next of [
      'DEBUG=1',
      'PORT: 8080',
      'src/app2.ts:12',
      'export const useAuth2 = 1',
      'and then go on',
      'v2',
      `${keys[3]?.secret}`,
    ]) {
      const covered = redactor.redact(`KEY ${key}\n${next}\nlast`).text.split('\n')
      expect(covered[1], next).toBe(redactor.redact(next).text)
      expect(covered[2]).toBe('last')
    }
  })
})
