import { describe, expect, it } from 'vitest'
import type { ManifestBody } from '../../../contract/index.ts'
import { compareBodies, paths } from '../../kit/compare-bodies.ts'
import { capability, digestFor, manifestBody, ROOT, source } from '../../kit/manifest-body.ts'

type Body = Parameters<Parameters<typeof manifestBody>[0] & object>[0]
const made = (origin: ManifestBody['origin'], change: (body: Body) => void = () => undefined): ManifestBody =>
  manifestBody((body) => {
    body.origin = origin
    change(body)
  })
const unknown = (body: Body, ...fields: string[]): void =>
  void body.unknown.push(...fields.map((field) => ({ field, why: `no ${field} in the record` })))

/** A run as its record shows it against the configuration of this moment: what nobody changed must not differ. */
describe('a record against the disk', () => {
  it('takes the digest over all capabilities for nothing where the lists were made in different ways or may miss things', async () => {
    const [one, other] = ['cap_1', 'cap_2'].map(
      (id) => (body: Body) => void Object.assign(body.policy, { capability_id: id }),
    )
    for (const origin of ['inferred', 'captured'] as const)
      expect(paths(await compareBodies(made(origin, one), made('resolved', other)))).toEqual({
        different: [],
        unknown: ['b policy.capability_id'],
      })
    const open = made('captured', (body) => {
      one?.(body)
      unknown(body, 'capabilities.tools')
    })
    expect(paths(await compareBodies(open, made('captured', other))).different).toEqual([])
    expect(paths(await compareBodies(made('captured', one), made('captured', other))).different).toEqual([
      'policy.capability_id',
    ])
  })

  it('finds the text of a record in the file it came from, and calls nothing gone or new that it cannot place', async () => {
    const file = source(`${ROOT}/AGENTS.md`, 'Prices are in cents.')
    const shown = (content: string, uri: string, path: string | null) =>
      source('', content, { uri, path, digest: null, bytes: null })
    const now = (content: string) =>
      made('resolved', (body) => {
        body.instructions.sources = [source(`${ROOT}/AGENTS.md`, content)]
        body.instructions.effective_digest = digestFor(content)
      })
    const record = made('inferred', (body) => {
      body.instructions.sources = [shown('Prices are in cents.', `record:file://${ROOT}/AGENTS.md`, ROOT)]
      body.instructions.effective_digest = digestFor('Prices are in cents.')
      body.instructions.resolved_order = ['user and project']
      unknown(body, 'instructions.sources')
    })
    expect(paths(await compareBodies(record, now('Prices are in cents.'))).different).toEqual([])
    // Another text is still a difference; which file it is in is not known.
    const edited = await compareBodies(record, now('Prices are in euros.'))
    expect(paths(edited).different).toEqual(['instructions.effective_digest'])
    expect(edited.causes.map(({ title }) => title).join()).not.toMatch(/is gone|is new/)

    const head = made('inferred', (body) => {
      body.instructions.sources = [
        shown('You are calm. Words of the program.', 'record:system-prompt', null),
        { ...file, position: 1, digest: null, bytes: null },
      ]
      body.instructions.effective_digest = digestFor('head')
      unknown(body, 'instructions.sources')
    })
    const disk = (content: string) =>
      made('resolved', (body) => {
        body.instructions.sources = [
          source('/home/dev/.hermes/SOUL.md', 'You are calm.', { scope: 'identity' }),
          source(`${ROOT}/AGENTS.md`, content, { position: 1 }),
        ]
        body.instructions.effective_digest = digestFor(`disk ${content}`)
      })
    const same = await compareBodies(head, disk('Prices are in cents.'))
    expect(paths(same).different).toEqual([])
    expect(paths(same).unknown).toEqual(
      expect.arrayContaining([
        'b instructions.sources[record:system-prompt]',
        'a instructions.sources[/home/dev/.hermes/SOUL.md]',
        'b instructions.effective_digest',
      ]),
    )
    expect((await compareBodies(head, disk('Prices are in euros.'))).causes[0]?.title).toBe(
      'Instructions AGENTS.md changed',
    )
  })

  it('compares names of an order below the workspace, and a length where there is no text', async () => {
    const order = (origin: ManifestBody['origin'], names: string[], more = {}) =>
      made(origin, (body) => {
        body.instructions.resolved_order = names
        body.instructions.effective_digest = null
        body.instructions.sources = [source(`${ROOT}/AGENTS.md`, 'x', { raw_chars: 20, ...more })]
        unknown(body, 'instructions.effective_digest')
      })
    const names = ['AGENTS.md', 'SOUL.md']
    const report = { digest: null, text_digest: null, bytes: null, injected_chars: 20 }
    const a = order(
      'inferred',
      names.map((name) => `${ROOT}/${name}`),
      report,
    )
    expect(paths(await compareBodies(a, order('resolved', names))).different).toEqual([])
    expect((await compareBodies(a, order('resolved', names, { raw_chars: 37 }))).causes[0]?.title).toBe(
      'Instructions AGENTS.md changed: 20 → 37 characters',
    )
  })
})

