import type { Command } from 'commander'
import { formatTime, plain, printJson } from '../output.ts'
import type { Session } from '../session.ts'

export const addWorkspaceCommands = (program: Command, session: Session): void => {
  program
    .command('blame <run> <path[:line]>')
    .description('which event last changed a file, or a line of it, and every earlier one')
    .action((run: string, where: string) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const line = /^(.+):(\d+)$/.exec(where)
        const result = await connection.call('runs.blame', {
          run,
          path: line?.[1] ?? where,
          ...(line?.[2] === undefined ? {} : { line: Number(line[2]) }),
        })
        if (terminal.json) printJson(terminal, result)
        else {
          for (const { run: by, seq, at, effect, summary, line: number } of result.changes)
            terminal.out(
              `${by}@${seq}  ${formatTime(at)}  ${effect.change}, ${effect.by}${number === null ? '' : `, line ${number}`}  ${plain(summary)}`,
            )
          if (result.why !== null) terminal.note(plain(result.why))
        }
        return 0
      }),
    )

  program
    .command('workspaces [dir]')
    .description('directories agents work in, and what of them is captured')
    .action((dir: string | undefined) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const result = await connection.call(
          'workspaces.list',
          dir === undefined ? {} : { path: session.absolute(dir) },
        )
        if (terminal.json) printJson(terminal, result)
        else
          for (const { path, state, why, states, files, left_out_count } of result.workspaces)
            terminal.out(
              `${plain(path)}  ${state}${why === null ? '' : `: ${plain(why)}`}  ${states} states, ${files} files, ${left_out_count} left out`,
            )
        return 0
      }),
    )

  program
    .command('capture <dir>')
    .description('take a state of a workspace now')
    .action((dir: string) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const result = await connection.call('workspaces.capture', { path: session.absolute(dir) })
        if (terminal.json) printJson(terminal, result)
        else
          terminal.out(
            `${plain(result.workspace.path)}: ${result.workspace.files} files, state ${result.workspace.tree}`,
          )
        return result.workspace.state === 'captured' ? 0 : 1
      }),
    )
}
