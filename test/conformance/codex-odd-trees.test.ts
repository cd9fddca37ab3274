import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { manifestBodySchema } from '../../contract/index.ts'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import {
  type PromptAnswers,
  portable,
  resolvedPrompt,
  resolvedServer,
  type ServerAnswers,
} from '../kit/codex-answers.ts'
import { type LaidOddTree, layOddTree, type OddTree, oddTrees, rulesFiles } from '../kit/codex-odd-trees.ts'
import { resolveLaid } from '../kit/codex-tree.ts'

/** What the real program (0.171.0) said of each tree; written by `test/agents` with REPRISE_RECORD=1. */
const recorded = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../fixtures/codex/odd-trees-0.171.0.json'), 'utf8'),
) as Record<string, { readonly prompt: PromptAnswers; readonly server: ServerAnswers }>

let laid: LaidOddTree | null = null
afterEach(() => {
  laid?.remove()
  laid = null
})

function resolve(tree: OddTree, more: readonly string[] = [], version?: string | null): Resolution {
  laid?.remove()
  laid = layOddTree(tree)
  return resolveLaid(laid, {
    cwd: laid.cwd,
    flags: [...laid.flags, ...more],
    ...(version === undefined ? {} : { version }),
  })
}

const treeOf = (name: string): OddTree => {
  const tree = oddTrees[name]
  if (tree === undefined) throw new Error(`no tree ${name}`)
  return tree
}

/** Flags of the record's own runs, which kept the program from the network. */
const ISOLATED = ['--disable', 'plugins', '-c', 'analytics.enabled=false']

describe('odd trees, against the record of the real program', () => {
  const compared = Object.entries(oddTrees).filter(([, tree]) => tree.refused !== true)
  it('has a record of every tree', () => {
    expect(Object.keys(recorded).sort()).toEqual(compared.map(([name]) => name).sort())
  })
  for (const [name, tree] of compared) {
    it(name, () => {
      const resolution = resolve(tree, ISOLATED)
      expect(manifestBodySchema.safeParse(resolution.body).error).toBeUndefined()
      const there = laid?.there ?? ((text: string) => text)
      const want = recorded[name]
      const { memory: _memory, ...prompt } = portable(resolvedPrompt(resolution), there)
      expect(prompt).toEqual({
        agents: want?.prompt.agents,
        developer: want?.prompt.developer,
        skills: want?.prompt.skills,
      })
      // The server knows no profiles.
      if (!laid?.flags.includes('-p')) expect(portable(resolvedServer(resolution), there)).toEqual(want?.server)
    })
  }
})

describe('what keeps the program from starting is a problem with file and line', () => {
  const told = (name: string): string => {
    const { problems } = resolve(treeOf(name))
    expect(problems).toHaveLength(1)
    const [problem] = problems
    return `${laid?.there(problem?.path ?? 'flags')}: ${laid?.there(problem?.message ?? '')}`
  }
  it('all of them', () => {
    const refused = Object.entries(oddTrees).filter(([, tree]) => tree.refused === true)
    expect(
      Object.fromEntries(
        refused.map(([name]) => {
          const text = told(name)
          laid?.remove()
          return [name, text]
        }),
      ),
    ).toMatchInlineSnapshot(`
      {
        "base prompt that is blank": "/home/dev/.codex/config.toml: model_instructions_file names /home/dev/.codex/base.md, and it is blank; the program does not start",
        "base prompt that is missing": "/home/dev/.codex/config.toml: model_instructions_file names /home/dev/.codex/none.md, and it is missing; the program does not start",
        "broken layer": "/home/dev/demo/.codex/config.toml: the program does not start: not valid TOML: line 2, column 11 (control characters are not allowed in strings)",
        "flag without a value": "flags: -c model: there is no "="; the program does not start",
        "old profile key": "/home/dev/.codex/config.toml: the key profile is no longer taken; the program does not start",
        "old profile table": "/home/dev/.codex/config.toml: [profiles.x] and --profile x exclude each other; the program does not start",
        "server said by half": "/home/dev/demo/.codex/config.toml: line 2: mcp_servers.half: neither command nor url stands here; each layer must hold it whole, and the program does not start",
      }
    `)
  })
  it('rules', () => {
    const texts = Object.entries(rulesFiles).map(([name, { text }]) => {
      const { problems } = resolve({ files: { 'home/dev/.codex/rules/a.rules': text } })
      return [name, problems.map(({ message }) => message).join()]
    })
    expect(Object.fromEntries(texts)).toMatchInlineSnapshot(`
      {
        "empty pattern": "line 1: the pattern is empty; the program does not start",
        "half a line": "line 1: nothing stands after x =; the program does not start",
        "of all kinds": "",
        "open bracket": "line 2: [ of line 1 is not closed; the program does not start",
        "open text": "line 1: a text is not closed; the program does not start",
        "unknown call": "line 1: nothing is called foo; the program does not start",
        "unknown decision": "line 2: no decision is called nope: allow, prompt and forbidden are; the program does not start",
      }
    `)
  })
})

