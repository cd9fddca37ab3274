import type { Digest, EventKind, ManifestBody, RuntimeName, Tokens } from '../../contract/index.ts'
import type { SharedFile } from './shared/shared-file.ts'

/**
 * What Reprise must know of one agent program. An adapter reads; it never writes, never keeps state between calls beyond the objects
 * it hands out, and knows nothing of store, replay or rollback. `test/conformance` holds every adapter to this page.
 */
export interface RuntimeAdapter {
  readonly runtime: RuntimeName
  readonly facts: readonly Fact[]
  /** Places a home may be, whether or not anything is there, most likely first. Never throws. */
  findHomes(surroundings: Surroundings): readonly HomeCandidate[]
  /** What the home says of itself: versions, retention, sessions live now. A damaged file is a reason, not an exception. */
  describeHome(home: string, surroundings: Surroundings): HomeDescription
  /** Every session the home holds, one unit each, however many files it lies in. Unreadable folders are reported, not skipped. */
  listSessions(home: string, report: (problem: SessionProblem) => void): Iterable<SessionUnit>
  /**
   * Folders of the home that hold sessions of more than one directory, where the runtime names them by a lossy rule (B14): what the
   * runtime keeps beside the sessions, such as memory, may be mixed.
   */
  findMixedFolders(
    sessions: Iterable<{ readonly folder: string; readonly cwd: string | null }>,
  ): ReadonlyMap<string, readonly string[]>
  /** The few directories whose changes matter, and how deep. */
  watchPlaces(home: string, surroundings: Surroundings): readonly WatchPlace[]
  /**
   * Writes the lines of a unit whose session is no plain file of one object per line (`linesFrom`), oldest first, each one JSON object
   * without a line end. Deterministic: what did not change is written in the same bytes again, so that growth can be told from rewriting.
   * A source that is being written to is read in one consistent state or not at all (`SourceBusy`); it is never locked and never altered.
   * What was written before an error is dropped, so it need not be held back. A session that is not there any more has no lines.
   * Not needed by a runtime all of whose sessions are plain files.
   */
  writeLines?(unit: SessionUnit, write: (line: string) => void): void
  /** A reader for one unit, from its first byte. Deterministic: the same bytes give the same rows. */
  openReader(unit: SessionUnit): SessionReader
  /** The side files of a unit as they are now. */
  listSideFiles(unit: SessionUnit, report: (problem: SessionProblem) => void): Iterable<SideFile>
  /** The file in which the runtime keeps what was typed, whether or not a session keeps it too; null when it has none. */
  promptHistoryFile(home: string): string | null
  /** One record of that file; null when it is none. Records of one session are read by a reader of a unit that is typed only. */
  readTypedPrompt(record: unknown): TypedPrompt | null
  /** What the records of one event say in full, secrets included: the caller covers them, and reads side files wherever they are. */
  describeEvent(
    unit: SessionUnit,
    event: EventPlace,
    lines: readonly RawLine[],
    readSideFile: ReadSideFile,
  ): Promise<EventContent>
  /**
   * The request that led to a reply, from the rows of the reply and the session they stand in; secrets included: the caller covers them.
   * What could not be rebuilt is said, never left out in silence.
   */
  rebuildRequest(unit: SessionUnit, reply: readonly RawLine[], lines: SessionLines): Promise<RebuiltRequest>
  /** The program that would run, without running it; null when none is found. */
  findProgram(home: string, surroundings: Surroundings): Program | null
  /**
   * Why a file in or beside a home is a helper of the agent's own (a backup, a rejected or clobbered copy, a lock, a migration record) whose
   * coming and going is no change of configuration (B18); null when it is not.
   */
  helperFile(home: string, file: string): string | null
  /**
   * What of a file is configuration, where it is not all of it: state, credentials and what belongs to other projects must survive when the
   * configuration in it goes back. Null: the file is configuration as a whole.
   */
  sharedFile(home: string, file: string, workspace: string | null): SharedFile | null
  /** The configuration in force for a start in `cwd` now. */
  resolve(request: ResolveRequest): Resolution
  /**
   * What the record of a stretch tells of its configuration at its start, everything else in `unknown`. Depends on nothing that came
   * after the start, so that it never changes; what was used is told by events.
   */
  inferManifest(stretch: StretchEvidence): ManifestBody
  /** Texts that entered the context at the start of the stretch, as far as its record holds them, by their digest. */
  recordedTexts(stretch: StretchEvidence): readonly { readonly digest: Digest; readonly text: string }[]
  /** A resolution made at the start of a stretch, completed and corrected by what the stretch's own record says. */
  joinManifest(resolved: ManifestBody, inferred: ManifestBody): ManifestBody
}

