import { RepriseError } from '../../../../contract/index.ts'
import type { Fact, Resolution, ResolveRequest } from '../../adapter.ts'

export const codexResolverFacts: readonly Fact[] = []

export function resolveCodex(_request: ResolveRequest): Resolution {
  throw new RepriseError('refused', 'codex cannot be resolved yet')
}