describe('nothing that exists is silently absent', () => {
  const reasons = (name: string, files: readonly string[]) => {
    const { body } = resolve(treeOf(name))
    return Object.fromEntries(
      files.map((file) => {
        const source = body.instructions.sources.find((one) => one.path === laid?.here(`/home/dev/${file}`))
        return [file, laid?.there(`${source?.status ?? 'absent'}: ${source?.reason ?? ''}`)]
      }),
    )
  }
  it('AGENTS files', () => {
    expect({
      ...reasons('blank overrides', [
        '.codex/AGENTS.override.md',
        'demo/AGENTS.override.md',
        'demo/AGENTS.md',
        'demo/a/AGENTS.md',
        'demo/a/b/agents.md',
      ]),
      ...reasons('global override', ['.codex/AGENTS.md', 'AGENTS.md']),
    }).toMatchInlineSnapshot(`
      {
        ".codex/AGENTS.md": "not_loaded: AGENTS.override.md of the same folder is used",
        ".codex/AGENTS.override.md": "not_loaded: blank: the next name is tried",
        "AGENTS.md": "not_loaded: above the project root (/home/dev/demo)",
        "demo/AGENTS.md": "not_loaded: shadowed: AGENTS.override.md of the same folder comes first",
        "demo/AGENTS.override.md": "not_loaded: blank: it adds no text, and no other name is tried in this folder",
        "demo/a/AGENTS.md": "not_loaded: shadowed: AGENTS.override.md of the same folder comes first",
        "demo/a/b/agents.md": "not_loaded: wrong case: the program looks for AGENTS.md",
      }
    `)
    expect(
      reasons('fallback names', [
        '.codex/GUIDE.md',
        'demo/docs/x.md',
        'demo/CLAUDE.md',
        'demo/a/CLAUDE.md',
        'demo/a/b/AGENTS.md',
        'demo/a/b/GUIDE.md',
      ]),
    ).toMatchInlineSnapshot(`
      {
        ".codex/GUIDE.md": "not_loaded: fallback names are not used in the home",
        "demo/CLAUDE.md": "loaded: ",
        "demo/a/CLAUDE.md": "not_loaded: shadowed: GUIDE.md of the same folder comes first",
        "demo/a/b/AGENTS.md": "not_loaded: blank: it adds no text, and no other name is tried in this folder",
        "demo/a/b/GUIDE.md": "not_loaded: shadowed: AGENTS.md of the same folder comes first",
        "demo/docs/x.md": "not_loaded: a fallback name with a slash is not used",
      }
    `)
    expect(
      reasons('budget in the middle of a character', [
        'demo/a/AGENTS.md',
        'demo/a/b/AGENTS.md',
        'demo/a/b/c/AGENTS.md',
      ]),
    ).toMatchInlineSnapshot(`
      {
        "demo/a/AGENTS.md": "not_loaded: blank: it adds no text, and no other name is tried in this folder",
        "demo/a/b/AGENTS.md": "loaded: ",
        "demo/a/b/c/AGENTS.md": "not_loaded: over budget: the 12 bytes of project_doc_max_bytes are used up",
      }
    `)
    expect(
      reasons('links', ['demo/AGENTS.md', 'demo/a/AGENTS.override.md', 'demo/a/b/AGENTS.override.md']),
    ).toMatchInlineSnapshot(`
      {
        "demo/AGENTS.md": "loaded: ",
        "demo/a/AGENTS.override.md": "not_loaded: a link that leads nowhere",
        "demo/a/b/AGENTS.override.md": "not_loaded: a directory stands where a file is expected",
      }
    `)
    expect(reasons('untrusted', ['demo/AGENTS.md', 'demo/.codex/config.toml'])).toMatchInlineSnapshot(`
      {
        "demo/.codex/config.toml": "not_loaded: present, not applied: untrusted (/home/dev/demo in /home/dev/.codex/config.toml)",
        "demo/AGENTS.md": "not_loaded: present, not applied: untrusted (/home/dev/demo in /home/dev/.codex/config.toml)",
      }
    `)
    expect(
      reasons('no trust entry', ['demo/AGENTS.md', 'demo/.codex/config.toml', 'demo/.codex/hooks.json']),
    ).toMatchInlineSnapshot(`
      {
        "demo/.codex/config.toml": "not_loaded: present, not applied: no entry marks the project as trusted",
        "demo/.codex/hooks.json": "not_loaded: present, not applied: no entry marks the project as trusted",
        "demo/AGENTS.md": "loaded: ",
      }
    `)
  })

  it('skills, hooks and settings', () => {
    expect(
      reasons('skills', [
        'demo/.agents/skills/by-name/SKILL.md',
        'demo/.agents/skills/by-call/SKILL.md',
        'demo/.agents/skills/silent/SKILL.md',
        'elsewhere/SKILL.md',
        'demo/.agents/skills/linked-file/SKILL.md',
        'demo/.agents/skills/lower/skill.md',
        'demo/.agents/skills/.hidden/SKILL.md',
        'demo/.agents/skills/1/2/3/4/5/6/7/SKILL.md',
      ]),
    ).toMatchInlineSnapshot(`
      {
        "demo/.agents/skills/.hidden/SKILL.md": "not_loaded: in a folder whose name begins with a dot",
        "demo/.agents/skills/1/2/3/4/5/6/7/SKILL.md": "not_loaded: more than 6 folders below /home/dev/demo/.agents/skills",
        "demo/.agents/skills/by-call/SKILL.md": "lazy: ",
        "demo/.agents/skills/by-name/SKILL.md": "not_loaded: switched off by skills.config in /home/dev/.codex/config.toml",
        "demo/.agents/skills/linked-file/SKILL.md": "not_loaded: a SKILL.md that is a link is not taken",
        "demo/.agents/skills/lower/skill.md": "not_loaded: wrong case: the program looks for SKILL.md",
        "demo/.agents/skills/silent/SKILL.md": "not_loaded: missing field \`description\`",
        "elsewhere/SKILL.md": "lazy: ",
      }
    `)
    expect(
      reasons('linked work tree', ['demo/.codex/hooks.json', 'tree/.codex/hooks.json', 'tree/only/.codex/hooks.json']),
    ).toMatchInlineSnapshot(`
      {
        "demo/.codex/hooks.json": "loaded: ",
        "tree/.codex/hooks.json": "not_loaded: in a linked work tree hooks come from the main checkout (/home/dev/demo/.codex)",
        "tree/only/.codex/hooks.json": "not_loaded: in a linked work tree hooks come from the main checkout (/home/dev/demo/only/.codex)",
      }
    `)
    const { body } = resolve(treeOf('hooks'))
    expect(
      body.capabilities.hooks.map((hook) => [
        hook.description,
        hook.trust,
        hook.status,
        laid?.there(hook.reason?.split(' (')[0] ?? ''),
      ]),
    ).toMatchInlineSnapshot(`
      [
        [
          "user-json",
          "untrusted",
          "disabled",
          "present, not applied: untrusted",
        ],
        [
          "user-toml",
          "modified",
          "disabled",
          "present, not applied: it was changed since it was approved",
        ],
        [
          "before",
          "untrusted",
          "disabled",
          "present, not applied: untrusted",
        ],
        [
          "é",
          "untrusted",
          "disabled",
          "present, not applied: untrusted",
        ],
        [
          "off",
          "untrusted",
          "disabled",
          "hooks.state in /home/dev/.codex/config.toml switches it off",
        ],
        [
          "end",
          "untrusted",
          "disabled",
          "present, not applied: untrusted",
        ],
        [
          "flag",
          "untrusted",
          "disabled",
          "present, not applied: untrusted",
        ],
      ]
    `)
  })

  it('says where a document was cut, by byte', () => {
    const { body, texts } = resolve(treeOf('budget in the middle of a character'))
    const cut = body.instructions.sources.filter((source) => source.truncated !== null)
    expect(cut.map((source) => [source.bytes, source.truncated])).toEqual([[9, { at: 7, unit: 'bytes' }]])
    expect(texts.get(cut[0]?.uri ?? '')?.text).toBe('äöü\ufffd')
  })

  it('lists values of layers that are not in force among those that lost', () => {
    const { body } = resolve(treeOf('no trust entry'))
    expect(body.settings.model_verbosity).toMatchObject({
      value: 'high',
      rule: 'replace',
      overridden: [{ value: 'low', ignored: 'present, not applied: no entry marks the project as trusted' }],
    })
    expect(body.settings.developer_instructions).toBeUndefined()
    const { body: other } = resolve(treeOf('keys a project may not set'))
    expect(other.settings.model_provider).toMatchObject({
      value: 'openai',
      overridden: [{ value: 'other', ignored: 'a project may not set this key' }],
    })
  })
})

