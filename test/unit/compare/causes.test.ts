import { describe, expect, it } from 'vitest'
import type { Comparison, ManifestBody } from '../../../contract/index.ts'
import { compareBodies, event } from '../../kit/compare-bodies.ts'
import { capability, digestFor, manifestBody, ROOT, setting, source } from '../../kit/manifest-body.ts'

type Change = Parameters<typeof manifestBody>[0]
type Body = Parameters<NonNullable<Change>>[0]

interface Case {
  readonly name: string
  readonly a?: (body: Body) => void
  readonly b?: (body: Body) => void
  readonly events?: { readonly a: Parameters<typeof event>[1][]; readonly b: Parameters<typeof event>[1][] }
  readonly expect: {
    readonly kind: string
    readonly class?: string
    readonly title: string | RegExp
    readonly used?: boolean | null
  }
  /** How many causes there are, that of the model aside. */
  readonly causes?: number
}

const server = (more: Record<string, unknown> = {}): Body['capabilities']['mcp_servers'][number] => ({
  name: 'tickets',
  transport: 'stdio',
  command: 'npx',
  url: null,
  package_version: '1.2.0',
  digest: digestFor(JSON.stringify(more)),
  source: `${ROOT}/.mcp.json`,
  scope: 'project',
  status: 'active',
  reason: null,
  tools: null,
  ...more,
})
const tool = (name: string, schema = name): Body['capabilities']['tools'][number] => ({
  name,
  schema_digest: digestFor(schema),
  policy_profile: null,
  removed_by: null,
  used: null,
})
const push = <T>(list: T[], ...items: T[]): void => {
  list.push(...items)
}
const first = <T>(list: readonly T[]): T => list[0] as T

