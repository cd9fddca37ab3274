import type { OddTree } from './claude-code-odd-trees.ts'

const user = 'home/.claude/settings.json'
const project = 'ws/.claude/settings.json'
const local = 'ws/.claude/settings.local.json'
const json = JSON.stringify
const ENV = { env: { LAB_A: '1' } }
const base = { 'ws/x': 'x' }

/** Start situations that are about settings: what the real program takes over shows in the environment of its shell and in its model. */
export const settingsTrees: Readonly<Record<string, OddTree>> = {
  'comments are refused': { files: { ...base, [user]: `// c\n${json(ENV)}` } },
  'a trailing comma is refused': { files: { ...base, [user]: '{"env":{"LAB_A":"1",}}' } },
  'byte order mark': { files: { ...base, [user]: `\uFEFF${json(ENV)}` } },
  'numbers in env': { files: { ...base, [user]: '{"env":{"LAB_A":1,"LAB_B":true,"LAB_C":null}}' } },
  'wrong type of cleanupPeriodDays': { files: { ...base, [user]: json({ ...ENV, cleanupPeriodDays: 'x' }) } },
  'wrong type of permissions.allow': { files: { ...base, [user]: json({ ...ENV, permissions: { allow: 'x' } }) } },
  'wrong type of env': { files: { ...base, [user]: json({ env: 'x', model: 'm-user' }) } },
  'malformed permission rule': { files: { ...base, [user]: json({ ...ENV, permissions: { allow: ['bash(x'] } }) } },
  'unknown key': { files: { ...base, [user]: json({ ...ENV, foo: { bar: 1 } }) } },
  'a list at the top': { files: { ...base, [user]: '[1]' } },
  'half a file': { files: { ...base, [user]: '{"env":{"LAB_A":"1"' } },
  'empty file': { files: { ...base, [user]: '', [project]: json(ENV) } },
  'model of three layers': {
    files: {
      ...base,
      [user]: json({ model: 'm-user' }),
      [project]: json({ model: 'm-project' }),
      [local]: json({ model: 'm-local' }),
    },
  },
  'model flag': {
    files: { ...base, [user]: json({ model: 'm-user' }) },
    flags: ['--model', 'm-flag'],
    env: { ANTHROPIC_MODEL: 'm-env' },
  },
  'model variable': { files: { ...base, [user]: json({ model: 'm-user' }) }, env: { ANTHROPIC_MODEL: 'm-env' } },
  'model variable in settings': {
    files: { ...base, [user]: json({ model: 'm-user', env: { ANTHROPIC_MODEL: 'm-settings-env' } }) },
    env: { ANTHROPIC_MODEL: 'm-env' },
  },
  'settings flag': {
    files: { ...base, [user]: json({ model: 'm-user', ...ENV }) },
    flags: ['--settings', json({ model: 'm-settings', env: { LAB_F: '1' } })],
  },
  'settings file by relative path': {
    files: { ...base, 'ws/s.json': json({ env: { LAB_F: '1' } }) },
    flags: ['--settings', 's.json'],
  },
  'two settings flags': {
    files: base,
    flags: ['--settings', json({ env: { LAB_F: '1' } }), '--settings', json({ env: { LAB_G: '1' } })],
  },
  'settings flag with an equals sign': { files: base, flags: [`--settings=${json({ env: { LAB_F: '1' } })}`] },
  'two setting sources': {
    files: {
      ...base,
      [user]: json({ env: { LAB_U: '1' } }),
      [project]: json({ env: { LAB_P: '1' } }),
      [local]: json({ env: { LAB_L: '1' } }),
    },
    flags: ['--setting-sources', 'user,local'],
  },
  restricted: {
    files: { ...base, [user]: json(ENV), [project]: json(ENV) },
    flags: ['--restricted', '--tools', 'Bash', '--settings', json({ env: { LAB_F: '1' } })],
  },
  'managed model against the flag': {
    files: { ...base, 'etc/claude-code/managed-settings.json': json({ model: 'm-managed', ...ENV }) },
    flags: ['--model', 'm-flag'],
  },
  'managed drop-ins': {
    files: {
      ...base,
      'etc/claude-code/managed-settings.d/20.json': json({ model: 'm-20' }),
      'etc/claude-code/managed-settings.d/10.json': json({ model: 'm-10', ...ENV }),
      'etc/claude-code/managed-settings.d/x.txt': json({ model: 'm-text' }),
      'etc/claude-code/managed-settings.d/.30.json': json({ model: 'm-hidden' }),
      [user]: json({ model: 'm-user' }),
    },
  },
  'local settings of the main work tree and of a subdirectory': {
    files: {
      'ws/.claude/settings.local.json': json({ env: { LAB_MAIN: '1' }, model: 'm-main' }),
      'ws/.claude/settings.json': json({ env: { LAB_ROOT: '1' } }),
      'ws/sub/.claude/settings.local.json': json({ env: { LAB_SUB: '1' }, model: 'm-sub' }),
      'ws/sub/.claude/settings.json': json({ env: { LAB_SUBP: '1' } }),
      'ws/sub/x': 'x',
    },
    git: ['ws'],
    cwd: 'ws/sub',
  },
}