it('makes path values absolute, within the layer that holds them', () => {
  const { body } = resolve(treeOf('paths in settings'))
  const value = (key: string): string => laid?.there(JSON.stringify(body.settings[key]?.value)) ?? ''
  expect({
    log_dir: value('log_dir'),
    below: laid?.there(JSON.stringify(body.settings.log_dir?.overridden.map((lost) => lost.value))),
    sqlite_home: value('sqlite_home'),
    roots: value('sandbox_workspace_write.writable_roots'),
    role: value('agents.extra.config_file'),
    as_it_is: value('zsh_path'),
  }).toEqual({
    log_dir: '"/home/dev/demo/.codex/logs"',
    below: '["/home/dev/logs"]',
    sqlite_home: '"/home/dev/.codex/b"',
    roots: '["/home/dev/demo/flag","/home/dev/flag"]',
    role: '"/home/dev/.codex/extra.toml"',
    as_it_is: '"as/it/is"',
  })
})

describe('servers', () => {
  it('are merged key by key, with filters, without credentials', () => {
    const { body } = resolve(treeOf('mcp servers'))
    const text = JSON.stringify(body)
    expect(text).not.toContain('u:p@')
    expect(body.capabilities.mcp_servers).toMatchObject([
      {
        name: 'one',
        command: 'one-here',
        args: ['1', '2'],
        status: 'disabled',
        env: [{ name: 'B', digest: 'clear(c)' }],
      },
      { name: 'three', status: 'disabled' },
      {
        name: 'two',
        url: 'http://localhost/x?…',
        enabled_tools: ['t'],
        headers: [{ name: 'A', digest: 'clear(b)' }],
        status: 'active',
      },
    ])
  })
})

