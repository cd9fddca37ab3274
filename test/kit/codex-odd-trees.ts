import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { git } from './claude-code-tree.ts'
import { type LaidCodex, layCodex, type TreeFile } from './codex-tree.ts'

/** Fixture paths throughout: the home is `/home/dev`, the repository `/home/dev/demo`, `/etc/codex` the system's folder. */
export interface OddTree {
  readonly files: Readonly<Record<string, TreeFile>>
  /** Repositories to make, each with one commit; the demo by default. */
  readonly git?: readonly string[]
  /** Linked work tree of the demo to add, and what is laid in it afterwards. */
  readonly worktree?: { readonly at: string; readonly files: Readonly<Record<string, string>> }
  readonly cwd?: string
  /** Where the start is reached, if not by its own path. */
  readonly flags?: readonly string[]
  /** The real program is also run with a scripted model. */
  readonly exec?: boolean
  /** It does not start, and we say so. */
  readonly refused?: boolean
}

const REPO = '/home/dev/demo'
const trust = (level: 'trusted' | 'untrusted', directory = REPO): string =>
  `[projects."${directory}"]\ntrust_level = "${level}"\n`
const config = (text: string): Record<string, string> => ({ 'home/dev/.codex/config.toml': text })
const skill = (name: string, description = `About ${name}.`, more = ''): string =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n# ${name}\n`
const hook = (event: string, command: string, matcher?: string): string =>
  JSON.stringify({
    hooks: { [event]: [{ ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: 'command', command }] }] },
  })

