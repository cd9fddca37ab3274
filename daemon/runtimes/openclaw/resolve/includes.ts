import path from 'node:path'
import JSON5 from 'json5'
import { type Disk, isInside } from '../../shared/disk.ts'
import { branch, isObject, type Json, leaf, merge, plant, type Tree, toJson } from './config-tree.ts'
import { makeSource, type Problem, type Source, VERIFIED_VERSION } from './sources.ts'

const MOST_DEPTH = 10
const LARGEST_INCLUDE = 2 * 1024 * 1024
const LONGEST_PATH = 4096

export interface ReadConfig {
  /** Null when the file is not there: everything is a default then. Also null when no run can start with it. */
  readonly tree: Tree | null
  readonly sources: readonly Source[]
  /** Each makes the whole configuration invalid. */
  readonly problems: readonly Problem[]
}

/** Thrown inside this file only: the first broken include ends the reading, as it does in the runtime. */
class Broken extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

/** Reads the configuration file and everything it includes. Every file that was read is a source, with the chain that led to it. */
export function readConfig(disk: Disk, file: string, includeRoots: readonly string[]): ReadConfig {
  const sources = new Map<string, Source>()
  const roots = [path.dirname(file), ...includeRoots].map((root) => ({ root, real: disk.realPath(root) ?? root }))

  const note = (
    place: string,
    status: Source['status'],
    reason: string | null,
    raw: Uint8Array | null,
    by: readonly string[],
  ): void => {
    const known = sources.get(place)
    const importedBy = [...new Set([...(known?.importedBy ?? []), ...by.slice(-1)])]
    sources.set(
      place,
      makeSource({
        path: place,
        scope: by.length === 0 ? 'config' : 'include',
        kind: 'settings',
        status,
        reason,
        raw,
        importedBy,
        rule: `JSON5; includes are merged in order, keys beside them win (${VERIFIED_VERSION})`,
        extra: by.length === 0 ? {} : { include_chain: [...by, place] },
      }),
    )
  }

  /** `chain` ends with the file that `value` stands in. */
  const grow = (value: Json, chain: readonly string[]): Tree => {
    const here = chain.at(-1) ?? file
    if (Array.isArray(value))
      return leaf(
        value.map((inner) => plain(inner, chain)),
        here,
      )
    if (!isObject(value)) return leaf(value, here)
    const own = new Map(
      Object.entries(value)
        .filter(([key]) => key !== '$include')
        .map(([key, inner]) => [key, grow(inner as Json, chain)] as const),
    )
    if (!('$include' in value)) return branch(own, here)
    const included = include(value.$include as Json, chain)
    if (own.size === 0) return included
    if (included.type !== 'branch')
      throw new Broken({
        path: here,
        message: `${here}: keys beside $include need an object to be included (${show(chain, String(value.$include))})`,
      })
    return merge(included, branch(own, here))
  }

  // Values inside lists are not followed one by one: a list is a value of its own.
  const plain = (value: Json, chain: readonly string[]): Json => {
    const grown = grow(value, chain)
    return toJson(grown)
  }

  const include = (given: Json, chain: readonly string[]): Tree => {
    const here = chain.at(-1) ?? file
    if (typeof given === 'string') return load(given, chain)
    if (Array.isArray(given)) {
      let merged: Tree = branch(new Map(), here)
      for (const one of given) {
        if (typeof one !== 'string')
          throw new Broken({
            path: here,
            message: `${here}: an entry of $include is no path but ${JSON.stringify(one)}`,
          })
        merged = merge(merged, load(one, chain))
      }
      return merged
    }
    throw new Broken({ path: here, message: `${here}: $include must be a path or a list of paths` })
  }

  const load = (given: string, chain: readonly string[]): Tree => {
    const here = chain.at(-1) ?? file
    const place = path.resolve(path.dirname(here), given)
    const fail = (why: string): Broken => new Broken({ path: place, message: `${why}: ${show(chain, place)}` })
    if (given.includes('\0') || place.length >= LONGEST_PATH) throw fail('include path not usable')
    if (!roots.some(({ root }) => isInside(place, root)))
      throw fail(`include escapes config directory ${path.dirname(file)} (set OPENCLAW_INCLUDE_ROOTS to allow it)`)
    const real = disk.realPath(place)
    if (real !== null && !roots.some((root) => isInside(real, root.real)))
      throw fail(`include symlink resolves outside config directory, to ${real}`)
    if (chain.includes(place)) throw fail('circular include')
    if (chain.length > MOST_DEPTH) throw fail(`maximum include depth (${MOST_DEPTH}) exceeded`)
    const read = disk.read(place, LARGEST_INCLUDE)
    if (read.state !== 'ok') {
      const why = read.state === 'unreadable' ? read.why : read.state === 'too_large' ? 'larger than 2 MB' : read.state
      note(place, 'not_loaded', `include file unreadable: ${why}`, null, chain)
      throw fail(`include file unreadable (${why})`)
    }
    const parsed = parse(read.bytes)
    if (parsed.state === 'invalid') {
      note(place, 'not_loaded', parsed.why, read.bytes, chain)
      throw fail(`include file cannot be parsed (${parsed.why})`)
    }
    note(place, 'loaded', null, read.bytes, chain)
    return grow(parsed.value, [...chain, place])
  }

  const read = disk.read(file, Number.MAX_SAFE_INTEGER)
  if (read.state === 'missing') return { tree: null, sources: [], problems: [] }
  if (read.state !== 'ok') {
    const why = read.state === 'unreadable' ? read.why : `it is ${read.state}`
    note(file, 'unknown', why, null, [])
    return { tree: null, sources: [...sources.values()], problems: [{ path: file, message: `${file}: ${why}` }] }
  }
  const parsed = parse(read.bytes)
  const value = parsed.state === 'ok' ? parsed.value : null
  const why = parsed.state === 'invalid' ? parsed.why : isObject(value) ? null : 'it holds no object'
  note(file, why === null ? 'loaded' : 'not_loaded', why, read.bytes, [])
  if (why !== null)
    return { tree: null, sources: [...sources.values()], problems: [{ path: file, message: `${file}: ${why}` }] }
  try {
    return { tree: grow(value, [file]), sources: [...sources.values()], problems: [] }
  } catch (error) {
    if (!(error instanceof Broken)) throw error
    // What can still be read without includes is kept, so that the rest of the manifest says where things would be.
    return { tree: plant(withoutIncludes(value), file), sources: [...sources.values()], problems: [error.problem] }
  }
}

const show = (chain: readonly string[], last: string): string => [...chain, last].join(' → ')

function parse(
  bytes: Uint8Array,
): { readonly state: 'ok'; readonly value: Json } | { readonly state: 'invalid'; readonly why: string } {
  const text = Buffer.from(bytes).toString('utf8')
  if (text.trim() === '') return { state: 'invalid', why: 'the file is empty' }
  try {
    const value: unknown = JSON5.parse(text)
    return { state: 'ok', value: value as Json }
  } catch (error) {
    return { state: 'invalid', why: `no valid JSON5: ${error instanceof Error ? error.message : String(error)}` }
  }
}

function withoutIncludes(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutIncludes)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '$include')
      .map(([key, inner]) => [key, withoutIncludes(inner as Json)]),
  )
}