const cases: readonly Case[] = [
  {
    name: 'instruction text',
    b: (body) =>
      Object.assign(first(body.instructions.sources), {
        text_digest: digestFor('new'),
        digest: digestFor('new disk'),
        bytes: 3,
      }) && Object.assign(body.instructions, { effective_digest: digestFor('other') }),
    expect: { kind: 'instruction', class: 'configuration', title: 'Instructions CLAUDE.md changed' },
    causes: 1,
  },
  {
    name: 'an instruction file that came',
    b: (body) => push(body.instructions.sources, source(`${ROOT}/src/CLAUDE.md`, 'src', { position: 1 })),
    expect: { kind: 'instruction', title: 'Instructions src/CLAUDE.md is new' },
  },
  {
    name: 'order of the context',
    a: (body) => push(body.instructions.sources, source(`${ROOT}/b.md`, 'b', { position: 1 })),
    b: (body) => {
      first(body.instructions.sources).position = 1
      push(body.instructions.sources, source(`${ROOT}/b.md`, 'b', { position: 0 }))
      body.instructions.effective_digest = digestFor('other order')
    },
    expect: { kind: 'instruction', title: /enters the context at another place$/ },
    causes: 1,
  },
  {
    name: 'text that differs and no source to blame',
    b: (body) => Object.assign(body.instructions, { effective_digest: digestFor('other') }),
    expect: { kind: 'instruction', title: /which source it comes from is not known/ },
  },
  {
    name: 'front matter only',
    b: (body) => Object.assign(first(body.instructions.sources), { digest: digestFor('new disk') }),
    expect: { kind: 'instruction', title: 'Instructions CLAUDE.md changed', used: false },
  },
  {
    name: 'truncation',
    b: (body) =>
      Object.assign(first(body.instructions.sources), {
        truncated: { at: 32768, unit: 'bytes' },
        text_digest: digestFor('cut'),
      }),
    expect: { kind: 'truncation', title: 'CLAUDE.md is now cut at 32768 bytes' },
    causes: 1,
  },
  {
    name: 'a scan that rejects',
    b: (body) =>
      Object.assign(first(body.instructions.sources), {
        scan: { result: 'rejected', rules: ['hidden text'] },
        status: 'not_loaded',
        position: null,
        reason: 'rejected by the scan',
      }),
    expect: { kind: 'scan', title: 'The security scan now rejects CLAUDE.md' },
  },
  {
    name: 'settings key set',
    b: (body) =>
      Object.assign(body.settings, { effortLevel: setting('high') }) &&
      Object.assign(body.execution, { reasoning: 'high' }),
    expect: { kind: 'setting', title: /^Settings key effortLevel is now set by \.agent\/settings\.json: high$/ },
    causes: 1,
  },
  {
    name: 'settings key overridden by managed settings',
    b: (body) => {
      body.settings.model = setting('sonnet', {
        source: '/etc/agent/managed-settings.json',
        overridden: [{ value: 'opus', source: `${ROOT}/.agent/settings.json` }],
      })
      body.execution.model = 'claude-sonnet-5-5'
    },
    expect: {
      kind: 'setting',
      title:
        /^Settings key model overridden by managed settings \(\/etc\/agent\/managed-settings\.json\): opus → sonnet$/,
      used: true,
    },
    causes: 1,
  },
  {
    name: 'theme',
    b: (body) => Object.assign(body.settings, { 'tui.theme': setting('light') }),
    expect: { kind: 'setting', title: /tui\.theme/, used: false },
  },
  {
    name: 'permission rule of a setting',
    b: (body) => {
      body.settings['permissions.deny'] = setting(['Bash(rm:*)'], { rule: 'deny_wins' })
      push(body.policy.permissions.deny, { rule: 'Bash(rm:*)', source: `${ROOT}/.agent/settings.json` })
      body.policy.revision = digestFor('other')
    },
    expect: { kind: 'permission', title: /^Settings key permissions\.deny is now set/ },
    causes: 1,
  },
  {
    name: 'permission rule of its own',
    b: (body) => push(body.policy.permissions.allow, { rule: 'Read', source: 'flag:--allowedTools', ignored: null }),
    expect: { kind: 'permission', title: /^Permission rule allow Read is new/ },
  },
  {
    name: 'permission mode',
    b: (body) => Object.assign(body.policy.permissions, { mode: 'plan' }),
    expect: { kind: 'permission', title: 'Permission mode: default → plan' },
  },
  {
    name: 'sandbox',
    b: (body) => Object.assign(body.execution.sandbox, { mode: 'workspace-write' }),
    expect: { kind: 'sandbox', title: 'Sandbox: mode nothing → workspace-write' },
  },
  {
    name: 'trust, with the layers that went',
    a: (body) =>
      push(
        body.instructions.sources,
        source(`${ROOT}/.agent/config.toml`, 'c', { kind: 'settings', position: null }),
      ) ?? Object.assign(body.settings, { profile: setting('fast', { source: `${ROOT}/.agent/config.toml` }) }),
    b: (body) => {
      push(
        body.instructions.sources,
        source(`${ROOT}/.agent/config.toml`, 'c', {
          kind: 'settings',
          position: null,
          status: 'not_loaded',
          reason: 'present, not applied: untrusted',
        }),
      )
      body.policy.trust.trusted = false
      body.policy.revision = digestFor('other')
    },
    expect: {
      kind: 'trust',
      title: 'Trust in this folder was revoked: no longer in force .agent/config.toml, setting profile',
    },
    causes: 1,
  },
  {
    name: 'version, with the rule that changed with it',
    b: (body) => {
      body.execution.runtime_version = '2.1.400'
      Object.assign(first(body.instructions.sources), {
        status: 'not_loaded',
        position: null,
        rule: 'first match (2.1.400)',
        reason: 'another file comes first',
      })
      body.instructions.effective_digest = null
      push(body.capabilities.tools, tool('Plan'))
    },
    expect: {
      kind: 'program',
      title:
        /^The program claude-code changed: 2\.1\.332 → 2\.1\.400; CLAUDE\.md is not loaded \(first match \(2\.1\.400\)\), 1 of its own tools is new/,
    },
    causes: 1,
  },
  {
    name: 'build',
    b: (body) => Object.assign(body.execution, { runtime_digest: digestFor('b') }),
    a: (body) => Object.assign(body.execution, { runtime_digest: digestFor('a') }),
    expect: { kind: 'program', title: /another build of the same version/ },
  },
  {
    name: 'start directory',
    a: (body) =>
      push(body.instructions.sources, source(`${ROOT}/docs/CLAUDE.md`, 'd', { position: 1 })) ??
      Object.assign(body.execution, { cwd: `${ROOT}/docs` }),
    expect: {
      kind: 'instruction',
      title:
        /^Instructions docs\/CLAUDE\.md is gone because the start directory changed: docs in \/home\/dev\/shop → \/home\/dev\/shop$/,
    },
    causes: 1,
  },
  {
    name: 'model alias',
    b: (body) => Object.assign(body.execution, { model: 'claude-opus-5-6' }),
    expect: {
      kind: 'model',
      class: 'external state',
      title: 'The alias opus points to another model: claude-opus-5-5 → claude-opus-5-6',
    },
  },
  {
    name: 'model of a flag',
    a: (body) => Object.assign(body.execution, { flags: ['--model', 'opus'] }),
    b: (body) => Object.assign(body.execution, { flags: ['--model', 'sonnet'], model: 'claude-sonnet-5-5' }),
    expect: { kind: 'flag', class: 'configuration', title: 'Started with other flags: −opus +sonnet' },
    causes: 1,
  },
  {
    name: 'another model without an alias',
    a: (body) => Object.assign(body, { settings: {} }),
    b: (body) => Object.assign(body, { settings: {} }) && Object.assign(body.execution, { model: 'm-2' }),
    expect: { kind: 'model', class: 'configuration', title: 'Another model: claude-opus-5-5 → m-2' },
  },
  {
    name: 'endpoint',
    b: (body) => Object.assign(body.execution, { endpoint_profile: 'proxy.example' }),
    expect: { kind: 'model', title: /^Requests go to another service: nothing → proxy\.example$/ },
  },
  {
    name: 'variable of the agent',
    b: (body) =>
      push(body.execution.environment, { name: 'CLAUDE_CODE_EFFORT_LEVEL', digest: 'k:2', source: 'process' }),
    expect: { kind: 'environment', title: /^Environment variable CLAUDE_CODE_EFFORT_LEVEL is now set$/ },
  },
  {
    name: 'skill disabled',
    b: (body) => Object.assign(first(body.capabilities.skills), { status: 'disabled', reason: 'switched off' }),
    expect: { kind: 'skill', title: 'Skill release-check is now disabled: switched off, it was active' },
  },
  {
    name: 'plugin version',
    a: (body) => push(body.capabilities.plugins, capability('jira@shop', 'a', { version: '3.2.0' })),
    b: (body) => push(body.capabilities.plugins, capability('jira@shop', 'b', { version: '3.2.1' })),
    expect: { kind: 'plugin', title: 'Plugin jira@shop: version 3.2.0 → 3.2.1' },
  },
  {
    name: 'hook',
    b: (body) => push(body.capabilities.hooks, capability('PreToolUse Bash', 'h')),
    expect: { kind: 'hook', title: 'Hook PreToolUse Bash is new' },
  },
  {
    name: 'agent',
    b: (body) => push(body.capabilities.agents, capability('reviewer', 'r')),
    expect: { kind: 'agent', title: 'Agent reviewer is new' },
  },
  {
    name: 'command',
    a: (body) => push(body.capabilities.commands, capability('ship', 'a')),
    b: (body) => push(body.capabilities.commands, capability('ship', 'b')),
    expect: { kind: 'command', title: 'Text of command ship changed' },
  },
  {
    name: 'server package',
    a: (body) => push(body.capabilities.mcp_servers, server()),
    b: (body) =>
      push(body.capabilities.mcp_servers, server({ package_version: '1.3.0' })) ??
      push(body.capabilities.tools, tool('mcp__tickets__close')),
    expect: {
      kind: 'mcp server',
      class: 'configuration',
      title: 'MCP server tickets: package 1.2.0 → 1.3.0; it lists 1 new tool: close',
    },
    causes: 1,
  },
  {
    name: 'server that lists more under the same configuration',
    a: (body) =>
      push(
        body.capabilities.mcp_servers,
        server({ digest: digestFor('s'), tools: [{ name: 'list', schema_digest: digestFor('l') }] }),
      ),
    b: (body) =>
      push(
        body.capabilities.mcp_servers,
        server({
          digest: digestFor('s'),
          tools: [
            { name: 'list', schema_digest: digestFor('l2') },
            { name: 'close', schema_digest: digestFor('c') },
          ],
        }),
      ),
    expect: {
      kind: 'tool',
      class: 'external state',
      title: 'MCP server tickets lists 1 new tool: close; changed the schema of 1 tool: list',
    },
    causes: 1,
  },
  {
    name: 'built-in tool',
    b: (body) => push(body.capabilities.tools, tool('Plan')),
    expect: { kind: 'tool', title: 'The program lists 1 new tool: Plan' },
  },
  {
    name: 'repository',
    b: (body) => body.execution.repo && Object.assign(body.execution.repo, { sha: 'b'.repeat(40), branch: 'fix' }),
    expect: {
      kind: 'repository',
      class: 'external state',
      title: 'The repository moved: aaaaaaaaaa → bbbbbbbbbb, branch main → fix',
    },
  },
  {
    name: 'outside state',
    a: (body) =>
      push(body.external, { kind: 'index', name: 'handbook', state: 'captured', digest: digestFor('1'), reason: null }),
    b: (body) =>
      push(body.external, { kind: 'index', name: 'handbook', state: 'captured', digest: digestFor('2'), reason: null }),
    expect: { kind: 'external', class: 'external state', title: 'Outside state: index handbook changed' },
  },
  {
    name: 'image',
    b: (body) => Object.assign(body.execution, { image: 'sha256:2' }),
    expect: { kind: 'environment', title: /^execution\.image changed/ },
  },
  {
    name: 'memory',
    a: (body) =>
      push(body.context.memory, {
        path: '/m/MEMORY.md',
        digest: digestFor('1'),
        bytes: 1,
        truncated: null,
        local_to_machine: true,
      }),
    b: (body) =>
      push(body.context.memory, {
        path: '/m/MEMORY.md',
        digest: digestFor('2'),
        bytes: 1,
        truncated: null,
        local_to_machine: true,
      }) ?? Object.assign(body.context, { memory_manifest_digest: digestFor('x') }),
    expect: { kind: 'memory', title: 'Memory MEMORY.md changed' },
    causes: 1,
  },
  {
    name: 'task',
    b: (body) => Object.assign(body.task, { input_digest: digestFor('other') }),
    expect: { kind: 'task', class: 'external state', title: 'The two runs were given different tasks' },
  },
]

