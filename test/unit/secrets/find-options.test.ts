import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../../daemon/secrets/create-redactor.ts'
import { redactJson } from '../../../daemon/secrets/redact-json.ts'
import { ALNUM, noise } from '../../kit/secrets.ts'

const redactor = createRedactor(Buffer.alloc(32, 7))
const HEX = '0123456789abcdef'
const keys = [noise(40, ALNUM, 401), noise(32, HEX, 402), 'hunter2-Again!', noise(20, ALNUM, 403)]
const digestOf = (text: string) => /:([0-9a-f]{8})›/.exec(text)?.[1]

/** `X` stands for the secret. */
const lines = [
  'serve --token X',
  'serve --token=X --port 80',
  'serve --token "X" now',
  "serve --password 'X'",
  'serve --password=X',
  'serve --secret X',
  'serve --api-key X',
  'serve --apiKey X',
  'serve --api_key=X',
  'serve --pass X',
  'serve --auth-token X && echo done',
  'tool -token X',
  'docker login -u me --password X registry.example',
  'docker login -u me -p X',
  'mysql -u root -pX shop',
  'mysqldump -h db -pX shop > out.sql',
  'sshpass -p X ssh me@host',
  "sshpass -p 'X' ssh me@host",
  'sshpass -pX ssh me@host',
  'redis-cli -h cache -a X ping',
  'curl -u user:X https://example.org',
  'curl -s --user "user:X" https://example.org',
  'echo "X" | sudo -S apt-get update',
  "echo 'X' | sudo -kS ls",
  'echo X | sudo -S ls',
  'sudo -S ls <<< "X"',
  'zip -P X out.zip a',
  'ldapsearch -D cn=admin -w X',
  'The password is X and it works',
  'the password for staging is X.',
  'password: X',
  '{"command":"npx","args":["-y","server","--token","X"]}',
  '{"command":"npx","args":["--password", "X"]}',
  '{"command":"npx","args":[\n  "--secret",\n  "X"\n]}',
  '{"command":"npx","args":["--token=X"]}',
  'args = ["-y", "server", "--token", "X"]',
  "args = ['--password', 'X']",
  'args = [\n  "--api-key",\n  "X",\n]',
  'args:\n  - --token\n  - X\n',
  'args:\n  - "--token"\n  - "X"\n',
]

describe('a secret given to a program', () => {
  it.each(lines)('%s', (line) => {
    for (const key of keys) {
      const text = line.replace('X', () => key)
      for (const form of [
        text,
        JSON.stringify({ text: `first\n${text}\nlast` }),
        JSON.stringify({ nested: JSON.stringify({ text: `first\n${text}` }) }),
      ]) {
        const covered = redactor.redact(form).text
        expect(covered, form).not.toContain(key)
        expect(redactor.redact(covered).text).toBe(covered)
        expect(Buffer.from(redactor.redactBytes(Buffer.from(form)).bytes).toString()).toBe(covered)
      }
      // Nothing but the key is covered.
      const [before = '', after = ''] = line.split('X')
      const covered = redactor.redact(text).text
      expect(covered.startsWith(before) && covered.endsWith(after), covered).toBe(true)
    }
  })

  it.each(['the token is X', 'API key: X', 'the API key is X', 'my secret is X'])('in a sentence: %s', (line) => {
    for (const key of [keys[0] ?? '', keys[1] ?? ''])
      expect(redactor.redact(line.replace('X', key)).text).not.toContain(key)
  })

  it('may be a word where it can be nothing else', () => {
    for (const line of [
      '["--password","swordfish"]',
      'mysql -pswordfish',
      'sshpass -p swordfish ssh',
      'x --password=swordfish',
    ])
      expect(redactor.redact(line).text).not.toContain('swordfish')
  })
})

describe('lists of arguments in JSON', () => {
  it('an item after a flag, one with its flag, and those of a known program', () => {
    const [key = '', , word = ''] = keys
    for (const args of [
      ['--token', key],
      ['--api-key', word],
      ['--password', 'swordfish'],
      [`--secret=${key}`],
      ['-y', 'server', '--token', key, '--verbose'],
    ]) {
      const { value, findings } = redactJson({ mcp: [{ command: 'npx', args }] }, redactor)
      expect(findings.length).toBeGreaterThan(0)
      const text = JSON.stringify(value)
      for (const secret of [key, word, 'swordfish']) expect(text).not.toContain(secret)
      expect(redactJson(value, redactor).findings).toEqual([])
    }
    for (const [command, ...args] of [
      ['sshpass', '-p', 'swordfish', 'ssh'],
      ['mysql', '-u', 'root', '-pswordfish'],
      ['redis-cli', '-a', 'swordfish'],
      ['curl', '-u', 'me:swordfish'],
    ])
      for (const value of [{ command, args }, [command, ...args]])
        expect(JSON.stringify(redactJson(value, redactor).value), command).not.toContain('swordfish')
  })

  it('leave ordinary arguments', () => {
    for (const args of [
      ['--token', '$TOKEN', '--verbose'],
      ['--token', '--verbose'],
      ['--password', `$\{PASSWORD}`],
      ['--max-tokens', '4096'],
      ['--key', './server.key'],
      ['--token-file', '/run/token1'],
      ['-p', '8080:80'],
      ['--password-stdin', 'registry'],
    ])
      expect(redactJson({ command: 'docker', args }, redactor).findings, args.join(' ')).toEqual([])
  })
})

