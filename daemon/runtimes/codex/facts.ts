import type { Fact } from '../adapter.ts'

const V = ['0.171.0']
const verified = (area: string, fact: string, versions: readonly string[] = V): Fact => ({
  area,
  fact,
  status: 'verified',
  versions,
})

/** What the reading of sessions rests on. */
export const sessionFacts: readonly Fact[] = [
  verified(
    'sessions',
    'One file per thread below sessions/<year>/<month>/<day>, named after local time and thread id; times inside are UTC.',
  ),
  verified('sessions', 'Archiving moves a file to archived_sessions without renaming it; it stays the same thread.'),
  verified(
    'sessions',
    'A revert begins a second file of the same thread, which holds the new part and names the record before which it goes on.',
  ),
  verified('sessions', 'A fork holds its own part only and names the thread and the record it goes on from.'),
  verified(
    'sessions',
    'A resume appends to the file without a new head, so the version of a later start is not written down.',
  ),
  verified(
    'sessions',
    'A resume through the app server with unchanged settings leaves no sign: both starts are shown as one.',
  ),
  verified(
    'sessions',
    'Settings applied between two turns are written the same way for a resume and for a change in the running program.',
  ),
  verified(
    'sessions',
    'A thread held by a process has a locked file in thread-writer-locks; a killed process leaves the file, not the lock.',
  ),
  {
    area: 'sessions',
    fact: 'Compressed session files (.jsonl.zst) are read; none was seen in a real home.',
    status: 'unknown',
    versions: [],
  },
  verified('rows', 'Prompts, answers and thoughts stand twice, as an item and as an event; they are read once.', [
    '0.41.0',
    '0.171.0',
  ]),
  verified(
    'rows',
    'Records of one turn can be written inside a later one; calls are found by their id, stretches by their turn.',
  ),
  verified('rows', 'Items of a reply name the last item of the history that the model had seen.'),
  verified(
    'rows',
    'Commands and patches inside a script have ids of their own and are recorded as items, in paginated mode only.',
  ),
  verified(
    'rows',
    'Hook runs and decisions of approvals are not recorded; what a hook added stands in a developer message.',
  ),
  verified(
    'rows',
    'No record says that the sandbox held a command back; the answer of a read-only file system under a sandbox is taken for it.',
  ),
  verified('usage', 'Each response has a usage record; older versions write running totals only.', [
    '0.41.0',
    '0.171.0',
  ]),
  {
    area: 'usage',
    fact: 'Formats before 0.41 write no usage.',
    status: 'verified',
    versions: ['format of August 2025', 'format of September 2025'],
  },
  verified('effects', 'An added file is written over one that was there, and the record does not keep what it held.'),
  verified('effects', 'Changes made by shell commands are not recorded.'),
  verified(
    'requests',
    'The input of a request is the recorded history; base instructions of models with direct tools are sent in another form than recorded.',
  ),
  verified('instructions', 'The texts of all AGENTS.md files are recorded as one block.'),
]
