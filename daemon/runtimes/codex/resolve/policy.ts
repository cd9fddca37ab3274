import canonicalize from 'canonicalize'
import type { ManifestBody } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import type { StartFlags } from './flags.ts'
import type { Layers, Problem } from './layers.ts'
import type { Requirements } from './requirements.ts'
import { patternText, type RuleInForce } from './rules.ts'
import { settingOf, textSetting } from './settings.ts'

export interface PolicyRequest {
  readonly layers: Layers
  readonly flags: StartFlags
  readonly requirements: Requirements
  readonly rules: readonly RuleInForce[]
}

export interface ResolvedPolicy {
  readonly policy: ManifestBody['policy']
  readonly sandbox: ManifestBody['execution']['sandbox']
  readonly problems: readonly Problem[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

export function resolvePolicy({ layers, flags, requirements, rules }: PolicyRequest): ResolvedPolicy {
  const { trust } = layers
  const problems: Problem[] = []
  const unknown: { field: string; why: string }[] = []
  const wanted = { approval: approvalPolicy(layers, flags), sandbox: sandboxMode(layers, flags) }
  const mode = allowed(wanted.approval, requirements.approvalPolicies, requirements.approvalPolicies?.[0] ?? null)
  const sandbox = allowed(wanted.sandbox, requirements.sandboxModes, 'read-only')
  for (const [what, before, after] of [
    ['approval policy', wanted.approval, mode],
    ['sandbox mode', wanted.sandbox, sandbox],
  ] as const)
    if (before !== after)
      problems.push({
        path: requirements.file,
        message: `the ${what} ${before} is not allowed here; ${after} takes its place`,
      })
  if (wanted.sandbox !== sandbox && mode === 'never')
    problems.push({
      path: requirements.file,
      message: `the sandbox mode ${wanted.sandbox} is not allowed, and without approvals the program does not start`,
    })
  for (const key of ['default_permissions', 'permissions'])
    if (settingOf(layers.active, key) !== null)
      unknown.push({ field: 'execution.sandbox.mode', why: `${key} is set; permission profiles were not exercised` })

  const listed = (decision: string) =>
    rules
      .filter((rule) => rule.decision === decision && rule.ignored === null)
      .map((rule) => ({
        rule: patternText(rule),
        source: rule.file,
        line: rule.line,
        ...(rule.justification === null ? {} : { justification: rule.justification }),
      }))
  const permissions = {
    mode,
    allow: [
      ...listed('allow').map((rule) => ({ ...rule, ignored: null })),
      ...rules
        .filter((rule) => rule.decision === 'allow' && rule.ignored !== null)
        .map((rule) => ({ rule: patternText(rule), source: rule.file, ignored: rule.ignored })),
    ],
    ask: listed('prompt'),
    deny: listed('forbidden'),
  }
  const managed = [
    ...layers.all.filter((layer) => layer.name === 'managed').map((layer) => layer.origin),
    ...requirements.sources.filter((source) => source.status === 'loaded').map(() => requirements.file),
  ]
  const trusted = trust.level === null ? null : trust.level === 'trusted'
  const network = settingOf(layers.active, 'sandbox_workspace_write', 'network_access')?.value
  return {
    policy: {
      revision: bytesDigest(canonicalize({ permissions, trust: trust.level, requirements: requirements.values }) ?? ''),
      permissions,
      trust: {
        trusted: trusted ?? false,
        source: trust.entry === null ? null : `${trust.entry.origin}#projects.${trust.entry.directory}.trust_level`,
        // "No entry" and "untrusted" differ: only the second leaves out AGENTS.md.
        level: trust.level ?? 'no entry',
      },
      managed,
    },
    sandbox: {
      mode: sandbox,
      network_policy:
        sandbox === 'danger-full-access' || (sandbox === 'workspace-write' && network === true) ? 'allowed' : 'refused',
    },
    problems,
    unknown,
  }
}

const allowed = (value: string, list: readonly string[] | null, otherwise: string | null): string =>
  list === null || list.includes(value) || otherwise === null ? value : otherwise

/** `exec` never asks. Without a setting an untrusted directory asks for everything but known safe commands (0.171.0). */
function approvalPolicy({ active, trust }: Layers, flags: StartFlags): string {
  if (flags.command === 'exec' || flags.has('--dangerously-bypass-approvals-and-sandbox')) return 'never'
  return (
    flags.value('--ask-for-approval') ??
    textSetting(active, 'approval_policy') ??
    (trust.level === 'untrusted' ? 'untrusted' : 'on-request')
  )
}

/** Without any setting: `workspace-write` in a directory that has a trust entry of either kind, `read-only` without one (0.171.0). */
function sandboxMode({ active, trust }: Layers, flags: StartFlags): string {
  if (flags.has('--dangerously-bypass-approvals-and-sandbox')) return 'danger-full-access'
  return (
    flags.value('--sandbox') ??
    (flags.has('--approve-for-me') ? 'workspace-write' : null) ??
    textSetting(active, 'sandbox_mode') ??
    (trust.level === null ? 'read-only' : 'workspace-write')
  )
}
