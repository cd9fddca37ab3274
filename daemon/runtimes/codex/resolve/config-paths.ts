import path from 'node:path'
import { isTable } from './values.ts'

/**
 * Keys whose value is a path: the program makes it absolute within its layer (0.171.0; `model_catalog_json` and those of `otel` by
 * likeness). `*` stands for any name, `[]` for every item of a list.
 */
const PATHS: readonly (readonly string[])[] = [
  ['model_instructions_file'],
  ['experimental_compact_prompt_file'],
  ['model_catalog_json'],
  ['sqlite_home'],
  ['log_dir'],
  ['js_repl_node_path'],
  ['js_repl_node_module_dirs', '[]'],
  ['sandbox_workspace_write', 'writable_roots', '[]'],
  ['agents', '*', 'config_file'],
  ['skills', 'config', '[]', 'path'],
  ['model_providers', '*', 'auth', 'cwd'],
  ['otel', '*', '*', 'tls', 'ca-certificate'],
  ['otel', '*', '*', 'tls', 'client-certificate'],
  ['otel', '*', '*', 'tls', 'client-private-key'],
]

/** @param base the folder of the layer's file; for flags the start directory. `~` is the user's home. */
export function withAbsolutePaths(
  table: Readonly<Record<string, unknown>>,
  base: string,
  userHome: string,
): Readonly<Record<string, unknown>> {
  const absolute = (value: string): string =>
    value === '~' || value.startsWith('~/') ? path.join(userHome, value.slice(1)) : path.resolve(base, value)
  const walk = (value: unknown, keys: readonly string[]): unknown => {
    const [key, ...rest] = keys
    if (key === undefined) return typeof value === 'string' ? absolute(value) : value
    if (key === '[]') return Array.isArray(value) ? value.map((each: unknown) => walk(each, rest)) : value
    if (!isTable(value)) return value
    const names = key === '*' ? Object.keys(value) : Object.hasOwn(value, key) ? [key] : []
    return names.length === 0
      ? value
      : { ...value, ...Object.fromEntries(names.map((name) => [name, walk(value[name], rest)])) }
  }
  return PATHS.reduce<unknown>((value, keys) => walk(value, keys), table) as Readonly<Record<string, unknown>>
}
