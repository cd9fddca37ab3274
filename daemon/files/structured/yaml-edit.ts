import type { KeyEdit, Refused } from './key-path.ts'

export function editYaml(_text: string, _edit: KeyEdit): string | Refused {
  return { refused: 'YAML cannot be edited by key yet' }
}
