import type { AgentDomain } from './agent.ts'
import { entryKey } from './agent.ts'
import { type Tree, textAt } from './config-tree.ts'
import type { Environment } from './environment.ts'
import { withoutCredentials } from './mcp.ts'
import { candidate, type Effective, effective } from './settings.ts'
import type { Start } from './start.ts'

export interface Model {
  /** `provider/model` as it is written; null when nothing names one. */
  readonly ref: Effective | null
  readonly provider: string | null
  readonly model: string | null
  /** Provider, protocol and address, without credentials. */
  readonly endpoint: string | null
  readonly thinking: Effective | null
}

export function chooseModel(tree: Tree, start: Start, agent: AgentDomain | null, environment: Environment): Model {
  const own = agent === null ? null : ['agents', 'entries', entryKey(tree, agent.id)]
  const flag = (name: string): Effective | null => {
    const value = start.value(name)
    return value === null ? null : { value, source: `flag:${name}`, overridden: [] }
  }
  // A text, or an object with `primary`.
  const named = (keys: readonly string[]): Effective | null =>
    candidate(tree, keys) ?? candidate(tree, [...keys, 'primary'])
  const ref = effective([
    flag('--model'),
    own === null ? null : named([...own, 'model']),
    named(['agents', 'defaults', 'model']),
  ])
  const written = typeof ref?.value === 'string' ? ref.value.trim() : null
  const slash = written?.indexOf('/') ?? -1
  const provider = written === null || slash <= 0 ? null : written.slice(0, slash)
  const model = written === null ? null : slash > 0 ? written.slice(slash + 1) : written
  return {
    ref,
    provider,
    model,
    endpoint: provider === null ? null : endpointOf(tree, provider, environment),
    thinking: effective([
      flag('--thinking'),
      own === null ? null : candidate(tree, [...own, 'thinkingDefault']),
      candidate(tree, ['agents', 'defaults', 'thinkingDefault']),
    ]),
  }
}

function endpointOf(tree: Tree, provider: string, environment: Environment): string {
  const place = ['models', 'providers', provider]
  const base = textAt(tree, ...place, 'baseUrl')
  const api = textAt(tree, ...place, 'api')
  const label = api === null ? provider : `${provider} ${api}`
  if (base !== null) return `${label} ${withoutCredentials(base)}`
  // Of the usual variables only this one moves an endpoint; ANTHROPIC_BASE_URL is ignored (2026.9.6).
  const moved = provider === 'openai' ? environment.get('OPENAI_BASE_URL') : null
  return moved === null || moved.trim() === '' ? `${label} (bundled address)` : `${label} ${withoutCredentials(moved)}`
}
