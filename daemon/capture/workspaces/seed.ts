import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { type GitContext, GitError } from '../../git/core.ts'
import { readEffectiveConfig } from '../../git/effective-config.ts'
import { readBlobSizes } from '../../git/object-sizes.ts'
import { isCredentialFile } from '../../secrets/credential-files.ts'
import { codeOf, syncFolder } from '../../store/durable.ts'
import { type Attributes, conversionFor, parseAttributes } from './attributes.ts'
import { asPath, readSmall, toLatin1 } from './bytes.ts'
import type { GitIndex, IndexEntry } from './git-index.ts'
import { findInPack, objectFolders, packsIn } from './object-sources.ts'
import { LARGE_BYTES } from './read-content.ts'
import type { TrackedFiles, Unit } from './units.ts'
import type { Candidate } from './walk.ts'

/** Where our own objects are. */
export interface SeedPlace {
  /** Our bare repository, an ordinary path. */
  readonly gitDir: string
  readonly git: GitContext
  /** The user's own environment, as far as it says where settings are. */
  readonly env: { readonly HOME?: string | undefined; readonly XDG_CONFIG_HOME?: string | undefined }
}

/** From here on it is worth taking over what the user's repository has, instead of reading every file. */
const MANY_FILES = 5_000
const MANY_BYTES = 64 << 20

export const isWorthSeeding = (candidates: readonly Candidate[]): boolean =>
  candidates.length > MANY_FILES || candidates.reduce((sum, { bytes }) => sum + bytes, 0) > MANY_BYTES

/**
 * Brings the objects of unchanged tracked files into our own store, by hard link (a copy where that cannot be), and gives their blob ids by
 * path. Never through alternates: the user's gc would take them away. Never written through: an object of the user's is only ever linked,
 * read and unlinked. A file is taken when the user's index knows it with this very stat, the index is younger than it, and nothing in
 * the user's settings or attributes converts it; what is left is read from the disk.
 */
export async function seedFromRepositories(
  place: SeedPlace,
  root: string,
  units: Iterable<Unit>,
  tracked: ReadonlyMap<string, TrackedFiles>,
  candidates: readonly Candidate[],
  breathe: () => Promise<void> | null,
): Promise<ReadonlyMap<string, string>> {
  const taken = new Map<string, string>()
  const byPath = new Map<string, Candidate>()
  for (const candidate of candidates) byPath.set(candidate.path, candidate)
  for (const unit of units) {
    const index = tracked.get(unit.path)?.index() ?? null
    if (index === null || index.split || index.sha256 || unit.gitDir === null || unit.commonDir === null) continue
    const wanted = await unchangedFiles(place, root, { ...unit, gitDir: unit.gitDir }, index, byPath, breathe)
    if (wanted.length === 0) continue
    const ids = [...new Set(wanted.map(({ oid }) => oid))].sort()
    const here = await bringObjects(place, unit.commonDir, ids, breathe)
    const unsure = wanted.filter(({ oid, sure }) => !sure && here.has(oid))
    const sizes = await readBlobSizes(
      place.git,
      place.gitDir,
      unsure.map(({ oid }) => oid),
    )
    const sameSize = new Set(unsure.filter(({ bytes }, at) => sizes[at] === bytes))
    for (const one of wanted) if (here.has(one.oid) && (one.sure || sameSize.has(one))) taken.set(one.path, one.oid)
  }
  return taken
}

interface Wanted {
  readonly path: string
  readonly oid: string
  readonly bytes: number
  /** Nothing converts it; else only its line ends, and then its size tells. */
  readonly sure: boolean
}

async function unchangedFiles(
  place: SeedPlace,
  root: string,
  unit: Unit & { readonly gitDir: string },
  index: GitIndex,
  byPath: ReadonlyMap<string, Candidate>,
  breathe: () => Promise<void> | null,
): Promise<readonly Wanted[]> {
  const prefix = unit.path === '' ? '' : `${unit.path}/`
  let indexMs: number
  try {
    indexMs = fs.lstatSync(asPath(`${unit.gitDir}/index`)).mtimeMs
  } catch {
    return []
  }
  const attributes = await attributesOf(place, root, unit, byPath)
  if (attributes === null) return []
  const wanted: Wanted[] = []
  let n = 0
  for (const entry of index.entries()) {
    n += 1
    if ((n & 1023) === 0) {
      const pause = breathe()
      if (pause !== null) await pause
    }
    const path = prefix + entry.path
    const candidate = byPath.get(path)
    if (candidate === undefined || !isUnchanged(entry, candidate, indexMs) || isCredentialFile(path)) continue
    const conversion = entry.mode === 0o120000 ? 'none' : conversionFor(attributes, entry.path)
    if (conversion !== 'any') wanted.push({ path, oid: entry.oid, bytes: candidate.bytes, sure: conversion === 'none' })
  }
  return wanted
}

