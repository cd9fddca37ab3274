import { describe, expect, it } from 'vitest'
import type { ManifestBody } from '../../../contract/index.ts'
import { compareBodies, paths } from '../../kit/compare-bodies.ts'
import { capability, digestFor, manifestBody, ROOT, setting, source } from '../../kit/manifest-body.ts'

const categoryOf = (result: Awaited<ReturnType<typeof compareBodies>>, name: string) =>
  result.categories.find(({ category }) => category === name)

describe('the same configuration', () => {
  it('does not differ by when, where from and in which session it was taken down', async () => {
    const later = manifestBody((body) => {
      body.run_id = 'r_000000000002'
      body.stretch = 3
      body.created_at = '2026-11-30T18:00:00.000Z'
      body.context.session_ref = 'another'
      const [first] = body.instructions.sources
      if (first) Object.assign(first, { used: true, classification: 'public', mtime_ms: 5 })
      const [skill] = body.capabilities.skills
      if (skill) skill.used = false
      body.empty.push({ category: 'plugins', why: 'none' })
    })
    const result = await compareBodies(manifestBody(), later)
    expect(result.fields).toEqual([])
    expect(result.identical).toBe(true)
    expect(
      result.categories
        .map(({ category, state, a, b }) => [category, state, a === b])
        .filter(([, state, same]) => state !== 'equal' || !same),
    ).toEqual([])
  })

  it('does not depend on the order of what has no order', async () => {
    const two = (names: readonly string[]): ManifestBody =>
      manifestBody((body) => {
        body.capabilities.skills = names.map((name) => capability(name, name))
      })
    expect((await compareBodies(two(['a', 'b', 'c']), two(['c', 'a', 'b']))).fields).toEqual([])
  })

  it('is the same in another checkout and another home, though every path differs', async () => {
    const at = (root: string, home: string): ManifestBody =>
      manifestBody((body) => {
        const memory = `${home}/projects/${root.replaceAll(/[^A-Za-z0-9]/g, '-')}/memory/MEMORY.md`
        body.execution.cwd = `${root}/src`
        if (body.execution.repo) body.execution.repo.root = root
        body.instructions.effective_digest = digestFor(root)
        body.instructions.sources = [
          source(`${root}/CLAUDE.md`, 'x', { reason: `below ${root}/src`, imported_by: [`${root}/A.md`] }),
          source(memory, 'm', { kind: 'memory', position: 1 }),
          source(`${home}.json`, 's', { kind: 'state', position: null }),
        ]
        body.context.memory = [
          { path: memory, digest: digestFor('m'), bytes: 1, truncated: null, local_to_machine: true },
        ]
        body.context.memory_manifest_digest = digestFor(memory)
        body.settings = {
          model: setting('opus', {
            source: `${root}/.agent/settings.json`,
            merged_from: [`${root}/.agent/settings.json`],
          }),
        }
        body.policy.revision = digestFor(`policy ${root}`)
      })
    const [a, b] = [at('/home/dev/shop', '/home/dev/.claude'), at('/tmp/wt 2/shop', '/data/other/.claude')]
    const result = await compareBodies(a, b, { a: { home: '/home/dev/.claude' }, b: { home: '/data/other/.claude' } })
    expect(paths(result).different).toEqual([])
    expect(result.identical).toBe(true)
    expect(result.text.equal).toBe(true)
    // A start in another directory of the same tree is no other checkout.
    const below = await compareBodies(
      manifestBody(),
      manifestBody((body) => {
        body.execution.cwd = `${ROOT}/src`
      }),
    )
    expect(paths(below).different).toEqual(['execution.cwd'])
  })

  it('is the same in a linked work tree that shares the main one', async () => {
    const memory = '/home/dev/.claude/projects/-home-dev-shop/memory/MEMORY.md'
    const at = (root: string): ManifestBody =>
      manifestBody((body) => {
        body.execution.cwd = root
        if (body.execution.repo) Object.assign(body.execution.repo, { root, main: '/home/dev/shop' })
        body.instructions.sources = [
          source(memory, 'm', { kind: 'memory' }),
          source('/home/dev/shop/.claude/settings.local.json', 's', { kind: 'settings', position: null }),
        ]
      })
    expect(paths(await compareBodies(at('/home/dev/shop'), at('/home/dev/wt-1'))).different).toEqual([])
  })

  it('stays the same when something before it makes it stand one place further back', async () => {
    const with3 = (front: readonly string[]): ManifestBody =>
      manifestBody((body) => {
        body.instructions.sources = front.map((name, position) => source(`${ROOT}/${name}`, name, { position }))
      })
    expect(paths(await compareBodies(with3(['a', 'b', 'c']), with3(['new', 'a', 'b', 'c']))).different).toEqual([
      `instructions.sources[${ROOT}/new]`,
    ])
    expect(paths(await compareBodies(with3(['a', 'b', 'c']), with3(['c', 'a', 'b']))).different).toEqual([
      `instructions.sources[${ROOT}/c].position`,
    ])
  })
})

