import type { Command } from 'commander'
import type { ContextBlock, ModelContext } from '../../contract/index.ts'
import { plain, printJson, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'

/** Lines of one block that people are shown; the JSON form has all. */
const SHOWN_LINES = 12

export const addContextCommand = (program: Command, session: Session): void => {
  program
    .command('context <point>')
    .description('what the model saw at a point of a run (RUN@SEQ): messages, tools, model, parameters')
    .action((reference: string) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const context = await connection.call('runs.context', { run: reference, whole: true })
        if (terminal.json) return printJson(terminal, asJson(context))
        printContext(terminal, context)
      }),
    )
}

/** Texts instead of what a window needs of them; covered secrets stay covered. */
const asJson = ({ parameters, system, tools, messages, ...about }: ModelContext) => ({
  ...about,
  parameters: parse(parameters.text),
  system: system.map(blockAsJson),
  tools: tools.map(({ name, schema_digest, definition }) => ({
    name,
    schema_digest,
    definition: parse(definition.text),
  })),
  messages: messages.map(({ role, as_sent, blocks }) => ({ role, as_sent, blocks: blocks.map(blockAsJson) })),
})

const blockAsJson = ({ kind, label, format, cached, body }: ContextBlock) => ({
  kind,
  label,
  format,
  cached,
  text: body.text,
  hidden: body.hidden.length,
})

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text // a placeholder for something covered need not be JSON
  }
}

const printContext = (terminal: Terminal, context: ModelContext): void => {
  const { run, at_seq, model, exact, why, before, system, tools, messages } = context
  terminal.out(`${run}@${at_seq}  request to ${plain(model ?? 'an unknown model')}`)
  terminal.out(exact ? 'exact: its digest is the recorded one' : `not exact: ${plain(why ?? 'unknown')}`)
  if (before)
    terminal.out(
      `${before.kept} of ${messages.length} messages were in the request of @${before.seq}${before.shape_changed ? '; system prompt or tools changed since' : ''}${before.parameters_changed ? '; parameters changed since' : ''}`,
    )
  terminal.out(`${system.length} system blocks, ${tools.length} tools; --json has them`)
  for (const [n, { role, as_sent, blocks }] of messages.entries()) {
    terminal.out('')
    terminal.out(
      `${n + 1} ${plain(role)}${before && n >= before.kept ? `  new since @${before.seq}` : ''}${as_sent || exact ? '' : '  not as it was sent'}`,
    )
    for (const block of blocks) printBlock(terminal, block)
  }
}

const printBlock = (terminal: Terminal, { label, body }: ContextBlock): void => {
  terminal.out(`  ${plain(label)}`)
  const lines = body.text.split('\n')
  for (const line of lines.slice(0, SHOWN_LINES)) terminal.out(`    ${plain(line)}`)
  if (lines.length > SHOWN_LINES) terminal.out(`    … ${lines.length - SHOWN_LINES} more lines`)
}