const plugin = (name: string, text: string): Record<string, string> => ({
  '.claude-plugin/plugin.json': json({ name, version: '1.2.3', description: 'd' }),
  'skills/ps/SKILL.md': `---\nname: ps\ndescription: ${text} skill\n---\nx`,
  'commands/pc.md': `---\ndescription: ${text} command\n---\nx`,
  'agents/pa.md': `---\nname: pa\ndescription: ${text} agent\n---\nx`,
  'hooks/hooks.json': json({ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } }),
  '.mcp.json': json({ mcpServers: { pm: { command: '/bin/false' } } }),
  'CLAUDE.md': 'PLUGCLAUDE',
})
const below = (folder: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))
const market = (name: string) =>
  json({
    name,
    owner: { name: 'x' },
    plugins: [{ name: 'plug', source: './plug', description: 'd', version: '1.2.3' }],
  })
const installed = (id: string, folder: string) =>
  json({
    version: 2,
    plugins: {
      [id]: [
        {
          scope: 'user',
          installPath: `<root>/home/.claude/plugins/cache/${folder}`,
          version: '1.2.3',
          installedAt: '2026-01-01T00:00:00.000Z',
          lastUpdated: '2026-01-01T00:00:00.000Z',
        },
      ],
    },
  })
const known = (name: string) =>
  json({
    [name]: {
      source: { source: 'directory', path: `<root>/${name}` },
      installLocation: `<root>/${name}`,
      lastUpdated: '2026-01-01T00:00:00.000Z',
    },
  })

/** Plugins: from a directory marketplace whose files moved on since the install, switched off, and given by flag. */
export const pluginTrees: Readonly<Record<string, OddTree>> = {
  'live from a directory marketplace': {
    files: {
      ...base,
      ...below('mkt/plug', plugin('plug', 'live')),
      'mkt/.claude-plugin/marketplace.json': market('mkt'),
      ...below('home/.claude/plugins/cache/mkt/plug/1.2.3', plugin('plug', 'cached')),
      'home/.claude/plugins/installed_plugins.json': installed('plug@mkt', 'mkt/plug/1.2.3'),
      'home/.claude/plugins/known_marketplaces.json': known('mkt'),
      'home/.claude/settings.json': json({
        enabledPlugins: { 'plug@mkt': true },
        extraKnownMarketplaces: { mkt: { source: { source: 'directory', path: '<root>/mkt' } } },
      }),
    },
  },
  'switched off by the project': {
    files: {
      ...base,
      ...below('mkt/plug', plugin('plug', 'live')),
      'mkt/.claude-plugin/marketplace.json': market('mkt'),
      ...below('home/.claude/plugins/cache/mkt/plug/1.2.3', plugin('plug', 'cached')),
      'home/.claude/plugins/installed_plugins.json': installed('plug@mkt', 'mkt/plug/1.2.3'),
      'home/.claude/plugins/known_marketplaces.json': known('mkt'),
      'home/.claude/settings.json': json({ enabledPlugins: { 'plug@mkt': true } }),
      'ws/.claude/settings.json': json({ enabledPlugins: { 'plug@mkt': false } }),
    },
  },
  'given by flag': {
    files: { ...base, ...below('own', plugin('own', 'flag')) },
    flags: ['--plugin-dir', '<root>/own'],
  },
  'commands and skills of one name': {
    files: {
      ...base,
      'home/.claude/commands/both.md': '---\ndescription: user command\n---\nx',
      'ws/.claude/commands/both.md': '---\ndescription: project command\n---\nx',
      'ws/.claude/commands/deep/er/cmd.md': '---\ndescription: deep command\n---\nx',
      'ws/.claude/skills/mix/SKILL.md': '---\nname: other-name\ndescription: a skill\n---\nx',
      'ws/.claude/commands/mix.md': '---\ndescription: a command of the same name\n---\nx',
      'ws/.claude/agents/deep/a.md': '---\nname: deep-agent\ndescription: deep agent\n---\nx',
      'ws/.claude/agents/nameless.md': 'no front matter',
      'ws/.claude/skills/nodesc/SKILL.md': 'just text',
      'ws/.claude/skills/hidden/SKILL.md':
        '---\nname: hidden\ndescription: not for the model\ndisable-model-invocation: true\n---\nx',
    },
    flags: ['--agents', json({ 'flag-agent': { description: 'flag agent', prompt: 'x' } })],
  },
}
