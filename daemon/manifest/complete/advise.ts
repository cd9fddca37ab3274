import type { ManifestBody } from '../../../contract/index.ts'
import type { Fact } from '../../runtimes/adapter.ts'

/** What a reviewer would want to know before such a configuration becomes a default (R82, R85). It never stops a run from being recorded. */
export interface Advice {
  readonly check: 'provenance' | 'dependency' | 'tool_policy' | 'compatibility'
  readonly where: string
  readonly message: string
}

export function adviseOn(body: ManifestBody, facts: readonly Fact[]): readonly Advice[] {
  const advice: Advice[] = []
  for (const server of body.capabilities.mcp_servers) {
    if (server.status !== 'active') continue
    if (server.package_floating === true)
      advice.push({
        check: 'dependency',
        where: `mcp server ${server.name}`,
        message: 'its command leaves the version open: the next start may bring another program',
      })
    if (server.url !== null)
      advice.push({
        check: 'provenance',
        where: `mcp server ${server.name}`,
        message: 'it is remote: its tools can change without a change here',
      })
  }
  for (const plugin of body.capabilities.plugins)
    if (plugin.status === 'active' && plugin.digest === null)
      advice.push({ check: 'provenance', where: `plugin ${plugin.name}`, message: 'its files have no digest' })
  const denied = new Set(body.policy.permissions.deny.map(({ rule }) => rule))
  for (const { rule, source, ignored } of body.policy.permissions.allow)
    if (ignored === null && denied.has(rule))
      advice.push({
        check: 'tool_policy',
        where: source,
        message: `${rule} is allowed here and denied elsewhere; denial wins`,
      })
  const verified = new Set(facts.flatMap(({ status, versions }) => (status === 'verified' ? versions : [])))
  const version = body.execution.runtime_version
  if (version !== null && verified.size > 0 && !verified.has(version))
    advice.push({
      check: 'compatibility',
      where: 'execution.runtime_version',
      message: `the rules applied were verified on ${[...verified].sort().join(', ')}, not on ${version}`,
    })
  return advice
}
