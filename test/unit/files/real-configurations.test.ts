import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { applyKeyEdits } from '../../../daemon/files/structured/apply-key-edits.ts'
import { formatOf, isStructured, type StructuredFormat } from '../../../daemon/files/structured/format.ts'
import { readKeys } from '../../../daemon/files/structured/read-keys.ts'

/** R19: one key of a real configuration changes, is put back, comes and goes; everything else keeps its bytes. */
const fixtures = path.join(import.meta.dirname, '../../fixtures')
const json = (name: string): unknown => JSON.parse(fs.readFileSync(path.join(fixtures, name), 'utf8'))

interface Real {
  readonly name: string
  readonly format: StructuredFormat
  readonly text: string
}

/** Every structured text in a tree of fixtures, whatever the form the tree is written in. */
function collect(value: unknown, name: string, runtime: 'codex' | 'openclaw' | 'claude-code', found: Real[]): void {
  if (Array.isArray(value)) for (const item of value) collect(item, name, runtime, found)
  else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    const own = entries.find(([key]) => key === 'path')?.[1]
    for (const [key, item] of entries) {
      const file = key === 'content' && typeof own === 'string' ? own : key
      const format = formatOf(file, runtime)
      if (typeof item === 'string' && isStructured(format) && /\.\w+$/.test(file))
        found.push({ name: `${name} ${file}`, format, text: item })
      else collect(item, name, runtime, found)
    }
  }
}

const real: Real[] = []
collect(json('codex/config-tree/tree.json'), 'codex', 'codex', real)
collect(json('claude-code/config-tree/tree.json'), 'claude-code', 'claude-code', real)
collect(json('openclaw/config/cases.json'), 'openclaw', 'openclaw', real)
const hermes = path.join(fixtures, 'hermes/home-tree/hermes-home/config.yaml')
real.push({ name: 'hermes config.yaml', format: 'yaml', text: fs.readFileSync(hermes, 'utf8') })
const whole = real.filter(({ format, text }) => text.trim() !== '' && 'keys' in readKeys(text, format))

test('there are real files of all four agents', () => {
  for (const agent of ['codex', 'claude-code', 'openclaw', 'hermes'])
    expect(whole.filter(({ name }) => name.startsWith(agent)).length).toBeGreaterThan(0)
  expect(new Set(whole.map(({ format }) => format))).toEqual(new Set(['toml', 'json', 'json5', 'yaml']))
})

for (const [kind, dress] of [
  ['as they are', (text: string) => text],
  ['with a mark, CRLF and no last line end', (text: string) => `\uFEFF${text.trimEnd().replace(/\r?\n/g, '\r\n')}`],
] as const)
  test(`real files ${kind}: a value changes and comes back, and the bytes are those of before`, () => {
    let edits = 0
    for (const { name, format, text: given } of whole) {
      const text = dress(given)
      const read = readKeys(text, format)
      if (!('keys' in read)) throw new Error(`${name}: ${read.refused}`)
      for (const { key, value, line } of read.keys) {
        if (typeof value !== 'string' && typeof value !== 'boolean') continue
        const other = typeof value === 'string' ? `${value}x` : !value
        const there = applyKeyEdits(text, format, [{ key, value: other }])
        if ('refused' in there) {
          expect(there.refused, name).toMatch(/anchor|merge/)
          continue
        }
        edits += 1
        const lines = text.split('\n')
        const after = there.text.split('\n')
        const differing = lines.flatMap((one, at) => (one === after[at] ? [] : [at + 1]))
        expect(after.length, `${name} ${key.join('.')}`).toBe(lines.length)
        // A text over several lines ends further down than its key stands.
        expect(differing.length, `${name} ${key.join('.')}`).toBe(1)
        if (typeof value !== 'string' || !value.includes('\n')) expect(differing[0]).toBe(line)
        const back = applyKeyEdits(there.text, format, [{ key, value }])
        expect('text' in back ? back.text : back, `${name} ${key.join('.')}`).toBe(text)
      }
      const added = applyKeyEdits(text, format, [{ key: ['reprise_test', 'deep'], value: ['a', 1] }])
      if (!('text' in added)) throw new Error(`${name}: ${added.refused}`)
      const gone = applyKeyEdits(added.text, format, [{ key: ['reprise_test'] }])
      expect('text' in gone ? gone.text.replace(/\s+$/, '') : gone, name).toBe(text.replace(/\s+$/, ''))
    }
    expect(edits).toBeGreaterThan(80)
  })

test('a file an agent would not take is refused, not repaired', () => {
  const twice = '[a]\nx = 1\n[b]\ny = 2\n[a]\nz = 3\n'
  expect(applyKeyEdits(twice, 'toml', [{ key: ['b', 'y'], value: 3 }])).toMatchObject({ line: 5 })
  expect(applyKeyEdits('{"a": 1,}', 'json', [{ key: ['a'], value: 2 }])).toHaveProperty('refused')
  expect(applyKeyEdits('a: [1\n', 'yaml', [{ key: ['a'], value: 2 }])).toHaveProperty('refused')
})

test('tables of an array are told apart, changed, added and removed', () => {
  const text =
    '# hooks\n[[hooks]] # first\nname = "a"\n\n[hooks.env]\nX = "1"\n\n# second\n[[hooks]]\nname = "b"\n\n[tail]\nz = 1 # last\n'
  const edit = (...edits: Parameters<typeof applyKeyEdits>[2]) => {
    const made = applyKeyEdits(text, 'toml', edits)
    return 'text' in made ? made.text : made.refused
  }
  expect(edit({ key: ['hooks', 1, 'name'], value: 'c' })).toBe(text.replace('"b"', '"c"'))
  expect(edit({ key: ['hooks', 0, 'env', 'Y'], value: 'é' })).toBe(text.replace('X = "1"\n', 'X = "1"\nY = "é"\n'))
  expect(edit({ key: ['hooks', 2], value: { name: 'd' } })).toBe(
    text.replace('name = "b"\n', 'name = "b"\n\n[[hooks]]\nname = "d"\n'),
  )
  expect(edit({ key: ['hooks', 0] })).not.toContain('X = "1"')
  expect(edit({ key: ['hooks', 0] })).toContain('# second\n[[hooks]]\nname = "b"')
  expect(edit({ key: ['tail', 'z'], value: 2 })).toBe(text.replace('z = 1', 'z = 2'))
})
