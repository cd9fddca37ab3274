import type { Command } from 'commander'
import { type ExportFormat, exportFormats, RepriseError } from '../../contract/index.ts'
import { formatBytes, plain, printJson, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'

interface ExportOptions {
  readonly format?: string
  readonly incident?: boolean
  readonly output?: string
  readonly replace?: boolean
}

export const addExportCommand = (program: Command, session: Session): void => {
  program
    .command('export <targets...>')
    .description('write a run into a file, secrets covered; with --incident two targets and their difference')
    .option('--format <name>', `one of ${exportFormats.join(', ')}; by the ending of the file when left out`)
    .option('--incident', 'a bundle of both targets: manifests, difference, tests, decisions of policy, effects')
    .option('-o, --output <file>', 'the file to write')
    .option('--replace', 'replace the file if it is there')
    .action((targets: string[], options: ExportOptions) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        if (options.output === undefined)
          throw new RepriseError('wrong_usage', 'export: -o FILE is missing', 'reprise export last -o run.tar.gz')
        const file = session.absolute(options.output)
        const replace = options.replace === true
        if (options.incident) {
          const [a, b, ...more] = targets
          if (a === undefined || b === undefined || more.length > 0)
            throw new RepriseError(
              'wrong_usage',
              'export: --incident needs two targets',
              'reprise export --incident A B',
            )
          if (options.format !== undefined && options.format !== 'bundle')
            throw new RepriseError('wrong_usage', `--format: an incident is always a bundle, not ${options.format}`)
          return told(terminal, await connection.call('export.incident', { a, b, file, replace }))
        }
        const [run, ...more] = targets
        if (run === undefined || more.length > 0)
          throw new RepriseError('wrong_usage', 'export: one run at a time', 'two targets are for --incident')
        const format = formatOf(options.format, file)
        return told(terminal, await connection.call('export.run', { run, format, file, replace }))
      }),
    )
}

const told = (terminal: Terminal, result: { file: string; bytes: number; redactions: number }): void => {
  const covered = result.redactions === 1 ? '1 covered place' : `${result.redactions} covered places`
  if (terminal.json) printJson(terminal, result)
  else terminal.out(`${plain(result.file)}, ${formatBytes(result.bytes)}, ${covered}`)
}

const endings: readonly (readonly [RegExp, ExportFormat])[] = [
  [/\.(?:md|markdown)$/i, 'md'],
  [/\.html?$/i, 'html'],
  [/\.jsonl$/i, 'jsonl'],
  [/\.json$/i, 'json'],
]

const formatOf = (given: string | undefined, file: string): ExportFormat => {
  if (given === undefined) return endings.find(([ending]) => ending.test(file))?.[1] ?? 'bundle'
  const known = exportFormats.find((format) => format === given)
  if (known === undefined)
    throw new RepriseError(
      'wrong_usage',
      `--format: ${JSON.stringify(given)} is no format`,
      `one of ${exportFormats.join(', ')}`,
    )
  return known
}
