import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const css = readFileSync(join(import.meta.dirname, '../../../renderer/tokens.css'), 'utf8')

type Rgb = readonly [number, number, number]

/** OKLCH to 8-bit sRGB (Ottosson's matrices), clipped as a screen clips it. */
function toRgb(l: number, c: number, h: number): { readonly rgb: Rgb; readonly inside: boolean } {
  const a = c * Math.cos((h * Math.PI) / 180)
  const b = c * Math.sin((h * Math.PI) / 180)
  const L = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const M = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const S = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  const linear = [
    4.0767416621 * L - 3.3077115913 * M + 0.2309699292 * S,
    -1.2684380046 * L + 2.6097574011 * M - 0.3413193965 * S,
    -0.0041960863 * L - 0.7034186147 * M + 1.707614701 * S,
  ] as const
  const gamma = (value: number) => (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055)
  const eight = (value: number) => Math.round(Math.min(1, Math.max(0, gamma(Math.max(0, value)))) * 255)
  return {
    rgb: [eight(linear[0]), eight(linear[1]), eight(linear[2])],
    inside: linear.every((value) => value > -0.002 && value < 1.002),
  }
}

function luminance([r, g, b]: Rgb): number {
  const part = (value: number) => {
    const x = value / 255
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4
  }
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
}
const contrast = (one: Rgb, other: Rgb) => {
  const [light, dark] = [luminance(one), luminance(other)].sort((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function read(block: string) {
  const colours = new Map<string, { readonly rgb: Rgb; readonly inside: boolean }>()
  for (const [, name = '', l, c, h] of block.matchAll(/--color-([\w-]+): oklch\(([\d.]+) ([\d.]+) ([\d.]+)\);/g))
    colours.set(name, toRgb(Number(l), Number(c), Number(h)))
  return colours
}
const [lightBlock = '', darkBlock = ''] = css.split(/:root\[data-theme=.dark.\]/)
const themes = { light: read(lightBlock), dark: read(darkBlock) }

const backgrounds = ['canvas', 'surface', 'raised', 'sunken', 'hover', 'select', 'select-strong'] as const
const texts = [
  'text',
  'text-2',
  'text-3',
  'accent',
  'ok',
  'warn',
  'danger',
  'live',
  'historical',
  'synthetic',
  'fault',
  'effect-add',
  'effect-change',
  'effect-delete',
  'effect-mode',
] as const
const marks = ['line-strong', 'focus', 'heat-2', 'heat-3', 'heat-4', 'heat-5'] as const
const tints = [
  ['ok', 'ok-tint'],
  ['warn', 'warn-tint'],
  ['danger', 'danger-tint'],
  ['live', 'live-tint'],
  ['historical', 'historical-tint'],
  ['synthetic', 'synthetic-tint'],
  ['fault', 'fault-tint'],
] as const
const onTints = [
  'ok-tint',
  'warn-tint',
  'danger-tint',
  'diff-add',
  'diff-add-word',
  'diff-delete',
  'diff-delete-word',
] as const

describe.each(Object.entries(themes))('contrast of the %s theme', (_theme, colours) => {
  const of = (name: string): Rgb => {
    const found = colours.get(name)
    if (found === undefined) throw new Error(`no token ${name}`)
    return found.rgb
  }

  it('names the same tokens as the other theme', () => {
    expect([...themes.dark.keys()].sort()).toEqual([...themes.light.keys()].sort())
  })
  it('stays inside sRGB', () => {
    expect([...colours].filter(([, colour]) => !colour.inside).map(([name]) => name)).toEqual([])
  })
  it.each(texts)('%s can be read on every background', (text) => {
    for (const background of backgrounds)
      expect(contrast(of(text), of(background)), `${text} on ${background}`).toBeGreaterThanOrEqual(4.5)
  })
  it.each(marks)('%s can be seen on the surface', (mark) => {
    expect(contrast(of(mark), of('surface')), mark).toBeGreaterThanOrEqual(3)
  })
  it.each(['line-strong', 'focus'])('%s can be seen on every background', (mark) => {
    for (const background of backgrounds)
      expect(contrast(of(mark), of(background)), `${mark} on ${background}`).toBeGreaterThanOrEqual(3)
  })
  it.each(tints)('%s can be read on %s', (text, tint) => {
    expect(contrast(of(text), of(tint))).toBeGreaterThanOrEqual(4.5)
  })
  it.each(onTints)('text and text-2 can be read on %s', (background) => {
    for (const text of ['text', 'text-2']) expect(contrast(of(text), of(background)), text).toBeGreaterThanOrEqual(4.5)
  })
  it.each(['accent-fill', 'danger-fill'])('white can be read on %s', (fill) => {
    expect(contrast(of('on-fill'), of(fill))).toBeGreaterThanOrEqual(4.5)
  })
})
