import type { Database } from './database.ts'

/**
 * The index: everything the timeline needs at once. It is derived from the agents' files and the store, so an index of another
 * version, or a damaged one, is set aside and built anew (R13); it is never migrated and never the only place of a fact.
 */
export const INDEX_VERSION = 7

const tables = `
create table meta (key text primary key, value text not null) without rowid;

create table homes (
  id text primary key, runtime text not null, path text not null, read_at text
) without rowid;

create table runs (
  key integer primary key,
  id text not null unique,
  home text not null,
  runtime text not null,
  session text not null,
  parent_session text,
  relation text,
  parent text,
  forked_at integer,
  title text not null default '',
  title_from text not null default 'none',
  runtime_version text,
  versions text not null default '[]',
  workspace text,
  workspaces text not null default '[]',
  models text not null default '[]',
  started_at text,
  ended_at text,
  sort_at text not null default '',
  status text not null default 'open',
  events integer not null default 0,
  copied integer not null default 0,
  calls integer not null default 0,
  failed_calls integer not null default 0,
  added integer not null default 0,
  changed integer not null default 0,
  deleted integer not null default 0,
  unknown_effects integer not null default 0,
  t_in integer not null default 0, t_out integer not null default 0, t_read integer not null default 0, t_write integer not null default 0,
  lower_bound integer not null default 0,
  manifest text,
  /* of the first stretch: the same words typed again are the same task */
  task text,
  unreadable integer not null default 0,
  broken_links integer not null default 0,
  roots integer not null default 0,
  clock_back integer not null default 0,
  checkpoints integer not null default 0,
  rows integer not null default 0,
  requests integer,
  record_types text not null default '{}',
  unknown_records text not null default '{}',
  other_sessions text not null default '[]',
  meta text not null default '{}',
  source_state text not null default 'present',
  /* work that follows the reading of a session and must not be lost in a crash: 1 when it was done since */
  linked integer not null default 0,
  settled integer not null default 0
);
create index runs_undone on runs (key) where linked = 0 or settled = 0;
create index runs_sort on runs (sort_at desc, key desc);
create index runs_session on runs (session);
create index runs_parent on runs (parent);
create index runs_home on runs (home);
create index runs_task on runs (task) where task is not null;

create table files (
  key integer primary key,
  run integer not null,
  path blob not null unique,
  rel text not null,
  dev integer not null, ino integer not null, size integer not null, mtime integer not null,
  generation integer not null default 1,
  /* how far the current generation has been read, and what its beginning looked like then */
  offset integer not null default 0, lines integer not null default 0, open text,
  head text not null default '', tail text not null default '', prefix text not null default '',
  archived integer not null default 0, archived_lines integer not null default 0,
  state text not null default 'present'
);
create index files_run on files (run);
create index files_behind on files (key) where archived < offset;

/* files beside a session as they were when they were last kept, or left out for a reason that run.json names */
create table side_files (run integer not null, rel text not null, size integer not null, mtime real not null, ino integer not null, primary key (run, rel)) without rowid;
/* side files that are copies of other files, by their name; 1: of a file that is a credential as a whole */
create table side_copies (run integer not null, name text not null, credential integer not null, primary key (run, name)) without rowid;

/* how far the typed prompts of a home were read, and where each stands */
create table typed_files (
  home text primary key, size integer not null, mtime real not null, ino integer not null,
  offset integer not null, lines integer not null, open text, head text not null, tail text not null, nameless integer not null
) without rowid;
create table typed_prompts (
  home text not null, byte integer not null, bytes integer not null, session text not null, kept integer not null default 0,
  primary key (home, byte)
) without rowid;
create index typed_waiting on typed_prompts (home, session, byte) where kept = 0;

create table stretches (
  run integer not null, n integer not null, started_at text, cause text not null, first_seq integer not null, manifest text, evidence text,
  primary key (run, n)
) without rowid;

create table events (
  run integer not null, seq integer not null,
  id text not null, parent_seq integer, broken integer not null default 0,
  kind text not null, at text, tool text, tool_use_id text, summary text not null,
  ok integer, duration real,
  effects_state text not null, effects text,
  t_in integer, t_out integer, t_read integer, t_write integer,
  model text, lane integer not null default 0, stretch integer not null, cwd text,
  generation integer not null, line integer not null, byte integer not null, bytes integer not null, more text,
  message text, origin_session text, sub_session text, copied_from text,
  chain integer,
  primary key (run, seq)
) without rowid;
/* rolling digest of the conversation up to an event: equal in two runs where one was copied from the other (B16) */
create index events_chain on events (chain) where chain is not null;

create table event_rows (row integer not null, run integer not null, seq integer not null, primary key (row, run, seq)) without rowid;
create index event_rows_run on event_rows (run, row);

create table unreadable (
  run integer, path text not null, generation integer not null default 1, line integer not null, byte integer not null, bytes integer not null,
  reason text not null, repaired integer not null default 0, primary key (path, generation, line)
) without rowid;

create table gaps (
  id text primary key, kind text not null, home text, run text, path text, at text not null, count integer not null, message text not null, hint text
) without rowid;

/* facts about a source that are no part of the session: it shrank, vanished, came back */
create table source_changes (id text primary key, run integer not null, at text not null, change text not null, path text not null, message text not null) without rowid;

/* changes of configuration, as the store holds them, and the words to find them by */
create table drifts (
  id text primary key, home text not null, runtime text not null, workspace text, at text not null, kind text not null, alert text, doc text not null
) without rowid;
create index drifts_at on drifts (at desc, id desc);
create table drift_words (id integer primary key, drift text not null, path text, what text not null, text text not null);
create virtual table drifts_found using fts5 (text, content = 'drift_words', content_rowid = 'id', tokenize = "unicode61 remove_diacritics 2");
/* how each place of a home was last seen; workspace '' is the home alone */
create table configurations (
  home text not null, workspace text not null, manifest text not null, fingerprint text not null, program text, seen_at text not null,
  primary key (home, workspace)
) without rowid;
/* states of the files of a home and its workspaces, by the change of configuration that showed them; digest null: it went */
create table file_versions (
  id text not null, home text not null, path text not null, at text not null, digest text, bytes integer, drift text not null, manifest text not null,
  primary key (id, home)
) without rowid;
create index file_versions_path on file_versions (home, path, at desc);
/* contents a file was seen with: an old one that comes back is recognised (B18) */
create table file_states (home text not null, path text not null, mark text not null, seen_at text not null, primary key (home, path, mark)) without rowid;

/* directories agents work in: the newest state of each, or why there is none */
create table workspaces (
  id text primary key, path text not null, state text not null, why text, first_at text, last_at text, tree text,
  states integer not null, files integer not null, bytes integer not null, doc text not null
) without rowid;
/* actions that are sealed with their effect, as the store holds them */
create table commits (run text not null, seq integer not null, "commit" text not null, tree text, before text, at text not null, primary key (run, seq)) without rowid;
create table captured (run text not null, seq integer not null, path text not null, doc text not null, primary key (run, seq, path)) without rowid;
create index captured_path on captured (path);

create table words (id integer primary key, run integer not null, seq integer not null, role text not null, text text not null);
create index words_run on words (run);
create virtual table found using fts5 (text, content = 'words', content_rowid = 'id', tokenize = "unicode61 remove_diacritics 2");
`

/** Empties the index; the next import fills it again from the store and the homes. */
export const resetIndex = (db: Database): void => {
  const names = db
    .prepare(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'found_%' and name not like 'drifts_found_%'",
    )
    .all() as { name: string }[]
  db.exec('begin immediate')
  for (const { name } of names) db.exec(`drop table "${name}"`)
  db.exec('commit')
  createTables(db)
}

export const createTables = (db: Database): void => {
  db.exec(`begin; ${tables}; insert into meta values ('version', '${INDEX_VERSION}'), ('found_until', '0'); commit`)
}
