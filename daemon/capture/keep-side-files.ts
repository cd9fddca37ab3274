import fs from 'node:fs'
import path from 'node:path'
import type { RunId } from '../../contract/index.ts'
import type { RuntimeAdapter, SessionProblem, SessionUnit, SideFile } from '../runtimes/adapter.ts'
import { isCredentialFile } from '../secrets/credential-files.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Statement } from '../store/index/database.ts'
import type { ArchivedFile, ArchiveSlice, Store } from '../store/store.ts'
import { type AboutRun, lengthsOfLines } from './archive-run.ts'
import type { GapNotes } from './gap-notes.ts'
import { digestOf } from './prefix.ts'

/** A larger file beside a session is not kept; that it was left out is told, with its size. */
export const LARGEST_SIDE_FILE = 16 * 1024 * 1024
/** Content brought into the store with one commit. */
const TOGETHER = 8 * 1024 * 1024
/** Content in memory at a time, over all runs. */
const IN_HAND = 32 * 1024 * 1024
/** The agent writes a copy before the record that tells of what: so long it may stay unnamed. */
const UNNAMED_MS = 60_000
const LF = 10

export interface SideFileKeeper {
  /** Whether any of these files is not what was last kept of it. */
  isBehind(run: number, home: string, files: readonly string[]): boolean
  /** Brings what lies beside a session into its archive, secrets covered; what is left out is noted in `about` and told. */
  keep(request: KeepRequest): Promise<void>
}

export interface KeepRequest {
  readonly run: number
  readonly id: RunId
  readonly unit: SessionUnit
  readonly adapter: RuntimeAdapter
  readonly about: AboutRun
}

interface Found {
  readonly file: string
  readonly rel: string
  readonly stat: fs.Stats
}

interface KeeperParts {
  readonly sql: (text: string) => Statement
  readonly store: Store
  readonly redactor: Redactor
  readonly gaps: GapNotes
  readonly now: () => Date
}

