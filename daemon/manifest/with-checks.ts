import type { ManifestBody } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { validateForFreeze } from './validate.ts'

/**
 * A body with what its validation found (R86). What was observed is kept even when it is not valid, as a run must have its manifest
 * (R55); but it says so of itself, and nothing may be pinned to it. A body that still holds a secret, or has no canonical form, is
 * refused by the store.
 */
export function withChecks(
  body: ManifestBody,
  redactor: Redactor,
): { readonly body: ManifestBody; readonly failed: readonly string[] } {
  const failed = validateForFreeze(body, redactor)
  const refused = failed.find(({ check }) => check === 'secret' || check === 'schema')
  if (refused) throw new Error(`${refused.check} at ${refused.where}: ${refused.message}`)
  return {
    body: { ...body, validation: { passed: failed.length === 0, failed: [...failed] } },
    failed: failed.map(({ check, where, message }) => `${check} at ${where}: ${message}`),
  }
}
