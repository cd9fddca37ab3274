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
import { byFirstByte, findInPack, objectFolders, packsIn } from './object-sources.ts'
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
 * Brings the objects of unchanged tracked files into our own store, by hard link (a copy where that cannot be), and notes their blob ids in
 * the candidates. Never through alternates: the user's gc would take them away. Never written through: an object of the user's is only ever
 * linked, read and unlinked. A file is taken when the user's index knows it with this very stat, the index is younger than it, and nothing
 * in the user's settings or attributes converts it; what is left is read from the disk.
 */
export async function seedFromRepositories(
  place: SeedPlace,
  root: string,
  units: Iterable<Unit>,
  tracked: ReadonlyMap<string, TrackedFiles>,
  candidates: readonly Candidate[],
  breathe: () => Promise<void> | null,
): Promise<void> {
  const byPath = new Map<string, Candidate>()
  for (const candidate of candidates) byPath.set(candidate.path, candidate)
  for (const unit of units) {
    const index = tracked.get(unit.path)?.index() ?? null
    if (index === null || index.split || index.sha256 || unit.gitDir === null || unit.commonDir === null) continue
    const { sure, unsure } = await unchangedFiles(place, root, { ...unit, gitDir: unit.gitDir }, index, byPath, breathe)
    if (sure.length > 0)
      for (const one of await bringObjects(place, unit.commonDir, sure, breathe)) one.candidate.oid = one.oid
    if (unsure.length === 0) continue
    const here = await bringObjects(place, unit.commonDir, unsure, breathe)
    const ids = here.map(({ oid }) => oid)
    const sizes = await readBlobSizes(place.git, place.gitDir, ids)
    here.forEach(({ candidate, oid }, at) => {
      if (sizes[at] === candidate.bytes) candidate.oid = oid
    })
  }
}

interface Unchanged {
  readonly candidate: Candidate
  readonly oid: string
}

/** `unsure`: line ends may have been converted; then the size of the blob tells. */
async function unchangedFiles(
  place: SeedPlace,
  root: string,
  unit: Unit & { readonly gitDir: string },
  index: GitIndex,
  byPath: ReadonlyMap<string, Candidate>,
  breathe: () => Promise<void> | null,
): Promise<{ readonly sure: readonly Unchanged[]; readonly unsure: readonly Unchanged[] }> {
  const sure: Unchanged[] = []
  const unsure: Unchanged[] = []
  const prefix = unit.path === '' ? '' : `${unit.path}/`
  const indexMs = fs.lstatSync(asPath(`${unit.gitDir}/index`), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const attributes = await attributesOf(place, root, unit, byPath)
  if (attributes === null) return { sure, unsure }
  const { rules, always } = attributes
  const plain = rules.length === 0 && always === 'none'
  for (let n = 0; n < index.count; n += 1) {
    if ((n & 1023) === 0) {
      const pause = breathe()
      if (pause !== null) await pause
    }
    const name = index.nameAt(n)
    const path = prefix + name
    const candidate = byPath.get(path)
    if (candidate === undefined) continue
    const entry = index.entryAt(n, name)
    if (!isUnchanged(entry, candidate, indexMs) || isCredentialFile(path)) continue
    const conversion = plain || entry.mode === 0o120000 ? 'none' : conversionFor(attributes, name)
    if (conversion !== 'any') (conversion === 'none' ? sure : unsure).push({ candidate, oid: index.oidAt(n) })
  }
  return { sure, unsure }
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

/** Links what holds the objects into our store. Gives those that are there. Durable when it resolves. */
async function bringObjects(
  { gitDir }: SeedPlace,
  commonDir: string,
  wanted: readonly Unchanged[],
  breathe: () => Promise<void> | null,
): Promise<readonly Unchanged[]> {
  const objects = `${toLatin1(gitDir)}/objects`
  const here: (readonly Unchanged[])[] = []
  let missing = wanted
  const touched = new Set<string>()
  for (const folder of objectFolders(commonDir)) {
    for (const pack of packsIn(folder)) {
      if (missing.length === 0) break
      const inIt = findInPack(pack, byFirstByte(missing))
      if (inIt.found.length === 0) continue
      // The index comes last: a pack without one is not looked at.
      for (const ending of ['.pack', '.idx'])
        linkOrCopy(pack.path + ending, `${objects}/pack/${pack.name}${ending}`, `${objects}/pack`)
      touched.add(`${objects}/pack`)
      here.push(inIt.found)
      missing = inIt.missing
      const pause = breathe()
      if (pause !== null) await pause
    }
    const left: Unchanged[] = []
    const loose: Unchanged[] = []
    for (const one of missing) {
      const inner = `${objects}/${one.oid.slice(0, 2)}`
      const source = `${folder}/${one.oid.slice(0, 2)}/${one.oid.slice(2)}`
      if (fs.lstatSync(asPath(source), { throwIfNoEntry: false }) === undefined) {
        left.push(one)
        continue
      }
      if (!touched.has(inner)) fs.mkdirSync(asPath(inner), { recursive: true, mode: 0o700 })
      linkOrCopy(source, `${inner}/${one.oid.slice(2)}`, inner)
      touched.add(inner)
      loose.push(one)
      const pause = breathe()
      if (pause !== null) await pause
    }
    here.push(loose)
    missing = left
  }
  const folders = [...touched, ...(touched.size > 0 ? [objects] : [])]
  await Promise.all(folders.map((folder) => syncFolder(Buffer.from(folder, 'latin1').toString('utf8'))))
  return here.flat()
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
