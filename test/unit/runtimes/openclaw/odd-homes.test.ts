import { rmSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { manifestBodySchema } from '../../../../contract/index.ts'
import { layOpenClawHome, type OpenClawHome } from '../../../kit/openclaw-tree.ts'

let home: OpenClawHome
beforeEach(() => {
  home = layOpenClawHome()
})
afterEach(() => home.remove())

/** Keys that the resolver looks at, with anything at all below them. */
const KEYS =
  'agents defaults entries list ownership main workspace cwd agentDir skills load extraDirs entries limits tools profile allow deny alsoAllow byProvider lab sandbox mode subagents toolSearch mcp servers command url args env vars hooks internal bootstrap-extra-files paths plugins enabled bindings agentId match channel peer auth order profiles session mainKey models providers baseUrl headers model primary $include bootstrapMaxChars contextInjection systemAgent'.split(
    ' ',
  )
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('explicit', 'all', 'coding', '~/x', './self.json5', ['$', '{LAB_X}'].join(''), '../..', '*'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 4 }),
  ),
})).value

describe('homes that nobody should have', () => {
  it('resolves whatever the configuration holds, and always into a manifest', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...KEYS), anything, { maxKeys: 5 }), (config) => {
        home.write('.openclaw/openclaw.json', JSON.stringify(config))
        for (const flags of [['--local'], [], ['exec', '--cwd', '.']]) {
          const { body, order, texts } = home.resolve({ flags, env: { PATH: '', LAB_X: 'x' } })
          expect(manifestBodySchema.safeParse(body).error).toBeUndefined()
          if (body.execution.refused !== null) expect(order).toEqual([])
          expect(texts.size).toBe(body.instructions.sources.length)
        }
      }),
      { numRuns: 60 },
    )
  }, 60_000)

  it.each([
    ['no home at all', () => rmSync(home.state, { recursive: true })],
    [
      'a file as the workspace',
      () => {
        rmSync(path.join(home.state, 'workspace'), { recursive: true })
        home.write('.openclaw/workspace', 'x')
      },
    ],
    ['a folder as the configuration', () => home.folder('.openclaw/openclaw.json')],
    ['a folder as .env', () => home.folder('.openclaw/.env')],
    ['files as the roots of skills', () => home.write('.openclaw/skills', 'x')],
    ['links that lead in a circle', () => home.link('.openclaw/workspace/skills', '.openclaw/workspace/skills')],
    ['a skill that leads to its own root', () => home.link('.openclaw/workspace/skills/again', '..')],
    ['bytes that are no text', () => home.write('.openclaw/openclaw.json', Buffer.from([0xff, 0xfe, 0x00]))],
  ])('resolves %s', (_, lay) => {
    lay()
    const { body } = home.resolve()
    expect(manifestBodySchema.safeParse(body).error).toBeUndefined()
  })
})
