import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { RepriseError, type RollbackPlan, type RollbackRecord } from '../../contract/index.ts'
import { formatTime, plain, printJson, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'
import { asRuntime } from './run-commands.ts'

const collect = (value: string, before: string[]): string[] => [...before, value]

interface Options {
  readonly home?: boolean
  readonly project?: boolean
  readonly workspace?: boolean
  readonly all?: boolean
  readonly only: string[]
  readonly of?: string
  readonly runtime?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly reason?: string
  readonly wait?: boolean
  readonly whileRunning?: boolean
  readonly keep: string[]
  readonly take: string[]
  readonly delete: string[]
}

export const addRollbackCommands = (program: Command, session: Session): void => {
  program
    .command('rollback <target>')
    .description(
      'go back: configuration of the home, files of the agent in the workspace, the workspace, or single paths',
    )
    .option('--home', 'the configuration of the home')
    .option('--project', 'the files of the agent in the workspace')
    .option('--workspace', 'the files of the workspace')
    .option('--all', 'home, project files and workspace')
    .option(
      '--only <path[#key]>',
      'only this path, or one key of it (settings.json#permissions.deny), or hunks (NOTES.md#@1,3); repeat',
      collect,
      [],
    )
    .option('--of <dir>', 'the home or workspace, where the target leaves it open')
    .option('--runtime <name>', 'the agent, where the target leaves it open')
    .option('--dry-run', 'show the plan and change nothing')
    .option('--yes', 'do it without asking')
    .option('--reason <text>', 'kept with the record')
    .option('--wait', 'begin when the running agent has ended')
    .option('--while-running', 'go on although an agent is running; files it holds open stay refused')
    .option('--keep <path>', 'leave this path of the plan as it is; repeat', collect, [])
    .option('--take <path>', 'where somebody else wrote since, take the target; repeat', collect, [])
    .option('--delete <path>', 'delete this kept path too; repeat', collect, [])
    .action((target: string, options: Options) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const request = {
          target,
          scope: scopeOf(options, session),
          ...(options.of === undefined ? {} : { of: session.absolute(options.of) }),
          ...(options.runtime === undefined ? {} : { runtime: asRuntime(options.runtime) }),
        }
        const { plan } = await connection.call('rollback.plan', request)
        if (!terminal.json) printPlan(plan, terminal)
        if (options.dryRun) {
          if (terminal.json) printJson(terminal, { plan, safety: null, applied: [] })
          return 0
        }
        const leave = new Set(options.keep.map((one) => session.absolute(one)))
        const paths = [...plan.writes, ...plan.deletes]
          .filter(({ path, ticked }) => ticked && !leave.has(path))
          .map(({ path }) => path)
        const take = options.take.map((one) => session.absolute(one))
        const doomed = options.delete.map((one) => session.absolute(one))
        const count = paths.length + take.length + doomed.length
        if (count === 0) {
          if (terminal.json) printJson(terminal, { plan, safety: null, applied: [] })
          else terminal.out('nothing is to be done')
          return 0
        }
        if (!(await mayGoOn(options.yes === true, `Roll back ${count} ${count === 1 ? 'path' : 'paths'}?`))) return 4
        const { record } = await connection.call('rollback.apply', {
          ...request,
          plan: plan.id,
          paths,
          ...(take.length === 0 ? {} : { choices: take.map((path) => ({ path, choice: 'target' as const })) }),
          ...(doomed.length === 0 ? {} : { delete_kept: doomed }),
          ...(options.reason === undefined ? {} : { reason: options.reason }),
          while_running: options.wait ? 'wait' : options.whileRunning ? 'go_on' : 'refuse',
        })
        return printRecord(plan, record, terminal)
      }),
    )

  program
    .command('undo [rollback]')
    .description('take back a rollback; the last one, unless another is named')
    .option('--dry-run', 'show the plan and change nothing')
    .option('--yes', 'do it without asking')
    .option('--while-running', 'go on although an agent is running')
    .option('--take <path>', 'put this path back although it was changed since; repeat', collect, [])
    .action((id: string | undefined, options: Pick<Options, 'dryRun' | 'yes' | 'whileRunning' | 'take'>) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const named = id === undefined ? {} : { id }
        const { of, plan } = await connection.call('rollback.undo_plan', named)
        if (!terminal.json) {
          terminal.out(`takes back ${of}`)
          printPlan(plan, terminal)
        }
        if (options.dryRun) {
          if (terminal.json) printJson(terminal, { of, plan, safety: null, applied: [] })
          return 0
        }
        if (!(await mayGoOn(options.yes === true, `Take back ${of}?`))) return 4
        const { record } = await connection.call('rollback.undo', {
          id: of,
          plan: plan.id,
          choices: options.take.map((path) => ({ path: session.absolute(path), choice: 'target' as const })),
          while_running: options.whileRunning ? 'go_on' : 'refuse',
        })
        return printRecord(plan, record, terminal)
      }),
    )

  program
    .command('rollbacks [rollback]')
    .description('what was rolled back, newest first; with an id, all of one')
    .option('--finish', 'finish what a crash interrupted')
    .option('--take-back', 'take back what a crash interrupted, or cancel what waits')
    .action((id: string | undefined, options: { finish?: boolean; takeBack?: boolean }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        if (id !== undefined && (options.finish || options.takeBack)) {
          const { record } = await connection.call('rollback.resume', {
            id,
            how: options.finish ? 'finish' : 'take_back',
          })
          if (terminal.json) printJson(terminal, { record })
          else terminal.out(recordLine(record))
          return record.state === 'interrupted' ? 1 : 0
        }
        if (id !== undefined) {
          const { record } = await connection.call('rollback.get', { id })
          if (terminal.json) printJson(terminal, { record })
          else printOne(record, terminal)
          return 0
        }
        const result = await connection.call('rollback.list', {})
        if (terminal.json) printJson(terminal, result)
        else {
          if (result.rollbacks.length === 0) terminal.out('nothing was rolled back yet')
          for (const record of result.rollbacks) terminal.out(recordLine(record))
        }
        return 0
      }),
    )
}

