import { RepriseError, type SearchResult } from '../../../contract/index.ts'
import type { IndexReader } from './reader.ts'

export interface SearchQuery {
  readonly text: string
  readonly runtime: string | null
  readonly run: number | null
  readonly limit: number
  readonly offset: number
}

/** Marks around matched words, private code points that no transcript should hold; the window turns them into emphasis. */
const START = '\ue000'
const END = '\ue001'

/** One or two letters are taken as a whole word: they begin too many others to rank. In scripts without spaces two signs are a word. */
const isBeginning = (word: string): boolean => word.length >= 3 || /\P{ASCII}/u.test(word)

/**
 * What a person typed, as an expression of the search engine: words are all wanted, the last one may be a beginning, and text
 * in double quotes is a phrase. Nothing a person types is taken as the engine's own syntax.
 */
export const matchExpression = (typed: string): string => {
  const parts = [...typed.matchAll(/"([^"]*)"?|\S+/g)]
    .map(([whole, phrase]) => (phrase ?? whole).trim())
    .filter((part) => /[\p{L}\p{N}_]/u.test(part))
  if (parts.length === 0) throw new RepriseError('wrong_usage', 'text: there is no word to search for')
  const open = !/["\s]$/.test(typed) && isBeginning(parts.at(-1) ?? '')
  return parts.map((part, n) => `"${part.replaceAll('"', '""')}"${open && n === parts.length - 1 ? '*' : ''}`).join(' ')
}

export const querySearch = (index: IndexReader, { text, runtime, run, limit, offset }: SearchQuery): SearchResult => {
  const expression = matchExpression(text)
  const narrow = `${runtime === null ? '' : 'and runs.runtime = ?'} ${run === null ? '' : 'and runs.key = ?'}`
  const values = [...(runtime === null ? [] : [runtime]), ...(run === null ? [] : [run])]
  // Ranked over all matches; snippets are made for the shown page only. Copied events show in their original (B16).
  const rows = index
    .sql(
      `with hits as materialized (
         select found.rowid as id, found.rank as rank from found
         join words on words.id = found.rowid join runs on runs.key = words.run
         join events on events.run = words.run and events.seq = words.seq
         where found match ? ${narrow} and events.copied_from is null
         order by found.rank limit ? offset ?)
       select runs.id as run, words.seq as seq, events.at as at, runs.title as title, runs.runtime as runtime, events.kind as kind,
         snippet(found, 0, '${START}', '${END}', '…', 24) as snippet
       from hits join found on found.rowid = hits.id join words on words.id = hits.id join runs on runs.key = words.run
         join events on events.run = words.run and events.seq = words.seq
       where found match ? order by hits.rank`,
    )
    .all(expression, ...values, limit + 1, offset, expression) as SearchResult['hits']
  const total = index
    .sql(
      `select count(*) as n from found join words on words.id = found.rowid join runs on runs.key = words.run
       join events on events.run = words.run and events.seq = words.seq where found match ? ${narrow} and events.copied_from is null`,
    )
    .get(expression, ...values) as { n: number }
  return {
    hits: rows.slice(0, limit).map((row) => ({ ...row, seq: Number(row.seq) })),
    total: Number(total.n),
    next: rows.length > limit ? String(offset + limit) : null,
    searchable: searchableShare(index),
  }
}

/** Share of the words that are already in the full-text index, 0 to 1. */
export const searchableShare = (index: IndexReader): number => {
  const row = index
    .sql(
      `select (select cast(value as integer) from meta where key = 'found_until') as done, (select coalesce(max(id), 0) from words) as all_words`,
    )
    .get() as { done: number; all_words: number }
  return row.all_words === 0 ? 1 : Math.min(1, Number(row.done) / Number(row.all_words))
}
