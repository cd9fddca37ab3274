import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { manifestBodySchema } from '../../contract/index.ts'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { matchLazy } from '../../daemon/runtimes/claude-code/resolve/index.ts'
import { expected, type LaidTree, layConfigTree, prepare, resolveStart, scenario } from '../kit/claude-code-tree.ts'

let tree: LaidTree | null = null
afterEach(() => {
  tree?.remove()
  tree = null
})

function resolve(name: string): { resolution: Resolution; tree: LaidTree } {
  tree = layConfigTree()
  const resolution = resolveStart(tree, prepare(name, tree))
  return { resolution, tree }
}

const groupOfScope: Readonly<Record<string, string>> = {
  managed: 'Managed',
  user: 'User',
  local: 'Local',
  memory: 'AutoMem',
}

/** What entered the context, as the fixture writes it. */
function entered({ body, order }: Resolution, { there }: LaidTree) {
  const byUri = new Map(body.instructions.sources.map((source) => [source.uri, source]))
  return order.map((uri) => {
    const source = byUri.get(uri)
    if (!source?.path) throw new Error(`${uri} has no source`)
    expect(source.status).toBe('loaded')
    return { type: groupOfScope[source.scope] ?? 'Project', path: there(source.path) }
  })
}

/** Files of one rules directory come in the order of the file system: they are sorted before comparing, nothing else is. */
function withRulesSorted(list: readonly { type: string; path: string }[]) {
  const rulesOf = (file: string): string | null => {
    const at = file.indexOf('/rules/')
    // An import that only a rule makes travels with it.
    if (file.endsWith('/.claude/rule-imp.md')) return file.replace('rule-imp.md', 'rules')
    return at < 0 ? null : file.slice(0, at + '/rules'.length)
  }
  const out: { type: string; path: string }[] = []
  for (let at = 0; at < list.length; ) {
    const folder = rulesOf(list[at]?.path ?? '')
    let end = at + 1
    if (folder !== null) while (end < list.length && rulesOf(list[end]?.path ?? '') === folder) end += 1
    out.push(...list.slice(at, end).sort((a, b) => (a.path < b.path ? -1 : 1)))
    at = end
  }
  return out
}

const tokensOf = (list: readonly { status: string; description: string | null }[]): string[] =>
  list
    .filter((one) => one.status === 'active')
    .map((one) => one.description ?? '')
    .sort()

describe('every start situation of the fixture', () => {
  expect(Object.keys(expected.scenarios)).toHaveLength(23)
  for (const name of Object.keys(expected.scenarios)) {
    it(name, () => {
      const { resolution, tree } = resolve(name)
      const want = scenario(name)
      const { body } = resolution
      expect(manifestBodySchema.safeParse(body).error).toBeUndefined()
      expect(resolution.problems).toEqual([])
      expect(withRulesSorted(entered(resolution, tree))).toEqual(withRulesSorted(want.instructions))
      expect(tokensOf(body.capabilities.agents)).toEqual([...want.agentTokens].sort())
      expect(tokensOf([...body.capabilities.skills, ...body.capabilities.commands])).toEqual(
        [...want.skillTokens].sort(),
      )
      const servers = body.capabilities.mcp_servers.filter((server) => server.status === 'active')
      const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
      expect(servers.map(({ name, scope }) => ({ name, source: scope })).sort(byName)).toEqual(
        want.mcpServers.map(({ name, source }) => ({ name, source })).sort(byName),
      )
      const names = Object.keys(body.settings)
        .flatMap((key) => (key.startsWith('env.LAB_') ? [key.slice(4)] : []))
        .sort()
      expect(names).toEqual(
        Object.keys(want.env)
          .filter((key) => key.startsWith('LAB_'))
          .sort(),
      )
    })
  }
})

it('merges env values by name, the highest source winning', () => {
  const values = new Map<string, string>()
  for (const name of ['root', 'root+managed', 'settings-flag', 'subdir', 'setting-sources=project', 'no-git-subdir']) {
    const laid = layConfigTree()
    try {
      const start = prepare(name, laid)
      // The digest of a value stands for it: the fixture's words are known here.
      const { body } = resolveStart(laid, start)
      const scalar = body.settings['env.LAB_SCALAR']
      values.set(name, `${scenario(name).env.LAB_SCALAR} from ${laid.there(scalar?.source ?? '')}`)
      expect(scalar?.rule).toBe('by_name')
      expect(scalar?.value).toBeUndefined()
      expect(scalar?.value_ref).toMatch(/^secret:settings:/)
    } finally {
      laid.remove()
    }
  }
  expect(Object.fromEntries(values)).toEqual({
    root: 'local from /home/dev/ws/demo/.claude/settings.local.json',
    'root+managed': 'dropin10 from /etc/claude-code/managed-settings.d/10-a.json',
    'settings-flag': 'flag from flag:--settings',
    subdir: 'local from /home/dev/ws/demo/.claude/settings.local.json',
    'setting-sources=project': 'project from /home/dev/ws/demo/.claude/settings.json',
    'no-git-subdir': 'user from /home/dev/.claude/settings.json',
  })
})

