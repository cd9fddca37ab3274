import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCleanTexts } from '../../../daemon/secrets/clean-texts.ts'
import { createRedactor } from '../../../daemon/secrets/create-redactor.ts'

describe('texts known to be clean', () => {
  it('are remembered while they are used, and never beyond two generations', () => {
    const clean = createCleanTexts()
    clean.add('in use')
    clean.add('once')
    for (let n = 0; n < 20_000; n++) {
      clean.add(`other ${n}`)
      if (n % 1_000 === 0) expect(clean.has('in use')).toBe(true)
    }
    expect(clean.has('once')).toBe(false)
    expect(clean.has('other 19999')).toBe(true)
    expect(clean.has('other 100')).toBe(false)
  })

  it('are short ones only', () => {
    const clean = createCleanTexts()
    clean.add('x'.repeat(201))
    expect(clean.has('x'.repeat(201))).toBe(false)
  })

  it('never let a secret through, before or after', () => {
    const redactor = createRedactor(randomBytes(32))
    const key = `sk-ant-api03-${randomBytes(40).toString('hex')}`
    for (let round = 0; round < 3; round++) {
      expect(redactor.redact('a plain name')).toEqual({ text: 'a plain name', findings: [] })
      const covered = redactor.redact(`token ${key}`)
      expect(covered.text).not.toContain(key)
      expect(covered.findings).toHaveLength(1)
      expect(redactor.redact(covered.text)).toEqual({ text: covered.text, findings: [] })
    }
  })
})
