import { createHmac } from 'node:crypto'
import path from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { resolveClaudeCode } from '../../daemon/runtimes/claude-code/resolve/index.ts'
import { type LaidOddTree, layOddTree } from '../kit/claude-code-odd-trees.ts'

let laid: LaidOddTree
afterEach(() => laid.remove())

/** How a server definition refers to a variable. */
const reference = (name: string) => ['$', '{', name, '}'].join('')

/** Made-up values that look like nothing a detector knows: only the place says that they are secrets. */
const secret = (n: number) => `plain-looking-value-${n}-of-no-family`

it('B24: values that are secrets by nature appear as keyed digests only', () => {
  laid = layOddTree({
    files: {
      'home/.claude/settings.json': JSON.stringify({
        env: { SOME_VALUE: secret(1) },
        apiToken: secret(2),
        headers: { 'x-a': secret(3) },
      }),
      'home/.claude/.credentials.json': JSON.stringify({ token: secret(4) }),
      'home/.claude.json': JSON.stringify({
        primaryApiKey: secret(5),
        oauthAccount: { id: secret(6) },
        customApiKeyResponses: { approved: [secret(7)] },
        userID: secret(8),
        mcpServers: {
          s: {
            type: 'http',
            url: `https://user:${secret(9)}@127.0.0.1/mcp?key=${secret(10)}`,
            headers: { Authorization: secret(11) },
          },
        },
      }),
      'ws/.mcp.json': JSON.stringify({
        mcpServers: {
          t: {
            command: 'npx',
            args: ['-y', 'some-server@1.2.3'],
            env: { KEY: secret(12), REF: reference('OTHER_VALUE') },
          },
        },
      }),
    },
    flags: [
      '--settings',
      JSON.stringify({ env: { FLAG_VALUE: secret(13) } }),
      '--mcp-config',
      JSON.stringify({ mcpServers: { u: { command: 'u', env: { K: secret(14) } } } }),
    ],
  })
  const keyed = (value: string) => `hmac:${createHmac('sha256', 'test key').update(value).digest('hex').slice(0, 16)}`
  const request = {
    home: path.join(laid.home, '.claude'),
    cwd: laid.cwd,
    flags: laid.flags,
    version: '2.1.332',
    surroundings: {
      platform: 'linux' as const,
      userHome: laid.home,
      env: { ANTHROPIC_API_KEY: secret(15), OTHER_VALUE: secret(16), UNRELATED: secret(17) },
      systemRoot: path.join(laid.root, 'none'),
      now: () => new Date(0),
    },
  }
  const { body } = resolveClaudeCode({ ...request, keyed })
  const text = JSON.stringify(body)
  for (let n = 1; n <= 17; n += 1) expect([n, text.includes(secret(n))]).toEqual([n, false])
  expect(body.settings['env.SOME_VALUE']?.value_ref).toBe(`secret:settings:${keyed(secret(1))}`)
  expect(body.settings['state.primaryApiKey']?.value_ref).toBe(`secret:settings:${keyed(secret(5))}`)
  expect(body.execution.environment).toContainEqual({
    name: 'ANTHROPIC_API_KEY',
    digest: keyed(secret(15)),
    source: 'process',
  })
  // A variable that a server refers to counts, one that nothing refers to does not.
  expect(body.execution.environment.map(({ name }) => name)).toContain('OTHER_VALUE')
  expect(body.execution.environment.map(({ name }) => name)).not.toContain('UNRELATED')
  expect(body.capabilities.mcp_servers.find((server) => server.name === 't')?.package_version).toBe('1.2.3')
  const credentials = body.instructions.sources.find((source) => source.path?.endsWith('.credentials.json'))
  expect(credentials).toMatchObject({ classification: 'secret', digest: null, bytes: null })
  // Without a key to digest with, nothing of the value is left, not even whether two are equal.
  expect(resolveClaudeCode(request).body.settings['env.SOME_VALUE']?.value_ref).toBe('secret:settings:hidden')
})

it('B24: a secret value that changes shows, though nobody can read it', () => {
  const digestWith = (value: string) => {
    laid = layOddTree({
      files: { 'ws/.mcp.json': JSON.stringify({ mcpServers: { t: { command: 't', env: { KEY: value } } } }) },
    })
    const surroundings = {
      platform: 'linux' as const,
      userHome: laid.home,
      env: {},
      systemRoot: path.join(laid.root, 'none'),
      now: () => new Date(0),
    }
    const keyed = (text: string) => createHmac('sha256', 'k').update(text).digest('hex')
    const digest = resolveClaudeCode({
      home: path.join(laid.home, '.claude'),
      cwd: laid.cwd,
      flags: [],
      version: null,
      surroundings,
      keyed,
    }).body.capabilities.mcp_servers[0]?.digest
    laid.remove()
    return digest
  }
  expect(digestWith('one')).not.toBe(digestWith('two'))
  expect(digestWith('one')).toBe(digestWith('one'))
})
