import { describe, expect, it } from 'vitest'
import type { Drift, ManifestBody } from '../../../contract/index.ts'
import { compareBodies, event } from '../../kit/compare-bodies.ts'
import { capability, digestFor, manifestBody, ROOT, setting, source } from '../../kit/manifest-body.ts'

const rule = (paths: string): ReturnType<typeof source> =>
  source(`${ROOT}/.agent/rules/http.md`, 'Retry.', {
    kind: 'rule',
    status: 'lazy',
    position: null,
    digest: digestFor(paths),
    trigger: paths,
    lazy: { when: 'paths', base: ROOT, patterns: [paths] },
  })

const calls = (touched: string, loadsAt: number | null) => [
  event(1, { kind: 'prompt', summary: 'fix it' }),
  event(2, { kind: 'tool', tool: 'Read', summary: touched, ok: true }),
  ...(loadsAt === null ? [] : [event(loadsAt, { kind: 'rule', summary: `${ROOT}/.agent/rules/http.md` })]),
  event(20, { kind: 'tool', tool: 'Bash', summary: 'npm test', ok: true }),
]

describe('what comes first', () => {
  it('is a rule that came in and was not there before, named by what brought it in', async () => {
    const a = manifestBody((body) => void body.instructions.sources.push(rule('src/http/**')))
    const b = manifestBody((body) => {
      body.instructions.sources.push(rule('src/**'))
      body.execution.runtime_version = '2.1.333'
      body.settings.theme = setting('light')
      body.capabilities.skills.push(capability('letters', 'l'))
    })
    const result = await compareBodies(a, b, {
      a: { events: calls(`${ROOT}/src/retry.ts`, null) },
      b: { events: [...calls(`${ROOT}/src/retry.ts`, 3), event(21, { kind: 'error', summary: 'broken' })] },
    })
    expect(result.causes.map(({ kind, title, entered, used }) => [kind, title, entered, used])).toEqual([
      ['rule', 'Rule http.md now matches src/retry.ts', true, null],
      ['program', 'The program claude-code changed: 2.1.332 → 2.1.333', true, null],
      ['model behaviour', expect.stringContaining('not separable'), null, null],
      ['skill', 'Skill letters is new', false, false],
      ['setting', expect.stringContaining('theme'), false, false],
    ])
    expect(result.causes[0]?.first_seq).toEqual({ a: null, b: 3 })
    expect(result.causes[0]?.evidence.map(({ text }) => text)).toEqual(
      expect.arrayContaining([
        'applies to src/http/**',
        'applies to src/**',
        '@3 entered the context after src/retry.ts',
      ]),
    )
    expect(result.use).toEqual(
      expect.arrayContaining([
        { kind: 'rule', name: `${ROOT}/.agent/rules/http.md`, a: 0, b: 1, first: { a: null, b: 3 } },
      ]),
    )
  })

  it('is not what came in only after the runs had parted', async () => {
    const a = manifestBody((body) => void body.instructions.sources.push(rule('src/http/**')))
    const b = manifestBody((body) => {
      body.instructions.sources.push(rule('src/**'))
      body.settings.effortLevel = setting('low')
    })
    const result = await compareBodies(a, b, {
      a: { events: calls('one.ts', null) },
      b: { events: calls('another.ts', 15) },
    })
    expect(result.steps?.aligned[result.steps.first_difference ?? -1]?.b?.seq).toBe(2)
    expect(result.causes.map(({ kind }) => kind)).toEqual(['setting', 'rule', 'model behaviour'])
    expect(result.causes[1]?.why).toContain('only after the runs had parted (A@2, B@2)')
  })

  it('is a skill that was invoked, and not one that was not', async () => {
    const skills = (used: string, unused: string): ManifestBody =>
      manifestBody((body) => {
        body.capabilities.skills = [capability('used', used), capability('unused', unused)]
      })
    const events = [
      event(1, { kind: 'prompt', summary: 'go' }),
      event(2, { kind: 'skill', summary: 'used', tool: 'Skill' }),
    ]
    const result = await compareBodies(skills('1', '1'), skills('2', '2'), { a: { events }, b: { events } })
    expect(result.causes.map(({ title, used }) => [title, used])).toEqual([
      ['SKILL body of used changed', true],
      [expect.stringContaining('The model itself'), null],
      ['SKILL body of unused changed', false],
    ])
    // Without a run nobody can say.
    const bare = await compareBodies(skills('1', '1'), skills('2', '2'))
    expect(bare.causes.map(({ used, entered }) => [used, entered])).toEqual([
      [null, null],
      [null, null],
    ])
    expect(bare.steps).toBeNull()
    expect(bare.use).toEqual([])
  })

  it('is a variable that a run names, and not one that nothing reads', async () => {
    const b = manifestBody((body) => {
      for (const name of ['SHOP_CURRENCY', 'GARDEN_GNOME']) {
        body.settings[`env.${name}`] = { ...setting(undefined), value_ref: `secret:settings:${name}` }
        body.execution.environment.push({ name, digest: `k:${name}`, source: `${ROOT}/.agent/settings.json` })
      }
    })
    const events = [event(1, { kind: 'prompt', summary: 'go' })]
    const mentions = (word: string): number | null => (word === 'SHOP_CURRENCY' ? 7 : null)
    const result = await compareBodies(manifestBody(), b, {
      a: { events, mentions: () => null },
      b: { events, mentions },
    })
    expect(
      result.causes
        .filter(({ kind }) => kind === 'environment')
        .map(({ title, used, fields }) => [title, used, fields.length]),
    ).toEqual([
      ['Environment variable SHOP_CURRENCY is now set (.agent/settings.json)', true, 2],
      ['Environment variable GARDEN_GNOME is now set (.agent/settings.json)', false, 2],
    ])
    expect(result.causes.map(({ kind }) => kind)).toEqual(['environment', 'model behaviour', 'environment'])
    // Where texts are not kept, "nothing reads it" cannot be claimed.
    const blind = await compareBodies(manifestBody(), b, {
      a: { events, mentions: null },
      b: { events, mentions: null },
    })
    expect(blind.causes.filter(({ kind }) => kind === 'environment').map(({ used }) => used)).toEqual([null, null])
  })

  it('is a consequence never before its cause: one sums up the other', async () => {
    const b = manifestBody((body) => {
      body.policy.trust.trusted = false
      body.policy.permissions.allow = [
        { rule: 'Bash', source: `${ROOT}/.agent/settings.json`, ignored: `${ROOT} has not been trusted` },
      ]
      body.policy.revision = digestFor('p2')
    })
    const a = manifestBody((body) => {
      body.policy.permissions.allow = [{ rule: 'Bash', source: `${ROOT}/.agent/settings.json`, ignored: null }]
    })
    const { causes } = await compareBodies(a, b)
    expect(causes.map(({ kind, fields }) => [kind, fields.sort()])).toEqual([
      ['trust', ['policy.permissions.allow[Bash].ignored', 'policy.revision', 'policy.trust.trusted']],
    ])
  })

  it('is the model when nothing differs, with every category as evidence', async () => {
    const events = (answer: string, command: string) => [
      event(1, { kind: 'prompt', summary: 'go' }),
      event(2, { kind: 'model', summary: answer, model: 'claude-opus-5-5' }),
      event(3, { kind: 'tool', tool: 'Bash', summary: command, ok: true }),
    ]
    const result = await compareBodies(manifestBody(), manifestBody(), {
      a: { events: events('x', 'npm test') },
      b: { events: events('y', 'rm -r src') },
    })
    expect(result.causes).toMatchObject([
      {
        rank: 1,
        class: 'model behaviour',
        kind: 'model behaviour',
        title: expect.stringMatching(/^Nothing in the configuration or the outside state changed/),
      },
    ])
    expect(result.causes[0]?.evidence.length).toBe(12)
    expect(result.identical).toBe(true)
    expect(result.verdict).toBe('Nothing that was compared differs. What remains is model behaviour.')
    const same = await compareBodies(manifestBody(), manifestBody(), {
      a: { events: events('x', 'npm test') },
      b: { events: events('x', 'npm test') },
    })
    expect(same.causes[0]?.title).toContain('both runs took the same steps')
    expect(same.verdict).toContain('Both runs took the same steps.')
  })

  it('is the model behind the name when only its answers show that it moved', async () => {
    const by = (model: string) => [
      event(1, { kind: 'prompt', summary: 'go' }),
      event(2, { kind: 'model', summary: 'hm', model }),
    ]
    const body = manifestBody((one) => {
      one.execution.model = 'opus'
    })
    const result = await compareBodies(body, body, {
      a: { events: by('claude-opus-5-5') },
      b: { events: by('claude-opus-5-6') },
    })
    expect(result.causes).toMatchObject([
      {
        kind: 'model',
        class: 'external state',
        title: 'The alias opus points to another model: claude-opus-5-5 → claude-opus-5-6',
        used: true,
        first_seq: { a: 2, b: 2 },
      },
    ])
    expect(result.identical).toBe(true)
  })
})

