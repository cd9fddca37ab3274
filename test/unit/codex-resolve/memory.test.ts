import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutSummary } from '../../../daemon/runtimes/codex/resolve/memory.ts'

/** Lengths and notes as seen with 0.171.0. */
it.each([
  ['x'.repeat(10_000), 10_000, null],
  [`${'abcdefghi\n'.repeat(1000)}Z`, 10_024, '…1 tokens truncated…'],
  ['abcdefghi\n'.repeat(6000).trim(), 10_028, '…12500 tokens truncated…'],
  ['é'.repeat(6000), 10_026, '…500 tokens truncated…'],
  ['Y'.repeat(10_100), 10_025, '…25 tokens truncated…'],
])('case %#', (text, bytes, note) => {
  const cut = cutSummary(text)
  expect(Buffer.byteLength(cut.text)).toBe(bytes)
  if (note === null) expect(cut).toEqual({ text, truncated: null })
  else expect(cut).toMatchObject({ text: expect.stringContaining(note), truncated: { at: 5000, unit: 'bytes' } })
})

it('never splits a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 50, maxLength: 80 }), (piece) => {
      fc.pre(!piece.includes('\ufffd'))
      expect(cutSummary(piece.repeat(400)).text).not.toContain('\ufffd')
    }),
    { numRuns: 30 },
  )
})
