import { describe, expect, it } from 'vitest'
import type { EventFact } from '../../../daemon/manifest/compare/events.ts'
import { alignSteps, partingOf } from '../../../daemon/manifest/compare/steps.ts'
import { event } from '../../kit/compare-bodies.ts'

const align = (
  a: readonly EventFact[],
  b: readonly EventFact[],
  inputs: { a?: Record<number, string>; b?: Record<number, string> } = {},
  cover = (text: string) => text,
) =>
  alignSteps(
    { events: a, cover, inputOf: async (seq) => inputs.a?.[seq] ?? null },
    { events: b, cover, inputOf: async (seq) => inputs.b?.[seq] ?? null },
  )
const prompt = event(1, { kind: 'prompt', summary: 'go' })
const call = (seq: number, summary: string, more: Partial<EventFact> = {}): EventFact =>
  event(seq, { kind: 'tool', tool: 'Bash', summary, ok: true, ...more })
const said = (seq: number, summary: string): EventFact => event(seq, { kind: 'model', summary })

describe('two trajectories', () => {
  it('are aligned by what was done, not by number', async () => {
    const a = [
      prompt,
      event(2, { kind: 'context', summary: 'x' }),
      call(3, 'ls'),
      call(4, 'cat a'),
      call(5, 'npm test'),
    ]
    const b = [prompt, call(2, 'ls'), call(3, 'git log'), call(4, 'cat a'), call(5, 'npm test', { ok: false })]
    const steps = await align(a, b)
    expect(steps.aligned.map(({ state, a: one, b: other }) => [state, one?.seq ?? null, other?.seq ?? null])).toEqual([
      ['equal', 1, 1],
      ['equal', 3, 2],
      ['only_b', null, 3],
      ['equal', 4, 4],
      ['changed', 5, 5],
    ])
    expect(steps.first_difference).toBe(2)
    expect(partingOf(steps)).toEqual({ a: 4, b: 3 })
  })

  it('are the same with other ids, times, temporary files, outputs by another path', async () => {
    const cover = (text: string): string => text.replace(/\/srv\/\w+/, '<workspace>')
    const a = [
      call(1, 'cat /srv/one/a.ts'),
      call(2, 'touch /tmp/x1'),
      call(3, 'show 11fe0000-0000-4000-8000-000000000001 at 2026-11-30T12:00:00Z'),
    ]
    const b = [
      call(1, 'cat /srv/two/a.ts'),
      call(2, 'touch /tmp/y2'),
      call(3, 'show 22fe0000-0000-4000-8000-000000000002 at 2026-12-01T12:00:00Z'),
    ]
    expect(await align(a, b, {}, cover)).toMatchObject({ first_difference: null, cut: false })
  })

  it('part where a deed differs, not where only words do', async () => {
    const steps = await align(
      [prompt, said(2, 'Sure.'), call(3, 'ls'), call(4, 'npm test')],
      [prompt, said(2, 'Of course.'), call(3, 'ls'), call(4, 'rm -r src')],
    )
    expect(steps.aligned[steps.first_difference ?? -1]?.a?.summary).toBe('npm test')
    const words = await align([prompt, said(2, 'Sure.')], [prompt, said(2, 'Of course.')])
    expect(words.first_difference).toBe(1)
  })

  it('differ by what an edit left behind, and by an input that one line does not show', async () => {
    const edit = (after: string) =>
      call(2, 'a.ts', {
        tool: 'Edit',
        effects: [
          { path: 'a.ts', change: 'change', by: 'edit tool', before: null, after, added_lines: 1, removed_lines: 0 },
        ],
      })
    expect((await align([prompt, edit('sha256:1')], [prompt, edit('sha256:2')])).first_difference).toBe(1)
    const steps = await align([prompt, call(2, 'query'), call(3, 'x')], [prompt, call(2, 'query'), call(3, 'y')], {
      a: { 2: '{"limit":1}' },
      b: { 2: '{"limit":9}' },
    })
    expect(steps.first_difference).toBe(1)
    expect(steps.aligned[1]?.state).toBe('changed')
  })

  it('are cut when they are too long, and that is said', async () => {
    const many = (of: string): EventFact[] => Array.from({ length: 2500 }, (_, n) => call(n + 1, `${of} ${n}`))
    const steps = await align(many('a'), many('a'))
    expect(steps).toMatchObject({ cut: true, first_difference: null })
    expect(steps.aligned.length).toBe(2000)
    const other = await align([prompt, ...many('a')], [prompt, ...many('b')])
    expect(other.cut).toBe(true)
    expect(other.first_difference).toBe(1)
  })
})
