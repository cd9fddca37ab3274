import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { manifestBodySchema } from '../../../../contract/index.ts'
import { readSessionKey } from '../../../../daemon/runtimes/openclaw/resolve/session-key.ts'
import { parseStart } from '../../../../daemon/runtimes/openclaw/resolve/start.ts'
import { layOpenClawHome, type OpenClawHome, type ResolveChoice, resolvedPieces } from '../../../kit/openclaw-tree.ts'

let home: OpenClawHome
beforeEach(() => {
  home = layOpenClawHome()
})
afterEach(() => home.remove())

const configure = (config: unknown): void => home.write('.openclaw/openclaw.json', JSON.stringify(config))
const resolve = (choice: Partial<ResolveChoice> = {}) => {
  const resolution = home.resolve(choice)
  expect(manifestBodySchema.safeParse(resolution.body).error).toBeUndefined()
  return resolution
}
const agentOf = (choice: Partial<ResolveChoice> = {}) => resolve(choice).body.execution.agent

describe('start flags', () => {
  it('knows the surface, values after a space or an equals sign, and what is said', () => {
    expect(parseStart(['agent', '--message', 'exec', '--agent=ops']).surface).toBe('gateway')
    expect(parseStart(['agent', 'exec', 'do it', '--cwd', '/x']).surface).toBe('exec')
    expect(parseStart(['--local', '-m', '--agent']).value('--agent')).toBeNull()
    expect(parseStart(['--agent=ops']).value('--agent')).toBe('ops')
  })

  it('keeps the flags without what was said to the agent, and names flags it does not know', () => {
    configure({})
    const { body } = resolve({
      flags: ['agent', '--local', '--message', 'my secret plan', '--future', '--thinking', 'high'],
    })
    expect(body.execution.flags).toEqual(['agent', '--local', '--message', '--future', '--thinking', 'high'])
    expect(JSON.stringify(body)).not.toContain('secret plan')
    expect(body.unknown.some((one) => one.why.includes('--future'))).toBe(true)
    expect(body.execution.reasoning).toBe('high')
  })
})

describe('session keys', () => {
  it.each([
    ['agent:main:main', 'main'],
    ['agent:main:explicit:big', 'explicit'],
    ['agent:main:telegram:direct:5', 'direct'],
    ['agent:main:dm:5', 'direct'],
    ['agent:main:telegram:work:group:5', 'group'],
    ['agent:main:telegram:group:42:topic:7', 'group'],
    ['AGENT:Main:Discord:CHANNEL:77:thread:9', 'channel'],
    ['agent:main:cron:job:run:1', 'cron'],
    ['agent:main:subagent:a:subagent:b', 'subagent'],
    ['subagent:a', 'subagent'],
    ['agent:main:120@g.us', 'group'],
    ['agent:main:something', 'other'],
  ])('%s is %s', (key, kind) => {
    expect(readSessionKey(key, 'main').kind).toBe(kind)
  })
})

