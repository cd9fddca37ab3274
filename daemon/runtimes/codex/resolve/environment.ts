import path from 'node:path'
import type { Reading } from './config-file.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import type { Hide } from './values.ts'

/** The environment a run would see: variables of the process, and over them those of `<home>/.env` (0.171.0). */
export interface EffectiveEnvironment {
  get(name: string): string | null
  readonly entries: readonly { readonly name: string; readonly value: string; readonly source: string }[]
  readonly sources: readonly Source[]
}

/** Variables that bear on a run though no prefix of the vendor marks them. */
const ALSO = [
  'ALL_PROXY',
  'HOME',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'LANG',
  'LC_ALL',
  'NO_PROXY',
  'PATH',
  'RUST_LOG',
  'SHELL',
  'SSL_CERT_FILE',
  'TMPDIR',
  'TZ',
  'all_proxy',
  'http_proxy',
  'https_proxy',
  'no_proxy',
]
const PREFIXES = /^(CODEX|OPENAI|OLLAMA|LMSTUDIO|AZURE|AWS)_/

export function readEnvironment(
  { disk }: Reading,
  home: string,
  processEnv: Readonly<Record<string, string | undefined>>,
): EffectiveEnvironment {
  const all = new Map<string, { value: string; source: string }>()
  for (const [name, value] of Object.entries(processEnv))
    if (value !== undefined) all.set(name, { value, source: 'process' })
  const file = path.join(home, '.env')
  const read = disk.read(file)
  const sources: Source[] = []
  if (read.state === 'ok') {
    const { names, ignored, values } = parseDotenv(read.bytes.toString('utf8'), (name) => all.get(name)?.value ?? '')
    for (const [name, value] of values) all.set(name, { value, source: file })
    sources.push(
      makeSource({
        path: file,
        scope: 'user',
        kind: 'environment',
        status: 'loaded',
        rule: `it beats the process environment; names that begin with CODEX_ are ignored (${VERIFIED_VERSION})`,
        // Short values could be guessed from a digest of the file: the keyed digests of the values stand for it.
        bytes: read.size,
        classification: 'secret',
        extra: { names, ignored_names: ignored },
      }),
    )
  } else if (read.state !== 'missing') {
    const why = read.state === 'unreadable' ? read.why : `it is ${read.state.replace('_', ' ')}`
    sources.push(
      makeSource({
        path: file,
        scope: 'user',
        kind: 'environment',
        status: 'unknown',
        reason: why,
        classification: 'secret',
      }),
    )
  }
  return {
    get: (name) => all.get(name)?.value ?? null,
    entries: [...all]
      .map(([name, { value, source }]) => ({ name, value, source }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    sources,
  }
}

/** Of equal names the last counts; `$NAME` stands for a value known so far, but not in single quotes (0.171.0). */
function parseDotenv(
  text: string,
  known: (name: string) => string,
): {
  readonly names: readonly string[]
  readonly ignored: readonly string[]
  readonly values: ReadonlyMap<string, string>
} {
  const values = new Map<string, string>()
  const ignored: string[] = []
  for (const line of text.split('\n')) {
    const found = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*$/.exec(line)
    if (found === null) continue
    const [, name = '', value = ''] = found
    if (name.startsWith('CODEX_')) ignored.push(name)
    else
      values.set(
        name,
        plainValue(value, (other) => values.get(other) ?? known(other)),
      )
  }
  return { names: [...values.keys()].sort(), ignored: ignored.sort(), values }
}

function plainValue(value: string, known: (name: string) => string): string {
  const quoted = /^(["'])(.*)\1(?:\s+#.*)?$/.exec(value)
  if (quoted?.[1] === "'") return quoted[2] ?? ''
  const text = quoted ? (quoted[2] ?? '') : value.replace(/\s+#.*$/, '')
  return text.replace(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (_, braced?: string, bare?: string) =>
    known(braced ?? bare ?? ''),
  )
}

/** Names and keyed digests, never values (R20): what the vendor's prefixes mark, what `.env` sets, what servers refer to. */
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

/** Credential files: that they are there, and a keyed digest; never what they hold. */
export function credentialSources(reading: Reading, home: string, hide: Hide): readonly Source[] {
  const file = path.join(home, 'auth.json')
  const found = reading.disk.read(file)
  if (found.state === 'missing' || found.state === 'directory') return []
  return [
    makeSource({
      path: file,
      scope: 'user',
      kind: 'state',
      status: 'loaded',
      reason: 'credentials: kept as a keyed digest, by design',
      classification: 'secret',
      ...(found.state === 'ok'
        ? { bytes: found.size, extra: { keyed_digest: hide(found.bytes.toString('latin1')) } }
        : {}),
    }),
  ]
}
