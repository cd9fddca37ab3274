import path from 'node:path'
import type { ResolveRequest } from '../../adapter.ts'
import type { Disk } from '../../shared/disk.ts'
import type { Start } from './start.ts'

/** Where one run looks, before its configuration is read. All absolute. */
export interface Places {
  /** Home that `~` and the defaults stand for: `OPENCLAW_HOME`, else the user's own. */
  readonly home: string
  /** State directory of the run itself: sessions, credentials, default workspaces. */
  readonly stateDir: string
  readonly stateDirIs: string
  /**
   * State directory the program was started with: its `.env`, the configuration, managed skills and the links to skills of plugins. The
   * same as `stateDir`, unless `agent exec` moves the run elsewhere (2026.9.6).
   */
  readonly startDir: string
  /** Null: the run is told to read none (`agent exec --isolated` or `--auth-env-only`). */
  readonly configFile: string | null
  readonly configFileIs: string
  readonly includeRoots: readonly string[]
  /** The state directory is the one of the user's home; only then personal skills count. */
  readonly isDefaultState: boolean
  expand(given: string): string
}

/** Null for unset and for nothing but blanks: the runtime treats both alike. */
export const setting = (env: ResolveRequest['surroundings']['env'], name: string): string | null =>
  env[name]?.trim() || null

export function findPlaces(request: ResolveRequest, start: Start, disk: Disk): Places {
  const { env, userHome } = request.surroundings
  const ownHome = setting(env, 'OPENCLAW_HOME')
  const home = ownHome === null ? userHome : path.resolve(ownHome.replace(/^~(?=$|[\\/])/, userHome))
  const expand = (given: string): string => path.resolve(request.cwd, given.trim().replace(/^~(?=$|[\\/])/, home))
  const profile = start.value('--profile')
  const isProfile = profile !== null && profile.toLowerCase() !== 'default'
  const ownState = path.resolve(request.home)
  const flagState = start.surface === 'exec' ? start.value('--state-dir') : null
  const startDir = isProfile ? path.join(home, `.openclaw-${profile}`) : ownState
  const [stateDir, stateDirIs] =
    flagState !== null
      ? [expand(flagState), 'flag:--state-dir']
      : start.surface === 'exec'
        ? [path.join(setting(env, 'TMPDIR') ?? '/tmp', 'openclaw-agent-exec-<new>'), 'a temporary one of agent exec']
        : [startDir, isProfile ? 'flag:--profile' : 'the home that was asked for']
  const [configFile, configFileIs] = findConfig(request, start, disk, startDir, expand)
  const same = (a: string, b: string): boolean => (disk.realPath(a) ?? a) === (disk.realPath(b) ?? b)
  return {
    home,
    stateDir,
    stateDirIs,
    startDir,
    configFile,
    configFileIs,
    includeRoots: (setting(env, 'OPENCLAW_INCLUDE_ROOTS') ?? '')
      .split(request.surroundings.platform === 'win32' ? ';' : ':')
      .filter((root) => root.trim() !== '')
      .map(expand),
    isDefaultState: same(stateDir, path.join(home, '.openclaw')),
    expand,
  }
}

function findConfig(
  { surroundings }: ResolveRequest,
  start: Start,
  disk: Disk,
  home: string,
  expand: (given: string) => string,
): readonly [string | null, string] {
  if (start.surface === 'exec') {
    const given = start.value('--config')
    if (given !== null) return [expand(given), 'flag:--config']
    if (start.has('--isolated')) return [null, 'flag:--isolated']
    if (start.has('--auth-env-only')) return [null, 'flag:--auth-env-only']
  }
  const own = setting(surroundings.env, 'OPENCLAW_CONFIG_PATH')
  // The variable belongs to the home the environment speaks of, not to every other home of the machine.
  if (own !== null && isEnvironmentsHome(surroundings.env, home, expand))
    return [expand(own), 'env:OPENCLAW_CONFIG_PATH']
  const usual = path.join(home, 'openclaw.json')
  const legacy = path.join(home, 'clawdbot.json')
  return !disk.exists(usual) && disk.exists(legacy) ? [legacy, 'the legacy name'] : [usual, 'the state directory']
}

function isEnvironmentsHome(
  env: ResolveRequest['surroundings']['env'],
  home: string,
  expand: (given: string) => string,
): boolean {
  const state = setting(env, 'OPENCLAW_STATE_DIR')
  const profile = setting(env, 'OPENCLAW_PROFILE')
  const named =
    state ?? (profile === null || profile.toLowerCase() === 'default' ? '~/.openclaw' : `~/.openclaw-${profile}`)
  return expand(named) === home
}
