import type { Command } from 'commander'
import type { Cause, CompareSide, Comparison } from '../../contract/index.ts'
import { formatTime, plain, printJson, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'
import { asRuntime } from './run-commands.ts'

const collect = (value: string, before: string[]): string[] => [...before, value]

interface Options {
  readonly runtime?: string
  readonly workspace?: string
  readonly home?: string
  readonly flag: string[]
  readonly strict?: boolean
}

export const addDiffCommand = (program: Command, session: Session): void => {
  program
    .command('diff <a> <b>')
    .description('why two runs or configurations differ: the causes, the likeliest first')
    .option('--runtime <name>', 'for `now`: the agent, instead of that of the other side')
    .option('--workspace <dir>', 'for `now`: the directory of the start, instead of that of the other side')
    .option('--home <dir>', 'for `now`: the home of the agent')
    .option('--flag <flag>', 'for `now`: a start flag of the agent; repeat for each word', collect, [])
    .option('--strict', 'exit 6 when something could not be compared')
    .action((a: string, b: string, options: Options) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const result = await connection.call('compare.run', {
          a,
          b,
          ...(options.runtime === undefined ? {} : { runtime: asRuntime(options.runtime) }),
          ...(options.workspace === undefined ? {} : { workspace: session.absolute(options.workspace) }),
          ...(options.home === undefined ? {} : { home: session.absolute(options.home) }),
          ...(options.flag.length === 0 ? {} : { flags: options.flag }),
        })
        if (terminal.json) printJson(terminal, result)
        else printComparison(result, terminal)
        return options.strict === true && isIncomplete(result) ? 6 : 0
      }),
    )
}

const isIncomplete = ({ categories, fields }: Comparison): boolean =>
  categories.some(({ state, not_known }) => state === 'not_compared' || not_known.length > 0) ||
  fields.some(({ unknown_on }) => unknown_on !== null)

const printComparison = (result: Comparison, terminal: Terminal): void => {
  terminal.out(sideLine('A', result.a))
  terminal.out(sideLine('B', result.b))
  terminal.out('')
  terminal.out(plain(result.verdict))
  for (const note of result.notes) terminal.out(`note: ${plain(note)}`)
  for (const cause of result.causes) printCause(cause, terminal)
  printCategories(result, terminal)
  printUse(result, terminal)
  printParting(result, terminal)
}

const sideLine = (
  letter: string,
  { run, stretch, manifest, runtime, runtime_version, workspace, at, status, title }: CompareSide,
): string =>
  plain(
    [
      letter,
      run === null
        ? `manifest ${manifest.slice(7, 19)}`
        : `${run}${stretch === null || stretch === 1 ? '' : `#${stretch}`}`,
      `${runtime} ${runtime_version ?? 'unknown version'}`,
      `in ${workspace ?? 'an unknown directory'}`,
      formatTime(at),
      ...(status === null ? [] : [status]),
      ...(title === null || title === '' ? [] : [title]),
    ].join('  '),
  )

const printCause = ({ rank, class: causeClass, title, why, evidence }: Cause, terminal: Terminal): void => {
  terminal.out('')
  terminal.out(`${rank}  ${causeClass}  ${plain(title)}`)
  terminal.out(`   ${plain(why)}`)
  for (const { side, text } of evidence.slice(0, 12))
    terminal.out(`   ${side === 'both' ? '=' : side.toUpperCase()}  ${plain(text)}`)
  if (evidence.length > 12) terminal.out(`   … ${evidence.length - 12} more with --json`)
}

const printCategories = ({ categories }: Comparison, terminal: Terminal): void => {
  const named = (state: Comparison['categories'][number]['state']): readonly string[] =>
    categories.filter((one) => one.state === state).map(({ category }) => category)
  terminal.out('')
  for (const [words, names] of [
    ['different', named('different')],
    ['equal', named('equal')],
    ['equal as far as they could be compared', named('partly_compared')],
    ['not compared', named('not_compared')],
  ] as const)
    if (names.length > 0) terminal.out(`${words}: ${names.length} of ${categories.length} (${names.join('; ')})`)
  const unknown = categories.flatMap(({ not_known }) => not_known)
  if (unknown.length === 0) return
  terminal.out('could not be compared:')
  for (const { field, why, side } of unknown)
    terminal.out(`  ${side === 'both' ? 'both' : side.toUpperCase()}  ${plain(field)}: ${plain(why)}`)
}

const printUse = ({ use }: Comparison, terminal: Terminal): void => {
  const changed = use.filter(({ a, b }) => a !== null && b !== null && (a === 0) !== (b === 0))
  if (changed.length === 0) return
  terminal.out('')
  for (const { kind, name, a, first } of changed)
    terminal.out(
      a === 0
        ? `newly used: ${kind} ${plain(name)} (B@${first.b})`
        : `no longer used: ${kind} ${plain(name)} (A@${first.a})`,
    )
}

const printParting = ({ steps }: Comparison, terminal: Terminal): void => {
  if (steps === null) return
  terminal.out('')
  if (steps.first_difference === null) {
    terminal.out(`both took the same ${steps.aligned.length} steps${steps.cut ? ', as far as they were compared' : ''}`)
    return
  }
  const step = steps.aligned[steps.first_difference]
  for (const [letter, side] of [
    ['A', step?.a],
    ['B', step?.b],
  ] as const)
    terminal.out(
      side
        ? `first different step ${letter}@${side.seq}  ${plain(side.tool ?? side.kind)}  ${plain(side.summary)}`
        : `first different step ${letter}  none`,
    )
}
