import { RepriseError } from '../../../../contract/index.ts'
import type { Resolution, ResolveRequest } from '../../adapter.ts'

export function resolveClaudeCode(request: ResolveRequest): Resolution {
  throw new RepriseError('refused', `The configuration of Claude Code in ${request.cwd} cannot be resolved yet.`)
}
