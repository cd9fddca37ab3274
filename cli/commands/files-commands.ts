import fs from 'node:fs'
import type { Command } from 'commander'
import { type AgentFile, type FileProblem, type FileVersion, type Input, RepriseError } from '../../contract/index.ts'
import type { Connection } from '../connection.ts'
import { formatBytes, formatTime, plain, printJson, printTable, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'

const collect = (value: string, before: string[]): string[] => [...before, value]

interface Place {
  readonly home?: string
}

/** `files …`: what steers an agent, with its history. PATH may be relative to the current directory. */
export const addFilesCommands = (program: Command, session: Session): void => {
  const files = program.command('files').description('the files that steer an agent: list, show, check, save, history')
  const sub = (words: string, description: string): Command =>
    files
      .command(words)
      .description(description)
      .option('--home <dir>', 'home of the agent; needed where several are read')

  sub('list', 'every file that steers the agent of a home')
    .option('--workspace <dir>', 'those of a workspace too')
    .action((options: Place & { workspace?: string }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const found = await connection.call('files.list', {
          home: await homeOf(connection, session, options),
          ...(options.workspace === undefined ? {} : { workspace: session.absolute(options.workspace) }),
        })
        if (terminal.json) return printJson(terminal, found)
        printTable(terminal, ['AREA', 'KIND', 'STATE', 'SIZE', 'VERSIONS', 'FILE'], found.files.map(fileLine))
        if (found.running) terminal.note('an agent is working with this home now')
      }),
    )

  sub('show <path>', 'the text of a file, secrets covered')
    .option('--version <id>', 'as it was in this version')
    .action((path: string, options: Place & { version?: string }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const content = await connection.call('files.get', {
          home: await homeOf(connection, session, options),
          path: session.absolute(path),
          ...(options.version === undefined ? {} : { version: options.version }),
        })
        if (terminal.json) return printJson(terminal, content)
        if (content.text === null)
          throw new RepriseError('refused', `${path}: ${content.file.note ?? 'it has no text'}`)
        process.stdout.write(plainLines(content.text.text))
        if (!content.whole) terminal.note(`${content.text.hidden.length} secrets are covered`)
        printProblems(content.problems, content.file.path, terminal)
      }),
    )

  sub('check <path>', 'what is wrong with a file or a draft, and what a draft would change where; writes nothing')
    .option('--text <file>', 'the draft; `-`: standard input')
    .option('--set <key=json>', 'a draft with this key changed; repeat', collect, [])
    .option('--unset <key>', 'a draft without this key; repeat', collect, [])
    .option('--workspace <dir>', 'look at this workspace only')
    .action((path: string, options: Place & EditOptions & { workspace?: string }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const result = await connection.call('files.check', {
          home: await homeOf(connection, session, options),
          path: session.absolute(path),
          ...draftOf(options),
          ...(options.workspace === undefined ? {} : { workspace: session.absolute(options.workspace) }),
        })
        if (terminal.json) printJson(terminal, result)
        else {
          printProblems(result.problems, path, terminal)
          for (const effect of result.effects) {
            terminal.out(`in ${plain(effect.workspace ?? 'the home')}: ${effect.changes.length} changes`)
            for (const { field, before, after, rule } of effect.changes)
              terminal.out(
                plain(`  ${field}: ${before ?? 'nothing'} → ${after ?? 'nothing'}${rule === null ? '' : ` (${rule})`}`),
              )
            if (effect.why_not !== null) terminal.out(`  ${plain(effect.why_not)}`)
          }
          if (result.problems.length === 0) terminal.out('no problem was found')
        }
        return result.problems.some(({ severity }) => severity === 'error') ? 1 : 0
      }),
    )

  sub('save <path>', 'write a file, with the state before as a version')
    .option('--text <file>', 'the whole new text; `-`: standard input')
    .option('--set <key=json>', 'change this key only, as in permissions.deny=["Read(.env)"]; repeat', collect, [])
    .option('--unset <key>', 'remove this key only; repeat', collect, [])
    .option('--expected <digest>', 'only if this is what is there (default: what is there now)')
    .option('--note <text>', 'why')
    .option('--name <name>', 'a name for the new state')
    .option('--with-secret', 'a secret in it is wanted')
    .option('--through-link', 'write the target of a link')
    .action((path: string, options: Place & EditOptions & SaveOptions) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const home = await homeOf(connection, session, options)
        const file = session.absolute(path)
        const draft = draftOf(options)
        if (Object.keys(draft).length === 0)
          throw new RepriseError('wrong_usage', 'save: nothing to save', 'give --text, --set or --unset')
        const expected = options.expected ?? (await connection.call('files.get', { home, path: file })).file.digest
        const saved = await connection.call('files.save', {
          home,
          path: file,
          ...draft,
          expected: expected === 'none' ? null : expected,
          ...(options.note === undefined ? {} : { note: options.note }),
          ...(options.name === undefined ? {} : { name: options.name }),
          ...(options.withSecret === undefined ? {} : { with_secret: options.withSecret }),
          ...(options.throughLink === undefined ? {} : { through_link: options.throughLink }),
        })
        if (terminal.json) printJson(terminal, saved)
        else terminal.out(saved.unchanged ? 'nothing differed; nothing was written' : `saved as ${saved.version.id}`)
      }),
    )

  sub('versions <path>', 'every state of a file that was seen, newest first')
    .option('--key <key>', 'only where this key of it changed')
    .action((path: string, options: Place & { key?: string }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const { versions } = await connection.call('files.versions', {
          home: await homeOf(connection, session, options),
          path: session.absolute(path),
          ...(options.key === undefined ? {} : { key: options.key }),
        })
        if (terminal.json) return printJson(terminal, { versions })
        if (versions.length === 0) return terminal.out('no state of it was seen yet')
        printTable(terminal, ['VERSION', 'AT', 'BY', 'NAME', 'WHY'], versions.map(versionLine))
      }),
    )

  sub('blame <path>', 'which state, and who, each line came with').action((path: string, options: Place) =>
    session.withConnection({ start: true }, async (connection, terminal) => {
      const blame = await connection.call('files.blame', {
        home: await homeOf(connection, session, options),
        path: session.absolute(path),
      })
      if (terminal.json) return printJson(terminal, blame)
      const rows = blame.lines.map(({ line, text, at, writer }) => [
        String(line),
        writer.run ?? writer.who,
        formatTime(at),
        plain(text),
      ])
      printTable(terminal, ['LINE', 'BY', 'AT', 'TEXT'], rows)
      if (blame.why !== null) terminal.note(plain(blame.why))
    }),
  )

  files
    .command('name <version> [name]')
    .description('give a state a name, or take it away')
    .option('--note <text>', 'a note for it')
    .action((version: string, name: string | undefined, options: { note?: string }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const note = options.note === undefined ? {} : { note: options.note }
        const named = await connection.call('files.name', { version, name: name ?? null, ...note })
        if (terminal.json) printJson(terminal, named)
        else terminal.out(name === undefined ? `${version} has no name now` : `${version} is ${plain(name)}`)
      }),
    )
}

