import { createHash } from 'node:crypto'
import type { ManifestBody, ManifestCapability, ManifestSetting, ManifestSource } from '../../contract/index.ts'

/** A digest that stands for a content. */
export const digestFor = (content: string): string => `sha256:${createHash('sha256').update(content).digest('hex')}`

export const ROOT = '/home/dev/shop'

/** An instruction file that enters at start. */
export const source = (
  path: string,
  content: string,
  more: Partial<ManifestSource> & Record<string, unknown> = {},
): ManifestSource => ({
  uri: `file://${path}`,
  path,
  scope: 'project',
  kind: 'instructions',
  label: 'project instructions',
  position: 0,
  status: 'loaded',
  reason: null,
  rule: 'layered merge (1.0.0)',
  digest: digestFor(`disk ${content}`),
  text_digest: digestFor(content),
  bytes: content.length,
  imported_by: [],
  trigger: null,
  truncated: null,
  scan: { result: 'clean', rules: [] },
  used: null,
  classification: 'private',
  ...more,
})

export const setting = (value: ManifestSetting['value'], more: Partial<ManifestSetting> = {}): ManifestSetting => ({
  value,
  source: `${ROOT}/.agent/settings.json`,
  merged_from: [`${ROOT}/.agent/settings.json`],
  overridden: [],
  rule: 'replace',
  ...more,
})

export const capability = (
  name: string,
  content: string,
  more: Partial<ManifestCapability> & Record<string, unknown> = {},
): ManifestCapability => ({
  name,
  version: null,
  digest: digestFor(content),
  source: 'project',
  status: 'active',
  reason: null,
  description: null,
  used: null,
  ...more,
})

/** A whole manifest of an invented tree; a test changes what it is about. */
export const manifestBody = (change: (body: Mutable<ManifestBody>) => void = () => undefined): ManifestBody => {
  const body: Mutable<ManifestBody> = {
    manifest_version: 1,
    run_id: 'r_000000000001',
    stretch: 1,
    created_at: '2026-11-30T12:00:00.000Z',
    origin: 'captured',
    task: { id: null, input_digest: digestFor('task') },
    principal: { subject: null, tenant: null, auth_context_ref: null },
    instructions: {
      effective_digest: digestFor('effective'),
      resolved_order: ['project'],
      sources: [source(`${ROOT}/CLAUDE.md`, 'Prices are in cents.')],
    },
    settings: { model: setting('opus') },
    capabilities: {
      skills: [capability('release-check', 'twice')],
      commands: [],
      agents: [],
      plugins: [],
      hooks: [],
      mcp_servers: [],
      tools: [{ name: 'Read', schema_digest: digestFor('Read'), policy_profile: null, removed_by: null, used: null }],
    },
    execution: {
      runtime: 'claude-code',
      runtime_version: '2.1.332',
      runtime_digest: null,
      surface: 'print',
      model: 'claude-opus-5-5',
      endpoint_profile: null,
      reasoning: 'medium',
      flags: [],
      environment: [{ name: 'PATH', digest: 'k:1', source: 'process' }],
      sandbox: { mode: null, network_policy: null },
      cwd: ROOT,
      repo: { root: ROOT, sha: 'a'.repeat(40), branch: 'main', dirty_digest: null, worktree: null, submodules: [] },
      image: null,
    },
    context: {
      session_ref: 's',
      memory_manifest_digest: null,
      memory_enabled: true,
      memory: [],
      retrieval_snapshot: null,
    },
    policy: {
      revision: digestFor('policy'),
      permissions: { mode: 'default', allow: [], ask: [], deny: [] },
      trust: { trusted: true, source: null },
      managed: [],
    },
    external: [],
    empty: [],
    unknown: [],
  }
  change(body)
  return body as ManifestBody
}

type Mutable<T> = T extends (infer I)[]
  ? Mutable<I>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T