describe('which agent answers', () => {
  const fleet = { agents: { entries: { main: {}, Ops: { workspace: '~/ops' }, lab: {} }, ownership: 'explicit' } }

  it('takes the flag, then the key, then the directory, and says which', () => {
    configure(fleet)
    mkdirSync(path.join(home.home, 'ops/deep'), { recursive: true })
    const cwd = path.join(home.home, 'ops')
    expect(agentOf({ cwd, flags: ['--local', '--agent', 'lab'] })).toMatchObject({
      id: 'lab',
      chosen_by: '--agent names it',
    })
    expect(agentOf({ cwd, flags: ['--local', '--session-key', 'agent:main:x'] })).toMatchObject({ id: 'main' })
    expect(agentOf({ cwd })).toMatchObject({ id: 'ops', chosen_by: 'the directory is its workspace' })
    expect(agentOf({ cwd: path.join(cwd, 'deep') })).toMatchObject({
      id: 'ops',
      chosen_by: 'the directory lies in its workspace',
    })
  })

  it('refuses to guess: the first entry is nobody’s default', () => {
    configure(fleet)
    const { body, order, problems } = resolve({ cwd: home.home })
    expect(body.execution.agent).toBeNull()
    expect(order).toEqual([])
    expect(problems.some((one) => one.message.includes('none owns this start'))).toBe(true)
    configure({ agents: { ...fleet.agents, defaults: { systemAgent: { agentId: 'lab' } } } })
    expect(agentOf({ cwd: home.home })).toMatchObject({ id: 'lab' })
    expect(agentOf({ cwd: home.home, flags: ['--agent', 'nobody'] })).toBeNull()
  })

  it('gives every agent a domain of its own and names what two of them share', () => {
    configure({
      agents: {
        entries: { a: { workspace: '~/one' }, b: { workspace: '~/one' }, c: {} },
        ownership: 'explicit',
        defaults: { workspace: '~/fleet' },
      },
    })
    const { agents } = resolve({ flags: ['--agent', 'c'] }).body.capabilities
    expect(agents.map((one) => [one.name, one.status, one.workspace, one.shares])).toEqual([
      ['a', 'disabled', path.join(home.home, 'one'), [{ agent: 'b', what: 'workspace' }]],
      ['b', 'disabled', path.join(home.home, 'one'), [{ agent: 'a', what: 'workspace' }]],
      ['c', 'active', path.join(home.home, 'fleet/c'), []],
    ])
    expect(new Set(agents.map((one) => one.session_store)).size).toBe(3)
  })

  it('reads the older list and its marked default', () => {
    configure({ agents: { list: [{ id: 'main', default: true }, { id: 'ops' }] } })
    const { body, problems } = resolve({ cwd: home.home })
    expect(body.execution.agent).toMatchObject({ id: 'main', workspace: path.join(home.state, 'workspace') })
    expect(problems.map((one) => one.message)).toContain(
      'agents.list was read as agents.entries; the file still has the older form',
    )
    expect(agentOf({ flags: ['--agent', 'ops'] })).toMatchObject({ workspace: path.join(home.state, 'workspace-ops') })
  })

  it.each([
    ['several agents without an owner', { agents: { entries: { a: {}, b: {} } } }, 'ownership'],
    ['two marked agents', { agents: { entries: { a: { default: true }, b: { default: true } } } }, 'at most one'],
    ['an older list with odd names', { agents: { list: [{ id: 'My Agent' }] } }, 'list is no key'],
    ['both forms of the roster', { agents: { list: [{ id: 'a' }], entries: { b: {} } } }, 'list is no key'],
    ['a binding to nobody', { bindings: [{ agentId: 'x', match: { channel: 'telegram' } }] }, 'there is no agent x'],
    ['a limit of nothing', { agents: { defaults: { bootstrapMaxChars: 0 } } }, 'above 0'],
    [
      'both lists of a sandbox',
      { tools: { sandbox: { tools: { allow: ['read'], alsoAllow: ['write'] } } } },
      'alsoAllow',
    ],
    ['an older form of settings', { agents: { defaults: { memorySearch: {} } } }, 'memorySearch'],
  ])('starts no run with %s', (_, config, why) => {
    configure(config)
    expect(resolve().body.execution.refused).toContain(why)
  })

  it('follows OPENCLAW_WORKSPACE_DIR, profiles and OPENCLAW_HOME', () => {
    configure({})
    const env = { OPENCLAW_WORKSPACE_DIR: path.join(home.home, 'w') }
    expect(agentOf({ env })).toMatchObject({ workspace: path.join(home.home, 'w') })
    expect(agentOf({ flags: ['--local', '--profile', 'work'] })).toMatchObject({
      workspace: path.join(home.home, '.openclaw-work/workspace'),
    })
    configure({ agents: { defaults: { workspace: '~/here' } } })
    expect(agentOf({ env: { ...env, OPENCLAW_HOME: '/other' } })).toMatchObject({ workspace: '/other/here' })
  })
})

