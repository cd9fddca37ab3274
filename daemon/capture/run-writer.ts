import type { EventChange, RawLine, ReadEffect, ReadEvent, RowSink, SessionSummary } from '../runtimes/adapter.ts'
import { isCredentialFile } from '../secrets/credential-files.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { type CutSecret, coverCut, SecretStream } from '../secrets/secret-stream.ts'
import type { Database } from '../store/index/database.ts'
import { statements } from '../store/index/database.ts'
import type { Collection } from './collection.ts'
import { rowKey, shortKey } from './run-ids.ts'

/** Longest summary on the timeline, in characters, after redaction. */
const SUMMARY = 240
const TITLE = 160
/** How much of a text is searchable, in characters: people's and models' words nearly whole, of outputs and inputs the head. */
const WORDS = { prompt: 32_768, answer: 32_768, thinking: 8_192, input: 2_048, output: 2_048, context: 2_048 } as const

/** State of one run while its rows arrive; rebuilt by reading the rows again without writing (`writing: false`). */
export interface RunFeed {
  readonly sink: RowSink
  writing: boolean
  generation: number
  readonly counts: { events: number; words: number }
}

/** Words of an event, and where they are in the index. */
interface WordsRow {
  readonly seq: number
  id: number | null
}
/** A text that is looked at and not gone on with. */
const NO_ROW: WordsRow = { seq: 0, id: null }
/** What a text holds of secrets that began in the words before it. */
type Cut = (text: string) => readonly CutSecret<WordsRow>[]

export interface RunWriter {
  feed(run: number): RunFeed
  saveSummary(run: number, summary: SessionSummary): void
}

