import path from 'node:path'
import { type Connection, type ConnectOptions, connect } from './connection.ts'
import { printFailure, type Terminal } from './output.ts'

/** One call of the command: where it runs, where it writes, and the exit code it ends with. */
export interface Session {
  readonly env: NodeJS.ProcessEnv
  readonly programs: string
  absolute(path: string): string
  terminal(): Terminal
  /** Runs the body; a number it gives is the exit code, a failure is printed and decides it. */
  run(body: (terminal: Terminal) => Promise<unknown>): Promise<void>
  withConnection(
    options: Pick<ConnectOptions, 'start'>,
    body: (connection: Connection, terminal: Terminal) => Promise<unknown>,
  ): Promise<void>
  exitCode: number
}

export const createSession = (env: NodeJS.ProcessEnv, programs: string, terminal: () => Terminal): Session => {
  const session: Session = {
    env,
    programs,
    absolute: (given) => path.resolve(given),
    terminal,
    exitCode: 0,
    async run(body) {
      try {
        const answer = await body(terminal())
        session.exitCode = typeof answer === 'number' ? answer : 0
      } catch (error) {
        session.exitCode = printFailure(terminal(), error)
      }
    },
    withConnection: (options, body) =>
      session.run(async (where) => {
        const connection = await connect({ env, programs, start: options.start })
        try {
          return await body(connection, where)
        } finally {
          await connection.close()
        }
      }),
  }
  return session
}