export const oddTrees: Readonly<Record<string, OddTree>> = {
  'nested repository': {
    files: {
      ...config(trust('trusted', `${REPO}/inner`)),
      'home/dev/demo/AGENTS.md': 'OUTER\n',
      'home/dev/demo/.codex/config.toml': 'model_verbosity = "high"\n',
      'home/dev/demo/inner/AGENTS.md': 'INNER\n',
      'home/dev/demo/inner/.codex/config.toml': 'model_verbosity = "low"\n',
      'home/dev/demo/inner/a/AGENTS.md': 'INNER A\n',
    },
    git: [REPO, `${REPO}/inner`],
    cwd: `${REPO}/inner/a`,
    exec: true,
  },
  'linked work tree': {
    files: {
      ...config(trust('trusted')),
      'home/dev/demo/AGENTS.md': 'MAIN\n',
      'home/dev/demo/.codex/hooks.json': hook('Stop', 'main-json'),
      'home/dev/demo/.codex/config.toml':
        'model_verbosity = "low"\n[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = "main-toml"\n',
      'home/dev/demo/.agents/skills/shared/SKILL.md': skill('shared'),
    },
    worktree: {
      at: '/home/dev/tree',
      files: {
        'AGENTS.md': 'TREE\n',
        '.codex/hooks.json': hook('Stop', 'tree-json'),
        '.codex/config.toml':
          'model_verbosity = "medium"\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "tree-toml"\n',
        'only/.codex/hooks.json': hook('Stop', 'only-in-tree'),
      },
    },
    cwd: '/home/dev/tree/only',
    exec: true,
  },
  'no trust entry': {
    files: {
      ...config('model_verbosity = "high"\n'),
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/.codex/config.toml': 'model_verbosity = "low"\ndeveloper_instructions = "NOT THIS"\n',
      'home/dev/demo/.codex/hooks.json': hook('Stop', 'project'),
      'home/dev/demo/.codex/skills/one/SKILL.md': skill('one'),
    },
    exec: true,
  },
  untrusted: {
    files: {
      ...config(trust('untrusted')),
      'home/dev/.codex/AGENTS.md': 'GLOBAL\n',
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/.codex/config.toml': 'model = "a\n',
      'home/dev/demo/.agents/skills/one/SKILL.md': skill('one'),
    },
    exec: true,
  },
  'untrusted below trusted': {
    files: {
      ...config(trust('trusted') + trust('untrusted', `${REPO}/sub`)),
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/.codex/config.toml': 'model_verbosity = "low"\n',
      'home/dev/demo/sub/AGENTS.md': 'SUB\n',
      'home/dev/demo/sub/.codex/config.toml': 'model_verbosity = "high"\n',
    },
    cwd: `${REPO}/sub`,
  },
  'below untrusted below trusted': {
    files: {
      ...config(trust('trusted') + trust('untrusted', `${REPO}/sub`)),
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/.codex/config.toml': 'model_verbosity = "low"\n',
      'home/dev/demo/sub/AGENTS.md': 'SUB\n',
      'home/dev/demo/sub/.codex/config.toml': 'model_verbosity = "high"\n',
      'home/dev/demo/sub/deep/AGENTS.md': 'DEEP\n',
      'home/dev/demo/sub/deep/.codex/note': '',
    },
    cwd: `${REPO}/sub/deep`,
  },
  'trusted by the path of a link': {
    files: {
      ...config(trust('untrusted', '/home/dev/link')),
      'home/dev/link': { link: '/home/dev/demo' },
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/.codex/config.toml': 'model_verbosity = "low"\n',
    },
    flags: ['-C', '/home/dev/link'],
    exec: true,
  },
  'canonical path before the path of a link': {
    files: {
      ...config(trust('untrusted', '/home/dev/link') + trust('trusted')),
      'home/dev/link': { link: '/home/dev/demo' },
      'home/dev/AGENTS.md': 'HOME\n',
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/.codex/config.toml': 'model_verbosity = "low"\n',
    },
    flags: ['-C', '/home/dev/link'],
  },
  'trusted by flag, above a custom root': {
    files: {
      ...config('project_root_markers = ["MARK"]\n'),
      'home/dev/MARK': '',
      'home/dev/AGENTS.md': 'MARKED\n',
      'home/dev/demo/AGENTS.md': 'REPO\n',
      'home/dev/demo/.codex/config.toml': 'model_verbosity = "low"\nproject_root_markers = []\n',
      'home/dev/demo/a/.codex/config.toml': 'hide_agent_reasoning = true\n',
    },
    cwd: `${REPO}/a`,
    flags: ['-c', `projects={"${REPO}"={trust_level="trusted"}}`],
  },
  'blank overrides': {
    files: {
      'home/dev/.codex/AGENTS.override.md': ' \n\t\n',
      'home/dev/.codex/AGENTS.md': '\n\nGLOBAL\n\n',
      'home/dev/demo/AGENTS.override.md': '\n',
      'home/dev/demo/AGENTS.md': 'SHADOWED\n',
      'home/dev/demo/a/AGENTS.override.md': 'OVER\n',
      'home/dev/demo/a/AGENTS.md': 'UNDER\n',
      'home/dev/demo/a/b/agents.md': 'WRONG CASE\n',
    },
    cwd: `${REPO}/a/b`,
    exec: true,
  },
  'global override': {
    files: {
      'home/dev/.codex/AGENTS.override.md': '  OVER\n',
      'home/dev/.codex/AGENTS.md': 'UNDER\n',
      'home/dev/AGENTS.md': 'ABOVE THE ROOT\n',
    },
  },
  'fallback names': {
    files: {
      ...config('project_doc_fallback_filenames = ["docs/x.md", " GUIDE.md ", "", "CLAUDE.md", "../up.md"]\n'),
      'home/dev/.codex/GUIDE.md': 'NOT IN THE HOME\n',
      'home/dev/demo/CLAUDE.md': 'CLAUDE\n',
      'home/dev/demo/docs/x.md': 'SLASH\n',
      'home/dev/demo/a/GUIDE.md': 'GUIDE\n',
      'home/dev/demo/a/CLAUDE.md': 'SECOND\n',
      'home/dev/demo/a/b/AGENTS.md': ' \n',
      'home/dev/demo/a/b/GUIDE.md': 'NOT TRIED\n',
    },
    cwd: `${REPO}/a/b`,
    exec: true,
  },
  'budget in the middle of a character': {
    files: {
      ...config('project_doc_max_bytes = 12\n'),
      'home/dev/.codex/AGENTS.md': 'GLOBAL IS NOT COUNTED\n',
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/a/AGENTS.md': ' \n \n',
      'home/dev/demo/a/b/AGENTS.md': 'äöüß\n',
      'home/dev/demo/a/b/c/AGENTS.md': 'TOO LATE\n',
    },
    cwd: `${REPO}/a/b/c`,
    exec: true,
  },
  'budget used up exactly': {
    files: {
      ...config('project_doc_max_bytes = 5\n'),
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/a/AGENTS.md': 'LATE\n',
    },
    cwd: `${REPO}/a`,
  },
  'no budget': {
    files: {
      ...config('project_doc_max_bytes = 0\n'),
      'home/dev/.codex/AGENTS.md': 'GLOBAL\n',
      'home/dev/demo/AGENTS.md': 'ROOT\n',
    },
  },
  'budget and names set by a project': {
    files: {
      ...config(trust('trusted')),
      'home/dev/demo/.codex/config.toml': 'project_doc_max_bytes = 8\nproject_doc_fallback_filenames = ["G.md"]\n',
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/a/G.md': 'GUIDE\n',
    },
    cwd: `${REPO}/a`,
  },
  links: {
    files: {
      'home/dev/outside.md': 'OUTSIDE\n',
      'home/dev/demo/AGENTS.md': { link: '/home/dev/outside.md' },
      'home/dev/demo/a/AGENTS.override.md': { link: '/home/dev/nowhere' },
      'home/dev/demo/a/AGENTS.md': 'A\n',
      'home/dev/demo/a/b/AGENTS.override.md/x': 'a folder',
      'home/dev/demo/a/b/AGENTS.md': 'B\n',
    },
    cwd: `${REPO}/a/b`,
  },
  'odd bytes': {
    files: {
      'home/dev/.codex/AGENTS.md': Buffer.from('\ufeff  G\xff\n', 'latin1'),
      'home/dev/demo/AGENTS.md': Buffer.from([0xef, 0xbb, 0xbf, 0x52, 0xc3, 0xa9, 0xff, 0x0d, 0x0a]),
      'home/dev/demo/a/AGENTS.md': '\u00a0\u2003\n',
      'home/dev/demo/a/b/AGENTS.md': '\ufeff\n',
    },
    cwd: `${REPO}/a/b`,
    exec: true,
  },
  'no git': {
    files: {
      ...config(trust('trusted', '/home/dev/plain/a')),
      'home/dev/plain/AGENTS.md': 'NOT THIS\n',
      'home/dev/plain/a/AGENTS.md': 'ONLY THIS\n',
      'home/dev/plain/a/.codex/config.toml': 'model_verbosity = "low"\n',
      'home/dev/plain/.agents/skills/up/SKILL.md': skill('up'),
    },
    git: [],
    cwd: '/home/dev/plain/a',
  },
  'project that begins at the home': {
    files: {
      ...config(trust('trusted', '/home/dev')),
      'home/dev/AGENTS.md': 'HOME\n',
      'home/dev/.codex/AGENTS.md': 'GLOBAL\n',
      'home/dev/.codex/skills/own/SKILL.md': skill('own'),
      'home/dev/.agents/skills/agents-own/SKILL.md': skill('agents-own'),
      'home/dev/work/.agents/skills/below/SKILL.md': skill('below'),
    },
    git: ['/home/dev'],
    cwd: '/home/dev/work',
  },
  profile: {
    files: {
      ...config(`model_reasoning_effort = "medium"\ndeveloper_instructions = "USER"\n${trust('trusted')}`),
      'home/dev/.codex/work.config.toml':
        'model_reasoning_effort = "high"\ndeveloper_instructions = " PROFILE \\n"\nproject_doc_max_bytes = 4\n',
      'home/dev/demo/AGENTS.md': 'ROOT\n',
      'home/dev/demo/.codex/config.toml': 'model_reasoning_effort = "low"\n',
    },
    flags: ['-p', 'work'],
    exec: true,
  },
  'flags of all kinds': {
    files: {
      ...config(`model_reasoning_effort = "medium"\n[shell_environment_policy.set]\nA = "user"\n${trust('trusted')}`),
      'home/dev/demo/.codex/config.toml':
        'model_reasoning_effort = "low"\n[shell_environment_policy.set]\nB = "project"\n',
      'home/dev/demo/AGENTS.md': 'ROOT\n',
    },
    flags: [
      '-c',
      'model_reasoning_effort = high',
      '-c',
      'developer_instructions= "two words" ',
      '-c',
      'shell_environment_policy.set.C=three words',
      '-c',
      'project_doc_fallback_filenames=["X.md"]',
      '--enable',
      'goals',
      '--disable',
      'goals',
    ],
    exec: true,
  },
  'texts of the first messages': {
    files: {
      ...config(
        `model_instructions_file = "base.md"\ninstructions = "NOT THIS"\n[features]\nmemories = true\n${trust('trusted')}`,
      ),
      'home/dev/.codex/base.md': '\n\nBASE PROMPT\n\n',
      'home/dev/.codex/memories/memory_summary.md': `\n${'0123456789\n'.repeat(1200)}END\n\n`,
      'home/dev/.codex/memories/MEMORY.md': 'HANDBOOK\n',
      'home/dev/demo/.codex/config.toml': 'developer_instructions = "  PROJECT\\n"\n',
      'home/dev/demo/AGENTS.md': 'ROOT\n',
    },
    exec: true,
  },
  'base prompt in the configuration': {
    files: config('instructions = "  INLINE \\n"\ndeveloper_instructions = ""\n'),
    exec: true,
  },
  skills: {
    files: {
      ...config(
        `[[skills.config]]\npath = "${REPO}/.agents/skills/by-folder"\nenabled = false\n[[skills.config]]\nname = "by-name"\nenabled = false\n[[skills.config]]\npath = "${REPO}/.agents/skills/by-path/SKILL.md"\nenabled = false\n${trust('trusted')}`,
      ),
      'home/dev/demo/.codex/config.toml': '[[skills.config]]\nname = "not-by-project"\nenabled = false\n',
      'home/dev/demo/.agents/skills/by-folder/SKILL.md': skill('by-folder'),
      'home/dev/demo/.agents/skills/by-name/SKILL.md': skill('by-name'),
      'home/dev/demo/.agents/skills/by-path/SKILL.md': skill('by-path'),
      'home/dev/demo/.agents/skills/not-by-project/SKILL.md': skill('not-by-project'),
      'home/dev/demo/.agents/skills/unnamed/SKILL.md': '---\ndescription: |\n  one\n  two\n---\ntext\n',
      'home/dev/demo/.agents/skills/odd/SKILL.md': '---\nname: [\ndescription: Use it: now\n---\n',
      'home/dev/demo/.agents/skills/plain/SKILL.md': '# no front matter\n',
      'home/dev/demo/.agents/skills/empty/SKILL.md': '',
      'home/dev/demo/.agents/skills/silent/SKILL.md': '---\nname: silent\n---\n',
      'home/dev/demo/.agents/skills/long-name/SKILL.md': skill('n'.repeat(65)),
      'home/dev/demo/.agents/skills/lower/skill.md': skill('lower'),
      'home/dev/demo/.agents/skills/SKILL.md': skill('in-the-root'),
      'home/dev/demo/.agents/skills/.hidden/SKILL.md': skill('hidden'),
      'home/dev/demo/.agents/skills/by-call/SKILL.md': skill('by-call'),
      'home/dev/demo/.agents/skills/by-call/agents/openai.yaml': 'policy:\n  allow_implicit_invocation: false\n',
      'home/dev/demo/.agents/skills/outer/SKILL.md': skill('outer'),
      'home/dev/demo/.agents/skills/outer/inner/SKILL.md': skill('inner'),
      'home/dev/demo/.agents/skills/1/2/3/4/5/6/SKILL.md': skill('six-deep'),
      'home/dev/demo/.agents/skills/1/2/3/4/5/6/7/SKILL.md': skill('seven-deep'),
      'home/dev/demo/.agents/skills/linked': { link: '/home/dev/elsewhere' },
      'home/dev/elsewhere/SKILL.md': skill('elsewhere'),
      'home/dev/demo/.agents/skills/linked-file/SKILL.md': { link: '/home/dev/other/SKILL.md' },
      'home/dev/other/SKILL.md': skill('other'),
      'home/dev/demo/.codex/skills/twin/SKILL.md': skill('twin', 'From the repository.'),
      'home/dev/.codex/skills/twin/SKILL.md': skill('twin', 'From the home.'),
      'home/dev/.agents/skills/crlf/SKILL.md': skill('crlf').replaceAll('\n', '\r\n'),
      'home/dev/.agents/skills/bom/SKILL.md': `\ufeff${skill('bom')}`,
    },
    exec: true,
  },
  'skills switched by flag': {
    files: {
      ...config('[[skills.config]]\nname = "one"\nenabled = false\n[[skills.config]]\nname = "two"\nenabled = false\n'),
      'home/dev/.codex/skills/one/SKILL.md': skill('one'),
      'home/dev/.codex/skills/two/SKILL.md': skill('two'),
      'home/dev/.codex/skills/three/SKILL.md': skill('three'),
    },
    flags: ['-c', 'skills.config=[{name="one",enabled=true},{name="three",enabled=false}]'],
  },
  'skills not listed': {
    files: { 'home/dev/.codex/skills/one/SKILL.md': skill('one') },
    flags: ['-c', 'skills.include_instructions=false', '-c', 'skills.bundled.enabled=false'],
  },
  hooks: {
    files: {
      ...config(
        `[[hooks.Stop]]\nmatcher = "dropped"\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "user-toml"\ntimeout = 0\n[hooks.state."/home/dev/.codex/config.toml:stop:0:0"]\ntrusted_hash = "sha256:0000"\n[hooks.state."/home/dev/demo/.codex/hooks.json:pre_tool_use:1:0"]\nenabled = false\n${trust('trusted')}`,
      ),
      'home/dev/.codex/hooks.json': hook('PreToolUse', 'user-json', ''),
      'home/dev/demo/.codex/hooks.json': JSON.stringify({
        description: 'all kinds',
        hooks: {
          PreToolUse: [
            {
              matcher: 'Bash|é',
              hooks: [{ type: 'command', command: 'é', timeout: 7, async: true, statusMessage: 's', extra: 1 }],
            },
            { hooks: [{ type: 'command', command: 'off' }] },
            { matcher: '[', hooks: [{ type: 'command', command: 'bad matcher' }] },
            { hooks: [{ type: 'command', command: ' ' }] },
          ],
          SessionEnd: [{ hooks: [{ type: 'command', command: 'end' }] }],
          PreModelRequest: [
            {
              matcher: 'm',
              hooks: [
                { type: 'command', command: 'before' },
                { type: 'prompt', prompt: 'p' },
              ],
            },
          ],
          Unheard: [{ hooks: [{ type: 'command', command: 'never' }] }],
        },
      }),
      'home/dev/demo/.codex/config.toml':
        '[hooks.state."/home/dev/.codex/hooks.json:pre_tool_use:0:0"]\nenabled = false\n',
    },
    flags: ['-c', 'hooks.Stop=[{hooks=[{type="command",command="flag"}]}]'],
  },
  'hooks switched off': {
    files: { 'home/dev/.codex/hooks.json': hook('Stop', 'user') },
    flags: ['--disable', 'hooks'],
  },
  'hooks file refused whole': {
    files: { 'home/dev/.codex/hooks.json': '{"PreToolUse": []}', 'home/dev/.codex/skills/one/SKILL.md': skill('one') },
  },
  'paths in settings': {
    files: {
      ...config(
        `log_dir = "~/logs"\nsqlite_home = "./a/../b"\nzsh_path = "as/it/is"\n[sandbox_workspace_write]\nwritable_roots = ["rel", "/abs"]\n[model_providers.p]\nname = "P"\nbase_url = "http://127.0.0.1:9/v1"\nhttp_headers = { A = "b" }\n[agents.extra]\ndescription = "Extra."\nconfig_file = "extra.toml"\n${trust('trusted')}`,
      ),
      'home/dev/.codex/extra.toml': 'developer_instructions = "x"\n',
      'home/dev/demo/.codex/config.toml': 'log_dir = "logs"\n',
    },
    flags: ['-c', 'sandbox_workspace_write.writable_roots=["flag", "~/flag"]'],
  },
  'mcp servers': {
    files: {
      ...config(
        `[mcp_servers.one]\ncommand = "one"\nargs = ["1", "2"]\nenabled = false\n[mcp_servers.two]\nurl = "http://u:p@localhost/x?k=1"\nbearer_token_env_var = "TWO"\nhttp_headers = { A = "b" }\nenabled_tools = ["t"]\n${trust('trusted')}`,
      ),
      'home/dev/demo/.codex/config.toml':
        '[mcp_servers.one]\ncommand = "one-here"\nenv = { B = "c" }\n[mcp_servers.three]\ncommand = "three"\nenabled = false\n',
    },
  },
  'keys a project may not set': {
    files: {
      ...config(`model_provider = "openai"\n${trust('trusted')}`),
      'home/dev/demo/.codex/config.toml':
        'model_provider = "other"\nnotify = ["x"]\nmodel_verbosity = "low"\n[model_providers.other]\nname = "O"\nbase_url = "http://127.0.0.1:9/v1"\n[otel]\nenvironment = "x"\n',
    },
  },
  'system, managed and required': {
    files: {
      ...config(`model = "user"\napproval_policy = "never"\n${trust('trusted')}`),
      'home/dev/demo/.codex/config.toml': 'model_verbosity = "low"\n',
      'home/dev/.codex/skills/own/SKILL.md': skill('own'),
      'etc/codex/config.toml':
        'model = "system"\nmodel_verbosity = "high"\nhide_agent_reasoning = true\n[[skills.config]]\nname = "own"\nenabled = false\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "system-toml"\n',
      'etc/codex/hooks.json': hook('PreToolUse', 'system-json'),
      'etc/codex/managed_config.toml':
        'model = "managed"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "managed-toml"\n',
      'etc/codex/requirements.toml': 'allowed_approval_policies = ["on-request", "untrusted"]\n',
      'etc/codex/skills/admin/SKILL.md': skill('admin'),
    },
    flags: ['-c', 'model="flag"'],
    exec: true,
  },
  'broken layer': {
    files: { ...config(trust('trusted')), 'home/dev/demo/.codex/config.toml': 'model_verbosity = "low"\nmodel = "a\n' },
    refused: true,
  },
  'server said by half': {
    files: { ...config(trust('trusted')), 'home/dev/demo/.codex/config.toml': '\n[mcp_servers.half]\nargs = ["x"]\n' },
    refused: true,
  },
  'base prompt that is missing': { files: config('model_instructions_file = "none.md"\n'), refused: true },
  'base prompt that is blank': {
    files: { ...config('model_instructions_file = "base.md"\n'), 'home/dev/.codex/base.md': ' \n' },
    refused: true,
  },
  'old profile key': { files: config('profile = "x"\n'), refused: true },
  'old profile table': { files: config('[profiles.x]\nmodel = "m"\n'), flags: ['-p', 'x'], refused: true },
  'flag without a value': { files: {}, flags: ['-c', 'model'], refused: true },
}

