import { spawn } from 'node:child_process'

/**
 * Git as a library (architecture §8.11): no configuration, hook, filter, signing program, credential helper or automatic clean-up of
 * the user takes part in what we do with our own repository (B08).
 */
export interface GitContext {
  /** Program to start, normally `git`. */
  readonly program: string
  /** Environment of every git process; made by {@link isolateGit}. */
  readonly env: Readonly<Record<string, string>>
}

/** Oldest Git that knows `GIT_CONFIG_GLOBAL` and `repack --geometric`. */
export const OLDEST_GIT = '2.32'

const NOWHERE = process.platform === 'win32' ? 'NUL' : '/dev/null'

/** Passed on every command line, so that a repository whose `config` was damaged behaves the same. */
const SETTINGS = [
  `core.hooksPath=${NOWHERE}`,
  'core.fsmonitor=false',
  'core.fsync=all',
  'core.logAllRefUpdates=false',
  'core.quotePath=false',
  'core.sharedRepository=0600', // files 0600 and folders 0700 whatever the umask of the process is
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'credential.helper=',
  'fastimport.unpackLimit=1',
  'repack.writeBitmaps=false',
  'pack.threads=1',
  'pack.windowMemory=64m',
  'protocol.allow=never',
]

/** The caller's environment without anything that steers git, with everything that keeps it quiet. */
export function isolateGit(env: Readonly<Record<string, string | undefined>>, program = 'git'): GitContext {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (
      value === undefined ||
      /^(GIT_|SSH_ASKPASS|GPG_|EDITOR$|VISUAL$|PAGER$|LANG$|LC_|LANGUAGE$|XDG_CONFIG)/i.test(name)
    )
      continue
    kept[name] = value
  }
  return {
    program,
    env: {
      ...kept,
      LC_ALL: 'C',
      GIT_CONFIG_GLOBAL: NOWHERE,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_LITERAL_PATHSPECS: '1',
      GIT_PAGER: 'cat',
      GIT_EDITOR: ':',
      GIT_ASKPASS: ':',
    },
  }
}

/** Full argument list of a git process on `gitDir`. An explicit directory also switches git's search for repositories off. */
export const gitArguments = (gitDir: string | null, args: readonly string[], workTree?: string): string[] => [
  ...SETTINGS.flatMap((setting) => ['-c', setting]),
  ...(gitDir === null ? [] : [`--git-dir=${gitDir}`]),
  ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
  ...args,
]

export interface GitOptions {
  readonly git: GitContext
  /** Repository; null only for commands that need none (`--version`, `init`). */
  readonly gitDir: string | null
  /** Work tree, for the few commands that look at one. */
  readonly workTree?: string
  readonly input?: string | Uint8Array
  /** Exit codes that are an answer, not a failure. Default: only 0. */
  readonly successExitCodes?: readonly number[]
  /** Messages on stderr that the caller handles itself; the exit code is then free. */
  readonly expectedErrors?: readonly RegExp[]
  /** Ends the process; the promise then rejects like for any other failed command. */
  readonly signal?: AbortSignal
}

export interface GitResult {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: string
  /** Index into `expectedErrors`, or null. */
  readonly expected: number | null
}

/** A git command that ended in a way its caller did not list. */
export class GitError extends Error {
  override readonly name = 'GitError'
  constructor(
    readonly args: readonly string[],
    readonly result: Pick<GitResult, 'exitCode' | 'stderr'>,
  ) {
    super(`git ${args[0] ?? ''} ended with ${result.exitCode}: ${result.stderr.trim().slice(0, 2000) || 'no message'}`)
  }
}

/** Runs one git command to its end. Throws {@link GitError}, or the spawn error when git cannot be started. */
export function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(options.git.program, gitArguments(options.gitDir, args, options.workTree), {
      env: options.git.env,
      ...(options.workTree === undefined ? {} : { cwd: options.workTree }),
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      ...(options.signal ? { signal: options.signal } : {}),
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.on('error', () => {}) // git may stop reading early; its exit code says what happened
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const stderr = Buffer.concat(err).toString('utf8') + (signal === null ? '' : `\nended by ${signal}`)
      const exitCode = code ?? -1
      const expected = options.expectedErrors?.findIndex((pattern) => pattern.test(stderr)) ?? -1
      const result: GitResult = {
        exitCode,
        stdout: Buffer.concat(out),
        stderr,
        expected: expected < 0 ? null : expected,
      }
      if ((options.successExitCodes ?? [0]).includes(exitCode) || result.expected !== null) resolve(result)
      else reject(new GitError(args, result))
    })
    child.stdin.end(options.input)
  })
}
