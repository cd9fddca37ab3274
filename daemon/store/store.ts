import type { Digest, Drift, Manifest, ManifestBody, RunId } from '../../contract/index.ts'
import type { AgentCommits, KeptNames, LargeObjects, RawFiles, SafetySnapshots, WorkspaceStates } from './states.ts'

/**
 * The durable side of Reprise: a bare Git repository, an encrypted vault beside it, small documents. Everything written here is
 * redacted first; nothing is acknowledged before it would survive a crash. One writer per data directory (`daemon/lock.ts`).
 */
export interface Store {
  readonly dir: string
  readonly manifests: ManifestStore
  readonly texts: TextStore
  readonly sessions: SessionArchive
  readonly configuration: ConfigurationHistory
  readonly states: WorkspaceStates
  readonly commits: AgentCommits
  readonly large: LargeObjects
  readonly files: RawFiles
  readonly safety: SafetySnapshots
  readonly names: KeptNames
  /** Bytes on disk, objects, packs. Cheap enough for a status line. */
  size(): { readonly bytes: number; readonly objects: number }
  check(): Promise<CheckResult>
  /** Rolls small packs together and packs refs. Runs by itself after many writes; reads and writes go on meanwhile. */
  maintain(): Promise<void>
  close(): Promise<void>
}

export interface CheckResult {
  readonly ok: boolean
  readonly objects: number
  readonly damaged: string[]
  readonly quarantined: string[]
}

export interface ManifestStore {
  /** Canonicalises (RFC 8785), digests (SHA-256), signs (Ed25519) and stores; the same body gives the same digest and one object. */
  put(body: ManifestBody): Promise<Manifest>
  /** Verified on read: digest and signature. Null when no such manifest exists. Throws `damaged` when it was altered. */
  get(digest: Digest): Promise<Manifest | null>
  /** Full digests beginning with `prefix` (with or without `sha256:`). */
  find(prefix: string): Promise<readonly Digest[]>
  count(): number
}

/** Redacted texts of sources, by the digest of the text before redaction. */
export interface TextStore {
  put(items: readonly { readonly digest: Digest; readonly text: string }[]): Promise<void>
  get(digest: Digest): Promise<{ readonly text: string; readonly redactions: number } | null>
}

/** A line-aligned slice of a session file, to be redacted and kept. */
export interface ArchiveSlice {
  /** Path of the file relative to the home. */
  readonly file: string
  readonly firstLine: number
  readonly firstByte: number
  /** Original bytes, ending at a line end, except perhaps the last line of a finished file. */
  readonly bytes: Uint8Array
  /** Byte length of each line before redaction, its line end included. */
  readonly lineBytes: readonly number[]
}

export interface ArchivedFile {
  readonly file: string
  readonly lines: number
  readonly bytes: number
  /** Digest over the original bytes archived so far. */
  readonly prefixDigest: Digest
  /** Generation: grows when the source was rewritten or shrank; older generations are kept. */
  readonly generation: number
}

export interface SessionArchive {
  /** What is kept of a run so far; empty when nothing is. */
  state(run: RunId): Promise<readonly ArchivedFile[]>
  /** Appends slices; durable when it resolves. `about` is stored as `run.json`, small; with no slices only it is renewed. */
  append(
    run: RunId,
    about: Readonly<Record<string, unknown>>,
    slices: readonly ArchiveSlice[],
    newGeneration: boolean,
  ): Promise<void>
  /** Every run the archive knows, with its `run.json`. */
  list(): AsyncIterable<{ readonly run: RunId; readonly about: Readonly<Record<string, unknown>> }>
  /** The `run.json` of a run; null when nothing is kept of it. */
  about(run: RunId): Promise<Readonly<Record<string, unknown>> | null>
  /** The redacted lines of the longest generation (or of the one named), in order, with their original places. */
  read(run: RunId, file: string, generation?: number): AsyncIterable<ArchivedLine>
  /** Every generation known of a file, oldest first (B12). */
  generations(run: RunId, file: string): Promise<readonly ArchivedFile[]>
}

export interface ArchivedLine {
  readonly line: number
  /** Place and length in the original file, the line end included. */
  readonly byte: number
  readonly bytes: number
  /** Redacted, with its line end. A view into a larger buffer: copy it to keep it. */
  readonly text: Uint8Array
}

/** Changes of configuration outside of starts, kept for ever: nothing on the disk could tell them again. */
export interface ConfigurationHistory {
  append(drift: Drift): Promise<void>
  /** All of them, in no particular order. What cannot be read is told and passed over. */
  list(): AsyncIterable<Drift>
}