/** A fact about the runtime, where it comes from and on which versions it was seen. */
export interface Fact {
  readonly area: string
  readonly fact: string
  readonly status: 'verified' | 'documented' | 'unknown'
  readonly versions: readonly string[]
}

/** Everything an adapter may know of the machine; passed in, so that tests choose it. */
export interface Surroundings {
  readonly platform: NodeJS.Platform
  /** The user's home directory. */
  readonly userHome: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Prefix before absolute system paths such as `/etc/claude-code`; empty outside tests. */
  readonly systemRoot: string
  readonly now: () => Date
}

/** An installed agent program. */
export interface Program {
  readonly version: string | null
  /** The executable or the script that is the program, links resolved; null when only its version is known. */
  readonly path: string | null
  /** How it came here: `npm @openai/codex`, `native`, `checkout`; null when that cannot be told. */
  readonly installedBy: string | null
}

export interface HomeCandidate {
  readonly path: string
  readonly foundBy: string
  readonly exists: boolean
}

export interface HomeDescription {
  readonly state: 'ok' | 'missing' | 'unreadable' | 'empty'
  readonly reason: string | null
  readonly programVersion: string | null
  readonly retention: { readonly days: number | null; readonly from: string } | null
  readonly live: readonly {
    readonly session: string
    readonly pid: number
    readonly cwd: string | null
    readonly version: string | null
  }[]
}

export interface SessionProblem {
  readonly path: string
  readonly reason: string
  /** It is being written to (`SourceBusy`): looked at again a moment later, and told of only when that lasts. */
  readonly busy?: true
}

/** One session: its main file and what belongs to it. */
export interface SessionUnit {
  readonly home: string
  /** The runtime's own id. For a subagent: `<session>/<agent id>`. */
  readonly session: string
  readonly parentSession: string | null
  readonly relation: 'subagent' | null
  /**
   * The file whose rows make the conversation. A session that lies elsewhere (`linesFrom`) has a name of its own here, unique and below the
   * home: `<database>#<session>`, or the newest of its files.
   */
  readonly file: string
  /** Files that hold parts of it (spilled outputs, meta), by absolute path. */
  readonly sideFiles: readonly string[]
  /** Small facts that stand beside the file (subagent type, the call that started it). Kept with the run: enough to open it again. */
  readonly meta: Readonly<Record<string, unknown>>
  /** What changes whenever the lines of a unit with `linesFrom` may have changed; set by `listSessions`, and only for such units. */
  readonly stamp?: UnitStamp
}

/** Stands for size and time of a file where there is none: equal stamps mean that nothing changed. */
export interface UnitStamp {
  /** A number that differs whenever the content does (bytes, rows, a hash of both). */
  readonly size: number
  /** Milliseconds since 1970 of the last change, as far as it is known; newer sessions are read first. */
  readonly mtime: number
}

/** Where the lines of a unit come from, when it is no plain file (`meta.lines_from`); null for a plain file. */
export const linesFrom = ({ meta }: Pick<SessionUnit, 'meta'>): LinesFrom | null =>
  meta.lines_from === 'database' ||
  meta.lines_from === 'files' ||
  meta.lines_from === 'document' ||
  meta.lines_from === 'compressed'
    ? meta.lines_from
    : null
