import { RepriseError } from '../../../../contract/index.ts'
import type { Fact, Resolution, ResolveRequest } from '../../adapter.ts'

export const openClawResolverFacts: readonly Fact[] = []

export function resolveOpenClaw(_request: ResolveRequest): Resolution {
  throw new RepriseError('refused', 'openclaw cannot be resolved yet')
}
