import path from 'node:path'
import type { ManifestBody } from '../../../../contract/index.ts'
import type { ResolveRequest } from '../../adapter.ts'
import type { Disk } from '../../shared/disk.ts'
import { branchesAt, type Tree } from './config-tree.ts'
import { dropReason, parseDotEnv } from './dotenv.ts'
import type { Places } from './places.ts'
import { isSecretName } from './secret-names.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import type { Start } from './start.ts'

export interface Variable {
  readonly value: string
  /** `process` or the file it came from. */
  readonly source: string
  /** Files that set it too and lost. */
  readonly overridden: readonly string[]
}

/** What the configuration and the skills see: the process first, then the files; nothing overrides what is there (2026.9.6). */
export interface Environment {
  get(name: string): string | null
  readonly variables: ReadonlyMap<string, Variable>
  readonly sources: readonly Source[]
  /** Names in the `.env` of the working directory that were dropped. */
  readonly dropped: readonly { readonly name: string; readonly why: string }[]
}

export function readEnvironment(request: ResolveRequest, start: Start, places: Places, disk: Disk): Environment {
  const variables = new Map<string, Variable>()
  const sources: Source[] = []
  const dropped: { name: string; why: string }[] = []
  for (const [name, value] of Object.entries(request.surroundings.env))
    if (value !== undefined) variables.set(name, { value, source: 'process', overridden: [] })

  const take = (
    file: string,
    rule: string,
    refuse: (name: string) => string | null,
    offBecause: string | null,
  ): void => {
    const read = disk.read(file)
    if (read.state === 'missing' || read.state === 'directory') return
    const draft = {
      path: file,
      scope: 'environment',
      kind: 'environment' as const,
      classification: 'secret' as const,
      rule,
    }
    if (read.state !== 'ok') {
      sources.push(
        makeSource({ ...draft, status: 'unknown', reason: read.state === 'too_large' ? 'too large' : read.why }),
      )
      return
    }
    sources.push(
      makeSource({ ...draft, raw: read.bytes, status: offBecause === null ? 'loaded' : 'unknown', reason: offBecause }),
    )
    if (offBecause !== null) return
    for (const { name, value } of parseDotEnv(read.bytes.toString('utf8'))) {
      const why = refuse(name)
      const known = variables.get(name)
      if (why !== null) dropped.push({ name, why })
      else if (known === undefined) variables.set(name, { value, source: file, overridden: [] })
      else if (known.source !== file) variables.set(name, { ...known, overridden: [...known.overridden, file] })
    }
  }
  const cwd = start.value('--cwd') === null ? request.cwd : places.expand(start.value('--cwd') ?? '')
  const own = path.join(places.startDir, '.env')
  const inCwd = path.join(cwd, '.env')
  if (inCwd !== own)
    take(
      inCwd,
      `low trust: OPENCLAW_*, credentials and endpoints are dropped (${VERIFIED_VERSION})`,
      dropReason,
      start.surface === 'gateway' ? 'it counts only if the gateway was started in this directory' : null,
    )
  take(own, `fills in what the process and the working directory leave unset (${VERIFIED_VERSION})`, () => null, null)
  return { get: (name) => variables.get(name)?.value ?? null, variables, sources, dropped }
}

/** Adds `env.vars` of the configuration, the weakest of all: it fills in what is unset or blank. */
export function withConfigVariables(environment: Environment, tree: Tree): Environment {
  const variables = new Map(environment.variables)
  for (const [name, found] of branchesAt(tree, 'env', 'vars')) {
    if (found.type !== 'leaf' || typeof found.value !== 'string' || found.value.trim() === '') continue
    // A value that itself refers to a variable is left out, and so are the switches of the runtime's own safety.
    if (/\$\{[A-Z_][A-Z0-9_]*\}/.test(found.value) || /^OPENCLAW_(INCLUDE_ROOTS|CONFIG_READONLY)$/.test(name)) continue
    const known = variables.get(name)
    const source = `${found.origin}#env.vars.${name}`
    if (known === undefined || known.value.trim() === '')
      variables.set(name, { value: found.value, source, overridden: known === undefined ? [] : [known.source] })
    else variables.set(name, { ...known, overridden: [...known.overridden, source] })
  }
  return { ...environment, variables, get: (name) => variables.get(name)?.value ?? null }
}

/** Variables that bear on a run though no prefix of the vendor marks them. */
const ALSO: ReadonlySet<string> = new Set([
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NO_PROXY',
  'PATH',
  'SHELL',
  'TZ',
])

/** Names and keyed digests, never values (R20): the vendor's own, what files set, what the configuration refers to, credentials. */
export function recordEnvironment(
  { variables }: Environment,
  referred: ReadonlySet<string>,
  hide: (value: string) => string,
): ManifestBody['execution']['environment'] {
  return [...variables]
    .filter(
      ([name, { source }]) =>
        source !== 'process' ||
        ALSO.has(name) ||
        referred.has(name) ||
        /^(OPENCLAW|OPENAI|ANTHROPIC)_/.test(name) ||
        (isSecretName(name) && /(_API_KEY|_TOKEN)$/.test(name)),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { value, source, overridden }]) => ({
      name,
      digest: hide(value),
      source,
      ...(overridden.length > 0 ? { overridden: [...overridden] } : {}),
    }))
}