/** Writes what a reader says of a run into the index. Every text is redacted before it is cut, so that no half of a secret stays. */
export const createRunWriter = (db: Database, redactor: Redactor, collection: Collection): RunWriter => {
  const sql = statements(db)
  const clean = (text: string, limit: number, cut: readonly CutSecret<unknown>[] = []): string => {
    const line = redactor.redact(coverCut(text, cut)).text.replaceAll(/\s+/g, ' ').trim()
    return line.length > limit ? `${line.slice(0, limit - 1)}…` : line
  }
  const effectsJson = (effects: readonly ReadEffect[]): string | null =>
    effects.length === 0
      ? null
      : JSON.stringify(
          effects.map(({ path, change, by, before, after, addedLines, removedLines }) => ({
            path,
            change,
            by,
            before,
            after,
            added_lines: addedLines,
            removed_lines: removedLines,
          })),
        )
  const flag = (value: boolean | null): number | null => (value === null ? null : value ? 1 : 0)

  const insertEvent = (run: number, generation: number, event: ReadEvent, chain: number | null, cut: Cut): void => {
    sql(
      `insert into events (run, seq, id, parent_seq, broken, kind, at, tool, tool_use_id, summary, ok, duration, effects_state, effects,
         t_in, t_out, t_read, t_write, model, lane, stretch, cwd, generation, line, byte, bytes, message, origin_session, sub_session, chain)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      run,
      event.seq,
      event.id,
      event.parentSeq,
      event.brokenLink ? 1 : 0,
      event.kind,
      event.at,
      event.tool,
      event.toolUseId,
      clean(event.summary, SUMMARY, cut(event.summary)),
      flag(event.ok),
      event.durationMs,
      event.effectsState,
      effectsJson(event.effects),
      event.tokens?.input ?? null,
      event.tokens?.output ?? null,
      event.tokens?.cache_read ?? null,
      event.tokens?.cache_write ?? null,
      event.model,
      event.lane === 'sidechain' ? 1 : 0,
      event.stretch,
      event.cwd,
      generation,
      event.line,
      event.byte,
      event.bytes,
      event.messageId,
      event.originSession,
      event.subagentSession,
      chain,
    )
    insertRows(run, event.seq, event.rowIds)
  }

  const insertRows = (run: number, seq: number, ids: readonly string[]): void => {
    for (const id of ids)
      sql('insert or ignore into event_rows (row, run, seq) values (?, ?, ?)').run(rowKey(id), run, seq)
  }

  const amendEvent = (run: number, seq: number, change: EventChange, cut: Cut): void => {
    const sets: string[] = []
    const values: (string | number | null)[] = []
    const set = (column: string, value: string | number | null): void => {
      sets.push(`${column} = ?`)
      values.push(value)
    }
    if (change.ok !== undefined) set('ok', flag(change.ok))
    if (change.durationMs !== undefined) set('duration', change.durationMs)
    if (change.effects !== undefined) set('effects', effectsJson(change.effects))
    if (change.effectsState !== undefined) set('effects_state', change.effectsState)
    if (change.summary !== undefined) set('summary', clean(change.summary, SUMMARY, cut(change.summary)))
    if (change.model !== undefined) set('model', change.model)
    if (change.subagentSession !== undefined) set('sub_session', change.subagentSession)
    if (change.parentSeq !== undefined) set('parent_seq', change.parentSeq)
    if (change.brokenLink !== undefined) set('broken', change.brokenLink ? 1 : 0)
    if (change.stretch !== undefined) set('stretch', change.stretch)
    if (change.tokens !== undefined) {
      set('t_in', change.tokens?.input ?? null)
      set('t_out', change.tokens?.output ?? null)
      set('t_read', change.tokens?.cache_read ?? null)
      set('t_write', change.tokens?.cache_write ?? null)
    }
    if (change.addLine) {
      const { line, byte, bytes } = change.addLine
      sets.push(`more = json_insert(coalesce(more, '[]'), '$[#]', json_array(?, ?, ?))`)
      values.push(line, byte, bytes)
    }
    if (sets.length > 0) sql(`update events set ${sets.join(', ')} where run = ? and seq = ?`).run(...values, run, seq)
    if (change.addRowIds) insertRows(run, seq, change.addRowIds)
  }

  /** The end of a text that is in the index already turned out to be the beginning of a secret. */
  const coverEnd = (run: number, { key, text, placeholder }: CutSecret<WordsRow>): void => {
    const covered = (stored: string): string | null =>
      stored.endsWith(text) ? stored.slice(0, stored.length - text.length) + placeholder : null
    if (key.id !== null) {
      const row = sql('select text from words where id = ?').get(key.id) as { text: string } | undefined
      const next = row ? covered(row.text) : null
      if (row && next !== null) {
        const until = Number((sql("select value from meta where key = 'found_until'").get() as { value: string }).value)
        if (key.id <= until) sql("insert into found (found, rowid, text) values ('delete', ?, ?)").run(key.id, row.text)
        sql('update words set text = ? where id = ?').run(next, key.id)
        if (key.id <= until) sql('insert into found (rowid, text) values (?, ?)').run(key.id, next)
      }
    }
    const event = sql('select summary from events where run = ? and seq = ?').get(run, key.seq) as
      | { summary: string }
      | undefined
    const next = event ? covered(event.summary) : null
    if (next !== null) sql('update events set summary = ? where run = ? and seq = ?').run(next, run, key.seq)
  }

  return {
    feed(run) {
      // The rolling digest of the conversation so far; notes do not take part in it.
      let chain = ''
      const roll = (key: string): number => {
        const next = shortKey(`${chain}\0${key}`)
        chain = String(next)
        return next
      }
      const { home } = sql(
        'select homes.path as home from runs join homes on homes.id = runs.home where runs.key = ?',
      ).get(run) as { home: string }
      const workspaces = new Set<string>()
      let keepTexts = collection({ home, workspaces: [] }) !== 'digests'
      /** A run that comes to a place where no text is kept leaves none from then on. */
      const enter = (cwd: string | null): void => {
        if (cwd === null || workspaces.has(cwd)) return
        workspaces.add(cwd)
        keepTexts = collection({ home, workspaces: [...workspaces] }) !== 'digests'
      }
      // Texts of a kind follow each other as chunks of one stream may: what a border cuts is covered on both sides.
      const streams = new Map<string, SecretStream<WordsRow>>()
      const cut: Cut = (text) =>
        [...streams.values()].flatMap((stream) => stream.look(NO_ROW, text)).filter(({ key }) => key === NO_ROW)
      const feed: RunFeed = {
        writing: true,
        generation: 1,
        counts: { events: 0, words: 0 },
        sink: {
          event(event) {
            enter(event.cwd)
            const key = event.contentKey === null || event.lane === 'sidechain' ? null : roll(event.contentKey)
            if (!feed.writing) return
            insertEvent(run, feed.generation, event, key, cut)
            feed.counts.events += 1
          },
          amend(seq, change) {
            if (change.addContentKey !== undefined) roll(change.addContentKey)
            if (feed.writing) amendEvent(run, seq, change, cut)
          },
          words(seq, role, text) {
            if (text.trim() === '') return
            const stream = streams.get(role) ?? new SecretStream<WordsRow>(redactor)
            streams.set(role, stream)
            const row: WordsRow = { seq, id: null }
            const parts = stream.add(row, text)
            if (!feed.writing) return
            for (const part of parts) if (part.key !== row) coverEnd(run, part)
            if (!keepTexts) return
            const most = WORDS[role]
            const own = coverCut(
              text,
              parts.filter(({ key }) => key === row),
            )
            const redacted = redactor.redact(own.length > most * 2 ? own.slice(0, most * 2) : own).text
            const kept = redacted.length > most ? redacted.slice(0, most) : redacted
            row.id = Number(
              sql('insert into words (run, seq, role, text) values (?, ?, ?, ?)').run(run, seq, role, kept)
                .lastInsertRowid,
            )
            feed.counts.words += redacted.length
          },
          stretch({ n, startedAt, cause, firstSeq }) {
            if (!feed.writing) return
            sql(
              `insert into stretches (run, n, started_at, cause, first_seq) values (?, ?, ?, ?, ?)
               on conflict (run, n) do update set started_at = excluded.started_at, cause = excluded.cause, first_seq = excluded.first_seq`,
            ).run(run, n, startedAt, cause, firstSeq)
          },
          copyOf(name, path) {
            if (!feed.writing) return
            sql(
              `insert into side_copies (run, name, credential) values (?, ?, ?)
               on conflict (run, name) do update set credential = max(credential, excluded.credential)`,
            ).run(run, name, isCredentialFile(path) ? 1 : 0)
          },
          unknownRecord(_line: RawLine, _type: string) {
            // Counted by the reader and saved with the summary; the line itself stays in the archive.
          },
        },
      }
      return feed
    },

    saveSummary(run, summary) {
      const prompt = summary.agentTitle ?? summary.firstPrompt
      const title =
        prompt === null
          ? summary.checkpoints > 0 && !summary.conversation
            ? `no conversation, ${summary.checkpoints} checkpoints`
            : ''
          : clean(prompt, TITLE)
      sql(
        `update runs set session = case when relation = 'subagent' then session else ? end, title = ?, title_from = ?, runtime_version = ?, versions = ?, workspace = ?, workspaces = ?, models = ?,
           started_at = ?, ended_at = ?, sort_at = ?, status = ?, lower_bound = ?, broken_links = ?, roots = ?, clock_back = ?, checkpoints = ?, rows = ?,
           record_types = ?, unknown_records = ?, other_sessions = ?, requests = ?
         where key = ?`,
      ).run(
        summary.session,
        title,
        summary.agentTitle !== null ? 'agent' : summary.firstPrompt !== null ? 'prompt' : 'none',
        summary.versions.at(-1) ?? null,
        JSON.stringify(summary.versions),
        summary.workspaces[0] ?? null,
        JSON.stringify(summary.workspaces),
        JSON.stringify(summary.models),
        summary.startedAt,
        summary.endedAt,
        summary.startedAt ?? summary.endedAt ?? '',
        !summary.conversation ? 'no_conversation' : summary.failed ? 'failed' : summary.openCalls > 0 ? 'open' : 'done',
        summary.tokensAreLowerBound ? 1 : 0,
        summary.brokenLinks,
        summary.roots,
        summary.clockStepsBack,
        summary.checkpoints,
        summary.rows,
        JSON.stringify(summary.recordTypes),
        JSON.stringify(summary.unknownRecords),
        JSON.stringify(summary.otherSessionIds),
        summary.requests,
        run,
      )
    },
  }
}

/** Totals of a run over its own events; copied ones are counted where they came from (B16). */
export const saveTotals = (db: Database, run: number): void => {
  db.prepare(
    `update runs set (events, copied, calls, failed_calls, added, changed, deleted, unknown_effects, t_in, t_out, t_read, t_write) = (
       select count(*) filter (where copied_from is null), count(copied_from),
         count(*) filter (where copied_from is null and kind = 'tool'), count(*) filter (where copied_from is null and kind = 'tool' and ok = 0),
         0, 0, 0, count(*) filter (where copied_from is null and effects_state = 'none'),
         coalesce(sum(t_in) filter (where copied_from is null), 0), coalesce(sum(t_out) filter (where copied_from is null), 0),
         coalesce(sum(t_read) filter (where copied_from is null), 0), coalesce(sum(t_write) filter (where copied_from is null), 0)
       from events where run = runs.key)
     where key = ?`,
  ).run(run)
  db.prepare(
    `update runs set (added, changed, deleted) = (
       select count(distinct path) filter (where change = 'add'), count(distinct path) filter (where change = 'change'), count(distinct path) filter (where change = 'delete')
       from (select json_extract(value, '$.path') as path, json_extract(value, '$.change') as change
             from events, json_each(events.effects) where events.run = runs.key and events.effects is not null and events.copied_from is null))
     where key = ?`,
  ).run(run)
}
