import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyKeyEdits } from '../../../daemon/files/structured/apply-key-edits.ts'
import type { StructuredFormat } from '../../../daemon/files/structured/format.ts'
import type { KeyPath } from '../../../daemon/files/structured/key-path.ts'
import { parsePlain } from '../../../daemon/files/structured/parse-plain.ts'
import { isTable, sameValue, withEdit } from '../../../daemon/files/structured/plain-value.ts'

/** A small value language that every format can hold. */
const word = fc.constantFrom('a', 'b', 'env', 'my-key', 'a b', '"q"', "it's", 'x.y', 'yes', '12', 'ü', '#h', '')
const scalar = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.boolean(),
  fc.constantFrom(0.5, -2.25, 1e21),
  fc.constantFrom(
    '',
    'plain',
    'two words',
    'a: b',
    '# no remark',
    "it's",
    '"',
    'C:\\temp',
    'line\nline\n',
    '- x',
    'on',
    '1_0',
  ),
  fc.string({ maxLength: 6 }),
)
const { value: anyValue, table: anyTable } = fc.letrec<{
  value: unknown
  table: Record<string, unknown>
  list: unknown[]
}>((tie) => ({
  value: fc.oneof({ depthSize: 'small', maxDepth: 3 }, scalar, tie('table'), tie('list')),
  table: fc.dictionary(
    word.filter((one) => one !== ''),
    tie('value'),
    { maxKeys: 4 },
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
}))

/** Puts a remark on every line end that is outside a string: only lines are used whose form makes that certain. */
function withRemarks(text: string, mark: string): string {
  let count = 0
  return text
    .split('\n')
    .map((line) =>
      /^\s*("[\w-]+"|[\w-]+)\s*[:=]\s*(-?\d+|true|false),?$/.test(line) ? `${line} ${mark} r${count++}` : line,
    )
    .join('\n')
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

function tomlText(table: Record<string, unknown>): string | null {
  let text = '# head\nfirst = 1\n'
  for (const [key, value] of Object.entries(table)) {
    const made = applyKeyEdits(text, 'toml', [{ key: [key], value }])
    if ('refused' in made) return null
    text = made.text
  }
  return text
}

function yamlText(table: Record<string, unknown>): string | null {
  const made = applyKeyEdits(
    '# head\nfirst: 1\n',
    'yaml',
    Object.entries(table).map(([key, value]) => ({ key: [key], value })),
  )
  return 'refused' in made ? null : made.text
}

function textOf(format: StructuredFormat, table: Record<string, unknown>): string | null {
  switch (format) {
    case 'json':
      return jsonText({ first: 1, ...table })
    case 'jsonc':
    case 'json5':
      return withRemarks(jsonText({ first: 1, ...table }), '//')
    case 'toml': {
      const text = tomlText(table)
      return text === null ? null : withRemarks(text, '#')
    }
    case 'yaml': {
      const text = yamlText(table)
      return text === null ? null : withRemarks(text, '#')
    }
  }
}

function keysOf(value: unknown, key: KeyPath = []): KeyPath[] {
  const inner = Array.isArray(value)
    ? value.flatMap((item: unknown, at) => keysOf(item, [...key, at]))
    : isTable(value)
      ? Object.entries(value).flatMap(([name, item]) => keysOf(item, [...key, name]))
      : []
  return key.length === 0 ? inner : [key, ...inner]
}

function remarksOf(text: string): string[] {
  return text.match(/(?:#|\/\/) r\d+\r?$/gm)?.map((one) => one.trim()) ?? []
}

for (const format of ['json', 'jsonc', 'json5', 'toml', 'yaml'] as const) {
  test(`${format}: an edited text holds what was wanted, with every remark, line end and mark it had`, () => {
    let done = 0
    let refused = 0
    fc.assert(
      fc.property(
        anyTable,
        anyValue,
        fc.nat(),
        fc.constantFrom('set', 'remove', 'add'),
        fc.boolean(),
        fc.boolean(),
        (table, value, pick, what, crlf, bom) => {
          const plain = textOf(format, table)
          if (plain === null) return void refused++
          const text = (bom ? '\uFEFF' : '') + (crlf ? plain.replaceAll('\n', '\r\n') : plain)
          const before = parsePlain(text.replace(/^\uFEFF/, ''), format)
          if ('refused' in before) throw new Error(`${before.refused} in ${JSON.stringify(text)}`)
          const keys = keysOf(before.value)
          const key = keys[pick % Math.max(1, keys.length)] ?? ['first']
          const edit = what === 'remove' ? { key } : what === 'set' ? { key, value } : { key: ['new', 'inner'], value }
          const result = applyKeyEdits(text, format, [edit])
          if ('refused' in result) return void refused++
          done++
          const wanted = withEdit(before.value, edit)
          const after = parsePlain(result.text.replace(/^\uFEFF/, ''), format)
          expect('value' in after && 'value' in wanted).toBe(true)
          if (what !== 'remove' && 'value' in after && 'value' in wanted)
            expect(sameValue(after.value, wanted.value)).toBe(true)
          expect(result.text.startsWith('\uFEFF')).toBe(bom)
          if (crlf) expect(/[^\r]\n/.test(result.text)).toBe(false)
          else expect(result.text).not.toContain('\r\n')
          expect(result.text.endsWith('\n')).toBe(text.endsWith('\n'))
          if (what === 'add') {
            expect(remarksOf(result.text)).toEqual(remarksOf(text))
            // And back: only the added lines are gone.
            const back = applyKeyEdits(result.text, format, [{ key: ['new'] }])
            if ('text' in back) expect(back.text.replace(/\s+/g, '')).toBe(text.replace(/\s+/g, ''))
          }
        },
      ),
      { numRuns: 150, seed: 20261201 },
    )
    expect(done).toBeGreaterThan(refused * 4)
  })
}
