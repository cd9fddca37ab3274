import type { Command } from 'commander'
import {
  type Output,
  RepriseError,
  type Run,
  type RunEvent,
  type RuntimeName,
  runtimeNames,
} from '../../contract/index.ts'
import type { Connection } from '../connection.ts'
import { formatTime, plain, printJson, printTable, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'

export const addRunCommands = (program: Command, session: Session): void => {
  program
    .command('runs')
    .description('list runs, newest first')
    .option('--runtime <name>', 'only runs of this agent')
    .option('--workspace <dir>', 'only runs in this directory')
    .option('--since <time>', 'ISO time, or a span such as 2d, 12h')
    .option('--until <time>', 'ISO time, or a span such as 2d, 12h')
    .option('--limit <n>', 'how many at the most')
    .action((options: { runtime?: string; workspace?: string; since?: string; until?: string; limit?: string }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const { runs } = await connection.call('runs.list', {
          ...(options.runtime === undefined ? {} : { runtime: asRuntime(options.runtime) }),
          ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
          ...(options.since === undefined ? {} : { since: asInstant('--since', options.since) }),
          ...(options.until === undefined ? {} : { until: asInstant('--until', options.until) }),
          ...(options.limit === undefined ? {} : { limit: asCount('--limit', options.limit) }),
        })
        if (terminal.json) return printJson(terminal, { runs })
        if (runs.length === 0) return terminal.out('no runs; `reprise status` says where they were looked for')
        printTable(terminal, ['RUN', 'STARTED', 'AGENT', 'STATUS', 'CALLS', 'FAILED', 'TITLE'], runs.map(runLine))
      }),
    )

  program
    .command('show <run>')
    .description('one run with its events, or one point of it (RUN@SEQ)')
    .action((reference: string) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        const got = await connection.call('runs.get', { run: reference })
        const events = await allEvents(connection, got.run.id)
        const shown = events.filter(
          (event) =>
            (got.at === null || event.seq <= got.at) && (got.stretch === null || event.stretch === got.stretch),
        )
        if (terminal.json)
          return printJson(terminal, {
            run: got.run,
            manifest: got.run.manifest,
            events: shown,
            coverage: got.coverage,
            branches: got.branches,
            files: got.files,
            unreadable: got.unreadable,
          })
        const { run } = got
        terminal.out(`${run.id}  ${plain(run.title || 'no title')}`)
        terminal.out(
          `${run.runtime} ${run.runtime_version ?? 'unknown version'} in ${plain(run.workspace ?? 'an unknown directory')}, ${formatTime(run.started_at)} – ${formatTime(run.ended_at)}, ${run.status}`,
        )
        terminal.out(
          `${run.calls.total} calls, ${run.calls.failed} failed; tokens in ${run.tokens.input}, out ${run.tokens.output}${run.tokens_are_lower_bound ? ' (lower bound)' : ''}; manifest ${run.manifest ?? 'not captured'}`,
        )
        if (run.parent)
          terminal.out(`${run.relation} of ${run.parent}${run.forked_at === null ? '' : ` @${run.forked_at}`}`)
        if (run.unreadable_lines > 0) terminal.out(`${run.unreadable_lines} unreadable lines, listed with --json`)
        for (const item of got.coverage.items)
          if (item.state !== 'complete')
            terminal.out(`not complete: ${plain(item.what)}${item.why ? `, ${plain(item.why)}` : ''}`)
        printTable(terminal, ['SEQ', 'KIND', 'OK', 'CHANGED', 'WHAT'], shown.map(eventLine))
      }),
    )

  program
    .command('search <words...>')
    .description('find words in sessions')
    .option('--runtime <name>', 'only in runs of this agent')
    .option('--config', 'in the history of configuration: files, keys, values, servers')
    .option('--limit <n>', 'how many at the most')
    .action((words: string[], options: { runtime?: string; config?: boolean; limit?: string }) =>
      session.withConnection({ start: true }, async (connection, terminal) => {
        if (options.config) {
          const found = await connection.call('search.configuration', {
            text: words.join(' '),
            ...(options.runtime === undefined ? {} : { runtime: asRuntime(options.runtime) }),
            ...(options.limit === undefined ? {} : { limit: asCount('--limit', options.limit) }),
          })
          return printConfigurationHits(terminal, found)
        }
        const result = await connection.call('search.run', {
          text: words.join(' '),
          ...(options.runtime === undefined ? {} : { runtime: asRuntime(options.runtime) }),
          ...(options.limit === undefined ? {} : { limit: asCount('--limit', options.limit) }),
        })
        const hits = result.hits.map((hit) => ({ ...hit, snippet: hit.snippet.replaceAll(/[\ue000\ue001]/g, '') }))
        if (terminal.json) return printJson(terminal, { ...result, hits })
        if (result.searchable < 1)
          terminal.note(`search covers ${Math.floor(result.searchable * 100)} % of the text so far`)
        for (const hit of hits)
          terminal.out(`${hit.run}@${hit.seq}  ${formatTime(hit.at)}  ${plain(hit.snippet.replaceAll(/\s+/g, ' '))}`)
        if (hits.length === 0) terminal.out('nothing found')
        else if (result.total > hits.length) terminal.out(`${hits.length} of ${result.total}; more with --limit`)
      }),
    )
}