interface EditOptions {
  readonly text?: string
  readonly set: readonly string[]
  readonly unset: readonly string[]
}
interface SaveOptions {
  readonly expected?: string
  readonly note?: string
  readonly name?: string
  readonly withSecret?: boolean
  readonly throughLink?: boolean
}

const draftOf = ({ text, set, unset }: EditOptions): Pick<Input<'files.save'>, 'text' | 'edits'> => {
  if (text !== undefined) return { text: fs.readFileSync(text === '-' ? 0 : text, 'utf8') }
  const edits = [
    ...set.map((given) => {
      const at = given.indexOf('=')
      if (at <= 0) throw new RepriseError('wrong_usage', `--set ${given}: key=value`)
      return { key: keyOf(given.slice(0, at)), value: valueFor(given.slice(at + 1)) }
    }),
    ...unset.map((key) => ({ key: keyOf(key) })),
  ]
  return edits.length === 0 ? {} : { edits }
}

/** `a.b[0]."c.d"`: names between dots, places in lists between brackets, odd names in quotes. */
const keyOf = (given: string): (string | number)[] => {
  const parts = [...given.matchAll(/"((?:[^"\\]|\\.)*)"|\[(\d+)\]|([^.[\]"]+)/g)]
  if (parts.length === 0) throw new RepriseError('wrong_usage', `${given} is no key`)
  return parts.map(([, quoted, index, name]) =>
    index !== undefined ? Number(index) : quoted !== undefined ? String(JSON.parse(`"${quoted}"`)) : (name ?? ''),
  )
}

/** JSON where it is JSON, else the words themselves. */
const valueFor = (given: string): NonNullable<NonNullable<Input<'files.save'>['edits']>[number]['value']> | null => {
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

/** The home that was named, else the only one there is. */
const homeOf = async (connection: Connection, session: Session, { home }: Place): Promise<string> => {
  if (home !== undefined) return session.absolute(home)
  const { homes } = await connection.call('status.get', {})
  const [first] = homes
  if (first && homes.length === 1) return first.path
  throw new RepriseError(
    'wrong_usage',
    homes.length === 0 ? 'no home of an agent is read' : 'several homes are read',
    'name one with --home',
    homes.map(({ path }) => path),
  )
}

const fileLine = (file: AgentFile): string[] => [
  file.area,
  file.kind,
  file.state.replace('_', ' '),
  file.bytes === null ? '' : formatBytes(file.bytes),
  String(file.versions),
  plain(file.note === null ? file.path : `${file.path}  (${file.note})`),
]

const versionLine = (version: FileVersion): string[] => [
  version.id,
  formatTime(version.at),
  version.writer.run ?? version.writer.who,
  plain(version.name ?? ''),
  plain(
    `${version.deleted ? 'deleted; ' : ''}${version.restorable ? '' : 'not restorable; '}${version.note ?? version.why}`,
  ),
]

const printProblems = (problems: readonly FileProblem[], path: string, terminal: Terminal): void => {
  for (const { line, column, severity, message, repair } of problems)
    terminal.note(
      plain(
        `${path}${line === null ? '' : `:${line}${column === null ? '' : `:${column}`}`}: ${severity}: ${message}${repair === null ? '' : ` – ${repair}`}`,
      ),
    )
}

const plainLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => plain(line.replaceAll('\t', '  ')))
    .join('\n')
