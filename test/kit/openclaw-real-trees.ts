import path from 'node:path'
import type { OpenClawHome } from './openclaw-tree.ts'

/** A tree for a comparison with the real program: what lies there, what the configuration adds, and how the turn is started. */
export interface RealTree {
  readonly lay: (home: OpenClawHome) => void
  /** Merged into a configuration that names the scripted model; keys of the first level replace. */
  readonly config?: (home: OpenClawHome) => Readonly<Record<string, unknown>>
  readonly defaults?: (home: OpenClawHome) => Readonly<Record<string, unknown>>
  readonly flags?: (home: OpenClawHome) => readonly string[]
  readonly cwd?: (home: OpenClawHome) => string
  readonly env?: Readonly<Record<string, string>>
}

const workspace = '.openclaw/workspace'
/** Several agents: each has a folder of its own below the common one. */
const OPS = 'fleet/ops'
const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: ${name} of the lab\n${more}---\nbody\n`

function files(home: OpenClawHome, folder: string, names: readonly string[]): void {
  for (const name of names) home.write(path.join(folder, name), `MARK ${folder} ${name}\n`)
}
const SIX = ['AGENTS.md', 'SOUL.md', 'IDENTITY.md', 'USER.md', 'BOOTSTRAP.md', 'MEMORY.md']
const OTHERS = ['TOOLS.md', 'HEARTBEAT.md', 'BOOT.md', 'CLAUDE.md', 'memory/2026-11-01.md']

/** Lines of prose, of rules and of nothing in particular, so that a digest has something to choose from. */
function longRules(lines: number): string {
  const kinds = [
    'plain words here',
    'You must never do this',
    '- a list item',
    '',
    '## A heading',
    'push the commit',
    '日本 必須',
    '```',
  ]
  return Array.from({ length: lines }, (_, n) => `${kinds[n % kinds.length] ?? ''} ${n} 😀`.trim()).join('\n')
}

/** An MCP server with one tool, in as few lines as the protocol allows. */
const MCP_SERVER = `
import readline from 'node:readline'
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize')
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'lab', version: '1' } })
  else if (method === 'tools/list')
    say(id, { tools: [{ name: 'hello.world', description: 'lab', inputSchema: { type: 'object', properties: {} } }] })
  else if (id !== undefined) say(id, {})
})
`

