import ignore from 'ignore'
import type { ManifestSource } from '../../../../contract/index.ts'
import type { Resolution } from '../../adapter.ts'
import { isInside } from '../../shared/disk.ts'

/**
 * What touching a file brings into the context, in order: path rules of managed and user scope, then directory by directory the files
 * between the start directory and the touched one, then path rules of the start directory and its ancestors (2.1.332). Only Read, Write,
 * Edit and an `@file` mention touch; `touched` is the absolute path after any rewriting by hooks.
 *
 * @returns paths, without those in `alreadyLoaded`: each file comes in once a session.
 */
export function matchLazy(
  resolution: Resolution,
  touched: string,
  alreadyLoaded: ReadonlySet<string>,
): readonly string[] {
  const cwd = resolution.body.execution.cwd
  const found: string[] = []
  for (const source of resolution.body.instructions.sources) {
    if (source.status !== 'lazy' || source.path === null || alreadyLoaded.has(source.path)) continue
    if (cwd !== null && !isInside(touched, cwd)) continue
    if (matches(source, touched)) found.push(source.path)
  }
  return found
}

function matches(source: ManifestSource, touched: string): boolean {
  const { lazy } = source
  if (typeof lazy !== 'object' || lazy === null || !('when' in lazy)) return false
  if (lazy.when === 'directory' && 'directory' in lazy) return isInside(touched, String(lazy.directory))
  if (lazy.when !== 'paths' || !('base' in lazy) || !('patterns' in lazy) || !Array.isArray(lazy.patterns)) return false
  const base = String(lazy.base)
  if (touched === base || !isInside(touched, base)) return false
  const relative = touched.slice(base.length + (base.endsWith('/') ? 0 : 1))
  return ignore().add(lazy.patterns.map(String)).ignores(relative)
}
