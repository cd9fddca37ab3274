import type { KeyEdit, Refused } from './key-path.ts'

export function editToml(_text: string, _edit: KeyEdit): string | Refused {
  return { refused: 'TOML cannot be edited by key yet' }
}
