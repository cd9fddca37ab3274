import type { Command } from 'commander'
import { type Pin, type PinClass, type PinPart, pinPartKinds, RepriseError } from '../../contract/index.ts'
import { formatTime, plain, printJson, printTable, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'
import { asRuntime } from './run-commands.ts'

const collect = (value: string, before: string[]): string[] => [...before, value]

export const addPinsCommands = (program: Command, session: Session): void => {
  const pins = program.command('pins').description('names for configurations, or parts of them, that must not move')

  pins
    .command('set <name> <target>')
    .description('bind a name to the configuration of a run, stretch, point, manifest or `now`')
    .option('--part <kind[:name]>', `only this part: ${pinPartKinds.join(', ')}; repeat`, collect, [])
    .option(
      '--require <class>',
      'runs that must keep it: runtime=R,workspace=DIR,branch=release/*; repeat',
      collect,
      [],
    )
    .option('--note <text>', 'what it is for')
    .option('--replace', 'take the place of a pin of that name')
    .option('--runtime <name>', 'for `now`: the agent')
    .option('--workspace <dir>', 'for `now`: the directory of the start')
    .action(
      (
        name: string,
        target: string,
        options: {
          part: string[]
          require: string[]
          note?: string
          replace?: boolean
          runtime?: string
          workspace?: string
        },
      ) =>
        session.withConnection({ start: true }, async (connection, terminal) => {
          const { pin } = await connection.call('pins.set', {
            name,
            target,
            ...(options.part.length === 0 ? {} : { parts: options.part.map((part) => partOf(part, session)) }),
            ...(options.require.length === 0
              ? {}
              : { required_for: options.require.map((one) => classOf(one, session)) }),
            ...(options.note === undefined ? {} : { note: options.note }),
            ...(options.replace === undefined ? {} : { replace: options.replace }),
            ...(options.runtime === undefined ? {} : { runtime: asRuntime(options.runtime) }),
            ...(options.workspace === undefined ? {} : { workspace: session.absolute(options.workspace) }),
          })
          if (terminal.json) printJson(terminal, { pin })
          else printPin(pin, terminal)
        }),
    )

  pins
    .command('list')
    .description('all pins, and whether a run now would be what they say')
    .action(() =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const found = await connection.call('pins.list', {})
        if (terminal.json) return printJson(terminal, found)
        if (found.pins.length === 0) return terminal.out('no pins; `reprise pins set NAME TARGET` makes one')
        printTable(terminal, ['PIN', 'MANIFEST', 'AGENT', 'STATE', 'REQUIRED FOR'], found.pins.map(pinLine))
      }),
    )

  pins
    .command('drop <name>')
    .description('take a name away; says what nothing else keeps')
    .option('--dry-run', 'only say it')
    .action((name: string, options: { dryRun?: boolean }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const dry = options.dryRun === undefined ? {} : { dry_run: options.dryRun }
        const result = await connection.call('pins.drop', { name, ...dry })
        if (terminal.json) return printJson(terminal, result)
        for (const lost of result.loses) terminal.out(`${result.dropped ? '' : 'would lose: '}${plain(lost)}`)
        terminal.out(result.dropped ? `${plain(name)} is dropped` : 'nothing was changed')
      }),
    )

  pins
    .command('check [name]')
    .description('whether a run in a workspace now would be what a pin says, and every pin required there')
    .requiredOption('--workspace <dir>', 'the directory of the start')
    .option('--runtime <name>', 'the agent')
    .option('--home <dir>', 'its home')
    .option('--flag <flag>', 'a start flag of the agent; repeat for each word', collect, [])
    .action(
      (name: string | undefined, options: { workspace: string; runtime?: string; home?: string; flag: string[] }) =>
        session.withConnection({ start: true }, async (connection, terminal) => {
          const result = await connection.call('pins.check', {
            workspace: session.absolute(options.workspace),
            ...(name === undefined ? {} : { name }),
            ...(options.runtime === undefined ? {} : { runtime: asRuntime(options.runtime) }),
            ...(options.home === undefined ? {} : { home: session.absolute(options.home) }),
            ...(options.flag.length === 0 ? {} : { flags: options.flag }),
          })
          if (terminal.json) printJson(terminal, result)
          else if (result.pins.length === 0) terminal.out('no pin is required there')
          else for (const pin of result.pins) printPin(pin, terminal)
          return result.refused ? 4 : 0
        }),
    )
}

/** What of a pin cannot be honoured, and how to bring it back. */
export const printPin = (pin: Pin, terminal: Pick<Terminal, 'out'>): void => {
  const words = { honoured: 'honoured', cannot: 'CANNOT be honoured', unknown: 'not known whether it is honoured' }
  terminal.out(
    plain(
      `${pin.name}  ${pin.manifest.slice(7, 15)}  ${pin.runtime} ${pin.runtime_version ?? ''}  ${words[pin.state]}`,
    ),
  )
  for (const { kind, name, wanted, found, since, why, restorable } of pin.violations) {
    const what = `${kind.replace('_', ' ')}${name === '' ? '' : ` ${name}`}`
    terminal.out(
      plain(
        `  ${what}: wanted ${short(wanted)}, found ${short(found)}${since === null ? '' : ` since ${formatTime(since)}`}; ${why}`,
      ),
    )
    if (restorable) terminal.out(plain(`    \`reprise rollback ${pin.name} --only ${name}\` brings it back`))
  }
}

const short = (value: string | null): string =>
  value === null ? 'nothing' : value.startsWith('sha256:') ? value.slice(7, 19) : value

const pinLine = (pin: Pin): string[] => [
  plain(pin.name),
  pin.manifest.slice(7, 15),
  plain(`${pin.runtime} ${pin.runtime_version ?? ''}`),
  pin.state === 'cannot'
    ? `CANNOT: ${[...new Set(pin.violations.map(({ kind }) => kind.replace('_', ' ')))].join(', ')}`
    : pin.state,
  plain(pin.required_for.map((one) => Object.values(one).join(' ')).join('; ') || 'offered'),
]

const partOf = (given: string, session: Session): PinPart => {
  const [kind = '', ...rest] = given.split(':')
  const known = pinPartKinds.find((one) => one === kind)
  if (!known)
    throw new RepriseError('wrong_usage', `--part ${given}: no such part`, 'KIND or KIND:NAME', [...pinPartKinds])
  const name = rest.join(':')
  return { kind: known, name: known === 'file' && name !== '' ? session.absolute(name) : name, value: null }
}

const classOf = (given: string, session: Session): PinClass => {
  const entries = given.split(',').map((part) => part.split('='))
  const of = (name: string): string | undefined => entries.find(([key]) => key === name)?.[1]
  const odd = entries.find(([key, value]) => !value || !['runtime', 'workspace', 'branch'].includes(key ?? ''))
  if (odd)
    throw new RepriseError('wrong_usage', `--require ${given}`, 'runtime=R,workspace=DIR,branch=NAME, any of them')
  const [runtime, workspace, branch] = [of('runtime'), of('workspace'), of('branch')]
  return {
    ...(runtime === undefined ? {} : { runtime: asRuntime(runtime) }),
    ...(workspace === undefined ? {} : { workspace: session.absolute(workspace) }),
    ...(branch === undefined ? {} : { branch }),
  }
}