describe('addresses of MCP servers', () => {
  const key = noise(32, ALNUM, 404)
  it('that are keys', () => {
    for (const url of [
      `https://mcp.example.com/s/${key}/sse`,
      `https://host.example/api/mcp/${key}`,
      `https://mcp.example/x?k=${key}`,
    ]) {
      expect(redactor.redact(`url = "${url}"`).text).not.toContain(key)
      expect(redactor.redact(JSON.stringify({ url })).text).not.toContain(key)
    }
    const plain = `https://host.example/s/${key}/sse`
    expect(redactor.redact(`[mcp_servers.x]\nurl = "${plain}"`).text).not.toContain(key)
    const covered = redactJson({ mcpServers: { x: { url: plain } } }, redactor).value.mcpServers.x.url
    expect(covered).toMatch(/^https:\/\/host\.example\/s\/‹secret:url-key:[0-9a-f]{8}›\/sse$/)
    expect(redactJson({ mcpServers: { x: { url: covered } } }, redactor).findings).toEqual([])
  })
  it('that are none', () => {
    for (const url of [
      'https://mcp.example.com/weather-server-2024-preview/sse',
      'https://github.com/modelcontextprotocol/servers/tree/main/src/filesystem2',
      `https://example.org/commit/${noise(40, HEX, 405)}`,
      'http://127.0.0.1:3845/mcp?session=local',
    ])
      expect(redactor.find(url), url).toEqual([])
  })
})

describe('the same key has the same placeholder', () => {
  it('in a name of a file, at the end of a sentence, beside a name', () => {
    const key = ['ghp', noise(36, ALNUM, 406)].join('_')
    const lab = ['glpat', noise(20, ALNUM, 407)].join('-')
    for (const secret of [key, lab]) {
      const wanted = redactor.redact(secret).text
      for (const text of [
        `${secret}.txt`,
        `/x/${secret}.tar.gz`,
        `It is ${secret}.`,
        `TOKEN=${secret}`,
        `--token ${secret}.`,
        `password: "${secret}.txt"`,
      ])
        expect(redactor.redact(text).text, text).toContain(wanted)
    }
    expect(redactor.redact(`${key}-old.txt`).text).toContain(redactor.redact(key).text)
    const plain = noise(40, ALNUM, 408)
    const digests = [`--token ${plain}`, `["--token","${plain}"]`, `TOKEN=${plain}`, `"apiKey": "${plain}"`].map(
      (text) => digestOf(redactor.redact(text).text),
    )
    expect(new Set(digests).size).toBe(1)
    expect(digestOf(JSON.stringify(redactJson(['--token', plain], redactor).value))).toBe(digests[0])
  })
})

describe('ordinary words', () => {
  it.each([
    'use --token to give a token, or --password to be asked',
    'The --token flag is required; --secret option too',
    `pass --password <password> or --token $TOKEN or --api-key "$\{KEY}"`,
    '--password=PASSWORD --token=<token> --secret=$(cat x) --api-key=YOUR_API_KEY',
    "parser.add_argument('--token', 'access_token', help='the token')",
    ".option('--password <password>', 'Password to log in')",
    "@click.option('--token', 'token_value')",
    'docker login --password-stdin registry',
    'docker build --secret id=npm1,src=/root/.npmrc .',
    '--max-tokens 4096 --token-file /run/token1',
    'mkdir -p src/app2 && cp -a a1b2c3d4 dest && git commit -a',
    'docker run -p 8080:80 image2',
    'ssh -p 2222 host',
    'mysql is a database.\nssh -p2222 host',
    'mysql -u root -p shop',
    'the password is required',
    'the password is 12 characters long',
    'the token is base64-encoded and was sha256-hashed',
    'the token is OAuth2 and the secret is 32-byte',
    'password is stored in config2.json',
    'the password is at least 8-64 characters',
    'set the password to something',
    'the token was 15min old',
    'The key is user_1 and key: ArrowDown',
    'this secret is kept in src/vault1.ts',
    'a secret to everybody',
    'echo "done" | sudo tee /etc/x2',
    'the token is step-1',
  ])('%s', (text) => {
    const forms = [text, JSON.stringify({ text })]
    for (const form of forms)
      expect(redactor.find(form).map(({ start, end, family }) => `${family} ${form.slice(start, end)}`)).toEqual([])
  })
})

describe('many flags', () => {
  it.each([
    ['-p ', 300_000],
    ['mysql -p ', 100_000],
    ['--token ', 120_000],
    ['--token "', 100_000],
    ['"--token", ', 90_000],
    ['sudo -S ', 100_000],
    ['echo a | sudo ', 70_000],
    ['-', 1_000_000],
    ['-a', 500_000],
    ['mcp://', 150_000],
    ['password for a is ', 50_000],
  ] as const)('are gone through in time: %s', (text, times) => {
    const once = redactor.redact(text.repeat(times)).text
    expect(redactor.redact(once).text).toBe(once)
  })
})