describe('values and variables', () => {
  it('hides secrets by nature, by variable and inside lists', () => {
    configure({
      gateway: { auth: { token: 'gateway-token-value' } },
      models: {
        providers: { lab: { baseUrl: ['$', '{LAB_API_KEY}/v1'].join(''), headers: { 'x-plain': 'header-value' } } },
      },
      bindings: [{ agentId: 'main', match: { channel: 'telegram' }, token: 'list-token-value' }],
      env: { vars: { LAB: 'variable-value' } },
    })
    const { body } = resolve({ env: { LAB_API_KEY: 'key-value' } })
    for (const value of ['gateway-token-value', 'key-value', 'header-value', 'list-token-value', 'variable-value'])
      expect(JSON.stringify(body), value).not.toContain(value)
    expect(body.execution.environment.map((one) => [one.name, one.source])).toEqual([
      ['LAB', `${path.join(home.state, 'openclaw.json')}#env.vars.LAB`],
      ['LAB_API_KEY', 'process'],
    ])
  })

  it('lets nothing override what is set, and drops what a project may not set', () => {
    configure({ env: { vars: { ONE: 'config', BLANK: 'config' } } })
    home.write('.openclaw/.env', 'ONE="state"\nTWO=state # note\nexport THREE=\'state\'\n')
    home.write('.openclaw/workspace/.env', 'TWO=cwd\nOPENAI_API_KEY=x\nLAB_BASE_URL=x\n')
    const { body, problems } = resolve({ env: { THREE: 'process', BLANK: ' ' } })
    const from = Object.fromEntries(body.execution.environment.map((one) => [one.name, path.basename(one.source)]))
    expect(from).toEqual({ ONE: '.env', TWO: '.env', BLANK: 'openclaw.json#env.vars.BLANK' })
    expect(body.execution.environment.find((one) => one.name === 'TWO')?.source).toBe(
      path.join(home.state, 'workspace/.env'),
    )
    expect(problems.filter((one) => one.message.includes('was dropped'))).toHaveLength(2)
    // A gateway may have been started anywhere.
    const gateway = resolve({ flags: [] }).body
    expect(gateway.execution.environment.find((one) => one.name === 'TWO')?.source).toBe(path.join(home.state, '.env'))
  })

  it('joins lists of includes and names every file', () => {
    home.write('.openclaw/base.json5', '{ deny: ["exec"] }')
    home.write('.openclaw/openclaw.json', '{ tools: { $include: "./base.json5", deny: ["write"], } } // note')
    const { body } = resolve()
    expect(body.settings['tools.deny']).toMatchObject({
      value: ['exec', 'write'],
      rule: 'union',
      merged_from: [path.join(home.state, 'base.json5'), path.join(home.state, 'openclaw.json')],
    })
  })

  it('says when there is no configuration, and what a broken one stops', () => {
    expect(resolve().body.unknown.some((one) => one.why.includes('does not exist: everything is a default'))).toBe(true)
    home.write('.openclaw/workspace/AGENTS.md', 'A')
    configure({ nope: 1 })
    const { body, order } = resolve()
    expect(order).toEqual([])
    expect(body.instructions.sources.find((one) => one.path?.endsWith('AGENTS.md'))).toMatchObject({
      status: 'not_loaded',
      reason: expect.stringContaining('nope'),
    })
  })
})

