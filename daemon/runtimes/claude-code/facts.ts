import type { Fact } from '../adapter.ts'

const V = ['2.1.332']
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
    'One file per session below projects/, named after the session id; rows are appended while it runs.',
  ),
  verified(
    'sessions',
    'The folder name replaces every character outside A-Z, a-z and 0-9 by a dash; the working directory stands in the rows.',
  ),
  {
    area: 'sessions',
    fact: 'Folder names of directories longer than 200 characters end in a hash whose form is not known.',
    status: 'unknown',
    versions: [],
  },
  verified(
    'sessions',
    'A resume appends to the same file; the program writes a cost-state row when it ends, so the next row begins a new start.',
  ),
  verified(
    'sessions',
    'A start after a killed program shows only in its first request, which stands on no other request.',
  ),
  verified(
    'sessions',
    'A fork copies the rows of its parent with the same uuids and names the parent as requestSessionId on copied answers.',
  ),
  {
    area: 'sessions',
    fact: 'Versions without hooks and request rows leave no sign of a resume; their files show one start.',
    status: 'verified',
    versions: ['1.0.119', '2.0.21'],
  },
  verified(
    'sessions',
    'Subagents write files of their own below <session>/subagents, with a meta file that names the call.',
  ),
  {
    area: 'sessions',
    fact: 'Session files are deleted after cleanupPeriodDays, 30 when it is not set.',
    status: 'documented',
    versions: [],
  },
  verified('rows', 'The parent chain is a tree: results of parallel calls hang on their own calls.'),
  verified('rows', 'A row may stand twice with the same uuid; the second is the same row.', ['2.1.12']),
  verified('rows', 'Rows of one session may carry a second session id; answers carry the id of the session.', [
    '2.1.12',
  ]),
  verified('usage', 'Usage is repeated on every row of a reply; the last row holds the final values.', [
    '1.0.119',
    '2.0.21',
    '2.1.12',
    '2.1.205',
    '2.1.332',
  ]),
  verified('usage', 'Versions 2.1.11 to 2.1.29 write the output count of the start of the stream: a lower bound.', [
    '2.1.12',
  ]),
  verified('usage', 'The requests of a compaction and of the title stand in no row; only cost-state counts them.'),
  verified(
    'effects',
    'Write and Edit record the content before and a patch; files changed by shell commands are not in the record.',
  ),
  {
    area: 'effects',
    fact: 'Whether recorded file contents keep CRLF line ends and byte order marks is not known; digests may differ from the bytes on disk.',
    status: 'unknown',
    versions: [],
  },
  verified(
    'instructions',
    'attachment.instructions holds the instruction files in prompt order, normalised; without any file the row is missing.',
  ),
  verified(
    'instructions',
    'Nested instructions and path rules come as nested_memory rows right behind the call that touched a file.',
  ),
  verified(
    'instructions',
    'A resume goes on with the instructions of the conversation and does not read them again until a compaction.',
  ),
  verified('checkpoints', 'Interactive sessions record file-history rows; print mode writes none.'),
  verified('denials', 'A refused call carries permissionDecision reject and toolDenialKind.'),
]

const queued: Fact = {
  area: 'rows',
  fact: 'A prompt typed while the agent works is taken from an attachment of type queued_command; not seen in a recording of ours.',
  status: 'unknown',
  versions: [],
}

export const facts: readonly Fact[] = [...sessionFacts, queued]
