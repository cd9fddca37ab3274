import type { Disk } from '../../shared/disk.ts'
import { makeSource, type Source } from './sources.ts'

export interface Variable {
  readonly name: string
  readonly value: string
  /** File, or `process`. */
  readonly source: string
}

/** The environment a run would see. */
export interface Environment {
  get(name: string): Variable | null
  readonly all: readonly Variable[]
  readonly sources: readonly Source[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

/**
 * The managed `.env` beats everything, the home's beats the process, and that of the start directory only fills what is unset (runtime
 * page 1, 4.1, 9.1; 0.20.0). The opposite of what is usual: a variable exported in a shell loses against the home's file.
 */
export function readEnvironment(
  disk: Disk,
  files: { readonly managed: string; readonly home: string; readonly project: string },
  process: Readonly<Record<string, string | undefined>>,
  hide: (value: string) => string,
): Environment {
  const all = new Map<string, Variable>()
  const sources: Source[] = []
  const problems: { path: string; message: string }[] = []
  const takeFile = (file: string, scope: string, rule: string): void => {
    const found = disk.read(file)
    if (found.state === 'missing' || found.state === 'directory') return
    if (found.state !== 'ok') {
      const why = found.state === 'unreadable' ? found.why : `it has ${found.size} bytes and was not read`
      problems.push({ path: file, message: why })
      sources.push(
        makeSource({
          path: file,
          scope,
          kind: 'environment',
          status: 'unknown',
          reason: why,
          classification: 'secret',
        }),
      )
      return
    }
    const pairs = parseDotEnv(found.bytes.toString('utf8'))
    for (const [name, value] of pairs) if (!all.has(name)) all.set(name, { name, value, source: file })
    sources.push(
      makeSource({
        path: file,
        scope,
        kind: 'environment',
        status: 'loaded',
        rule,
        // Its bytes are secrets: names and a keyed digest, nothing that could be tried against (runtime page 3.1).
        reason: 'names and a keyed digest only, by design',
        classification: 'secret',
        extra: { names: [...pairs.keys()].sort(), keyed: hide(found.bytes.toString('latin1')) },
      }),
    )
  }
  takeFile(files.managed, 'managed', 'beats every other source of environment (0.20.0)')
  takeFile(files.home, 'user', 'beats the environment of the process (0.20.0)')
  for (const [name, value] of Object.entries(process))
    if (value !== undefined && !all.has(name)) all.set(name, { name, value, source: 'process' })
  takeFile(files.project, 'project', 'only fills names that are unset (0.20.0)')
  return { get: (name) => all.get(name) ?? null, all: [...all.values()].sort(byName), sources, problems }
}

/** `NAME=value` lines, with `export`, quotes and comments behind a space. */
export function parseDotEnv(text: string): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>()
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const found = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*)$/.exec(line)
    if (found?.[1] === undefined) continue
    const given = (found[2] ?? '').trim()
    const quoted = /^(["'])(.*?)\1\s*(?:#.*)?$/.exec(given)
    pairs.set(found[1], quoted === null ? given.replace(/\s+#.*$/, '') : (quoted[2] ?? ''))
  }
  return pairs
}

const ALSO = new Set([
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
  'LANG',
  'LC_ALL',
  'PATH',
  'PYTHONHASHSEED',
  'PYTHONPATH',
  'SHELL',
  'SSL_CERT_FILE',
  'TZ',
])
const BEARS = /^(HERMES|TERMINAL)_|_(API_KEY|BASE_URL|API_BASE)$/

/** Names and keyed digests, never values (R20): what files set, what the configuration refers to, what names of the runtime mark. */
export function recordEnvironment(
  { all }: Environment,
  referred: ReadonlySet<string>,
  hide: (value: string) => string,
): readonly { readonly name: string; readonly digest: string; readonly source: string }[] {
  return all
    .filter(({ name, source }) => source !== 'process' || referred.has(name) || ALSO.has(name) || BEARS.test(name))
    .map(({ name, value, source }) => ({ name, digest: hide(value), source }))
}

/** How the runtime reads a switch (source). */
export const isOn = (variable: Variable | null): boolean =>
  variable !== null && /^(1|true|yes|on)$/i.test(variable.value.trim())

const byName = (a: Variable, b: Variable): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