const plugin = (version: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      '.codex-plugin/plugin.json': JSON.stringify({ name: 'demo', version, description: `Version ${version}.` }),
      'skills/from-plugin/SKILL.md': skill('from-plugin', `Version ${version}.`),
      'hooks/hooks.json': hook('Stop', `hook of ${version}`),
      '.mcp.json': JSON.stringify({ mcpServers: { 'from-plugin': { command: `server of ${version}` } } }),
    }).map(([name, text]) => [`home/dev/.codex/plugins/cache/market/demo/${version}/${name}`, text]),
  )

/** Plugins are looked for in the network too: these are run without any. */
export const pluginTrees: Readonly<Record<string, OddTree>> = {
  'highest version': {
    files: {
      ...config('[plugins."demo@market"]\nenabled = true\n'),
      ...plugin('1.9.0'),
      ...plugin('1.10.0'),
      'home/dev/.codex/skills/aa/SKILL.md': skill('aa'),
      'home/dev/.codex/skills/zz/SKILL.md': skill('zz'),
    },
  },
  'version named local': {
    files: { ...config('[plugins."demo@market"]\nenabled = true\n'), ...plugin('1.0.0'), ...plugin('local') },
  },
  'switched off': { files: { ...config('[plugins."demo@market"]\nenabled = false\n'), ...plugin('1.0.0') } },
}

