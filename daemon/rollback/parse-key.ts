import { RepriseError } from '../../contract/index.ts'
import type { KeyPath } from '../files/structured/key-path.ts'

/** `permissions.deny`, `projects."/w/a.b".trust`, `servers[2].url`: the way keys are shown. */
export function parseKey(text: string): KeyPath {
  const key: (string | number)[] = []
  let rest = text
  while (rest !== '') {
    const quoted = /^\.?("(?:[^"\\]|\\.)*")/.exec(rest)
    const index = /^\[(\d+)\]/.exec(rest)
    const plain = /^\.?([^.["]+)/.exec(rest)
    if (quoted?.[1]) key.push(String(JSON.parse(quoted[1])))
    else if (index?.[1]) key.push(Number(index[1]))
    else if (plain?.[1]) key.push(plain[1])
    else throw new RepriseError('wrong_usage', `key: ${text} is no key`, 'names with dots in them go between quotes')
    rest = rest.slice((quoted ?? index ?? plain)?.[0].length ?? rest.length)
  }
  if (key.length === 0) throw new RepriseError('wrong_usage', 'key: it is empty')
  return key
}
