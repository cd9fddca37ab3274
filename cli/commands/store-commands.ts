import type { Command } from 'commander'
import { plain, printJson } from '../output.ts'
import type { Session } from '../session.ts'
import { asRuntime } from './run-commands.ts'

export const addStoreCommands = (program: Command, session: Session): void => {
  program
    .command('sync-now')
    .description('read everything again that may have changed, and wait until it is done')
    .option('--home <dir>', 'only this home')
    .option('--strict', 'exit 6 when something could not be read')
    .action((options: { home?: string; strict?: boolean }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const result = await connection.call(
          'sync.now',
          options.home === undefined ? {} : { home: session.absolute(options.home) },
        )
        if (terminal.json) printJson(terminal, result)
        else {
          terminal.out(`${result.sessions} sessions, ${result.events} events in ${result.seconds.toFixed(1)} s`)
          for (const line of result.unreadable)
            terminal.out(
              `${line.repaired ? 'repaired' : 'unreadable'}: ${plain(line.path)}:${line.line} (byte ${line.byte}, ${line.bytes} bytes): ${plain(line.reason)}`,
            )
        }
        return options.strict && result.unreadable.some((line) => !line.repaired) ? 6 : 0
      }),
    )

  program
    .command('watch-home <dir>')
    .description('add a home of an agent')
    .requiredOption('--runtime <name>', 'whose home it is')
    .action((dir: string, options: { runtime: string }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const { home } = await connection.call('homes.watch', {
          runtime: asRuntime(options.runtime),
          path: session.absolute(dir),
        })
        if (terminal.json) printJson(terminal, { home })
        else terminal.out(`watching ${plain(home.path)} (${home.state}${home.reason ? `: ${plain(home.reason)}` : ''})`)
      }),
    )

  program
    .command('forget-home <dir>')
    .description('stop reading a home; what was captured stays in the store')
    .action((dir: string) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const result = await connection.call('homes.forget', { path: session.absolute(dir) })
        if (terminal.json) printJson(terminal, result)
        else terminal.out(`no longer reading ${result.forgotten.map(plain).join(', ')}`)
      }),
    )

  program
    .command('check')
    .description(
      'verify the store: objects, manifests, signatures; not the index, which is derived from it (`reindex`)',
    )
    .option('--repair', 'set damaged parts aside and fetch them again (not there yet)')
    .action((options: { repair?: boolean }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        if (options.repair) terminal.note('--repair is not there yet: only checking')
        const result = await connection.call('store.check', {})
        if (terminal.json) printJson(terminal, result)
        else {
          terminal.out(
            result.ok
              ? `intact, ${result.objects} objects`
              : `${result.damaged.length} damaged of ${result.objects} objects`,
          )
          for (const damaged of result.damaged) terminal.out(`  ${plain(damaged)}`)
          terminal.out(plain(result.note))
        }
        return result.ok ? 0 : 1
      }),
    )

  program
    .command('reindex')
    .description('build the index again from the store and the homes')
    .action(() =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const result = await connection.call('store.reindex', {})
        if (terminal.json) printJson(terminal, result)
        else terminal.out(`${result.runs} runs, ${result.events} events in ${result.seconds.toFixed(1)} s`)
      }),
    )
}