/** Rules files, each run with `exec`, which alone reads them before it starts. */
export const rulesFiles: Readonly<Record<string, { readonly text: string; readonly refused: boolean }>> = {
  'of all kinds': {
    text: [
      'prefix_rule(\n  pattern = ["git", ["push", "fetch"]],\n  decision = "prompt", # asked\n)',
      'prefix_rule(["rm"], "forbidden")',
      'W = ["q"]\nprefix_rule(pattern=W)\n[prefix_rule(pattern=[x]) for x in ["m"]]',
      'host_executable(name="git", paths=["/usr/bin/git"])\n',
    ].join('\n'),
    refused: false,
  },
  'unknown decision': { text: '\nprefix_rule(pattern=["a"], decision="nope")\n', refused: true },
  'empty pattern': { text: 'prefix_rule(pattern=[])\n', refused: true },
  'half a line': { text: 'x = \n', refused: true },
  'unknown call': { text: 'foo()\n', refused: true },
  'open bracket': { text: 'prefix_rule(pattern=["a"\n', refused: true },
  'open text': { text: 'prefix_rule(pattern=["a])\n', refused: true },
}

export interface LaidOddTree extends LaidCodex {
  readonly cwd: string
  readonly flags: readonly string[]
  readonly hasEtc: boolean
}

export function layOddTree(tree: OddTree): LaidOddTree {
  const laid = layCodex({ 'home/dev/demo/README.md': '# demo\n', ...tree.files })
  for (const repository of tree.git ?? [REPO]) {
    const at = laid.here(repository)
    git(at, 'init', '-q', '-b', 'main', '.')
    git(at, 'commit', '-q', '--allow-empty', '-m', 'first')
  }
  if (tree.worktree !== undefined) {
    const main = laid.here(REPO)
    git(main, 'add', '-A')
    git(main, 'commit', '-qm', 'all')
    git(main, 'worktree', 'add', '-q', '--detach', laid.here(tree.worktree.at))
    for (const [name, text] of Object.entries(tree.worktree.files)) {
      const file = path.join(laid.here(tree.worktree.at), name)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }
  return {
    ...laid,
    cwd: laid.here(tree.cwd ?? REPO),
    flags: (tree.flags ?? []).map((flag) => flag.replaceAll('/home/dev', laid.home)),
    hasEtc: Object.keys(tree.files).some((file) => file.startsWith('etc/')),
  }
}