describe('what is not known is said', () => {
  it('another version', () => {
    const { body } = resolve({ files: {} }, [], '0.172.0')
    expect(body.execution).toMatchObject({ runtime_version: '0.172.0', model: null, reasoning: null })
    const fields = body.unknown.map(({ field }) => field)
    expect(fields).toEqual(
      expect.arrayContaining(['instructions.resolved_order', 'execution.model', 'execution.reasoning']),
    )
  })
  it('no version at all: the rules of the verified one', () => {
    const { body } = resolve({ files: {} }, [], null)
    expect(body.execution.model).toBe('gpt-6.2-sol')
    expect(body.unknown).toContainEqual({
      field: 'execution.runtime_version',
      why: 'not given; the rules of 0.171.0 were applied',
    })
  })
  it('requirements that are not followed', () => {
    const { body } = resolve({
      files: {
        'etc/codex/requirements.toml': 'allowed_sandbox_modes = ["workspace-write"]\nallow_managed_hooks_only = true\n',
      },
    })
    expect(body.execution.sandbox.mode).toBe('read-only')
    expect(body.unknown.map(({ field }) => field)).toContain('policy allow_managed_hooks_only')
    expect(body.policy.managed).toEqual(['/etc/codex/requirements.toml'])
  })
  it('rules that are computed', () => {
    const { body } = resolve({ files: { 'home/dev/.codex/rules/a.rules': rulesFiles['of all kinds']?.text ?? '' } })
    expect(body.policy.permissions).toMatchObject({
      allow: [{ rule: 'q' }],
      ask: [{ rule: 'git push|fetch', line: 1 }],
      deny: [{ rule: 'rm' }],
    })
    expect(body.unknown.filter(({ field }) => field === 'policy.permissions')).toHaveLength(1)
  })
  it.skipIf(process.getuid?.() === 0)('a file that cannot be read', () => {
    laid = layOddTree({ files: { 'home/dev/demo/AGENTS.md': 'X\n' } })
    chmodSync(laid.here('/home/dev/demo/AGENTS.md'), 0)
    const { body } = resolveLaid(laid, { cwd: laid.cwd, flags: [] })
    expect(body.instructions.sources.find((source) => source.path?.endsWith('demo/AGENTS.md'))).toMatchObject({
      status: 'unknown',
    })
  })
  it('every empty category says why', () => {
    const { body } = resolve({ files: {} })
    expect(body.empty.map(({ category }) => category)).toEqual(
      expect.arrayContaining([
        'instructions',
        'memory',
        'settings',
        'skills',
        'agents',
        'hooks',
        'mcp_servers',
        'permissions',
      ]),
    )
    for (const { why } of body.empty) expect(why).not.toBe('')
  })
})

