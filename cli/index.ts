import { Command, CommanderError } from 'commander'
import { PRODUCT_VERSION, RepriseError } from '../contract/index.ts'
import { addContextCommand } from './commands/context-command.ts'
import { addDaemonCommands } from './commands/daemon-commands.ts'
import { addDiffCommand } from './commands/diff-command.ts'
import { addExportCommand } from './commands/export-command.ts'
import { addFilesCommands } from './commands/files-commands.ts'
import { addManifestCommands } from './commands/manifest-commands.ts'
import { addPinsCommands } from './commands/pins-commands.ts'
import { addRevealCommand } from './commands/reveal-command.ts'
import { addRollbackCommands } from './commands/rollback-command.ts'
import { addRunCommand } from './commands/run-command.ts'
import { addRunCommands } from './commands/run-commands.ts'
import { addStoreCommands } from './commands/store-commands.ts'
import { addWorkspaceCommands } from './commands/workspace-commands.ts'
import { printFailure, type Terminal } from './output.ts'
import { createSession } from './session.ts'

const offerJson = (program: Command): void => {
  for (const command of program.commands) {
    if (command.commands.length === 0) command.option('--json', 'one JSON document on standard output')
    offerJson(command)
  }
}

const main = async (argv: readonly string[]): Promise<number> => {
  const beforeRest = argv.indexOf('--')
  const json = argv.slice(0, beforeRest === -1 ? undefined : beforeRest).includes('--json')
  const terminal: Terminal = {
    json,
    colour: process.stdout.isTTY === true && !process.env.NO_COLOR,
    columns: process.stdout.columns ?? 0,
    out: (text) => process.stdout.write(`${text}\n`),
    note: (text) => process.stderr.write(`${text}\n`),
  }
  const session = createSession(process.env, __dirname, () => terminal)
  const program = new Command('reprise')
    .description('A time machine for the coding agents on your own machine')
    .version(PRODUCT_VERSION)
    .exitOverride()
    .configureOutput({ writeErr: (text) => terminal.note(text.trimEnd()), outputError: () => undefined })
  for (const add of [
    addDaemonCommands,
    addRunCommands,
    addContextCommand,
    addManifestCommands,
    addDiffCommand,
    addRollbackCommands,
    addStoreCommands,
    addExportCommand,
    addRevealCommand,
    addFilesCommands,
    addPinsCommands,
    addRunCommand,
    addWorkspaceCommands,
  ])
    add(program, session)
  offerJson(program)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return session.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return printFailure(terminal, error)
    if (error.exitCode === 0 || error.code === 'commander.help') return error.exitCode === 0 ? 0 : 2
    return printFailure(
      terminal,
      new RepriseError(
        'wrong_usage',
        error.message.replace(/^error: /, '').replaceAll(/\s+/g, ' '),
        'see `reprise --help`',
      ),
    )
  }
}

// A pipe that closes early (`reprise runs | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
})
// The code is set instead of exiting at once, so that output into a pipe is written whole.
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
  // A start that failed half way may leave something open; what was to be said has been said.
  if (code !== 0) setTimeout(() => process.exit(), 2000).unref()
})