/** Keeps spilled outputs, checkpoints and notes beside sessions: the agent deletes them together with the transcript (B13). */
export const createSideFileKeeper = ({ sql, store, redactor, gaps, now }: KeeperParts): SideFileKeeper => {
  const isKnown = (run: number, { rel, stat }: Pick<Found, 'rel' | 'stat'>): boolean => {
    const known = sql('select size, mtime, ino from side_files where run = ? and rel = ?').get(run, rel) as
      | { size: number; mtime: number; ino: number }
      | undefined
    return known !== undefined && known.size === stat.size && known.mtime === stat.mtimeMs && known.ino === stat.ino
  }

  const remember = (run: number, { rel, stat }: Found): void => {
    sql('insert or replace into side_files (run, rel, size, mtime, ino) values (?, ?, ?, ?, ?)').run(
      run,
      rel,
      stat.size,
      stat.mtimeMs,
      stat.ino,
    )
  }

  /** Why a file is not to be kept; `later` when its record may still say of what it is a copy. */
  const whyNot = (run: number, { file, stat }: Found, { isCopy }: SideFile): string | 'later' | null => {
    if (stat.isSymbolicLink()) return 'it is a link to another place'
    if (!stat.isFile()) return 'it is no ordinary file'
    if (stat.size > LARGEST_SIDE_FILE)
      return `it is larger than ${LARGEST_SIDE_FILE / 1024 / 1024} MB (${stat.size} bytes)`
    if (isCredentialFile(file)) return 'it is a credential, which is never copied'
    if (!isCopy) return null
    const copy = sql('select credential from side_copies where run = ? and name = ?').get(run, path.basename(file)) as
      | { credential: number }
      | undefined
    if (copy?.credential === 1) return 'it is a copy of a credential, which is never copied'
    return copy === undefined && now().getTime() - stat.mtimeMs < UNNAMED_MS ? 'later' : null
  }

  const leaveOut = ({ id, about }: KeepRequest, { file, rel }: Found, why: string): void => {
    about.not_kept = { ...about.not_kept, [rel]: why }
    tellLeftOut(gaps, id, file, why)
  }

  let inHand = 0
  let waiting: (() => void)[] = []
  /** Runs `work` when there is room for so many bytes. */
  const withRoom = async (bytes: number, work: () => Promise<void>): Promise<void> => {
    while (inHand > 0 && inHand + bytes > IN_HAND) await new Promise<void>((resolve) => waiting.push(resolve))
    inHand += bytes
    try {
      await work()
    } finally {
      inHand -= bytes
      const next = waiting
      waiting = []
      for (const go of next) go()
    }
  }

  const find = (request: KeepRequest): { readonly fresh: Found[]; readonly leftOut: readonly Found[] } => {
    const { run, unit, adapter, id } = request
    const fresh: Found[] = []
    const leftOut: Found[] = []
    const report = ({ path: where, reason }: SessionProblem): void => tellLeftOut(gaps, id, where, reason)
    for (const side of adapter.listSideFiles(unit, report)) {
      const stat = statOf(side.path)
      if (stat === null) continue
      const found: Found = { file: side.path, rel: path.relative(unit.home, side.path), stat }
      if (isKnown(run, found)) continue
      const why = whyNot(run, found, side)
      if (why === null) fresh.push(found)
      else if (why !== 'later') {
        leaveOut(request, found, why)
        leftOut.push(found)
      }
    }
    return { fresh, leftOut }
  }

  /** Keeps files that go together; one that cannot be read is told and tried again when it is looked at next. */
  const keepBatch = async (request: KeepRequest, batch: readonly Found[]): Promise<void> => {
    const { run, id, about } = request
    const state = new Map((await store.sessions.state(id)).map((one) => [one.file, one]))
    const more: ArchiveSlice[] = []
    const anew: ArchiveSlice[] = []
    const kept: Found[] = []
    for (const found of batch) {
      let original: Uint8Array
      try {
        original = fs.readFileSync(found.file)
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code !== 'ENOENT') leaveOut(request, found, message)
        continue
      }
      if (original.length > LARGEST_SIDE_FILE) continue
      const { slice, renewed } = sliceOf(
        found.rel,
        redactor.redactBytes(original).bytes,
        state.get(redactor.redact(found.rel).text),
      )
      if (slice !== null) (renewed ? anew : more).push(slice)
      kept.push(found)
    }
    for (const { rel, file } of kept) {
      if (about.not_kept) delete about.not_kept[rel]
      gaps.drop('not_archived', file)
    }
    if (more.length > 0 || anew.length === 0) await store.sessions.append(id, about, more, false)
    if (anew.length > 0) await store.sessions.append(id, about, anew, true)
    for (const found of kept) remember(run, found)
  }

  return {
    isBehind: (run, home, files) =>
      files.some((file) => {
        const stat = statOf(file)
        return stat !== null && !isKnown(run, { rel: path.relative(home, file), stat })
      }),

    async keep(request) {
      const { fresh, leftOut } = find(request)
      for (let at = 0; at < fresh.length; ) {
        const batch: Found[] = []
        let bytes = 0
        for (let next = fresh[at]; next && (bytes === 0 || bytes + next.stat.size <= TOGETHER); next = fresh[at]) {
          batch.push(next)
          bytes += next.stat.size
          at++
        }
        await withRoom(bytes, () => keepBatch(request, batch))
      }
      if (leftOut.length === 0) return
      // Only what is written down for good is not looked at again.
      await store.sessions.append(request.id, request.about, [], false)
      for (const found of leftOut) remember(request.run, found)
    },
  }
}

export const tellLeftOut = (gaps: GapNotes, run: RunId, file: string, why: string): void =>
  gaps.save({
    kind: 'not_archived',
    run,
    where: file,
    message: `${file} is not kept: ${why}`,
    hint: 'what it holds can only be shown while the agent keeps it',
  })

/**
 * The part of a file that the archive lacks. The whole file is covered at once, as a key may go over many of its lines; the archive covers
 * what it gets once more, which changes nothing, and its digest is that of the covered content.
 */
const sliceOf = (
  rel: string,
  content: Uint8Array,
  kept: ArchivedFile | undefined,
): { readonly slice: ArchiveSlice | null; readonly renewed: boolean } => {
  const isPrefix =
    kept !== undefined &&
    kept.bytes <= content.length &&
    digestOf(content.subarray(0, kept.bytes)) === kept.prefixDigest
  if (isPrefix && kept.bytes === content.length) return { slice: null, renewed: false }
  const from = isPrefix ? kept : { bytes: 0, lines: 0 }
  const inLine = from.bytes > 0 && content[from.bytes - 1] !== LF
  const bytes = content.subarray(from.bytes)
  return {
    slice: {
      file: rel,
      firstLine: from.lines + (inLine ? 0 : 1),
      firstByte: from.bytes,
      bytes,
      lineBytes: lengthsOfLines(bytes),
    },
    renewed: kept !== undefined && !isPrefix,
  }
}

const statOf = (file: string): fs.Stats | null => {
  try {
    return fs.lstatSync(file)
  } catch {
    // Gone, or its folder is: that is told by whoever lists it.
    return null
  }
}
