import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type Adapter, Low } from 'lowdb'
import type { z } from 'zod'
import { RepriseError } from '../../contract/errors.ts'
import { codeOf, RENAME_RETRY, type RetryPlan, replaceFile } from './durable.ts'

/** Brings content of version n to n + 1. */
export type DocumentUpgrader = (content: Readonly<Record<string, unknown>>) => Record<string, unknown>

export interface DocumentOptions<T> {
  readonly path: string
  readonly schema: z.ZodType<T>
  /** Current version; stands in the document as `version`. */
  readonly version: number
  readonly defaults: T
  /** By the version they start from. A document without a version has 0. */
  readonly upgraders: Readonly<Record<number, DocumentUpgrader>>
  readonly now: () => Date
  readonly log?: (message: string) => void
  readonly retry?: RetryPlan
  readonly move?: (from: string, to: string) => Promise<void>
}

export type DocumentState =
  | { readonly kind: 'ok' | 'new' }
  /** The file could not be understood; it lies at `keptAs`, and the defaults are in use. */
  | { readonly kind: 'damaged'; readonly why: string; readonly keptAs: string }
  /** Made by a newer version: never changed, `data` holds the defaults. */
  | { readonly kind: 'newer'; readonly version: number }

export interface Document<T> {
  readonly data: T
  readonly state: DocumentState
  /** Stores a changed copy; durable when it resolves. On failure `data` is what it was. Throws `newer_version`, or `wrong_usage` when the change breaks the schema. */
  update(change: (data: T) => T): Promise<T>
  close(): void
}

const openPaths = new Set<string>()

/** One small document people may read: JSON, mode 0600, replaced as a whole. One opening per process (lowdb knows one writer only). */
export async function openDocument<T extends object>(options: DocumentOptions<T>): Promise<Document<T>> {
  const path = resolve(options.path)
  if (openPaths.has(path)) throw new RepriseError('conflict', `${path} is open already.`)
  openPaths.add(path)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const { data, state, upgraded } = await load(path, options)
    const low = new Low<T>(durableFile(path, options), data)
    if (upgraded) await low.write()
    let last: Promise<unknown> = Promise.resolve()
    const update = async (change: (data: T) => T): Promise<T> => {
      if (state.kind === 'newer') {
        throw new RepriseError(
          'newer_version',
          `${path} has version ${state.version}; it was made by a newer version of Reprise and is not changed.`,
          'Update Reprise.',
        )
      }
      const parsed = options.schema.safeParse(change(structuredClone(low.data)))
      if (!parsed.success) {
        const issue = parsed.error.issues[0]
        throw new RepriseError(
          'wrong_usage',
          `${path}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'does not fit'}`,
        )
      }
      const before = low.data
      low.data = parsed.data
      try {
        await low.write()
      } catch (error) {
        low.data = before
        throw error
      }
      return low.data
    }
    return {
      get data() {
        return low.data
      },
      state,
      update(change) {
        const done = last.then(() => update(change))
        last = done.catch(() => {})
        return done
      },
      close: () => void openPaths.delete(path),
    }
  } catch (error) {
    openPaths.delete(path)
    throw error
  }
}

function durableFile<T>(path: string, options: Pick<DocumentOptions<T>, 'retry' | 'move'>): Adapter<T> {
  return {
    read: async () => null, // read once, by `load`, which tells damage from absence
    write: (data) =>
      replaceFile(path, `${JSON.stringify(data, null, 2)}\n`, options.retry ?? RENAME_RETRY, options.move ?? rename),
  }
}

async function load<T>(
  path: string,
  options: DocumentOptions<T>,
): Promise<{ readonly data: T; readonly state: DocumentState; readonly upgraded: boolean }> {
  const { schema, version, defaults, upgraders, log } = options
  const fresh = structuredClone(defaults)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { data: fresh, state: { kind: 'new' }, upgraded: false }
    throw error
  }
  const damaged = async (why: string) => {
    const keptAs = await keepAside(path, options.now())
    log?.(`${path} could not be understood (${why}); it is kept as ${keptAs}, defaults are in use`)
    return { data: fresh, state: { kind: 'damaged', why, keptAs } as const, upgraded: false }
  }
  let content: Record<string, unknown>
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return await damaged('no JSON object')
    content = Object.fromEntries(Object.entries(value))
  } catch (error) {
    return damaged(error instanceof Error ? error.message : 'no JSON')
  }
  const found = content.version ?? 0
  if (typeof found !== 'number' || !Number.isInteger(found) || found < 0)
    return damaged(`version is ${JSON.stringify(found)}`)
  if (found > version) {
    log?.(`${path} has version ${found} and was made by a newer version; it is left alone, defaults are in use`)
    return { data: fresh, state: { kind: 'newer', version: found }, upgraded: false }
  }
  for (let from = found; from < version; from += 1) {
    const upgrade = upgraders[from]
    if (upgrade === undefined) return damaged(`no way from version ${from} to ${from + 1}`)
    content = { ...upgrade(content), version: from + 1 }
  }
  const parsed = schema.safeParse(content)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    return damaged(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong shape'}`)
  }
  return { data: parsed.data, state: { kind: 'ok' }, upgraded: found < version }
}

/** Renames, never overwrites: `settings.json.damaged-2026-11-30T10-00-00.000Z`. */
async function keepAside(path: string, now: Date): Promise<string> {
  const stem = `${path}.damaged-${now.toISOString().replaceAll(':', '-')}`
  for (let n = 0; ; n += 1) {
    const target = n === 0 ? stem : `${stem}.${n}`
    try {
      await (await open(target, 'wx', 0o600)).close() // reserves the name
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue
      throw error
    }
    await rename(path, target)
    return target
  }
}
