import { parse, type ValueNode } from '@humanwhocodes/momoa'
import type { ValueTree } from './value-tree.ts'

/** Where every value of a JSON, JSONC or JSON5 text stands. The text has no byte-order mark and was parsed before. */
export function readJsonTree(text: string, format: 'json' | 'jsonc' | 'json5'): ValueTree {
  const document = parse(text, { mode: format, ranges: true, allowTrailingCommas: format !== 'json' })
  return treeOf(document.body)
}

function treeOf(node: ValueNode): ValueTree {
  const start = node.loc.start.offset
  const end = node.loc.end.offset
  switch (node.type) {
    case 'Object':
      return {
        kind: 'table',
        start,
        end,
        members: node.members.map((member) => ({
          key: member.name.type === 'String' ? member.name.value : member.name.name,
          start: member.name.loc.start.offset,
          value: treeOf(member.value),
        })),
      }
    case 'Array':
      return { kind: 'list', start, end, items: node.elements.map((element) => treeOf(element.value)) }
    default:
      return { kind: 'scalar', start, end }
  }
}