function scopeOf(options: Options, session: Session) {
  const only = options.only.map((text) => {
    const at = text.indexOf('#')
    const path = session.absolute(at === -1 ? text : text.slice(0, at))
    const part = at === -1 ? '' : text.slice(at + 1)
    if (part === '') return { path }
    if (!part.startsWith('@')) return { path, key: part }
    const hunks = part.slice(1).split(',').map(Number)
    if (hunks.some((n) => !Number.isInteger(n) || n < 1))
      throw new RepriseError(
        'wrong_usage',
        `--only: ${text} names no hunks`,
        'PATH#@1,3, numbered as in the plan of that path',
      )
    return { path, hunks }
  })
  const scope = {
    ...(options.home || options.all ? { home: true } : {}),
    ...(options.project || options.all ? { project: true } : {}),
    ...(options.workspace || options.all ? { workspace: true } : {}),
    ...(only.length === 0 ? {} : { only }),
  }
  if (Object.keys(scope).length === 0)
    throw new RepriseError(
      'wrong_usage',
      'nothing is named to go back',
      'give --home, --project, --workspace, --all or --only PATH',
    )
  return scope
}

/** Asks where there is somebody to ask. */
async function mayGoOn(yes: boolean, question: string): Promise<boolean> {
  if (yes) return true
  if (process.stdin.isTTY !== true)
    throw new RepriseError('refused', 'nobody is here to be asked', 'look at the plan with --dry-run, then give --yes')
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await asking.question(`${question} [y/N] `)).trim())
  } finally {
    asking.close()
  }
}

