import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../../renderer')
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.(tsx?|css)$/.test(path) && path !== 'tokens.css',
)
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const find = (pattern: RegExp) =>
  files.flatMap((path) => [...read(path).matchAll(pattern)].map((match) => `${path}: ${match[0]}`))
const colours = [...readFileSync(join(root, 'tokens.css'), 'utf8').matchAll(/--color-([\w-]+): oklch/g)].map(
  (match) => match[1],
)

describe('the window uses tokens only', () => {
  it('reads its sources', () => {
    expect(files.length).toBeGreaterThan(60)
    expect(colours.length).toBeGreaterThan(80)
  })
  it('names no raw colour outside of tokens.css', () => {
    expect(
      find(/#[0-9a-f]{3}(?:[0-9a-f]{3}(?:[0-9a-f]{2})?)?(?=['"`;\s)])|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\(/gi),
    ).toEqual([])
  })
  it('makes no opacity variant of a colour: its contrast is unproven', () => {
    const name = [...new Set(colours)].join('|')
    expect(find(new RegExp(`\\b(?:bg|text|border|fill|stroke|outline|decoration)-(?:${name})/[\\d[]`, 'g'))).toEqual([])
  })
  it('uses no colour of a default palette', () => {
    expect(
      find(
        /\b(?:bg|text|border|fill|stroke)-(?:white|black|(?:red|green|blue|gray|slate|zinc|amber|yellow|orange|purple|sky|cyan|teal|emerald)-\d+)\b/g,
      ),
    ).toEqual([])
  })
  it('uses nothing that Chromium 114 lacks', () => {
    expect(
      find(
        /light-dark\(|@starting-style|anchor-name|subgrid|@scope|field-sizing|scrollbar-color|Object\.groupBy|Map\.groupBy|Promise\.withResolvers|Intl\.DurationFormat|\.isSubsetOf\(/g,
      ).filter((hit) => !hit.includes('has no')),
    ).toEqual(find(/Chromium 114 has no scrollbar-color/g).map((hit) => hit.replace('Chromium 114 has no ', '')))
  })
  it('loads nothing from elsewhere', () => {
    expect(find(/(?:src|href|url)[=(]['"`]?https?:/g)).toEqual([])
  })
})
