import { RepriseError } from '../../contract/errors.ts'
import { asDigest, asRunId, type RunId } from '../../contract/ids.ts'
import type { ObjectReader } from '../git/cat-file-batch.ts'
import type { TreeChange } from '../git/fast-import.ts'
import { digestOfBytes } from '../manifest/canonical.ts'
import { redactJson } from '../secrets/redact-json.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { appendToGeneration, freshGeneration } from './archive-append.ts'
import {
  type ArchiveFiles,
  encodePath,
  filesSchema,
  type Generation,
  parseArchiveJson,
  partName,
  partSchema,
  requireSeal,
  sealed,
} from './archive-format.ts'
import type { Committing } from './blob-collection.ts'
import { CommitView } from './objects.ts'
import type { ArchivedFile, ArchivedLine, ArchiveSlice, SessionArchive } from './store.ts'

const PREFIX = 'refs/sessions/'

export interface ArchiveParts {
  readonly writer: Committing
  readonly reader: ObjectReader
  readonly redactor: Redactor
  readonly hmacKey: Uint8Array
  readonly seconds: () => number
  readonly warn: (message: string) => void
  /** `refs/sessions/…` → commit. The archive keeps it current; it is the only one to change these refs. */
  readonly tips: Tips
}

/** Where the refs of sessions stand. */
export interface Tips extends Iterable<readonly [string, string]> {
  get(ref: string): string | undefined
  set(ref: string, commit: string): unknown
}

export class GitSessionArchive implements SessionArchive {
  private readonly busy = new Map<string, Promise<void>>()

  constructor(private readonly parts: ArchiveParts) {}

  async state(run: RunId): Promise<readonly ArchivedFile[]> {
    const { files } = await this.filesOf(run)
    return files.files.map(({ file, generations }) => archivedFile(file, newest(generations)))
  }

  async generations(run: RunId, file: string): Promise<readonly ArchivedFile[]> {
    const { files } = await this.filesOf(run)
    return (files.files.find((entry) => entry.file === this.nameOf(file))?.generations ?? []).map((generation) =>
      archivedFile(file, generation),
    )
  }

  async append(
    run: RunId,
    about: Readonly<Record<string, unknown>>,
    slices: readonly ArchiveSlice[],
    newGeneration: boolean,
  ): Promise<void> {
    const before = this.busy.get(run) ?? Promise.resolve()
    const work = before.then(() => this.store(run, about, slices, newGeneration))
    const settled = work.catch(() => {})
    this.busy.set(run, settled)
    try {
      await work
    } finally {
      if (this.busy.get(run) === settled) this.busy.delete(run)
    }
  }

  async *list(): AsyncGenerator<{ readonly run: RunId; readonly about: Readonly<Record<string, unknown>> }> {
    for (const [ref, commit] of [...this.parts.tips]) {
      const run = asRunId(ref.slice(PREFIX.length))
      yield { run, about: await this.aboutOf(commit, run) }
    }
  }

  async about(run: RunId): Promise<Readonly<Record<string, unknown>> | null> {
    const commit = this.parts.tips.get(PREFIX + run)
    return commit === undefined ? null : this.aboutOf(commit, run)
  }

  async *read(run: RunId, file: string, generation?: number): AsyncGenerator<ArchivedLine> {
    const { view, files } = await this.filesOf(run)
    const name = this.nameOf(file)
    const generations = files.files.find((entry) => entry.file === name)?.generations ?? []
    const chosen =
      generation === undefined ? longest(generations) : generations.find((one) => one.generation === generation)
    if (view === null || chosen === undefined) return
    for (const [number] of chosen.parts) yield* readPart(view, this.placeOf(run, name, chosen.generation, number))
  }