describe('instructions', () => {
  it('adds the files of the hook through the gateway only', () => {
    configure({
      agents: { defaults: { skipBootstrap: true } },
      hooks: { internal: { entries: { 'bootstrap-extra-files': { paths: ['pkg/*/AGENTS.md', 'pkg/README.md'] } } } },
    })
    for (const file of ['AGENTS.md', 'SOUL.md', 'IDENTITY.md', 'pkg/b/AGENTS.md', 'pkg/a/AGENTS.md', 'pkg/README.md'])
      home.write(`.openclaw/workspace/${file}`, file)
    expect(resolvedPieces(resolve({ flags: [] })).map((one) => one.text)).toEqual([
      'AGENTS.md',
      'pkg/a/AGENTS.md',
      'pkg/b/AGENTS.md',
      'SOUL.md',
      'IDENTITY.md',
    ])
    const local = resolve()
    expect(local.order).toHaveLength(3)
    expect(local.body.instructions.sources.find((one) => one.path?.endsWith('pkg/a/AGENTS.md'))).toMatchObject({
      status: 'not_loaded',
      reason: expect.stringContaining('gateway'),
    })
  })

  it('shows blanks, line ends and marks as they went over the wire of 2026.9.6', () => {
    configure({ agents: { defaults: { skipBootstrap: true } } })
    const texts: Readonly<Record<string, string>> = {
      'AGENTS.md': 'A1  \nA2\t\n\n\n\n\nA3\r\nA4\r\n\r\n\r\n\r\nA5\n  in\n \n \n \nA6 \n\n',
      'SOUL.md': '\ufeffS1\n\n\n',
      'IDENTITY.md': '   \n\n',
      'USER.md': '  U1\nlone \r cr\n',
    }
    for (const [name, text] of Object.entries(texts)) home.write(`.openclaw/workspace/${name}`, text)
    expect(resolvedPieces(resolve()).map((one) => one.text)).toEqual([
      'A1  \nA2\t\n\nA3\nA4\n\n\n\nA5\n  in\n \n \n \nA6',
      '\ufeffS1',
      '  U1\nlone \r cr',
    ])
  })

  it('keeps the files of the workspace when tools run elsewhere', () => {
    configure({ agents: { defaults: { skipBootstrap: true, cwd: '~/repo' } } })
    home.write('repo/AGENTS.md', 'repo')
    home.write('.openclaw/workspace/AGENTS.md', 'own')
    const resolution = resolve()
    expect(resolvedPieces(resolution)[0]?.text).toBe('own')
    expect(resolution.body.execution.cwd).toBe(path.join(home.home, 'repo'))
    expect(
      resolution.body.instructions.sources.find((one) => one.path === path.join(home.home, 'repo/AGENTS.md'))?.status,
    ).toBe('not_loaded')
  })

  it('lists notes of days and of people, and changes the digest of the workspace with any of them', () => {
    configure({ agents: { defaults: { skipBootstrap: true } } })
    home.write('.openclaw/workspace/MEMORY.md', 'M')
    home.write('.openclaw/workspace/memory/2026-01-01.md', 'N')
    home.write('.openclaw/workspace/users/p1/USER.md', 'U')
    const first = resolve().body
    expect(first.context.memory.map((one) => path.basename(one.path))).toEqual(['MEMORY.md', '2026-01-01.md'])
    home.write('.openclaw/workspace/users/p1/USER.md', 'V')
    const digest = (body: typeof first): unknown =>
      (body.execution.agent as { workspace_digest: unknown }).workspace_digest
    expect(digest(resolve().body)).not.toBe(digest(first))
  })

  it('writes nothing, anywhere', () => {
    configure({})
    const before = readFileSync(path.join(home.state, 'openclaw.json'))
    resolve()
    expect(readFileSync(path.join(home.state, 'openclaw.json'))).toEqual(before)
  })
})

