import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import type { Command } from 'commander'
import { RepriseError, type RuntimeName } from '../../contract/index.ts'
import { plain, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'
import { printPin } from './pins-commands.ts'
import { asRuntime } from './run-commands.ts'

interface Options {
  readonly pin?: string
  readonly workspace?: string
  readonly runtime?: string
}

/** Programs whose name says which agent they are. */
const PROGRAMS: Readonly<Record<string, RuntimeName>> = {
  claude: 'claude-code',
  codex: 'codex',
  openclaw: 'openclaw',
  hermes: 'hermes',
}

/**
 * `run -- COMMAND…`: pins are checked before anything starts, then the command has the terminal, its signals and its exit code. The state of
 * the workspace is taken before and after.
 */
export const addRunCommand = (program: Command, session: Session): void => {
  program
    .command('run')
    .description('run a command, held to a pin and to those required for its kind')
    .argument('<command...>', 'after `--`: the program and its arguments')
    .option('--pin <name>', 'refuse to start when this cannot be honoured')
    .option('--workspace <dir>', 'where it runs (default: here)')
    .option('--runtime <name>', 'the agent it is, where its name does not tell')
    .action((command: string[], options: Options) =>
      session.run(async (terminal) => {
        const workspace = session.absolute(options.workspace ?? '.')
        const [file = '', ...args] = command
        const runtime = options.runtime === undefined ? PROGRAMS[path.basename(file)] : asRuntime(options.runtime)
        if (!(await mayStart(session, terminal, options, workspace, runtime, args))) return 4
        await takeState(session, terminal, workspace, 'before')
        const code = await inForeground(file, args, workspace, session.env)
        await takeState(session, terminal, workspace, 'after')
        terminal.note('reprise: what crossed the boundary to the model and to tools was not recorded')
        return code
      }),
    )
}

const mayStart = async (
  session: Session,
  terminal: Terminal,
  { pin }: Options,
  workspace: string,
  runtime: RuntimeName | undefined,
  flags: readonly string[],
): Promise<boolean> => {
  let may = false
  await session.withConnection({ start: true }, async (connection) => {
    const { pins, refused } = await connection.call('pins.check', {
      workspace,
      ...(pin === undefined ? {} : { name: pin }),
      ...(runtime === undefined ? {} : { runtime }),
      ...(runtime === undefined ? {} : { flags: [...flags] }),
    })
    may = !refused
    if (!refused) return
    terminal.note('reprise: nothing was started')
    for (const one of pins) if (one.state !== 'honoured') printPin(one, { out: terminal.note })
    return 4
  })
  if (!may && session.exitCode !== 4)
    throw new RepriseError('refused', 'pins could not be checked; nothing was started')
  return may
}

/** A state that cannot be taken is said, and holds nothing up. */
const takeState = async (session: Session, terminal: Terminal, workspace: string, when: string): Promise<void> => {
  const exit = session.exitCode
  await session.withConnection({ start: true }, async (connection) => {
    try {
      await connection.call('workspaces.capture', { path: workspace })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      terminal.note(`reprise: the state ${when} the run was not taken: ${plain(why)}`)
    }
  })
  session.exitCode = exit
}

/** The exit code as a shell would give it: 128 and the signal for one that was killed by it. */
const inForeground = (file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: 'inherit' })
    // From a terminal the whole group gets these; from elsewhere only we do, and pass them on.
    const passed = (['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT'] as const).map((signal) => {
      const pass = (): void => void child.kill(signal)
      process.on(signal, pass)
      return () => process.off(signal, pass)
    })
    const interrupt = (): void => {
      if (!process.stdin.isTTY) child.kill('SIGINT')
    }
    process.on('SIGINT', interrupt)
    const end = (): void => {
      for (const off of passed) off()
      process.off('SIGINT', interrupt)
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      end()
      reject(
        error.code === 'ENOENT'
          ? new RepriseError('not_found', `there is no program ${file}`, 'nothing was run')
          : new RepriseError('refused', `${file} could not be started: ${error.message}`),
      )
    })
    child.once('exit', (code, signal) => {
      end()
      resolve(code ?? 128 + (signal === null ? 0 : (os.constants.signals[signal] ?? 0)))
    })
  })