  /** Reads everything of a run and compares it with its digests. Gives the faults. */
  async verify(run: RunId): Promise<readonly string[]> {
    const faults: string[] = []
    const guard = async (where: string, work: () => Promise<void>) => {
      try {
        await work()
      } catch (error) {
        if (!(error instanceof RepriseError)) throw error
        faults.push(`${where}: ${error.message}`)
      }
    }
    await guard(PREFIX + run, async () => {
      const { view, files } = await this.filesOf(run)
      if (view === null) return
      const about = await view.file(['run.json'])
      if (about === null) faults.push(`${PREFIX}${run}: run.json is missing`)
      else await guard(PREFIX + run, async () => void this.parseAbout(about, run))
      for (const { file, generations } of files.files) {
        for (const generation of generations) {
          await guard(`${PREFIX}${run}:${file}@${generation.generation}`, async () => {
            let lines = 0
            let bytes = 0
            for (const [number] of generation.parts) {
              for await (const line of readPart(view, this.placeOf(run, file, generation.generation, number))) {
                lines += 1
                if (line.line !== lines || line.byte !== bytes)
                  throw new RepriseError('damaged', `line ${line.line} does not follow line ${lines - 1}`)
                bytes += line.bytes
              }
            }
            if (lines !== generation.lines || bytes !== generation.bytes) {
              throw new RepriseError(
                'damaged',
                `${lines} lines and ${bytes} bytes instead of ${generation.lines} and ${generation.bytes}`,
              )
            }
          })
        }
      }
    })
    return faults
  }

  private async store(
    run: RunId,
    about: Readonly<Record<string, unknown>>,
    slices: readonly ArchiveSlice[],
    newGeneration: boolean,
  ): Promise<void> {
    const { redactor, hmacKey, writer, seconds, tips } = this.parts
    const { view, files } = await this.filesOf(run)
    const changes: TreeChange[] = []
    const told: string[] = []
    const next = new Map(files.files.map((entry) => [entry.file, entry.generations]))
    for (const [file, group] of groupByFile(slices, (path) => this.nameOf(path))) {
      const known = next.get(file) ?? []
      const last = known.length === 0 ? null : newest(known)
      const begin = last === null || newGeneration ? await freshGeneration((last?.generation ?? 0) + 1, hmacKey) : last
      const folder = [String(begin.generation), encodePath(file)]
      const readStored = async (number: number) => {
        if (view === null) throw new RepriseError('damaged', `Part ${number} of ${file} is missing.`)
        return loadPart(view, this.placeOf(run, file, begin.generation, number))
      }
      const result = await appendToGeneration({ file, begin, slices: group, redactor, hmacKey, readStored })
      if (result === null && known.length > 0 && !newGeneration) continue
      const generation = result?.generation ?? begin
      for (const number of result?.removed ?? []) {
        changes.push({ path: [...folder, `${partName(number)}.jsonl`].join('/'), content: null })
        changes.push({ path: [...folder, `${partName(number)}.lines`].join('/'), content: null })
      }
      for (const { number, part } of result?.added ?? []) {
        changes.push({ path: [...folder, `${partName(number)}.jsonl`].join('/'), content: part.content })
        changes.push({
          path: [...folder, `${partName(number)}.lines`].join('/'),
          content: Buffer.from(JSON.stringify(sealed(part.about, [...folder, partName(number), run], hmacKey))),
        })
      }
      next.set(file, [...known.filter((one) => one.generation !== begin.generation), generation])
      told.push(`${generation.lines - (begin === last ? begin.lines : 0)} lines of ${file}`)
    }
    const runJson = Buffer.from(
      `${JSON.stringify(sealed(redactJson(about, redactor).value, ['run.json', run], hmacKey))}\n`,
    )
    const unchanged = told.length === 0 && view !== null && (await view.file(['run.json']))?.equals(runJson) === true
    if (unchanged) return
    const index: ArchiveFiles = {
      v: 1,
      files: [...next].map(([file, generations]) => ({ file, generations: [...generations] })),
    }
    changes.push(
      { path: 'run.json', content: runJson },
      { path: 'files.json', content: Buffer.from(`${JSON.stringify(sealed(index, ['files.json', run], hmacKey))}\n`) },
    )
    const ref = PREFIX + run
    const subject =
      told.length === 0
        ? 'Describe the run'
        : `Archive ${told[0]}${told.length > 1 ? ` and of ${told.length - 1} more files` : ''}`
    const commit = await writer.commit({
      ref,
      parent: tips.get(ref) ?? null,
      at: seconds(),
      message: `${subject.replace(/[\r\n]+/g, ' ').slice(0, 300)}\n\nRun: ${run}\n`,
      changes,
    })
    tips.set(ref, commit)
  }

  /** A path is written down too, so a secret in it is covered; the covered path is the file's name from then on. */
  private nameOf(file: string): string {
    return this.parts.redactor.redact(file).text
  }

