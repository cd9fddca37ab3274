import type { fileFormats, RuntimeName } from '../../../contract/index.ts'

export type FileFormat = (typeof fileFormats)[number]
export type StructuredFormat = Extract<FileFormat, 'json' | 'jsonc' | 'json5' | 'toml' | 'yaml'>

/**
 * What a file holds, by its name. OpenClaw reads its own configuration as JSON5 whatever it is called; every other agent reads `.json`
 * strictly. Whether it is binary is only known from its bytes.
 */
export function formatOf(path: string, runtime?: RuntimeName): FileFormat {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const end = name.slice(name.lastIndexOf('.') + 1)
  if (runtime === 'openclaw' && (name === 'openclaw.json' || end === 'json5')) return 'json5'
  if (end === 'json') return 'json'
  if (end === 'jsonc') return 'jsonc'
  if (end === 'json5') return 'json5'
  if (end === 'toml') return 'toml'
  if (end === 'yaml' || end === 'yml') return 'yaml'
  if (end === 'md' || end === 'mdc' || end === 'markdown' || name === '.cursorrules') return 'markdown'
  return 'text'
}

export function isStructured(format: FileFormat): format is StructuredFormat {
  return format === 'json' || format === 'jsonc' || format === 'json5' || format === 'toml' || format === 'yaml'
}