function printPlan(plan: RollbackPlan, terminal: Terminal): void {
  const { target, not_restorable, conflicts, deletes, writes, kept, kept_more, running, safety } = plan
  terminal.out(
    `${plan.is_rollback ? 'roll back' : 'restore files'} to ${plain(target.text)}${target.at === null ? '' : `, ${formatTime(target.at)}`}${target.manifest === null ? '' : `, manifest ${target.manifest.slice(7, 15)}`}`,
  )
  for (const { runtime, pid, why } of running)
    terminal.out(`! ${runtime} is running, process ${pid ?? '?'}: ${plain(why)}`)
  group(
    terminal,
    'cannot be restored',
    not_restorable,
    ({ path, what, why }) => `${plain(path ?? what)}: ${plain(why)}`,
  )
  group(
    terminal,
    'conflict, stays as it is',
    conflicts,
    ({ path, why, last_writer }) =>
      `${plain(path)}: ${plain(why)}${last_writer.run === null ? '' : ` (${last_writer.run}${last_writer.seq === null ? '' : `@${last_writer.seq}`})`}`,
  )
  group(terminal, 'delete', deletes, ({ path, why }) => `${plain(path)}: ${plain(why)}`)
  group(terminal, 'write', writes, ({ path, change, key, added_lines, removed_lines, keeps }) => {
    const lines = added_lines === null ? '' : `, +${added_lines} −${removed_lines}`
    const kept = keeps.length === 0 ? '' : `, keeps ${keeps.map(({ key: one }) => one).join(', ')}`
    return `${plain(path)}${key === null ? '' : `#${plain(key)}`}: ${change}${lines}${plain(kept)}`
  })
  group(terminal, 'kept', kept, ({ path, why }) => `${plain(path)}: ${plain(why)}`)
  if (kept_more > 0) terminal.out(`  and ${kept_more} more`)
  for (const { path, why } of safety.cannot) terminal.out(`! cannot be protected: ${plain(path)}: ${plain(why)}`)
  if (plan.not_reproducible !== null) terminal.out(`! ${plain(plan.not_reproducible)}`)
}

function group<T>(terminal: Terminal, title: string, items: readonly T[], line: (item: T) => string): void {
  if (items.length === 0) return
  terminal.out(`${title}: ${items.length}`)
  for (const item of items) terminal.out(`  ${line(item)}`)
}

/** 0: done as asked. 1: not, or not the configuration that was wanted. */
function printRecord(plan: RollbackPlan, record: RollbackRecord, terminal: Terminal): number {
  const applied = record.paths.filter(({ result }) => result === 'done')
  if (terminal.json) printJson(terminal, { plan, safety: record.id, applied, record })
  else printOne(record, terminal)
  if (record.state === 'waiting') return 0
  return record.state === 'applied' && record.paths.every(({ result }) => result === 'done') ? 0 : 1
}

function printOne(record: RollbackRecord, terminal: Terminal): void {
  terminal.out(recordLine(record))
  for (const { path, change, result, why, verified } of record.paths)
    terminal.out(
      `  ${change} ${plain(path)}: ${result}${verified ? ', read back' : ''}${why === null ? '' : `: ${plain(why)}`}`,
    )
  const { verification } = record
  if (verification?.reached === true) terminal.out('the configuration of the target is reached')
  else if (verification?.reached === false) {
    terminal.out('the text that enters the context is not that of the target:')
    for (const { path, before, after } of verification.differences.slice(0, 20))
      terminal.out(`  ${plain(path)}: ${plain(before ?? 'nothing')} → ${plain(after ?? 'nothing')}`)
  } else if (verification?.why != null) terminal.out(plain(verification.why))
  if (record.not_reproducible !== null) terminal.out(plain(record.not_reproducible))
  if (record.error !== null) terminal.out(plain(record.error))
  if (record.state === 'applied') terminal.out(`take it back with: reprise undo ${record.id}`)
}

const recordLine = ({ id, at, state, target, paths, reason }: RollbackRecord): string =>
  `${id}  ${formatTime(at)}  ${state.replace('_', ' ')}  ${paths.length} ${paths.length === 1 ? 'path' : 'paths'} to ${plain(target.text)}${reason === null ? '' : `  "${plain(reason)}"`}`