  private async filesOf(run: RunId): Promise<{ readonly view: CommitView | null; readonly files: ArchiveFiles }> {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(run)) throw new TypeError(`not a run id: ${String(run).slice(0, 80)}`)
    const commit = this.parts.tips.get(PREFIX + run)
    if (commit === undefined) return { view: null, files: { v: 1, files: [] } }
    const view = new CommitView(this.parts.reader, commit)
    const content = await view.file(['files.json'])
    if (content === null) throw new RepriseError('damaged', `The archive of ${run} has no files.json.`)
    const where = `files.json of ${run}`
    const files = parseArchiveJson(filesSchema, content, where)
    requireSeal(files, ['files.json', run], this.parts.hmacKey, where)
    return { view, files }
  }

  /** Throws `damaged` for what is no object, or does not match its seal. */
  private parseAbout(content: Uint8Array, run: RunId): Readonly<Record<string, unknown>> {
    let value: unknown = null
    try {
      value = JSON.parse(Buffer.from(content).toString('utf8'))
    } catch {
      // Told below, as any other thing that is no object.
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new RepriseError('damaged', `run.json of ${run} is no object any more.`)
    requireSeal(value, ['run.json', run], this.parts.hmacKey, `run.json of ${run}`)
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'mac'))
  }

  private placeOf(run: RunId, file: string, generation: number, number: number): PartPlace {
    return { run, file, generation, number, hmacKey: this.parts.hmacKey }
  }

  /** A damaged run must not hide the others: it is listed with nothing known of it, and told. */
  private async aboutOf(commit: string, run: RunId): Promise<Readonly<Record<string, unknown>>> {
    try {
      const content = await new CommitView(this.parts.reader, commit).file(['run.json'])
      if (content !== null) return this.parseAbout(content, run)
      this.parts.warn(`run.json of ${run} is missing`)
    } catch (error) {
      this.parts.warn(`run.json of ${run} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
    return {}
  }
}

function groupByFile(slices: readonly ArchiveSlice[], nameOf: (file: string) => string): Map<string, ArchiveSlice[]> {
  const groups = new Map<string, ArchiveSlice[]>()
  for (const slice of slices) groups.set(nameOf(slice.file), [...(groups.get(nameOf(slice.file)) ?? []), slice])
  return groups
}

const archivedFile = (file: string, { lines, bytes, prefix_digest, generation }: Generation): ArchivedFile => ({
  file,
  lines,
  bytes,
  prefixDigest: asDigest(prefix_digest),
  generation,
})

const newest = (generations: readonly Generation[]): Generation => {
  const last = [...generations].sort((a, b) => a.generation - b.generation).pop()
  if (last === undefined) throw new Error('a file without a generation')
  return last
}

/** The generation with most lines; of equal ones the newest (B12). */
const longest = (generations: readonly Generation[]): Generation | undefined =>
  [...generations].sort((a, b) => a.lines - b.lines || a.generation - b.generation).pop()

interface PartPlace {
  readonly run: RunId
  readonly file: string
  readonly generation: number
  readonly number: number
  readonly hmacKey: Uint8Array
}

async function loadPart(view: CommitView, { run, file, generation, number, hmacKey }: PartPlace) {
  const where = `part ${number} of ${file}, generation ${generation}`
  const folder = [String(generation), encodePath(file)]
  const content = await view.file([...folder, `${partName(number)}.jsonl`])
  const about = await view.file([...folder, `${partName(number)}.lines`])
  if (content === null || about === null) throw new RepriseError('damaged', `The ${where} is missing.`)
  const part = parseArchiveJson(partSchema, about, where)
  requireSeal(part, [...folder, partName(number), run], hmacKey, `The index of ${where}`)
  if (digestOfBytes(content) !== part.stored_digest)
    throw new RepriseError('damaged', `The ${where} does not match its digest.`)
  return { content, part }
}

async function* readPart(view: CommitView, place: PartPlace): AsyncGenerator<ArchivedLine> {
  const { file, number } = place
  const { content, part } = await loadPart(view, place)
  const original = new Map(part.changed)
  let at = 0
  let byte = part.first_byte
  for (let index = 0; index < part.lines; index += 1) {
    const end = content.indexOf(0x0a, at)
    const next = end < 0 ? content.length : end + 1
    const bytes = original.get(index) ?? next - at
    yield { line: part.first_line + index, byte, bytes, text: content.subarray(at, next) }
    at = next
    byte += bytes
  }
  if (at !== content.length || byte !== part.first_byte + part.bytes) {
    throw new RepriseError('damaged', `Part ${number} of ${file} does not hold the lines its index names.`)
  }
}