describe('bindings, servers, plugins', () => {
  const bindings = [
    { agentId: 'any', match: { channel: 'telegram', accountId: '*' } },
    { agentId: 'account', match: { channel: 'telegram' } },
    { agentId: 'wild', match: { channel: 'telegram', peer: { kind: 'group', id: '*' } } },
    { agentId: 'peer', match: { channel: 'telegram', peer: { kind: 'group', id: '42' } } },
    { agentId: 'broken' },
  ]
  const routed = (key: string): unknown =>
    resolve({ flags: ['--agent', 'main', '--session-key', key] }).body.context.channel_binding

  it('routes by the most exact binding', () => {
    configure({
      bindings,
      agents: { entries: { main: {}, any: {}, account: {}, wild: {}, peer: {}, broken: {} }, ownership: 'explicit' },
    })
    expect(routed('agent:main:telegram:group:42:topic:7')).toMatchObject({ agent: 'peer', by: 'peer', binding: 3 })
    expect(routed('agent:main:telegram:group:43')).toMatchObject({ agent: 'wild', by: 'peer wildcard' })
    expect(routed('agent:main:telegram:direct:43')).toMatchObject({ agent: 'account', by: 'account' })
    expect(routed('agent:main:telegram:work:direct:43')).toMatchObject({ agent: 'any', by: 'channel' })
    expect(routed('agent:main:discord:group:42')).toBeNull()
    expect(routed('agent:main:main')).toBeNull()
    const { body, problems } = resolve({ flags: ['--agent', 'main'] })
    expect(body.policy.bindings).toHaveLength(4)
    expect(problems.some((one) => one.message.startsWith('bindings[4]'))).toBe(true)
  })

  it('names the tools of servers as the model sees them, and what takes them away', () => {
    const server = { command: 'node', args: ['x@1.2.3'], env: { TOKEN: 'server-token' } }
    configure({
      mcp: {
        servers: {
          'My Lab': server,
          'My-Lab': server,
          '1st': { url: 'https://u:p@h/x?key=1' },
          off: { ...server, enabled: false },
        },
      },
    })
    const servers = (): unknown[] =>
      resolve().body.capabilities.mcp_servers.map((one) => [
        one.tool_prefix,
        one.status,
        one.url,
        one.package_version,
        one.tools_removed_by ?? null,
      ])
    expect(servers()).toEqual([
      ['My-Lab__', 'active', null, '1.2.3', null],
      ['My-Lab-2__', 'active', null, '1.2.3', null],
      ['mcp-1st__', 'active', 'https://h/x', null, null],
      ['off__', 'disabled', null, '1.2.3', null],
    ])
    configure({
      mcp: { servers: { lab: server, other: server } },
      tools: { profile: 'minimal', alsoAllow: ['lab__*'] },
    })
    expect(resolve().body.capabilities.mcp_servers.map((one) => one.tools_removed_by ?? null)).toEqual([
      null,
      'tools.profile minimal',
    ])
  })

  it('reads plugins with their versions and why one is off', () => {
    home.write('.openclaw/extensions/one/openclaw.plugin.json', '{"id":"one"}')
    home.write('.openclaw/extensions/one/package.json', '{"version":"1.0.0"}')
    home.write('mine/openclaw.plugin.json', '{"id":"mine"}')
    configure({
      plugins: { load: { paths: ['~/mine', '~/none'] }, deny: ['one'], entries: { canvas: { enabled: true } } },
    })
    const { capabilities, unknown } = resolve().body
    expect(capabilities.plugins.map((one) => [one.name, one.version, one.status])).toEqual([
      ['mine', null, 'active'],
      ['one', '1.0.0', 'disabled'],
      ['canvas', null, 'active'],
    ])
    expect(unknown.some((one) => one.why.includes('none, where no'))).toBe(true)
  })

  it('refers to credentials and never reads them', () => {
    home.write('.openclaw/secrets.json', '{"a":"very-secret"}')
    configure({
      agents: { defaults: { model: 'lab/m' } },
      auth: { order: { lab: ['lab:work'] }, profiles: { 'lab:work': { provider: 'lab', mode: 'api_key' } } },
    })
    const { body, texts } = resolve()
    expect(body.principal.auth_context_ref).toMatch(
      /agents\/main\/agent\/openclaw-agent\.sqlite#auth_profile_store\/lab:work$/,
    )
    const source = body.instructions.sources.find((one) => one.path?.endsWith('secrets.json'))
    expect(source).toMatchObject({ classification: 'secret', digest: null })
    expect(texts.get(source?.uri ?? '')?.raw).toBeNull()
  })
})
