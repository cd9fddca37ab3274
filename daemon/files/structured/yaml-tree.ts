import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import { readYaml } from './yaml-document.ts'

/** Where the values of a YAML text stand. `end` is behind the last content, which for a block text is the begin of the next line. */
export type YamlValue =
  | {
      readonly kind: 'scalar'
      readonly start: number
      readonly end: number
      readonly type: string
      readonly empty: boolean
    }
  | { readonly kind: 'alias'; readonly start: number; readonly end: number }
  | {
      readonly kind: 'table'
      readonly start: number
      readonly end: number
      readonly flow: boolean
      readonly members: readonly YamlMember[]
    }
  | {
      readonly kind: 'list'
      readonly start: number
      readonly end: number
      readonly flow: boolean
      readonly items: readonly YamlItem[]
    }

export interface YamlMember {
  readonly key: string
  readonly start: number
  /** Behind the colon; null for a key without one. */
  readonly mark: number | null
  readonly value: YamlValue
}

export interface YamlItem {
  /** Of the dash; in flow style of the value. */
  readonly start: number
  /** Behind the dash; null in flow style. */
  readonly mark: number | null
  readonly value: YamlValue
}

/** Null: the text holds no value at all. */
export function readYamlTree(text: string): YamlValue | null {
  const { contents } = readYaml(text)
  if (contents === null || (isScalar(contents) && contents.source === '')) return null
  return treeOf(contents, 0)
}

function treeOf(node: unknown, mark: number): YamlValue {
  const range = rangeOf(node)
  if (isAlias(node) && range !== null) return { kind: 'alias', start: range[0], end: range[1] }
  if (isMap(node) && range !== null) {
    const flow = node.flow === true
    const members = node.items.map((pair): YamlMember => {
      const keyRange = rangeOf(pair.key)
      const keyEnd = keyRange?.[1] ?? mark
      const colon = colonOf(pair.srcToken)
      return {
        key: isScalar(pair.key) ? (pair.key.value === null ? '' : String(pair.key.value)) : '',
        start: keyRange?.[0] ?? mark,
        mark: colon,
        value: treeOf(pair.value, colon ?? keyEnd),
      }
    })
    const end = flow ? range[1] : (members.at(-1)?.value.end ?? range[1])
    return { kind: 'table', start: range[0], end, flow, members }
  }
  if (isSeq(node) && range !== null) {
    const flow = node.flow === true
    const dashes = flow ? [] : dashesOf(node.srcToken)
    const items = node.items.map((item, at): YamlItem => {
      const dash = dashes[at]
      const value = treeOf(item, dash === undefined ? range[0] : dash + 1)
      return dash === undefined ? { start: value.start, mark: null, value } : { start: dash, mark: dash + 1, value }
    })
    const end = flow ? range[1] : (items.at(-1)?.value.end ?? range[1])
    return { kind: 'list', start: range[0], end, flow, items }
  }
  if (isScalar(node) && range !== null && !(node.source === '' && node.type === 'PLAIN')) {
    return { kind: 'scalar', start: range[0], end: range[1], type: node.type ?? 'PLAIN', empty: false }
  }
  return { kind: 'scalar', start: mark, end: mark, type: 'PLAIN', empty: true }
}

function rangeOf(node: unknown): readonly [number, number, number] | null {
  if (typeof node !== 'object' || node === null || !('range' in node)) return null
  const { range } = node
  if (!Array.isArray(range)) return null
  const [start, valueEnd, end]: unknown[] = range
  return typeof start === 'number' && typeof valueEnd === 'number' && typeof end === 'number'
    ? [start, valueEnd, end]
    : null
}

function colonOf(token: unknown): number | null {
  if (typeof token !== 'object' || token === null || !('sep' in token) || !Array.isArray(token.sep)) return null
  for (const part of token.sep) {
    const offset = offsetOf(part, 'map-value-ind')
    if (offset !== null) return offset + 1
  }
  return null
}

function dashesOf(token: unknown): readonly number[] {
  if (typeof token !== 'object' || token === null || !('items' in token) || !Array.isArray(token.items)) return []
  return token.items.flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null || !('start' in item) || !Array.isArray(item.start)) return []
    return item.start.flatMap((part: unknown) => offsetOf(part, 'seq-item-ind') ?? [])
  })
}

function offsetOf(part: unknown, type: string): number | null {
  if (typeof part !== 'object' || part === null || !('type' in part) || part.type !== type) return null
  return 'offset' in part && typeof part.offset === 'number' ? part.offset : null
}