/** As Git judges it, and a little stricter: what was written in the same moment as the index counts as changed. */
function isUnchanged(entry: IndexEntry, { stat, bytes }: Candidate, indexMs: number): boolean {
  if (entry.stage !== 0 || entry.assumed || bytes >= LARGE_BYTES) return false
  const type = stat.mode & 0o170000
  const executable = (stat.mode & 0o100) !== 0
  const mode = type === 0o120000 ? 0o120000 : executable ? 0o100755 : 0o100644
  const mtimeMs = entry.mtimeSeconds * 1000 + entry.mtimeNanos / 1e6
  const ctimeMs = entry.ctimeSeconds * 1000 + entry.ctimeNanos / 1e6
  return (
    mode === entry.mode &&
    entry.size === bytes &&
    Math.abs(mtimeMs - stat.mtimeMs) < 0.001 &&
    Math.abs(ctimeMs - stat.ctimeMs) < 0.001 &&
    entry.ino === stat.ino % 2 ** 32 &&
    mtimeMs < indexMs &&
    ctimeMs < indexMs
  )
}

/** Null: it cannot be told how files came into the repository. */
async function attributesOf(
  { git, env }: SeedPlace,
  root: string,
  unit: Unit & { readonly gitDir: string },
  byPath: ReadonlyMap<string, Candidate>,
): Promise<Attributes | null> {
  let config: ReadonlyMap<string, string>
  try {
    config = await readEffectiveConfig(git, Buffer.from(unit.gitDir, 'latin1').toString('utf8'), env)
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
  const autocrlf = config.get('core.autocrlf')?.toLowerCase() ?? 'false'
  const always = ['false', 'no', 'off', '0', ''].includes(autocrlf) ? 'none' : 'line-ends'
  const home = env.HOME ?? ''
  const global = config.get('core.attributesfile')?.replace(/^~\//, `${home}/`)
  const standing = [
    toLatin1(global ?? `${env.XDG_CONFIG_HOME ?? `${home}/.config`}/git/attributes`),
    '/etc/gitattributes',
    `${unit.commonDir ?? unit.gitDir}/info/attributes`,
  ]
  const rules = standing.flatMap((file) => parseAttributes(readSmall(file, 4 << 20)?.toString('latin1') ?? '', ''))
  const prefix = unit.path === '' ? '' : `${unit.path}/`
  for (const path of byPath.keys()) {
    if (!path.endsWith('.gitattributes') || !path.startsWith(prefix)) continue
    const folder = path.slice(prefix.length, Math.max(prefix.length, path.lastIndexOf('/')))
    rules.push(...parseAttributes(readSmall(`${root}/${path}`, 4 << 20)?.toString('latin1') ?? '* filter', folder))
  }
  return { rules, always }
}

/** Links what holds the ids into our store. Gives those that are there. Durable when it resolves. */
async function bringObjects(
  { gitDir }: SeedPlace,
  commonDir: string,
  ids: readonly string[],
  breathe: () => Promise<void> | null,
): Promise<ReadonlySet<string>> {
  const objects = `${toLatin1(gitDir)}/objects`
  const here = new Set<string>()
  let missing = ids
  const touched = new Set<string>()
  for (const folder of objectFolders(commonDir)) {
    for (const pack of packsIn(folder)) {
      if (missing.length === 0) break
      const inIt = findInPack(pack, missing)
      if (inIt.size === 0) continue
      // The index comes last: a pack without one is not looked at.
      for (const ending of ['.pack', '.idx'])
        linkOrCopy(pack.path + ending, `${objects}/pack/${pack.name}${ending}`, `${objects}/pack`)
      touched.add(`${objects}/pack`)
      for (const id of inIt) here.add(id)
      missing = missing.filter((id) => !inIt.has(id))
      const pause = breathe()
      if (pause !== null) await pause
    }
    const left: string[] = []
    for (const id of missing) {
      const inner = `${objects}/${id.slice(0, 2)}`
      const source = `${folder}/${id.slice(0, 2)}/${id.slice(2)}`
      if (fs.lstatSync(asPath(source), { throwIfNoEntry: false }) === undefined) {
        left.push(id)
        continue
      }
      if (!touched.has(inner)) fs.mkdirSync(asPath(inner), { recursive: true, mode: 0o700 })
      linkOrCopy(source, `${inner}/${id.slice(2)}`, inner)
      touched.add(inner)
      here.add(id)
      const pause = breathe()
      if (pause !== null) await pause
    }
    missing = left
  }
  for (const folder of touched) await syncFolder(Buffer.from(folder, 'latin1').toString('utf8'))
  if (touched.size > 0) await syncFolder(Buffer.from(objects, 'latin1').toString('utf8'))
  return here
}

/** Codes with which a link is refused that a copy is not: another disk, another owner, too many links, no links at all. */
const COPY_INSTEAD = new Set(['EXDEV', 'EPERM', 'EMLINK', 'EACCES', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP'])

function linkOrCopy(from: string, to: string, folder: string): void {
  try {
    fs.linkSync(asPath(from), asPath(to))
    return
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    if (!COPY_INSTEAD.has(codeOf(error))) throw error
  }
  // A name that is cleared away at the start of the daemon, should it end here.
  const temporary = asPath(`${folder}/tmp_seed_${randomBytes(8).toString('hex')}`)
  try {
    fs.copyFileSync(asPath(from), temporary, fs.constants.COPYFILE_EXCL | fs.constants.COPYFILE_FICLONE)
    fs.chmodSync(temporary, 0o400)
    const fd = fs.openSync(temporary, 'r')
    try {
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(temporary, asPath(to))
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
}
