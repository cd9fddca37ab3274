import type { ManifestBody } from '../../../contract/index.ts'
import type { GitContext } from '../../git/core.ts'
import type { RuntimeAdapter, Surroundings } from '../../runtimes/adapter.ts'
import { openDisk } from '../../runtimes/shared/disk.ts'
import { findRepository } from '../../runtimes/shared/repo.ts'
import { digestOfJson } from '../canonical.ts'
import { adviseOn } from './advise.ts'
import { readDirtyState } from './dirty-digest.ts'
import { describeHost, findImage, findPrincipal } from './machine.ts'
import { findServerPackage, toolsOfServer } from './mcp-packages.ts'
import type { ProgramDigests } from './program-digest.ts'

export interface CompletionParts {
  readonly git: GitContext
  readonly programs: ProgramDigests
  readonly surroundings: Surroundings
}

/**
 * What every manifest carries whatever the runtime (R57–R66): task, principal, the program by digest, how the work tree differs from its
 * commit, the packages behind MCP servers, host and image, and a digest over all it may do. `asOf` is `now` for a configuration resolved
 * from the disk at this moment; one inferred from a record gets nothing from today's disk.
 */
export async function completeBody(
  parts: CompletionParts,
  adapter: RuntimeAdapter,
  home: string,
  body: ManifestBody,
  asOf: 'now' | 'record',
): Promise<ManifestBody> {
  const withTask: ManifestBody = { ...body, task: { ...body.task, id: body.task.id ?? taskId(body.task.input_digest) } }
  const withMachine = asOf === 'now' ? await lookAtMachine(parts, adapter, home, withTask) : withTask
  const servers = withMachine.capabilities.mcp_servers.map((server) => ({
    ...server,
    tools: toolsOfServer(withMachine, server),
  }))
  const capabilities = { ...withMachine.capabilities, mcp_servers: servers }
  const whole: ManifestBody = {
    ...withMachine,
    capabilities,
    policy: { ...withMachine.policy, capability_id: capabilityId(capabilities) },
    unknown: servers.every(({ status, tools }) => status !== 'active' || tools !== null)
      ? withMachine.unknown.filter(({ field }) => field !== 'capabilities.mcp_servers.tools')
      : withMachine.unknown,
  }
  return { ...whole, advice: [...adviseOn(whole, adapter.facts)] }
}

/** The same words typed again are the same task (R57, R100). */
export const taskId = (inputDigest: string | null): string | null =>
  inputDigest === null ? null : `task_${inputDigest.replace(/^sha256:/, '').slice(0, 12)}`

/** What may be used, whether or not it is: names and digests only, so that two runs with the same abilities have the same id. */
function capabilityId(capabilities: ManifestBody['capabilities']): string {
  const active = (
    list: readonly { readonly name: string; readonly status: string; readonly digest: string | null }[],
  ) => list.filter(({ status }) => status === 'active').map(({ name, digest }) => [name, digest])
  const { skills, commands, agents, plugins, hooks, mcp_servers, tools } = capabilities
  const digest = digestOfJson([
    ...[skills, commands, agents, plugins, hooks, mcp_servers].map(active),
    tools.map(({ name, schema_digest, removed_by }) => [name, schema_digest, removed_by]),
  ])
  return `cap_${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`
}

async function lookAtMachine(
  { git, programs, surroundings }: CompletionParts,
  adapter: RuntimeAdapter,
  home: string,
  body: ManifestBody,
): Promise<ManifestBody> {
  const program = adapter.findProgram(home, surroundings)
  const digest = program?.path ? await programs.of(program.path) : null
  const known = new Set<string>()
  const unknown: { field: string; why: string }[] = []
  if (digest !== null) known.add('execution.runtime_digest')
  else
    unknown.push({
      field: 'execution.runtime_digest',
      why: 'no program of this runtime was found on PATH or in the home',
    })
  const ran = body.execution.runtime_version
  if (program?.version && ran !== null && program.version !== ran)
    unknown.push({
      field: 'execution.runtime_digest',
      why: `the program found is ${program.version}, the run says ${ran}: the digest is of the one found`,
    })
  if (ran === null && program?.version) known.add('execution.runtime_version')
  let repo = body.execution.repo
  if (repo !== null) {
    const place = gitPlace(repo.root)
    const dirty = place === null ? null : await readDirtyState(git, place)
    if (dirty?.state === 'known') {
      repo = { ...repo, dirty_digest: dirty.digest, dirty_paths: dirty.paths }
      known.add('execution.repo.dirty_digest')
    } else
      unknown.push({
        field: 'execution.repo.dirty_digest',
        why: dirty?.why ?? 'the repository is not there any more',
      })
  }
  const principal = findPrincipal(body, surroundings)
  if (principal.subject !== null) known.add('principal')
  const image = body.execution.image ?? findImage(surroundings)
  const mcp_servers = body.capabilities.mcp_servers.map((server) => {
    const behind = findServerPackage(server, surroundings)
    return behind === null
      ? server
      : {
          ...server,
          package_version: server.package_version ?? behind.version,
          package_from: behind.from,
          package_floating: behind.floating,
        }
  })
  return {
    ...body,
    principal,
    execution: {
      ...body.execution,
      runtime_version: ran ?? program?.version ?? null,
      runtime_digest: digest,
      program:
        program === null ? null : { path: program.path, version: program.version, installed_by: program.installedBy },
      host: { ...describeHost(surroundings) },
      repo,
      image,
    },
    capabilities: { ...body.capabilities, mcp_servers },
    empty: image === null ? body.empty : body.empty.filter(({ category }) => category !== 'image'),
    unknown: [
      ...body.unknown.filter(({ field }) => !known.has(field) && !unknown.some((one) => one.field === field)),
      ...unknown,
    ],
  }
}

function gitPlace(root: string): { gitDir: string; workTree: string } | null {
  const repository = findRepository(openDisk('', ''), root)
  return repository === null ? null : { gitDir: repository.gitDir, workTree: repository.top }
}
