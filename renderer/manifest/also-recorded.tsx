import type { Manifest } from '../../contract/manifest.ts'
import { Section } from '../parts/tables.tsx'
import { words } from '../words/en.ts'

const w = words.manifest.env

/** Fields every manifest has; what an agent adds of its own beyond them is shown as it stands, never dropped. */
const known: Readonly<Record<string, readonly string[]>> = {
  '': [
    'manifest_version',
    'run_id',
    'stretch',
    'created_at',
    'origin',
    'task',
    'principal',
    'instructions',
    'settings',
    'capabilities',
    'execution',
    'context',
    'policy',
    'external',
    'empty',
    'unknown',
    'validation',
    'advice',
    'integrity',
  ],
  instructions: ['effective_digest', 'resolved_order', 'sources'],
  capabilities: ['skills', 'commands', 'agents', 'plugins', 'hooks', 'mcp_servers', 'tools', 'output_styles'],
  execution: [
    'runtime',
    'runtime_version',
    'runtime_digest',
    'program',
    'host',
    'surface',
    'model',
    'endpoint_profile',
    'reasoning',
    'flags',
    'environment',
    'sandbox',
    'cwd',
    'repo',
    'image',
  ],
  context: ['session_ref', 'memory_manifest_digest', 'memory_enabled', 'memory', 'retrieval_snapshot'],
  policy: ['revision', 'capability_id', 'permissions', 'trust', 'managed'],
}

const extraOf = (manifest: Manifest): readonly (readonly [string, unknown])[] =>
  Object.entries(known).flatMap(([area, names]) => {
    const part: unknown = area === '' ? manifest : Object.entries(manifest).find(([name]) => name === area)?.[1]
    if (typeof part !== 'object' || part === null) return []
    return Object.entries(part)
      .filter(([name, value]) => !names.includes(name) && value !== null && value !== undefined)
      .map(([name, value]) => [area === '' ? name : `${area}.${name}`, value] as const)
  })

/** What this agent records beyond what all do: its own domain, bindings, layers, lineage. */
export function AlsoRecorded({ manifest }: { readonly manifest: Manifest }) {
  const extra = extraOf(manifest)
  if (extra.length === 0) return null
  return (
    <Section title={w.also}>
      <dl className="max-w-4xl text-dense">
        {extra.map(([name, value]) => (
          <div
            key={name}
            className="grid grid-cols-[14rem_minmax(0,1fr)] gap-x-3 border-b border-line py-1 max-md:grid-cols-1"
          >
            <dt className="font-mono text-[0.75rem] break-all">{name}</dt>
            <dd className="min-w-0">
              {typeof value === 'object' ? (
                <pre className="max-h-48 overflow-auto font-mono text-[0.75rem] whitespace-pre-wrap">
                  {JSON.stringify(value, null, 1)}
                </pre>
              ) : (
                <span className="break-words">{String(value)}</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}