it('reads a file that is being written again, and takes a broken one for broken', () => {
  const tree: OddTree = { files: { 'home/dev/.codex/config.toml': 'model = "a"\n' } }
  laid = layOddTree(tree)
  const file = laid.here('/home/dev/.codex/config.toml')
  writeFileSync(file, 'model = "a')
  const { problems, body } = resolveLaid(laid, { cwd: laid.cwd, flags: [] })
  expect(problems).toMatchObject([{ path: file, message: expect.stringContaining('line 1') }])
  expect(JSON.stringify(body)).not.toContain('model = \\"a')
  rmSync(file)
  expect(resolveLaid(laid, { cwd: laid.cwd, flags: [] }).problems).toEqual([])
})

it('keeps credentials out, and tells when they change', () => {
  const secret = 'sk-this-is-not-for-anyone-0123456789'
  const tree = (text: string): OddTree => ({
    files: {
      'home/dev/.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: text }),
      'home/dev/.codex/.env': `A_KEY=${text}\nCODEX_IGNORED=1\n`,
      'home/dev/.codex/config.toml': `[model_providers.p]\nname = "P"\nbase_url = "http://u:${text}@127.0.0.1/v1?k=${text}"\nexperimental_bearer_token = "${text}"\nhttp_headers = { A = "${text}" }\n`,
    },
  })
  const digest = (text: string): string => {
    laid = layOddTree(tree(text))
    const { codexHome, home, root, cwd } = laid
    expect(root).not.toBe('')
    const resolution = resolveLaid(laid, { cwd, flags: ['-c', `model_providers.q.http_headers.B=${text}`] })
    const body = JSON.stringify(resolution.body).replaceAll(/clear\((?:[^()]|\([^()]*\))*\)/g, 'covered')
    expect(body).not.toContain(text)
    expect(
      resolution.body.instructions.sources.find((source) => source.path === path.join(codexHome, '.env')),
    ).toMatchObject({
      names: ['A_KEY'],
      ignored_names: ['CODEX_IGNORED'],
    })
    const auth = resolution.body.instructions.sources.find(
      (source) => source.path === path.join(home, '.codex/auth.json'),
    )
    expect(auth).toMatchObject({ digest: null, classification: 'secret' })
    laid.remove()
    return String(auth?.keyed_digest)
  }
  expect(digest(secret)).not.toBe(digest(`${secret}x`))
})