export type LinesFrom = 'database' | 'files' | 'document' | 'compressed'

/** The source is being written to and gave no consistent state; it is tried again a moment later. */
export class SourceBusy extends Error {
  override readonly name = 'SourceBusy'
}

/** A unit of which nothing but typed prompts is left (B13) says so in its `meta`, which goes wherever the unit goes. */
export const typedOnly = { typed_only: true } as const
export const isTypedOnly = ({ meta }: Pick<SessionUnit, 'meta'>): boolean => meta.typed_only === true

export interface SideFile {
  readonly path: string
  /** A copy of another file. Which one, only the session's records tell (`RowSink.copyOf`): it may be one that must not be kept. */
  readonly isCopy: boolean
}

export interface TypedPrompt {
  /** Null in versions that did not write it down. */
  readonly session: string | null
  readonly text: string
  readonly at: string | null
  readonly cwd: string | null
}

/** `bytes`: the content, or its head when it is longer than is read at once; null when it is nowhere, and `why` then says so. */
export interface SideFileContent {
  readonly bytes: Uint8Array | null
  readonly total: number
  readonly why: string | null
}
export type ReadSideFile = (path: string) => Promise<SideFileContent>

export interface WatchPlace {
  readonly path: string
  readonly depth: number
  /** `sessions`: growth of session files. `configuration`: anything that may change a manifest. */
  readonly what: 'sessions' | 'configuration' | 'live'
}

/** One line of a session file as the line reader delivers it. */
export interface RawLine {
  /** From 1. A second record recovered from the same line has the same number. */
  readonly line: number
  readonly byte: number
  readonly bytes: number
  readonly value: unknown
}

/**
 * Turns lines into rows for the timeline. Fed in file order, it may answer with changes to events it emitted before (a result that
 * arrives later closes its call). It keeps fixed memory apart from compact id sets.
 */
export interface SessionReader {
  /** `sink` is called synchronously. Unknown records are reported through it, never dropped. */
  readLine(line: RawLine, sink: RowSink): void
  /**
   * Tells the facts that stand beside the lines as they are now (`SessionUnit.meta`); called after the lines of a step, also when there
   * were none. For what changes without the lines, such as the totals of a session in a database: it would make growth look like rewriting.
   */
  readMeta?(meta: Readonly<Record<string, unknown>>, sink: RowSink): void
  /** Everything known of the session so far; cheap, called after each batch. */
  summary(): SessionSummary
}

export interface RowSink {
  event(event: ReadEvent): void
  /** Closes or amends an event emitted before. Fields left out keep their value. */
  amend(seq: number, change: EventChange): void
  /** Words worth finding, for full-text search; the head of long outputs only. */
  words(seq: number, role: 'prompt' | 'answer' | 'thinking' | 'input' | 'output' | 'context', text: string): void
  stretch(stretch: {
    readonly n: number
    readonly startedAt: string | null
    readonly cause: 'start' | 'resume' | 'fork' | 'unknown'
    readonly firstSeq: number
  }): void
  unknownRecord(line: RawLine, type: string): void
  /** The side file with this name holds a copy of the file at `path`. */
  copyOf?(name: string, path: string): void
}

export interface ReadEffect {
  readonly path: string
  readonly change: 'add' | 'change' | 'delete' | 'unknown'
  readonly by: 'edit tool' | 'shell' | 'unknown'
  /** SHA-256 of the content before and after, `sha256:<hex>`, as far as the record holds it. */
  readonly before: string | null
  readonly after: string | null
  readonly addedLines: number | null
  readonly removedLines: number | null
}

