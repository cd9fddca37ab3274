import type { Fact } from '../adapter.ts'

/**
 * What reading and resolving rests on. `verified`: seen by running that version, or its loader, with a scripted model; the OpenAI library
 * was replaced by a stand-in, so headers are not covered. 0.20.4 was seen through a community port of that release. `documented` covers
 * the documentation, and public source that was read and not run.
 */
const seen = (area: string, fact: string, versions: readonly string[] = ['0.20.0']): Fact => ({
  area,
  fact,
  status: 'verified',
  versions,
})
const documented = (area: string, fact: string): Fact => ({ area, fact, status: 'documented', versions: [] })
const unsure = (area: string, fact: string): Fact => ({ area, fact, status: 'unknown', versions: [] })
const BOTH = ['0.20.0', '0.20.4']

export const facts: readonly Fact[] = [
  seen('sessions', 'Sessions are rows of state.db; schema 25. Times are seconds since 1970.'),
  documented('sessions', 'Schema 30 adds columns and tables (source of upstream main); columns are found by name.'),
  seen(
    'sessions',
    'Rows with active = 1 in the order of their ids are what the model sees; active = 0 with compacted = 1 was archived by a compaction.',
  ),
  documented('sessions', 'active = 0 with compacted = 0 is undone or rewound (source).'),
  seen(
    'sessions',
    'A compaction in place inserts the kept tail again as new rows, with the same call ids and shortened results.',
  ),
  seen(
    'sessions',
    'A rotating compaction ends the session with end_reason compression; the child begins with a copy of the tail.',
  ),
  seen(
    'sessions',
    'A subagent names its parent in model_config._delegate_from and has source subagent; it may have no messages.',
  ),
  documented('sessions', 'Branches and resets stand in model_config._branched_from and _reset_from (source).'),
  unsure('sessions', 'A resume leaves no sign in the database; a session has one stretch here.'),
  unsure('sessions', 'The database names no version of the program.'),
  seen(
    'sessions',
    'A snapshot session_<id>.json is written only with sessions.write_json_snapshots; its messages carry private marks.',
  ),
  documented(
    'sessions',
    'A chat gateway writes <id>.jsonl with bare messages, a first row session_meta and times without a zone (a file from the wild).',
  ),
  seen('sessions', 'A trace export looks like a session of Claude Code and is told by version hermes-agent.'),
  seen(
    'usage',
    'The database counts tokens per session, not per reply; calls for compaction are counted apart by their task.',
  ),
  seen('usage', 'A cost of 0 with cost_status unknown means that no price is known.'),
  seen(
    'effects',
    'write_file and patch name the file and, for patch, the difference; the content before is not in the record.',
  ),
  documented('effects', 'The memory tool says which store it wrote and how full it is, not the file (source).'),
  seen(
    'instructions',
    'The system prompt is built once, stored by its SHA-256 and sent again on a resume whatever the files say by then.',
  ),
  seen(
    'instructions',
    'The first kind with text wins: .hermes.md or HERMES.md up to the git root, AGENTS.md, CLAUDE.md, .cursorrules with .cursor/rules.',
    BOTH,
  ),
  seen('instructions', 'AGENTS.md and agents.md are read from the start directory only.'),
  seen(
    'instructions',
    'AGENTS.override.md, AGENTS.md and agents.md are merged from the git root down; equal texts are kept once; the chain is capped again.',
    ['0.20.4'],
  ),
  seen(
    'instructions',
    'Any entry named .git makes a git root, an empty folder too. A blank file, a directory and text that is no UTF-8 count as absent.',
    BOTH,
  ),
  seen(
    'instructions',
    'A file is cut at the larger of 20,000 characters and 24 % of the window, counted in code points with its heading; the marker names the absolute path.',
    BOTH,
  ),
  seen(
    'instructions',
    'A hit of the security scan replaces the whole file by one line: prompt_injection, sys_prompt_override, role_hijack, html_comment_injection, known_c2_framework, exfil_curl, read_secrets, invisible_unicode.',
    BOTH,
  ),
  documented(
    'instructions',
    'The other ids of the scan, and those for memory entries only, come from the source of upstream main.',
  ),
  seen(
    'instructions',
    'Context files of subdirectories come with the result of the call that touched them; their order depends on the hash seed.',
  ),
  seen('instructions', '--ignore-rules drops SOUL.md and context files; memory still enters.'),
  seen('memory', 'Entries stand between lines of one section sign; a file longer than its limit enters in full.'),
  documented('memory', 'Newer releases mark a memory that is over its limit and cut it (source of upstream main).'),
  seen(
    'skills',
    'Name and description enter, cut to 60 characters; the first path of a name wins, the home beats external folders; platforms hides a skill.',
  ),
  documented('skills', 'Trusted project folders come first from 2026-08-17 on.'),
  seen(
    'settings',
    'The managed file beats the user file leaf by leaf; a broken file leaves the program on its defaults.',
  ),
  seen(
    'settings',
    'The .env of the home beats the environment of the process, the managed one beats both; that of the directory only fills what is unset.',
  ),
  seen(
    'settings',
    'CUSTOM_BASE_URL beats even the managed configuration for the provider custom; OPENAI_BASE_URL is ignored for it.',
  ),
  documented('settings', 'Other providers take their own variable for the address.'),
  seen(
    'plugins',
    'A plugin is loaded when plugins.enabled names it. Shell hooks need an approval per event and command.',
  ),
  documented('mcp', 'mcp_servers and the names of their tools; not run.'),
  documented(
    'program',
    'A git checkout with a Python environment; the npm package hermes-agent is a bridge that makes one.',
  ),
  unsure('program', 'Release 0.21.x was not run as a whole; wire headers, Windows and macOS were not seen.'),
]
