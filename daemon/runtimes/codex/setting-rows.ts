import { textDigest } from '../../manifest/effective-text.ts'
import { asList, asName, asNames, asNumber, asRow, asText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import { environmentOf, originOf, settingsOf, skillsOf } from './evidence.ts'
import type { CodexReader } from './reader.ts'
import { recordId } from './records.ts'

/** The head of a file. A second one stands where a revert began a new file, or where an older version copied the head of another thread. */
export function readMeta(reader: CodexReader, meta: Row): void {
  const { tally, unit } = reader
  const id = asName(meta.id) ?? unit.session
  const isFirst = tally.threads.list().length === 0
  const isOwn = isFirst || id === reader.thread
  tally.threads.add(id)
  const origin = originOf(meta)
  const base = asRow(meta.history_base)
  const baseThread = asName(base?.thread_id) ?? origin.forked_from
  const startedAt = reader.place.record.at
  if (!isOwn) {
    // Older versions copy the records of the thread they fork, its head included.
    reader.emit({ kind: 'resume', summary: `goes on from thread ${id}`, originSession: id })
    return
  }
  const isFork = isFirst && baseThread !== null && baseThread !== id
  const isRevert = !isFirst && baseThread === id
  reader.stretches.begin(
    isFirst ? (isFork ? 'fork' : 'start') : isRevert ? 'fork' : 'resume',
    startedAt,
    reader.nextSeq,
    reader.sink,
  )
  if (isFork) reader.usage.inherits = true
  reader.source = origin.source
  reader.paginated = meta.history_mode === 'paginated'
  noteStart(reader, meta)
  const shared = asNumber(base?.end_ordinal_exclusive) ?? origin.forked_at
  reader.turn = null
  reader.emit({
    stretch: reader.stretches.n,
    kind: isFork || isRevert ? 'resume' : 'note',
    summary: summaryOf(isFork || isRevert ? goesOn(baseThread ?? id, shared, isRevert) : describeStart(meta)),
    originSession: isFork ? baseThread : null,
    // The last record it shares with its parent, by which the point of the fork can be found there.
    rowIds: isFork && baseThread !== null && shared !== null && shared > 0 ? [recordId(baseThread, shared - 1)] : [],
  })
}

const goesOn = (thread: string, shared: number | null, isRevert: boolean): string => {
  const until = shared === null ? '' : ` before record ${shared}`
  return isRevert ? `went back to${until === '' ? ' an earlier point' : until}` : `forked from thread ${thread}${until}`
}

function describeStart(meta: Row): string {
  const version = asName(meta.cli_version)
  const origin = originOf(meta)
  const by = [origin.client, version === null ? null : `version ${version}`, origin.provider].filter(
    (part) => part !== null,
  )
  return by.length === 0 ? 'session began' : `session began: ${by.join(', ')}`
}

function noteStart(reader: CodexReader, meta: Row): void {
  const { evidence, tally } = reader
  const version = asName(meta.cli_version)
  const cwd = asName(meta.cwd)
  const git = asRow(meta.git)
  const prompt = asRow(meta.base_instructions)
  const base = asText(prompt?.text)
  const provenance = asName(asRow(prompt?.provenance)?.type)
  // AGENTS.md stood here until the first versions with an envelope.
  const instructions = asText(meta.instructions)
  if (version !== null) {
    tally.versions.add(version)
    evidence.version = version
  }
  if (cwd !== null) reader.enterDirectory(cwd, 'record')
  evidence.set('origin', originOf(meta))
  if (git !== null) evidence.set('git', { sha: asName(git.commit_hash), branch: asName(git.branch) })
  if (base !== null) evidence.set('base_prompt_digest', textDigest(base))
  // `model` for the prompt of the model, `custom` for one that replaces it (0.171.0).
  if (base !== null && provenance !== null) evidence.set('base', provenance === 'model' ? null : base)
  if (instructions !== null && instructions !== '') evidence.set('agents', { directory: null, text: instructions })
}

/** What is in force for a turn. A change from the turn before is an event: the same thread goes on with other settings. */
export function readTurnContext(reader: CodexReader, turn: Row): void {
  const cwd = asName(turn.cwd)
  if (cwd !== null) reader.enterDirectory(cwd, 'record')
  const settings = settingsOf(turn)
  if (settings.model !== null) {
    reader.model = settings.model
    reader.tally.models.add(settings.model)
  }
  reader.evidence.set('settings', settings)
  const off = asNames(turn.disabled_plugin_ids)
  if (Array.isArray(turn.disabled_plugin_ids)) reader.evidence.set('plugins_off', off)
  const before = reader.settings
  const now: Row = { ...settings, cwd }
  reader.settings = now
  const changed = before === null ? [] : Object.entries(now).filter(([key, value]) => !isSame(before[key], value))
  if (changed.length === 0) return
  reader.emit({
    kind: 'context',
    summary: summaryOf(changed.map(([key, value]) => `${key}: ${plain(before?.[key])} → ${plain(value)}`).join(', ')),
  })
}

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (Array.isArray(a) && Array.isArray(b) && JSON.stringify(a) === JSON.stringify(b))

const plain = (value: unknown): string =>
  value === null || value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)

/** What the program holds to be true of the world, whole or as far as it changed; its texts also stand in messages. */
export function readWorldState(reader: CodexReader, payload: Row): void {
  const state = asRow(payload.state)
  if (state === null) return
  const { evidence } = reader
  const agents = asRow(state.agents_md)
  if (agents !== null) {
    const text = asText(agents.text)
    if (text !== null) evidence.set('agents', { directory: asName(agents.directory), text })
    else if (payload.full === true) evidence.set('agents', null)
  }
  const skills = asText(asRow(state.host_skills)?.body)
  if (skills !== null) evidence.set('skills', skillsOf(skills))
  const environments = asRow(state.environments)
  if (environments !== null && payload.full === true) evidence.set('environment', environmentOf(environments))
  const deferred = asRow(state.tools)
  if (deferred !== null) evidence.set('deferred_tools', Object.keys(deferred))
  else if (payload.full === true) evidence.set('deferred_tools', [])
}

/** The history was replaced by a shorter one. */
export function readCompaction(reader: CodexReader, payload: Row): void {
  const message = asText(payload.message) ?? ''
  const kept = asList(payload.replacement_history).length
  const seq = reader.emit({
    kind: 'compact',
    summary: summaryOf(message === '' ? `history replaced by ${kept} items` : message),
    contentKey: reader.key('compact', message),
  })
  reader.spine = seq
  reader.compaction = seq
  reader.words(seq, 'context', message)
}