describe('what is said beside the causes', () => {
  it('says that both sides are one, that tasks differ and that agents differ', async () => {
    const same = await compareBodies(manifestBody(), manifestBody(), { a: { target: 'r_1' }, b: { target: 'r_1' } })
    expect(same.notes).not.toContain('both sides are the same target')
    const other = manifestBody((body) => {
      body.task.input_digest = digestFor('else')
      body.execution.runtime = 'codex'
    })
    const result = await compareBodies(manifestBody(), other)
    expect(result.notes.join('\n')).toMatch(/different agents/)
    expect(result.notes.join('\n')).toMatch(/different tasks/)
    expect(result.causes.map(({ kind }) => kind)).toEqual(['program', 'task'])
  })

  it('says when a change was noticed and by whom, and that a program updated itself', async () => {
    const drift = (more: Partial<Drift>): Drift => ({
      id: 'd_1',
      at: '2026-11-30T12:30:00.000Z',
      home: 'h_1',
      home_path: '/home/dev/.claude',
      runtime: 'claude-code',
      workspace: ROOT,
      kind: 'configuration',
      title: 'CLAUDE.md changed',
      changes: [{ path: `${ROOT}/CLAUDE.md`, what: 'content', before: null, after: null, same_as: null }],
      writer: { who: 'user', run: null, seq: null, why: 'no run was going on' },
      alert: null,
      helpers: [],
      before: null,
      after: digestFor('after'),
      ...more,
    })
    const b = manifestBody((body) => {
      body.instructions.sources = [source(`${ROOT}/CLAUDE.md`, 'Prices are in euros.')]
      body.execution.runtime_version = '2.1.400'
    })
    const { causes } = await compareBodies(manifestBody(), b, {
      drifts: [
        drift({}),
        drift({ id: 'd_2', changes: [{ path: '/else', what: 'content', before: null, after: null, same_as: null }] }),
        drift({
          id: 'd_3',
          kind: 'update',
          title: 'Claude Code 2.1.332 → 2.1.400',
          changes: [],
          writer: { who: 'agent update', run: null, seq: null, why: 'the program changed' },
        }),
      ],
    })
    expect(
      causes.map(({ title, evidence }) => [
        title,
        evidence.flatMap(({ ref }) => (ref?.type === 'drift' ? [ref.id] : [])),
      ]),
    ).toEqual([
      ['Instructions CLAUDE.md changed', ['d_1']],
      ['The program claude-code changed: 2.1.332 → 2.1.400 (updated itself)', ['d_3']],
    ])
  })

  it('holds the texts of both sides where they were kept, and why not where they were not', async () => {
    const b = manifestBody((body) => {
      body.instructions.sources = [source(`${ROOT}/CLAUDE.md`, 'Prices are in euros.')]
      body.instructions.effective_digest = digestFor('e2')
    })
    const kept = {
      [digestFor('Prices are in cents.')]: 'Prices are in cents.',
      [digestFor('Prices are in euros.')]: 'Prices are in euros.',
    }
    const result = await compareBodies(manifestBody(), b, { texts: kept })
    expect(result.causes[0]?.text).toEqual({ a: 'Prices are in cents.', b: 'Prices are in euros.', why: null })
    expect(result.text).toMatchObject({
      equal: false,
      pieces: [{ state: 'changed', a: 'Prices are in cents.', b: 'Prices are in euros.' }],
    })
    expect((await compareBodies(manifestBody(), b)).causes[0]?.text).toEqual({
      a: null,
      b: null,
      why: 'only its digest was kept',
    })
  })

  it('shows the text piece by piece, in order, with what moved', async () => {
    const of = (names: readonly string[]): ManifestBody =>
      manifestBody((body) => {
        body.instructions.sources = names.map((name, position) => source(`${ROOT}/${name}`, name, { position }))
        body.instructions.effective_digest = digestFor(names.join())
      })
    const { text } = await compareBodies(of(['a', 'b', 'c', 'd']), of(['c', 'a', 'x', 'd']))
    expect(text.pieces.map(({ state, path }) => [state, path?.slice(ROOT.length + 1)])).toEqual([
      ['moved', 'c'],
      ['equal', 'a'],
      ['only_b', 'x'],
      ['only_a', 'b'],
      ['equal', 'd'],
    ])
    // A rule that came in later stands after what was there from the start.
    const lazy = manifestBody((body) => void body.instructions.sources.push(rule('src/**')))
    const late = await compareBodies(lazy, lazy, { a: { events: calls('a', null) }, b: { events: calls('a', 3) } })
    expect(late.text.pieces.map(({ state }) => state)).toEqual(['equal', 'only_b'])
  })
})
