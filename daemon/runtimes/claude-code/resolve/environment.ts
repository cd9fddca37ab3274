import { type Hide, namedOf, type SettingsLayer } from './settings.ts'

/** The environment a run would see: settings override the process (2.1.332). */
export interface EffectiveEnvironment {
  get(name: string): string | null
  readonly entries: readonly { readonly name: string; readonly value: string; readonly source: string }[]
}

/** Variables that bear on a run though no prefix of the vendor marks them. */
const ALSO = [
  'API_TIMEOUT_MS',
  'BUN_OPTIONS',
  'DISABLE_AUTOUPDATER',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'IS_SANDBOX',
  'LANG',
  'LC_ALL',
  'NODE_EXTRA_CA_CERTS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NO_PROXY',
  'PATH',
  'SHELL',
  'SSL_CERT_FILE',
  'TZ',
  'http_proxy',
  'https_proxy',
  'no_proxy',
]
const PREFIXES = /^(ANTHROPIC|CLAUDE|MCP|OTEL|AWS|GOOGLE|VERTEX|AZURE|BASH|DISABLE|MAX)_/

export function readEnvironment(
  processEnv: Readonly<Record<string, string | undefined>>,
  layers: readonly SettingsLayer[],
): EffectiveEnvironment {
  const fromSettings = namedOf(layers, 'env')
  const all = new Map<string, { value: string; source: string }>()
  for (const [name, value] of Object.entries(processEnv))
    if (value !== undefined) all.set(name, { value, source: 'process' })
  // Numbers and true/false are taken as text.
  for (const [name, { value, origin }] of fromSettings) all.set(name, { value: String(value), source: origin })
  return {
    get: (name) => all.get(name)?.value ?? null,
    entries: [...all]
      .map(([name, { value, source }]) => ({ name, value, source }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

/** Names and keyed digests, never values (R20): what settings set, what the vendor's prefixes mark, what servers refer to. */
export function recordEnvironment(
  environment: EffectiveEnvironment,
  referred: readonly string[],
  hide: Hide,
): readonly { readonly name: string; readonly digest: string; readonly source: string }[] {
  const wanted = new Set([...ALSO, ...referred])
  return environment.entries
    .filter(({ name, source }) => source !== 'process' || wanted.has(name) || PREFIXES.test(name))
    .map(({ name, value, source }) => ({ name, digest: hide(value), source }))
}

/** How the runtime reads a switch: `1`, `true`, `yes`, `on` are on, whatever else is off (`1`, `true` and `0` were tried). */
export function isOn(value: string | null): boolean {
  return value !== null && /^(1|true|yes|on)$/i.test(value.trim())
}