const bodyOf = (change: ((body: Body) => unknown) | undefined): ManifestBody =>
  manifestBody((body) => void change?.(body))

describe('each kind of difference', () => {
  for (const { name, a, b, expect: wanted, causes } of cases)
    it(name, async () => {
      const result = await compareBodies(bodyOf(a), bodyOf(b), {
        a: { events: [event(1, { kind: 'prompt', summary: 'go' })] },
        b: { events: [event(1, { kind: 'prompt', summary: 'stop' })] },
      })
      const named = result.causes.find(({ kind }) => kind !== 'model behaviour') as Comparison['causes'][number]
      expect({ kind: named.kind, class: named.class, title: named.title, used: named.used }).toEqual({
        kind: wanted.kind,
        class: wanted.class ?? 'configuration',
        title: typeof wanted.title === 'string' ? wanted.title : expect.stringMatching(wanted.title),
        used: wanted.used === undefined ? named.used : wanted.used,
      })
      if (causes !== undefined)
        expect(result.causes.filter(({ kind }) => kind !== 'model behaviour').map(({ title }) => title).length).toBe(
          causes,
        )
      const summed = new Set(result.causes.flatMap(({ fields }) => fields))
      expect(result.fields.filter(({ path, unknown_on }) => unknown_on === null && !summed.has(path))).toEqual([])
      expect(named.evidence.length).toBeGreaterThan(0)
      expect(result.identical).toBe(false)
    })
})
