import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MANIFEST_VERSION, type ManifestBody } from '../../contract/index.ts'
import { type Keys, openKeys } from '../../daemon/secrets/keys.ts'
import { openStore, type StoreOptions } from '../../daemon/store/open-store.ts'
import type { ArchiveSlice, Store } from '../../daemon/store/store.ts'

/** A directory that goes away with the test. */
export function temporaryDirectory(prefix = 'reprise-test-'): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), prefix))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export const FIXED_NOW = () => new Date('2026-11-30T12:00:00.000Z')

export interface OpenedStore {
  readonly store: Store
  readonly keys: Keys
  readonly logged: string[]
}

export async function openTestStore(dir: string, more: Partial<StoreOptions> = {}): Promise<OpenedStore> {
  const keys = await openKeys(join(dir, 'keys'))
  const logged: string[] = []
  const store = await openStore({
    dir,
    key: keys,
    now: FIXED_NOW,
    log: (message) => logged.push(message),
    env: process.env,
    ...more,
  })
  return { store, keys, logged }
}

/** Lines of a text as a slice that follows `before`. */
export function sliceOf(
  file: string,
  text: string | Uint8Array,
  before: { readonly lines: number; readonly bytes: number } = { lines: 0, bytes: 0 },
): ArchiveSlice {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : text
  const lineBytes: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at)
    const next = end < 0 ? bytes.length : end + 1
    lineBytes.push(next - at)
    at = next
  }
  return { file, firstLine: before.lines + 1, firstByte: before.bytes, bytes, lineBytes }
}

export function manifestBody(more: Partial<ManifestBody> = {}): ManifestBody {
  return {
    manifest_version: MANIFEST_VERSION,
    run_id: 'r_0123456789ab',
    stretch: 1,
    created_at: '2026-11-30T12:00:00.000Z',
    origin: 'inferred',
    task: { id: null, input_digest: null },
    principal: { subject: null, tenant: null, auth_context_ref: null },
    instructions: { effective_digest: null, resolved_order: [], sources: [] },
    settings: {},
    capabilities: { skills: [], commands: [], agents: [], plugins: [], hooks: [], mcp_servers: [], tools: [] },
    execution: {
      runtime: 'claude-code',
      runtime_version: '2.1.0',
      runtime_digest: null,
      surface: null,
      model: null,
      endpoint_profile: null,
      reasoning: null,
      flags: null,
      environment: [],
      sandbox: { mode: null, network_policy: null },
      cwd: '/home/someone/project',
      repo: null,
      image: null,
    },
    context: {
      session_ref: null,
      memory_manifest_digest: null,
      memory_enabled: null,
      memory: [],
      retrieval_snapshot: null,
    },
    policy: {
      revision: null,
      permissions: { mode: null, allow: [], ask: [], deny: [] },
      trust: { trusted: null, source: null },
      managed: [],
    },
    external: [],
    empty: [],
    unknown: [],
    ...more,
  }
}