describe('what differs', () => {
  it('is found in every field, those of later versions too, and named by its path', async () => {
    const later = manifestBody((body) => {
      Object.assign(body, { future: { nested: { deep: 2 } } })
      Object.assign(body.execution, { profile: 'b' })
      Object.assign(body.capabilities, { channels: [{ name: 'chat', account: 'two' }] })
      const [skill] = body.capabilities.skills
      if (skill) skill.digest = digestFor('never')
      body.settings['permissions.deny'] = setting(['Bash'])
      delete body.settings.model
    })
    const before = manifestBody((body) => {
      Object.assign(body, { future: { nested: { deep: 1 } } })
      Object.assign(body.execution, { profile: 'a' })
      Object.assign(body.capabilities, { channels: [{ name: 'chat', account: 'one' }] })
    })
    const result = await compareBodies(before, later)
    expect(paths(result).different.sort()).toEqual(
      [
        'capabilities.channels[chat].account',
        'capabilities.skills[release-check].digest',
        'execution.profile',
        'future.nested.deep',
        'settings[model]',
        'settings[permissions.deny]',
      ].sort(),
    )
    expect(result.identical).toBe(false)
    const summed = new Set(result.causes.flatMap(({ fields }) => fields))
    for (const path of paths(result).different) expect(summed.has(path), path).toBe(true)
    for (const { state, a, b } of result.categories) expect(a === b).toBe(state !== 'different')
  })

  it('tells things of the same name apart by where they come from', async () => {
    const with2 = (local: string): ManifestBody =>
      manifestBody((body) => {
        body.capabilities.skills = [
          capability('tidy', 'user', { source: 'user' }),
          capability('tidy', local, { source: 'project', status: 'shadowed' }),
        ]
      })
    expect(paths(await compareBodies(with2('one'), with2('two'))).different).toEqual([
      'capabilities.skills[tidy @ project].digest',
    ])
  })
})

