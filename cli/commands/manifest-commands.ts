import type { Command } from 'commander'
import { type Manifest, RepriseError } from '../../contract/index.ts'
import { plain, printJson, printTable, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'
import { asRuntime } from './run-commands.ts'

const collect = (value: string, before: string[]): string[] => [...before, value]

export const addManifestCommands = (program: Command, session: Session): void => {
  program
    .command('manifest [target]')
    .description('a stored manifest, or what would be in force now (--runtime and --workspace)')
    .option('--runtime <name>', 'resolve for this agent')
    .option('--workspace <dir>', 'resolve for a start in this directory')
    .option('--home <dir>', 'the home of the agent, when there are several')
    .option('--flag <flag>', 'a start flag of the agent; repeat for each word', collect, [])
    .action(
      (target: string | undefined, options: { runtime?: string; workspace?: string; home?: string; flag: string[] }) =>
        session.withConnection({ start: true }, async (connection, terminal) => {
          if (target !== undefined && target !== 'now') {
            const given = [
              ...(['runtime', 'workspace', 'home'] as const).filter((name) => options[name] !== undefined),
              ...(options.flag.length > 0 ? ['flag'] : []),
            ]
            if (given.length > 0)
              throw new RepriseError(
                'wrong_usage',
                `manifest: ${given.map((name) => `--${name}`).join(', ')} says what to resolve now, and ${target} is stored already`,
                'leave the target out, or the options',
              )
            const got = await connection.call('manifest.get', { target })
            for (const damage of got.damage) terminal.note(`damaged: ${plain(damage)}`)
            if (terminal.json) printJson(terminal, got.manifest)
            else printManifest(got.manifest, terminal)
            return got.intact ? 0 : 1
          }
          if (options.runtime === undefined || options.workspace === undefined)
            throw new RepriseError(
              'wrong_usage',
              'manifest: give a target, or --runtime and --workspace',
              'reprise manifest --runtime claude-code --workspace .',
            )
          const { manifest } = await connection.call('manifest.resolve', {
            runtime: asRuntime(options.runtime),
            workspace: session.absolute(options.workspace),
            ...(options.home === undefined ? {} : { home: session.absolute(options.home) }),
            flags: options.flag,
          })
          if (terminal.json) printJson(terminal, manifest)
          else printManifest(manifest, terminal)
          return 0
        }),
    )

  program
    .command('instructions <target>')
    .description('the text that really enters the context, in order')
    .option('--all', 'also what loads later or not at all')
    .action((target: string, options: { all?: boolean }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const got = await connection.call('manifest.instructions', { target, all: options.all === true })
        if (terminal.json) return printJson(terminal, got)
        for (const piece of got.pieces) {
          terminal.out(
            `── ${plain(piece.path ?? piece.uri)}  ${piece.scope}${piece.label ? `, ${piece.label}` : ''}, ${piece.status}${piece.reason ? `: ${plain(piece.reason)}` : ''}`,
          )
          if (piece.text !== null) terminal.out(piece.text.replaceAll(/(?![\n\t])\p{Cc}/gu, '\ufffd'))
        }
        terminal.out(`effective digest ${got.effective_digest ?? 'unknown'}`)
      }),
    )
}

const printManifest = (manifest: Manifest, terminal: Terminal): void => {
  const { execution, instructions, integrity } = manifest
  terminal.out(`manifest ${integrity.manifest_digest}`)
  terminal.out(
    `${execution.runtime} ${execution.runtime_version ?? 'unknown version'} in ${plain(execution.cwd ?? 'an unknown directory')}, ${manifest.origin}`,
  )
  terminal.out(`effective instructions ${instructions.effective_digest ?? 'unknown'}`)
  printTable(
    terminal,
    ['#', 'SCOPE', 'STATUS', 'BYTES', 'SOURCE'],
    instructions.sources.map((source) => [
      source.position === null ? '' : String(source.position),
      source.scope,
      source.status,
      source.bytes === null ? '' : String(source.bytes),
      plain(`${source.path ?? source.uri}${source.reason ? `  (${source.reason})` : ''}`),
    ]),
  )
  for (const { field, why } of manifest.unknown) terminal.out(`unknown: ${plain(field)}, ${plain(why)}`)
}