export interface ReadEvent {
  readonly seq: number
  /** The runtime's own id of the row or message; unique within the session. */
  readonly id: string
  readonly parentSeq: number | null
  readonly brokenLink: boolean
  readonly kind: EventKind
  readonly at: string | null
  readonly tool: string | null
  readonly toolUseId: string | null
  /** Up to 2,000 characters, not yet redacted: the caller redacts, then cuts to one line. */
  readonly summary: string
  readonly ok: boolean | null
  readonly durationMs: number | null
  readonly effects: readonly ReadEffect[]
  readonly effectsState: 'complete' | 'partial' | 'none' | 'not_applicable'
  readonly tokens: Tokens | null
  readonly model: string | null
  readonly lane: 'main' | 'sidechain'
  readonly stretch: number
  readonly cwd: string | null
  readonly line: number
  readonly byte: number
  readonly bytes: number
  /** Row ids that belong to this event, for the recognition of copies; the runtime's `uuid`s. */
  readonly rowIds: readonly string[]
  /** Conversation content without ids, times, session and cwd; equal content gives equal text. Null for notes. */
  readonly contentKey: string | null
  /** The model's own id of the reply, if the event is one or belongs to one. */
  readonly messageId: string | null
  /** Session that the record itself names as the origin of a copied row. */
  readonly originSession: string | null
  /** `session` of the unit of the subagent this call started, as far as the record names it. */
  readonly subagentSession: string | null
}

export type EventChange = Partial<
  Pick<
    ReadEvent,
    | 'ok'
    | 'durationMs'
    | 'effects'
    | 'effectsState'
    | 'tokens'
    | 'summary'
    | 'model'
    | 'subagentSession'
    // A parent may be written after its child (B11), and a start may show itself only some rows after its first row.
    | 'parentSeq'
    | 'brokenLink'
    | 'stretch'
  >
> & {
  /** Lines that hold the rest of this event (a result row), for the detail view. */
  readonly addLine?: { readonly line: number; readonly byte: number; readonly bytes: number }
  readonly addRowIds?: readonly string[]
  /** Appended to the key of the event; the keys of an event in this order are its identity. */
  readonly addContentKey?: string
}

/** Which event is meant, when one record holds several. */
export interface EventPlace {
  readonly id: string
  readonly kind: EventKind
  readonly tool: string | null
  readonly toolUseId: string | null
}

export interface EventContent {
  readonly parts: readonly {
    readonly role: 'prompt' | 'text' | 'thinking' | 'input' | 'output' | 'error' | 'context' | 'raw'
    readonly label: string
    readonly text: string
    readonly format: 'markdown' | 'text' | 'json' | 'ansi'
  }[]
  readonly changes: readonly {
    readonly path: string
    readonly change: 'add' | 'change' | 'delete' | 'mode' | 'unknown'
    readonly before: string | null
    readonly after: string | null
    /** Why a side is missing although it existed. */
    readonly why: string | null
  }[]
}

export interface LinePlace {
  readonly line: number
  readonly byte: number
  readonly bytes: number
}

/** The lines of one session's main file, from wherever they are kept. */
export interface SessionLines {
  /** Every record in file order until `visit` gives false, in fixed memory whatever the size of the file. */
  scan(visit: (line: RawLine) => boolean): Promise<void>
  /** Records at places that `scan` gave, in file order. Those that are not there any more are left out. */
  read(places: readonly LinePlace[]): Promise<readonly RawLine[]>
}

export interface RequestBlock {
  readonly kind: 'text' | 'thinking' | 'call' | 'result' | 'image' | 'other'
  readonly label: string
  readonly text: string
  readonly format: 'markdown' | 'text' | 'json' | 'ansi'
  /** The provider was asked to cache everything up to here. */
  readonly cached: boolean
}

