import type { ManifestBody } from '../../../contract/index.ts'
import type { StretchEvidence } from '../adapter.ts'
import type { Origin, RolloutEvidence, Settings } from './evidence.ts'

type Unknown = ManifestBody['unknown'][number]

export function inferExecution(
  stretch: StretchEvidence,
  record: RolloutEvidence,
  unknown: Unknown[],
): ManifestBody['execution'] {
  const { settings, origin, environment, git } = record
  const missing = (field: string, value: unknown, why: string): void => {
    if (value === undefined || value === null) unknown.push({ field: `execution.${field}`, why })
  }
  const surface = origin === undefined ? null : surfaceOf(origin)
  missing('model', settings?.model, 'no turn of the stretch names a model')
  missing(
    'runtime_version',
    stretch.version,
    stretch.n > 1
      ? 'the version stands in the head of the file only: a later start may have been another'
      : 'the record names no version',
  )
  missing('cwd', stretch.cwd, 'no record of the stretch names a directory')
  missing('surface', surface, 'the record does not name how the program was started')
  missing('reasoning', settings?.effort, 'the turn names no effort: it is the default of the model')
  missing('endpoint_profile', origin?.provider, 'the record names no provider')
  missing('sandbox', settings?.sandbox, 'the record names no sandbox')
  unknown.push(
    { field: 'execution.flags', why: 'the command line does not stand in the record' },
    { field: 'execution.environment', why: 'environment variables do not stand in the record' },
    { field: 'execution.runtime_digest', why: 'the program file does not stand in the record' },
  )
  if (git === undefined)
    unknown.push({ field: 'execution.repo', why: 'the record names no repository: there may have been none' })
  else
    unknown.push(
      { field: 'execution.repo.root', why: 'the record names the commit, not the top of the work tree' },
      { field: 'execution.repo.dirty_digest', why: 'uncommitted changes do not stand in the record' },
      { field: 'execution.repo.worktree', why: 'whether it was a linked work tree does not stand in the record' },
    )
  return {
    runtime: 'codex',
    runtime_version: stretch.version,
    runtime_digest: null,
    surface,
    model: settings?.model ?? null,
    endpoint_profile: origin?.provider ?? null,
    reasoning: settings?.effort ?? null,
    flags: null,
    environment: [],
    sandbox: sandboxOf(settings),
    cwd: stretch.cwd,
    repo:
      git === undefined || stretch.cwd === null
        ? null
        : {
            root: stretch.cwd,
            root_known: false,
            sha: git.sha,
            branch: git.branch,
            dirty_digest: null,
            worktree: null,
            submodules: [],
          },
    image: null,
    ...(origin?.client == null ? {} : { client: origin.client }),
    ...(origin?.history_mode == null ? {} : { history_mode: origin.history_mode }),
    ...(environment === undefined ? {} : { platform: { shell: environment.shell, timezone: environment.timezone } }),
    ...(record.base_prompt_digest === undefined ? {} : { system_prompt_digest: record.base_prompt_digest }),
    ...(settings === undefined ? {} : { parameters: parametersOf(settings) }),
  }
}

/** `exec`, `cli`, `vscode`. Any client of the app server says `vscode` as well; its own name tells them apart (0.171.0). */
function surfaceOf({ source, client }: Origin): string | null {
  if (source === 'vscode' && client !== null && !/vscode/i.test(client)) return `app-server (${client})`
  return source
}

function sandboxOf(settings: Settings | undefined): ManifestBody['execution']['sandbox'] {
  if (settings === undefined) return { mode: null, network_policy: null }
  const { sandbox, network, writable, permission_profile } = settings
  return {
    mode: sandbox,
    network_policy: network === null ? null : network ? 'allowed' : 'refused',
    ...(writable.length === 0 ? {} : { writable_roots: [...writable] }),
    ...(permission_profile === null ? {} : { permission_profile }),
  }
}

const parametersOf = ({
  summary,
  collaboration_mode,
  multi_agent,
  personality,
}: Settings): Record<string, string | null> => ({
  summary,
  collaboration_mode,
  multi_agent,
  personality,
})

export function inferPolicy(record: RolloutEvidence, unknown: Unknown[]): ManifestBody['policy'] {
  const approval = record.settings?.approval ?? null
  if (approval === null)
    unknown.push({ field: 'policy.permissions.mode', why: 'no turn of the stretch names the approval policy' })
  return {
    revision: null,
    permissions: { mode: approval, allow: [], ask: [], deny: [] },
    trust: { trusted: null, source: null },
    managed: [],
    ...(record.settings?.reviewer == null ? {} : { approvals_reviewer: record.settings.reviewer }),
  }
}
