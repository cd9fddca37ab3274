import type { Disk } from '../../shared/disk.ts'
import { branch, merge, plant, type Tree } from './config-tree.ts'
import { type Environment, withConfigVariables } from './environment.ts'
import { readConfig } from './includes.ts'
import { checkBindings, migrate } from './migrate.ts'
import type { Places } from './places.ts'
import { checkSchema } from './schema.ts'
import type { Problem, Source, Unknown } from './sources.ts'
import type { Start } from './start.ts'
import { substitute } from './substitute.ts'

export interface Config {
  readonly tree: Tree
  readonly environment: Environment
  readonly markedDefault: string | null
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
  readonly unknown: readonly Unknown[]
  /** Environment variables the configuration refers to. */
  readonly referred: ReadonlySet<string>
  /** Why no run can start with it; null when one can. */
  readonly refused: string | null
}

/** Reads the configuration in the order of the runtime: includes, `env.vars`, variables, older shapes, schema, then what `exec` puts in. */
export function resolveConfig(disk: Disk, places: Places, start: Start, environment: Environment, cwd: string): Config {
  const problems: Problem[] = []
  const unknown: Unknown[] = []
  const file = places.configFile
  const read = file === null ? { tree: null, sources: [], problems: [] } : readConfig(disk, file, places.includeRoots)
  problems.push(...read.problems)
  if (file !== null && read.tree === null && read.problems.length === 0 && start.value('--config') !== null)
    problems.push({ path: file, message: `--config: ${file} does not exist` })
  const planted = read.tree ?? branch(new Map(), 'default')
  const full = withConfigVariables(environment, planted)
  const filled = substitute(planted, full.get)
  const place = file ?? 'no configuration file'
  for (const { name, at } of filled.missing)
    problems.push({
      path: file,
      message: `missing env var ${name} at ${at}: the text \${${name}} goes out as it stands`,
    })
  const migrated = migrate(filled.tree)
  for (const warning of migrated.warnings) problems.push({ path: file, message: warning })
  const check: readonly Problem[] = [
    ...checkSchema(migrated.tree, place),
    ...[...migrated.refused, ...checkBindings(migrated.tree)].map((message) => ({ path: file, message })),
  ]
  problems.push(...check)
  if (read.tree !== null)
    unknown.push({
      field: 'settings',
      why: 'the schema is checked for the objects that shape a run; the types of values and the objects of channels and plugins are not',
    })
  const fatal = read.problems[0] ?? check[0] ?? null
  const hasNoFile = start.value('--config') !== null && read.tree === null
  return {
    tree: start.surface === 'exec' ? withExec(migrated.tree, start, cwd) : migrated.tree,
    environment: full,
    markedDefault: migrated.markedDefault,
    sources: read.sources,
    problems,
    unknown,
    referred: new Set([...filled.used, ...filled.missing.map(({ name }) => name)]),
    refused:
      fatal !== null
        ? `the configuration is invalid, so that no run starts (a running gateway keeps what it has): ${fatal.message}`
        : hasNoFile
          ? `--config names a file that does not exist: ${file}`
          : null,
  }
}

/** `agent exec` puts defaults under the configuration and the working directory over it (read in the package of 2026.9.6). */
function withExec(tree: Tree, start: Start, cwd: string): Tree {
  const under = plant(
    {
      env: { shellEnv: { enabled: false } },
      agents: { defaults: { sandbox: { mode: 'off' } } },
      tools: { profile: 'coding', fs: { workspaceOnly: true }, exec: { mode: 'full' } },
    },
    'default:agent exec',
  )
  const merged = merge(under, tree)
  const ids = merged.type === 'branch' ? [...branchKeys(merged, 'agents', 'entries')] : []
  const over = plant(
    {
      agents: {
        defaults: {
          workspace: cwd,
          skipBootstrap: true,
          ...(start.has('--local-model-lean') ? { experimental: { localModelLean: true } } : {}),
        },
        ...(ids.length > 0 ? { entries: Object.fromEntries(ids.map((id) => [id, { workspace: cwd }])) } : {}),
      },
    },
    'flag:agent exec',
  )
  return merge(merged, over)
}

function branchKeys(tree: Tree, ...keys: readonly string[]): readonly string[] {
  let found: Tree | undefined = tree
  for (const key of keys) found = found?.type === 'branch' ? found.entries.get(key) : undefined
  return found?.type === 'branch' ? [...found.entries.keys()] : []
}