/** What the model was given for one reply. */
export interface RebuiltRequest {
  /** The request in the runtime's own wire form, less what its records never hold. */
  readonly body: Readonly<Record<string, unknown>>
  readonly model: string | null
  /** JSON of everything but model, system prompt, tools and messages. */
  readonly parameters: string
  readonly system: readonly RequestBlock[]
  readonly tools: readonly { readonly name: string; readonly schemaDigest: string; readonly definition: string }[]
  readonly messages: readonly {
    readonly role: string
    /** The record itself vouches for this message; otherwise it is the best that could be put together. */
    readonly asSent: boolean
    readonly blocks: readonly RequestBlock[]
  }[]
  /** Digest the runtime recorded of what it sent, as it stands there; null when it recorded none. */
  readonly digest: string | null
  /** The digest of `body`, computed as the runtime does, is the recorded one. */
  readonly exact: boolean
  /** Why it is not exact. */
  readonly why: string | null
  /** The answered request before this one: the first line of its reply, and how many of its messages this one begins with. */
  readonly before: {
    readonly line: number
    readonly kept: number
    readonly messages: number
    /** System prompt or tools are others; null when not known. */
    readonly shapeChanged: boolean | null
    readonly parametersChanged: boolean | null
  } | null
}

export interface SessionSummary {
  readonly session: string
  readonly versions: readonly string[]
  readonly workspaces: readonly string[]
  readonly models: readonly string[]
  readonly agentTitle: string | null
  readonly firstPrompt: string | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly rows: number
  readonly events: number
  readonly recordTypes: Readonly<Record<string, number>>
  readonly tokens: Tokens
  readonly tokensAreLowerBound: boolean
  readonly conversation: boolean
  readonly checkpoints: number
  readonly openCalls: number
  /** Ended by an error the record itself names. */
  readonly failed: boolean
  readonly brokenLinks: number
  readonly roots: number
  /** Links that would have closed a circle and were left out (B11). */
  readonly cyclesCut: number
  /** Rows whose own id was there before; read once, counted here. */
  readonly repeatedRows: number
  readonly clockStepsBack: number
  readonly unknownRecords: Readonly<Record<string, number>>
  readonly otherSessionIds: readonly string[]
  /** Requests to the model that the record itself shows as made by this session; null when its version records none. */
  readonly requests: number | null
  /** What each stretch left behind about its configuration, for `inferManifest`. */
  readonly stretches: readonly StretchEvidence[]
}

/** Kept small: texts only as digests, except what the record itself shows as configuration. */
export interface StretchEvidence {
  readonly home: string
  readonly session: string
  readonly n: number
  readonly startedAt: string | null
  readonly cwd: string | null
  readonly branch: string | null
  readonly version: string | null
  /** Start flags a resolution must assume to be of this stretch (which agent, which session); none when left out. */
  readonly flags?: readonly string[]
  /** Adapter-specific, JSON. */
  readonly record: Readonly<Record<string, unknown>>
}

export interface ResolveRequest {
  readonly home: string
  readonly cwd: string
  /** Start flags of the agent, as typed. */
  readonly flags: readonly string[]
  readonly surroundings: Surroundings
  /** Version whose rules to apply; null: the newest verified. */
  readonly version: string | null
  /** Keyed digest of a value that is a secret by nature (`Redactor.keyed`); without it such values appear as `hidden`. */
  readonly keyed?: (value: string) => string
  /** Contents of files as they would be: a draft is resolved without being written. */
  readonly overlay?: ReadonlyMap<string, Uint8Array>
}

/** A manifest not yet frozen, and the texts behind it, by the `uri` of their source. */
export interface Resolution {
  readonly body: ManifestBody
  readonly texts: ReadonlyMap<string, SourceText>
  /** Pieces in the order they enter the context. */
  readonly order: readonly string[]
  readonly problems: readonly { readonly path: string | null; readonly message: string }[]
}

export interface SourceText {
  /** Bytes on disk; null when the source is no file. */
  readonly raw: Uint8Array | null
  /** What enters the context, after normalisation and truncation; null when nothing does. */
  readonly text: string | null
}
