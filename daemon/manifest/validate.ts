import { type ManifestBody, manifestBodySchema } from '../../contract/manifest.ts'
import { findInJson } from '../secrets/redact-json.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { canonicalBytes } from './canonical.ts'

/** One reason why a configuration must not be frozen (R86). */
export interface FailedCheck {
  readonly check: 'schema' | 'circular_import' | 'size' | 'secret' | 'duplicate_source' | 'order'
  /** Field (`settings.env.value`), source URI or cycle. */
  readonly where: string
  readonly message: string
}

export interface FreezeLimits {
  readonly bodyBytes: number
  readonly sources: number
  readonly sourceBytes: number
}

/** Generous: real homes are three orders of magnitude smaller; beyond them something else was swallowed (B05). */
export const FREEZE_LIMITS: FreezeLimits = {
  bodyBytes: 16 * 1024 * 1024,
  sources: 20_000,
  sourceBytes: 64 * 1024 * 1024,
}

/** Every check a body fails before it may become a manifest (R81, R83, R84, R86); empty when it may. Never throws. */
export function validateForFreeze(
  body: unknown,
  redactor: Redactor,
  limits: FreezeLimits = FREEZE_LIMITS,
): readonly FailedCheck[] {
  const parsed = manifestBodySchema.safeParse(body)
  if (!parsed.success) {
    return parsed.error.issues.map((issue) => ({
      check: 'schema',
      where: issue.path.join('.') || '(whole)',
      message: issue.message,
    }))
  }
  const failed: FailedCheck[] = []
  try {
    const size = canonicalBytes(body).length
    if (size > limits.bodyBytes)
      failed.push({ check: 'size', where: '(whole)', message: `${size} bytes, more than ${limits.bodyBytes}` })
  } catch (error) {
    failed.push({
      check: 'schema',
      where: '(whole)',
      message: `no canonical form: ${error instanceof Error ? error.message : String(error)}`,
    })
  }
  failed.push(...checkSources(parsed.data, limits))
  // By the path of the text; the text itself is never repeated (R73, R83).
  for (const { where, family } of findInJson(body, redactor))
    failed.push({ check: 'secret', where, message: `holds a secret (${family})` })
  return failed
}

function checkSources(body: ManifestBody, limits: FreezeLimits): FailedCheck[] {
  const failed: FailedCheck[] = []
  const { sources, resolved_order: order } = body.instructions
  if (sources.length > limits.sources) {
    failed.push({
      check: 'size',
      where: 'instructions.sources',
      message: `${sources.length} sources, more than ${limits.sources}`,
    })
  }
  const known = new Set<string>()
  for (const source of sources) {
    if (known.has(source.uri)) failed.push({ check: 'duplicate_source', where: source.uri, message: 'named twice' })
    known.add(source.uri)
    if (source.bytes !== null && source.bytes > limits.sourceBytes) {
      failed.push({
        check: 'size',
        where: source.uri,
        message: `${source.bytes} bytes, more than ${limits.sourceBytes}`,
      })
    }
  }
  const scopes = new Set(sources.map(({ scope }) => scope))
  for (const scope of order)
    if (!scopes.has(scope))
      failed.push({ check: 'order', where: scope, message: 'in resolved_order, but no source has this scope' })
  // Importers are named by path, as the runtime shows them.
  const importers = new Map<string, string[]>()
  for (const { uri, path, imported_by } of sources)
    importers.set(path ?? uri, [...(importers.get(path ?? uri) ?? []), ...imported_by])
  for (const cycle of findCycles(importers)) {
    failed.push({
      check: 'circular_import',
      where: cycle.join(' → '),
      message: `${cycle.length - 1} sources import each other in a circle`,
    })
  }
  return failed
}

/**
 * Circles in "is imported by", each once, written in the direction of the import and closed (`a → b → a`). Walks without recursion:
 * a chain of imports may be long.
 */
export function findCycles(importers: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  for (const start of importers.keys()) {
    if (done.has(start)) continue
    const path: string[] = []
    const onPath = new Map<string, number>()
    const steps: { readonly uri: string; next: number }[] = [{ uri: start, next: 0 }]
    while (steps.length > 0) {
      const step = steps[steps.length - 1]
      if (step === undefined) break
      if (step.next === 0) {
        onPath.set(step.uri, path.length)
        path.push(step.uri)
      }
      const importer = importers.get(step.uri)?.[step.next]
      step.next += 1
      if (importer === undefined) {
        steps.pop()
        path.pop()
        onPath.delete(step.uri)
        done.add(step.uri)
        continue
      }
      const at = onPath.get(importer)
      if (at !== undefined) cycles.push([...path.slice(at).reverse(), path[path.length - 1] ?? ''])
      else if (importers.has(importer) && !done.has(importer)) steps.push({ uri: importer, next: 0 })
    }
  }
  return cycles
}