describe('what one side could not know', () => {
  it('is no difference, and is said', async () => {
    const blind = manifestBody((body) => {
      body.origin = 'inferred'
      body.settings = {}
      body.execution.flags = null
      body.execution.environment = []
      body.policy.trust.trusted = null
      body.policy.revision = null
      body.instructions.sources = [
        source(`${ROOT}/CLAUDE.md`, 'Prices are in cents.', {
          digest: null,
          bytes: null,
          rule: 'as recorded',
          scope: 'other words',
        }),
      ]
      body.unknown.push(
        ...[
          'settings',
          'execution.flags',
          'execution.environment',
          'policy.trust',
          'instructions.sources',
          'capabilities.hooks',
        ].map((field) => ({ field, why: `no ${field} there` })),
      )
    })
    const seeing = manifestBody((body) => {
      body.execution.flags = ['--bare']
      body.capabilities.hooks = [capability('Stop', 'h')]
      body.instructions.sources.push(
        source(`${ROOT}/.agent/rules/http.md`, 'r', { kind: 'rule', position: null, status: 'lazy' }),
      )
    })
    const result = await compareBodies(blind, seeing)
    expect(paths(result)).toEqual({
      different: [],
      unknown: expect.arrayContaining([
        'a settings[model]',
        'a execution.flags',
        'a execution.environment[PATH]',
        'a policy.trust.trusted',
        `a instructions.sources[${ROOT}/.agent/rules/http.md]`,
        `a instructions.sources[${ROOT}/CLAUDE.md].digest`,
        'a capabilities.hooks[Stop]',
      ]),
    })
    expect(result.identical).toBe(true)
    expect(categoryOf(result, 'settings')).toMatchObject({
      state: 'not_compared',
      a: null,
      b: null,
      not_known: [{ field: 'settings', why: 'no settings there', side: 'a' }],
    })
    expect(categoryOf(result, 'instructions')).toMatchObject({ state: 'partly_compared' })
    expect(result.notes.join()).toContain('A was read from its record')
  })

  it('does not hide what both sides can know', async () => {
    const inferred = (texts: readonly string[]): ManifestBody =>
      manifestBody((body) => {
        body.origin = 'inferred'
        body.instructions.effective_digest = digestFor(texts.join())
        body.instructions.sources = texts.map((text, position) =>
          source(`${ROOT}/${text}.md`, text, { position, digest: null, bytes: null }),
        )
        body.unknown.push({ field: 'instructions.sources', why: 'what was not loaded leaves no trace' })
      })
    const captured = manifestBody((body) => {
      body.instructions.effective_digest = digestFor('one,two')
      body.instructions.sources = [source(`${ROOT}/one.md`, 'one'), source(`${ROOT}/two.md`, 'two', { position: 1 })]
    })
    // What entered at start is complete wherever the digest of it is known.
    expect(paths(await compareBodies(inferred(['one']), captured)).different.sort()).toEqual([
      'instructions.effective_digest',
      `instructions.sources[${ROOT}/two.md]`,
    ])
    expect(paths(await compareBodies(inferred(['one', 'two']), captured)).different).toEqual([])
    expect(paths(await compareBodies(inferred(['one']), inferred(['one', 'two']))).different.sort()).toEqual([
      'instructions.effective_digest',
      `instructions.sources[${ROOT}/two.md]`,
    ])
  })

  it('is no difference either where both were made in the same way', async () => {
    const blind = (field: string, value: Partial<ManifestBody['execution']>): ManifestBody =>
      manifestBody((body) => {
        Object.assign(body.execution, value)
        body.unknown.push({ field, why: 'not shown' })
      })
    const result = await compareBodies(blind('execution.reasoning', { reasoning: null }), manifestBody())
    expect(paths(result)).toEqual({ different: [], unknown: ['a execution.reasoning'] })
    expect(categoryOf(result, 'model and endpoint')).toMatchObject({ state: 'partly_compared' })
    // A part of what is not known is not known; a value that is there is, unless it is named itself.
    const above = await compareBodies(manifestBody(), blind('execution', { reasoning: null, surface: 'other' }))
    expect(paths(above)).toEqual({ different: ['execution.surface'], unknown: ['b execution.reasoning'] })
    const doubtful = await compareBodies(manifestBody(), blind('execution.cwd', { cwd: '/elsewhere' }))
    expect(paths(doubtful).different).toEqual([])
    // Nothing there and nothing unknown: there is none.
    const none = manifestBody((body) => {
      body.execution.reasoning = null
    })
    expect(paths(await compareBodies(none, manifestBody())).different).toEqual(['execution.reasoning'])
  })

  it('counts a source that could not be read as one that may be there', async () => {
    const unread = manifestBody(
      (body) =>
        void body.unknown.push({
          field: `instructions.sources file://${ROOT}/.agent/rules/a.md`,
          why: 'permission denied',
        }),
    )
    const read = manifestBody(
      (body) =>
        void body.instructions.sources.push(
          source(`${ROOT}/.agent/rules/a.md`, 'a', { kind: 'rule', position: null, status: 'not_loaded' }),
        ),
    )
    expect(paths(await compareBodies(unread, read))).toEqual({
      different: [],
      unknown: [`a instructions.sources[${ROOT}/.agent/rules/a.md]`],
    })
  })

  it('does not take what is asked for and what answered for two models', async () => {
    const now = manifestBody((body) => {
      body.origin = 'resolved'
      body.execution.model = 'opus'
      body.execution.surface = null
    })
    expect(paths(await compareBodies(manifestBody(), now))).toMatchObject({
      different: [],
      unknown: expect.arrayContaining(['b execution.model', 'b execution.surface']),
    })
  })
})