describe('what one side could not know', () => {
  it('is not told of its variables, parameters and services', async () => {
    const record = made('inferred', (body) => {
      body.execution.environment = []
      unknown(body, 'execution.environment')
    })
    const now = made('resolved', (body) => {
      body.execution.environment = [{ name: 'OPENROUTER_API_KEY', digest: 'k:1', source: '/home/dev/.hermes/.env' }]
      unknown(body, 'execution.environment')
    })
    expect(paths(await compareBodies(record, now))).toEqual({
      different: [],
      unknown: ['a execution.environment[OPENROUTER_API_KEY]'],
    })
    for (const origin of ['captured', 'inferred'] as const) {
      const asked = (parameters: unknown) => made(origin, (body) => Object.assign(body.execution, { parameters }))
      expect(paths(await compareBodies(asked({ max_tokens: 5 }), asked(undefined)))).toEqual({
        different: [],
        unknown: ['b execution.parameters'],
      })
      expect(paths(await compareBodies(asked({ max_tokens: 5 }), asked({ max_tokens: 6 }))).different).toEqual([
        'execution.parameters.max_tokens',
      ])
    }
    const served = (provider: string | null) => made('inferred', (body) => Object.assign(body.execution, { provider }))
    expect(paths(await compareBodies(served(null), served('custom'))).different).toEqual([])
    expect(paths(await compareBodies(served('other'), served('custom'))).different).toEqual(['execution.provider'])
  })

  it('is not told what flags may have decided', async () => {
    const run = made('captured', (body) => {
      body.policy.permissions.mode = 'never'
      body.execution.sandbox.mode = 'workspace-write'
      unknown(body, 'execution.flags')
    })
    const now = (flags: string[]) =>
      made('resolved', (body) => {
        body.execution.flags = flags
        body.policy.permissions.mode = 'on-request'
        body.execution.sandbox.mode = 'read-only'
      })
    expect(paths(await compareBodies(run, now([]))).different).toEqual([])
    // Flags that were given are those to compare with.
    expect(paths(await compareBodies(run, now(['--x']))).different).toEqual(
      expect.arrayContaining(['policy.permissions.mode', 'execution.sandbox.mode']),
    )
  })

  it('does not count what every session has of its own', async () => {
    const session = (id: string) =>
      made('captured', (body) => {
        Object.assign(body.context, { lineage: { forked_from: id }, session_scope: { kind: 'main', peer: id } })
        Object.assign(body.execution, { agent: { id: 'main', session_key: id } })
      })
    expect((await compareBodies(session('a'), session('b'))).fields).toEqual([])
  })

  it('still finds a skill that came', async () => {
    const now = made('captured', (body) => {
      body.capabilities.skills.push(capability('other', 'other'))
      body.policy.capability_id = 'cap_2'
    })
    const before = made('captured', (body) => void Object.assign(body.policy, { capability_id: 'cap_1' }))
    expect((await compareBodies(before, now)).causes[0]?.title).toBe('Skill other is new')
  })
})
