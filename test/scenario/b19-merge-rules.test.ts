import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { ManifestSetting } from '../../contract/index.ts'
import { type LaidOddTree, layOddTree, type OddTree, resolveOddTree } from '../kit/claude-code-odd-trees.ts'

const hook = (command: string) => [{ hooks: [{ type: 'command', command }] }]
const json = JSON.stringify

/** Every scope sets a scalar, an allow and a deny list, hooks, an environment variable and an MCP server of the same name (B19). */
const scopes = (name: string, more: object = {}) => ({
  model: `m-${name}`,
  permissions: { allow: [`Bash(${name}:*)`, 'Bash(all:*)'], deny: [`Read(${name}/**)`] },
  hooks: { Stop: hook('same'), [`Pre${name}`]: hook(name) },
  env: { SHARED: name, [`ONLY_${name.toUpperCase()}`]: '1' },
  fallbackModel: [`f-${name}`],
  enabledPlugins: { 'p@m': name !== 'user' },
  ...more,
})
const server = (name: string) => ({ mcpServers: { same: { command: name }, [name]: { command: name } } })
const tree: OddTree = {
  files: {
    'home/.claude/settings.json': json(scopes('user', { theme: { a: 1 } })),
    'ws/.claude/settings.json': json(scopes('project')),
    'ws/.claude/settings.local.json': json(scopes('local')),
    'etc/claude-code/managed-settings.json': json(scopes('managed', { permissions: { deny: ['Read(managed/**)'] } })),
    'etc/claude-code/managed-settings.d/20-b.json': json({ model: 'm-20' }),
    'etc/claude-code/managed-settings.d/10-a.json': json({ model: 'm-10', cleanupPeriodDays: 5 }),
    'home/.claude.json': json({
      ...server('user'),
      projects: { '<root>/ws': { ...server('local'), hasTrustDialogAccepted: true } },
    }),
    'ws/.mcp.json': json(server('project')),
    '.mcp.json': json(server('parent')),
  },
  flags: ['--settings', json({ model: 'm-flag', env: { SHARED: 'flag' } })],
}

let laid: LaidOddTree
afterEach(() => laid.remove())
const resolve = () => {
  laid = layOddTree(tree)
  return resolveOddTree(laid)
}
const short = (source: string) => source.replace(`${laid.root}/`, '')

describe('B19: each key under its own rule, with winner and losers', () => {
  const show = (setting: ManifestSetting | undefined) => ({
    rule: setting?.rule,
    value: setting?.value,
    source: short(setting?.source ?? ''),
    merged_from: setting?.merged_from.map(short),
    overridden: setting?.overridden.map((loser) => [short(loser.source), 'value' in loser ? loser.value : 'hidden']),
  })
  it('a scalar is replaced', () => {
    const { body } = resolve()
    expect(show(body.settings.model)).toEqual({
      rule: 'replace',
      value: 'm-20',
      source: '/etc/claude-code/managed-settings.d/20-b.json',
      merged_from: ['/etc/claude-code/managed-settings.d/20-b.json'],
      overridden: [
        ['/etc/claude-code/managed-settings.d/10-a.json', 'm-10'],
        ['/etc/claude-code/managed-settings.json', 'm-managed'],
        ['flag:--settings', 'm-flag'],
        ['ws/.claude/settings.local.json', 'm-local'],
        ['ws/.claude/settings.json', 'm-project'],
        ['home/.claude/settings.json', 'm-user'],
      ],
    })
  })
  it('an allow list is joined, equal entries once', () => {
    const { body } = resolve()
    expect(show(body.settings['permissions.allow'])).toMatchObject({
      rule: 'union',
      value: ['Bash(user:*)', 'Bash(all:*)', 'Bash(project:*)', 'Bash(local:*)'],
      overridden: [],
    })
  })
  it('a deny list wins from every source', () => {
    const { body } = resolve()
    expect(show(body.settings['permissions.deny'])).toMatchObject({
      rule: 'deny_wins',
      value: ['Read(user/**)', 'Read(project/**)', 'Read(local/**)', 'Read(managed/**)'],
    })
  })
  it('named objects by name, values of env hidden', () => {
    const { body } = resolve()
    expect(show(body.settings['env.SHARED'])).toMatchObject({
      rule: 'by_name',
      value: undefined,
      source: '/etc/claude-code/managed-settings.json',
    })
    expect(show(body.settings['enabledPlugins.p@m'])).toMatchObject({ rule: 'by_name', value: true })
    expect(JSON.stringify(body.settings)).not.toContain('"flag"')
  })
  it('a documented exception is replaced whole', () => {
    const { body } = resolve()
    expect(show(body.settings.fallbackModel)).toMatchObject({ rule: 'replace', value: ['f-managed'] })
  })
  it('what is neither of one kind nor known says so', () => {
    laid = layOddTree({
      files: {
        'home/.claude/settings.json': json({ odd: 'text' }),
        'ws/.claude/settings.json': json({ odd: ['list'] }),
      },
    })
    expect(resolveOddTree(laid).body.settings.odd?.rule).toBe('unknown')
  })
  it('hooks of all sources, the same command once, managed ones apart', () => {
    const { body } = resolve()
    expect(
      body.capabilities.hooks.filter((one) => one.name === 'Stop').map((one) => [short(one.source), one.status]),
    ).toEqual([
      ['/etc/claude-code/managed-settings.json', 'active'],
      ['ws/.claude/settings.local.json', 'active'],
      ['ws/.claude/settings.json', 'shadowed'],
      ['home/.claude/settings.json', 'shadowed'],
    ])
  })
  it('MCP servers by name: local, then the nearest project file, then user', () => {
    const { body } = resolve()
    expect(
      body.capabilities.mcp_servers
        .filter((one) => one.name === 'same')
        .map((one) => [short(one.source), one.scope, one.status, one.command]),
    ).toEqual([
      ['home/.claude.json', 'local', 'active', 'local'],
      ['ws/.mcp.json', 'project', 'shadowed', 'project'],
      ['.mcp.json', 'project', 'shadowed', 'parent'],
      ['home/.claude.json', 'user', 'shadowed', 'user'],
    ])
  })
  it('names every file it took a value from', () => {
    const { body } = resolve()
    const known = new Set(body.instructions.sources.map((source) => source.path ?? source.uri))
    for (const [key, setting] of Object.entries(body.settings)) {
      for (const source of [setting.source, ...setting.merged_from])
        expect([key, known.has(source)]).toEqual([key, true])
    }
    expect(path.isAbsolute(body.settings.model?.source ?? '')).toBe(true)
  })
})