const printConfigurationHits = (terminal: Terminal, { hits, total }: Output<'search.configuration'>): void => {
  const shown = hits.map((hit) => ({
    ...hit,
    run: null,
    seq: null,
    snippet: hit.snippet.replaceAll(/[\ue000\ue001]/g, ''),
  }))
  if (terminal.json) {
    printJson(terminal, { hits: shown, total })
    return
  }
  for (const { drift, at, path, what, snippet } of shown) {
    const where = path === null ? plain(what) : `${plain(path)} (${plain(what)})`
    terminal.out(`${drift ?? ''}  ${formatTime(at)}  ${where}  ${plain(snippet.replaceAll(/\s+/g, ' '))}`)
  }
  if (shown.length === 0) terminal.out('nothing found')
  else if (total > shown.length) terminal.out(`${shown.length} of ${total}; more with --limit`)
}

const allEvents = async (connection: Connection, run: string): Promise<RunEvent[]> => {
  const events: RunEvent[] = []
  for (let after: number | null = 0; after !== null; ) {
    const page: { events: RunEvent[]; next: number | null } = await connection.call('runs.events', {
      run,
      after,
      limit: 1000,
    })
    events.push(...page.events)
    after = page.next
  }
  return events
}

const runLine = (run: Run): string[] => [
  run.id,
  formatTime(run.started_at),
  run.runtime,
  run.status,
  String(run.calls.total),
  String(run.calls.failed),
  plain(`${run.relation ? `[${run.relation} of ${run.parent ?? 'unknown'}] ` : ''}${run.title || 'no title'}`),
]

const eventLine = (event: RunEvent): string[] => [
  `${event.copied_from ? '=' : ''}${event.seq}`,
  event.tool ?? event.kind,
  event.ok === null ? '' : event.ok ? 'ok' : 'FAILED',
  event.effects_state === 'none' ? 'not captured' : event.effects.length > 0 ? String(event.effects.length) : '',
  plain(event.summary),
]

export const asRuntime = (text: string): RuntimeName => {
  const found = runtimeNames.find((name) => name === text)
  if (!found)
    throw new RepriseError(
      'wrong_usage',
      `--runtime: ${JSON.stringify(text)} is no agent`,
      `one of ${runtimeNames.join(', ')}`,
    )
  return found
}

const asCount = (flag: string, text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new RepriseError('wrong_usage', `${flag}: ${JSON.stringify(text)} is no count`, 'a whole number from 1')
  return Number(text)
}

const units: Readonly<Record<string, number>> = { m: 60e3, h: 3600e3, d: 86400e3, w: 7 * 86400e3 }
export const asInstant = (flag: string, text: string): string => {
  const span = /^(\d+)([mhdw])$/.exec(text)
  const time = span ? Date.now() - Number(span[1]) * (units[span[2] as string] ?? 0) : Date.parse(text)
  if (Number.isNaN(time))
    throw new RepriseError(
      'wrong_usage',
      `${flag}: ${JSON.stringify(text)} is no time`,
      'ISO 8601 (2026-11-30T14:00:00Z), or a span such as 2d',
    )
  return new Date(time).toISOString()
}