export const realTrees: Readonly<Record<string, RealTree>> = {
  'odd blanks, line ends and marks, in a group session': {
    lay(home) {
      files(home, workspace, [...SIX, ...OTHERS, 'pkg/AGENTS.md'])
      home.write(`${workspace}/AGENTS.md`, 'A1  \nA2\t\n\n\n\n\nA3\r\nA4\r\n\r\n\r\n\r\nA5\n  in\n \n \n \nA6 \n\n\n')
      home.write(`${workspace}/SOUL.md`, '\ufeff---\ntitle: x\n---\nS1\n')
      home.write(`${workspace}/IDENTITY.md`, ' \n\t\n')
      home.write(`${workspace}/USER.md`, Buffer.from([0x61, 0xff, 0xfe, 0x62, 0x0d, 0x63, 0x0a]))
    },
    config: () => ({
      tools: { profile: 'minimal' },
      hooks: { internal: { entries: { 'bootstrap-extra-files': { enabled: true, paths: ['pkg/AGENTS.md'] } } } },
    }),
    flags: () => ['--session-key', 'agent:main:telegram:group:42:topic:7'],
  },
  'files longer than their limits': {
    lay(home) {
      home.write(`${workspace}/AGENTS.md`, longRules(2000))
      home.write(`${workspace}/SOUL.md`, 's😀'.repeat(9000))
      home.write(`${workspace}/IDENTITY.md`, 'i'.repeat(19_999))
      home.write(`${workspace}/USER.md`, 'u '.repeat(3000))
      home.write(`${workspace}/MEMORY.md`, 'm😀\n'.repeat(9000))
    },
    config: () => ({ tools: { profile: 'messaging', alsoAllow: ['read'] } }),
  },
  'the second of two agents, with limits, tools and skills of its own': {
    lay(home) {
      home.write(`${OPS}/AGENTS.md`, longRules(60))
      home.write(`${OPS}/SOUL.md`, '😀'.repeat(150))
      home.write(`${OPS}/IDENTITY.md`, 'i'.repeat(400))
      home.write(`${OPS}/USER.md`, 'u'.repeat(400))
      home.write(`${OPS}/skills/one/SKILL.md`, skill('one'))
      home.write(`${OPS}/skills/two/SKILL.md`, skill('two'))
    },
    cwd: (home) => path.join(home.home, OPS),
    flags: () => ['--agent', 'ops'],
    defaults: (home) => ({
      workspace: path.join(home.home, 'fleet'),
      bootstrapMaxChars: 150,
      bootstrapTotalMaxChars: 700,
      skills: ['two'],
    }),
    config: () => ({
      agents: {
        entries: {
          main: {},
          ops: {
            bootstrapMaxChars: 260,
            skills: ['one'],
            tools: { allow: ['write', 'exec', 'read'], deny: ['write'] },
          },
        },
        ownership: 'explicit',
      },
      tools: { toolSearch: false },
    }),
  },
  'what cannot be read': {
    lay(home) {
      home.folder(`${workspace}/AGENTS.md`)
      home.write('hard.md', 'HARD')
      home.hardLink(`${workspace}/SOUL.md`, 'hard.md')
      home.write(`${workspace}/IDENTITY.md`, 'x'.repeat(2 * 1024 * 1024 + 1))
      home.write(`${workspace}/real.md`, 'REAL')
      home.link(`${workspace}/USER.md`, 'real.md')
      home.folder(`${workspace}/MEMORY.md`)
    },
  },
  'a cron session with a server of its own': {
    lay(home) {
      files(home, workspace, SIX)
      home.write('server.mjs', MCP_SERVER)
    },
    config: (home) => ({
      tools: { toolSearch: false, profile: 'coding' },
      mcp: { servers: { 'My Lab': { command: process.execPath, args: [path.join(home.home, 'server.mjs')] } } },
    }),
    flags: () => ['--session-key', 'agent:main:cron:job1'],
  },
  'agent exec in a repository': {
    lay(home) {
      files(home, workspace, SIX)
      files(home, 'repo', ['AGENTS.md', 'SOUL.md'])
      home.write('repo/skills/here/SKILL.md', skill('here'))
      home.folder('scratch')
    },
    cwd: (home) => path.join(home.home, 'repo'),
    flags: (home) => ['exec', '--state-dir', path.join(home.home, 'scratch')],
    config: () => ({ tools: { toolSearch: false } }),
  },
  'skills from every place, and a folder for the tools': {
    lay(home) {
      files(home, workspace, ['AGENTS.md', 'SOUL.md', 'IDENTITY.md'])
      files(home, 'repo', ['AGENTS.md'])
      const dup = (place: string): void =>
        home.write(`${place}/dup/SKILL.md`, `---\nname: dup\ndescription: from ${place}\n---\n`)
      for (const place of [`${workspace}/.agents/skills`, '.agents/skills', '.openclaw/skills', 'extra', 'repo/skills'])
        dup(place)
      home.write('.agents/skills/personal/SKILL.md', skill('personal'))
      home.write('.openclaw/skills/weather/SKILL.md', skill('weather'))
      home.write('extra/a/b/two/SKILL.md', skill('extra-three'))
      home.write('extra/a/one/SKILL.md', skill('extra-two'))
      home.write(`${workspace}/skills/a/b/c/d/e/six/SKILL.md`, skill('six'))
      home.write(`${workspace}/skills/a/b/c/d/e/f/seven/SKILL.md`, skill('seven'))
      home.write(
        `${workspace}/skills/folded/SKILL.md`,
        '---\nname: folded\ndescription: >-\n  two\n  lines & <more>\n---\n',
      )
      home.write(`${workspace}/skills/quiet/SKILL.md`, skill('quiet', 'disable-model-invocation: true\n'))
      home.write(
        `${workspace}/skills/gated/SKILL.md`,
        skill('gated', 'metadata:\n  openclaw:\n    requires:\n      env: [LAB_NO_SUCH]\n'),
      )
      home.write(
        `${workspace}/skills/met/SKILL.md`,
        skill('met', 'metadata: {"openclaw":{"requires":{"bins":["sh"],"env":["LAB_SET"]}}}\n'),
      )
      home.write(`${workspace}/skills/off/SKILL.md`, skill('off'))
      home.write('repo/.agents/skills/later/SKILL.md', skill('later'))
      home.write('.openclaw/.env', 'LAB_SET=1\n')
    },
    defaults: (home) => ({ cwd: path.join(home.home, 'repo') }),
    config: (home) => ({
      skills: { load: { extraDirs: [path.join(home.home, 'extra')] }, entries: { off: { enabled: false } } },
      tools: {
        toolSearch: false,
        byProvider: { lab: { profile: 'minimal' }, 'lab/scripted-1': { allow: ['read', 'session_*'] } },
      },
    }),
  },
  'a workspace that is seeded': {
    lay: () => {},
    defaults: () => ({ skipBootstrap: false }),
    config: () => ({ tools: { profile: 'full' } }),
  },
}
