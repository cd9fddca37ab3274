import { describe, expect, it } from 'vitest'
import { compareBodies, event } from '../../kit/compare-bodies.ts'
import { manifestBody, ROOT, source } from '../../kit/manifest-body.ts'

const rule = `${ROOT}/.claude/rules/http.md`
/** Made from a record alone: what was found and not loaded is not known. */
const inferred = (withRule: boolean) =>
  manifestBody((body) => {
    body.origin = 'inferred'
    body.unknown.push({ field: 'instructions.sources', why: 'what was not loaded leaves no trace' })
    if (withRule) body.instructions.sources.push(source(rule, 'rule', { kind: 'rule', status: 'lazy', position: null }))
  })
const start = event(1, { kind: 'instructions', summary: `${ROOT}/CLAUDE.md` })
const touch = event(2, { kind: 'tool', tool: 'Read', summary: `${ROOT}/src/retry.ts`, ok: true })
const matched = event(3, { kind: 'rule', summary: rule })

describe('a rule that only one record shows', () => {
  it('is the likeliest cause, with the event that shows it, though the other side may have had the file', async () => {
    const found = await compareBodies(inferred(false), inferred(true), {
      a: { events: [start, touch] },
      b: { events: [start, touch, matched] },
    })
    expect(found.causes[0]).toMatchObject({
      kind: 'rule',
      title: 'Rule http.md now matches src/retry.ts',
      entered: true,
      first_seq: { a: null, b: 3 },
    })
    expect(found.causes[0]?.evidence).toContainEqual({
      side: 'b',
      text: '@3 entered the context after src/retry.ts',
      ref: { type: 'event', run: 'r_b', seq: 3 },
    })
    expect(found.identical).toBe(false)
    // Of the file itself nothing is claimed.
    expect(found.fields.find(({ path }) => path.includes('http.md'))?.unknown_on).toBe('a')
  })

  it('is no cause when the other record does not tell what entered its context', async () => {
    const found = await compareBodies(inferred(false), inferred(true), {
      a: { events: [touch] },
      b: { events: [start, touch, matched] },
    })
    expect(found.causes.filter(({ kind }) => kind === 'rule')).toEqual([])
  })

  it('is no cause when it entered neither', async () => {
    const found = await compareBodies(inferred(false), inferred(true), {
      a: { events: [start, touch] },
      b: { events: [start, touch] },
    })
    expect(found.causes.filter(({ kind }) => kind === 'rule')).toEqual([])
  })
})
