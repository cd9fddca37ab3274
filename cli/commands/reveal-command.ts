import type { Command } from 'commander'
import { type EventDetail, RepriseError } from '../../contract/index.ts'
import { formatTime, plain, printJson, printTable, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'

export const addRevealCommand = (program: Command, session: Session): void => {
  program
    .command('reveal [ref]')
    .description('what is covered at a point (RUN@SEQ), what one covered place hides (REF), or who looked (--log)')
    .option('--reason <text>', 'why it is opened; kept on record with who and when')
    .option('--log', 'every opening so far, newest first')
    .action((ref: string | undefined, options: { reason?: string; log?: boolean }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        if (options.log) {
          const read = await connection.call('sensitive.reads', { limit: 1000 })
          if (terminal.json) return printJson(terminal, read)
          printTable(
            terminal,
            ['WHEN', 'WHO', 'WHAT', 'WHERE', 'WHY'],
            read.reads.map((one) => [
              formatTime(one.at),
              plain(one.who ?? one.by),
              plain(one.family),
              plain(one.where),
              plain(one.reason ?? 'no reason was asked for then'),
            ]),
          )
          if (read.unreadable > 0) terminal.note(`${read.unreadable} lines of the record cannot be read any more`)
          return
        }
        if (ref === undefined)
          throw new RepriseError('wrong_usage', 'reveal: a point or a place is missing', 'reprise reveal last@3')
        const [, run, seq] = /^([^@:]+(?::[a-z-]+)?)@(\d+)$/.exec(ref) ?? []
        if (run !== undefined) {
          const detail = await connection.call('runs.event', { run, seq: Number(seq), whole: true })
          return listCovered(terminal, detail)
        }
        if (options.reason === undefined || options.reason.trim().length < 3)
          throw new RepriseError(
            'wrong_usage',
            'reveal: --reason is missing',
            'say in a few words why it has to be seen; it is kept on record',
          )
        const { text, why } = await connection.call('sensitive.reveal', { ref, reason: options.reason })
        if (text === null) throw new RepriseError('not_found', `it cannot be revealed: ${why ?? 'unknown'}`)
        if (terminal.json) printJson(terminal, { ref, text })
        else terminal.out(text)
      }),
    )
}

const listCovered = (terminal: Terminal, { event, parts, changes }: EventDetail): void => {
  const covered = [
    ...parts.flatMap(({ label, body }) => body.hidden.map((span) => ({ ...span, where: label }))),
    ...changes.flatMap(({ path, before, after }) =>
      [...(before?.hidden ?? []), ...(after?.hidden ?? [])].map((span) => ({ ...span, where: path })),
    ),
  ]
  const rows = covered.map(({ ref, family, characters, where }) => [
    ref,
    characters === 0 ? family : `${family}, ${characters} characters`,
    plain(where),
  ])
  if (terminal.json) printJson(terminal, { seq: event.seq, covered })
  else if (rows.length === 0) terminal.out('nothing is covered here')
  else printTable(terminal, ['REF', 'WHAT', 'WHERE'], rows)
}