describe('permissions', () => {
  const outcome = (body: Resolution['body'], command: string): string => {
    const covers = ({ rule }: { rule: string }): boolean => rule === `Bash(${command.split(' ')[0]}:*)`
    if (body.policy.permissions.deny.some(covers)) return 'denied'
    return body.policy.permissions.allow.some((entry) => entry.ignored === null && covers(entry))
      ? 'allowed'
      : 'needs-approval'
  }
  for (const trust of ['trusted', 'untrusted'] as const) {
    it(trust, () => {
      tree = layConfigTree()
      if (trust === 'untrusted') writeFileSync(path.join(tree.home, '.claude.json'), '{}')
      const flags = ['--settings', '{"permissions":{"allow":["Bash(flag-allow:*)"]}}']
      const { body } = resolveStart(tree, { ...prepare('root', tree), managed: true, flags })
      expect(body.policy.trust.trusted).toBe(trust === 'trusted')
      // `ls` is a read-only command the runtime allows by itself, without any rule.
      const { ls: _byItself, ...want } = expected.permissions[trust]
      expect(Object.fromEntries(Object.keys(want).map((command) => [command, outcome(body, command)]))).toEqual(want)
    })
  }
})

it('says of every file that never loads why it does not', () => {
  const { resolution, tree } = resolve('root+managed')
  const silent: string[] = []
  for (const { path: written } of expected.neverLoadedInRootScenario) {
    const fixturePath = written.startsWith('~')
      ? written.replace('~', '/home/dev')
      : written.startsWith('etc/')
        ? `/${written}`
        : written.startsWith('projects/')
          ? `/home/dev/.claude/${written}`
          : `/home/dev/${written}`
    const file = tree.here(fixturePath)
    const source = resolution.body.instructions.sources.find((one) => one.path === file)
    const isNote = source?.status === 'not_loaded' || (source?.status === 'lazy' && source.kind === 'memory')
    if (!(isNote && source.reason)) silent.push(`${written}: ${source?.status ?? 'absent'}`)
  }
  expect(silent).toEqual([])
})

it('brings lazy files in one by one, each once, in order', () => {
  const { resolution, tree } = resolve('root')
  const loaded = new Set<string>()
  for (const { call, loaded: want } of expected.lazyLoads) {
    const file = call.tool === 'Bash' ? null : call.input.file_path
    const found = file === null || file === undefined ? [] : matchLazy(resolution, tree.here(file), loaded)
    expect({ call, loaded: found.map(tree.there) }).toEqual({ call, loaded: want })
    for (const one of found) loaded.add(one)
  }
})

describe('limits of the memory index', () => {
  const { maxLines, maxChars } = expected.memoryIndexLimits
  const resolveWith = (text: string) => {
    tree = layConfigTree()
    writeFileSync(tree.here('/home/dev/.claude/projects/-home-dev-ws-demo/memory/MEMORY.md'), text)
    const resolution = resolveStart(tree, prepare('root', tree))
    const source = resolution.body.instructions.sources.find((one) => one.kind === 'memory' && one.status === 'loaded')
    return { source, text: resolution.texts.get(source?.uri ?? '')?.text ?? '' }
  }
  const kept = (text: string): string => text.slice(0, text.lastIndexOf('\n\n> WARNING: MEMORY.md is '))
  it('whole at the limit', () => {
    const lines = Array.from({ length: maxLines }, (_, n) => `- ${n}`).join('\n')
    const { source, text } = resolveWith(lines)
    expect(text).toBe(lines)
    expect(source?.truncated).toBeNull()
  })
  it('one line more', () => {
    const lines = Array.from({ length: maxLines + 1 }, (_, n) => `- ${n}`)
    const { source, text } = resolveWith(lines.join('\n'))
    expect(kept(text)).toBe(lines.slice(0, maxLines).join('\n'))
    expect(source?.truncated).toEqual({ at: maxLines, unit: 'lines' })
  })
  it('characters, not bytes, cut at a line end', () => {
    const line = 'é'.repeat(99)
    expect(resolveWith(Array.from({ length: 130 }, () => line).join('\n')).source?.truncated).toBeNull()
    const long = Array.from({ length: 180 }, () => 'é'.repeat(199)).join('\n')
    const { source, text } = resolveWith(long)
    expect(kept(text)).toBe(long.slice(0, long.lastIndexOf('\n', maxChars)))
    expect(source?.truncated).toEqual({ at: 24_999, unit: 'characters' })
  })
  it('one endless line', () => {
    const { source, text } = resolveWith('y'.repeat(30_000))
    expect(kept(text)).toBe('y'.repeat(maxChars))
    expect(source?.truncated).toEqual({ at: maxChars, unit: 'characters' })
  })
})

it('gives the same answer twice, to the byte', () => {
  const { resolution, tree } = resolve('root+managed')
  expect(JSON.stringify(resolveStart(tree, prepare('root+managed', tree)).body)).toBe(JSON.stringify(resolution.body))
})
