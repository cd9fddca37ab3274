import type { Fact } from '../adapter.ts'

const NEW = ['2026.9.6']
const verified = (area: string, fact: string, versions: readonly string[] = NEW): Fact => ({
  area,
  fact,
  status: 'verified',
  versions,
})
const documented = (area: string, fact: string): Fact => ({ area, fact, status: 'documented', versions: [] })
const unknown = (area: string, fact: string): Fact => ({ area, fact, status: 'unknown', versions: [] })

/** What the reading of sessions rests on. */
export const sessionFacts: readonly Fact[] = [
  verified(
    'sessions',
    'Sessions and transcripts lie in one SQLite database per agent, schema 23; larger events are zstd frames.',
  ),
  verified(
    'sessions',
    'Versions up to 2026.7.1 write JSONL files below agents/<id>/sessions with an index sessions.json.',
    ['2026.7.1-2'],
  ),
  verified(
    'sessions',
    'An import moves JSONL files to session-sqlite-import-archive; session and event ids stay the same.',
  ),
  verified(
    'sessions',
    'A reset of older versions renames the file and goes on under the same session id: two sessions share one id.',
    ['format 3'],
  ),
  verified(
    'sessions',
    'Rows of a transcript are only added while a session goes on, by single turns and by a gateway; /new adds a reset row to the same session.',
  ),
  verified(
    'sessions',
    'sessions_spawn answers with the session key of the child, whose window names the key of its parent.',
  ),
  unknown(
    'sessions',
    'Cold archives and archived transcripts in the database were not produced by a run of ours; their form is that of the source of 2026.9.6.',
  ),
  documented(
    'sessions',
    'Databases of another schema than 23 are read as far as tables and columns have the same names; a newer one is told of.',
  ),
  verified(
    'rows',
    'Every event has an id and a parent; the branch in use ends at the last event, or where a leaf event points.',
  ),
  verified('rows', 'A failed attempt is an assistant row with stopReason error, or leaves no row at all.', [
    '2026.9.6',
    'format 3',
  ]),
  verified(
    'rows',
    'Rows of provider openclaw (delivery-mirror, gateway-injected) are notes of deliveries, no replies.',
    ['2026.9.6', 'format 3'],
  ),
  verified('rows', 'openclaw.cache-ttl rows repeat what earlier results look like to the model; they are no results.'),
  verified('usage', 'Usage values that are all zero say that the provider reported none.', ['format 3']),
  verified(
    'effects',
    'write gives the content and whether the file was new, edit a patch; what a file held before is not recorded.',
  ),
  verified('effects', 'Details above 8 KiB are cut; then only the arguments of a call tell what it did.'),
  documented(
    'configuration',
    'The session entry holds the prompt report of the last turn only; trajectories are pruned after 14 days or 10 MiB.',
  ),
  verified(
    'configuration',
    'The trajectory of a turn holds its system prompt up to 32,768 characters, with ids and secrets covered; its list of tools is cut.',
  ),
  verified(
    'configuration',
    'Report and trajectory of a turn are written before its first row; a model chosen by --model shows as a model-snapshot row only.',
  ),
  verified(
    'configuration',
    'The report lists the catalogue of skills, also where the prompt offers none for want of the read tool.',
  ),
  verified(
    'configuration',
    'The prompt report names every bootstrap file with its raw and injected size in UTF-16 units, not its text.',
  ),
  verified(
    'requests',
    'For openai-completions tool-call ids lose every character that is no letter or digit on their way back to the model.',
  ),
  verified(
    'requests',
    'The time before a prompt, the Runtime line and the internal context message of a request are not in the transcript.',
  ),
]
