import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { RepriseError } from '../../contract/errors.ts'
import { asRunId } from '../../contract/ids.ts'
import { ObjectReader } from '../git/cat-file-batch.ts'
import { type GitContext, isolateGit } from '../git/core.ts'
import { countObjects } from '../git/count-objects.ts'
import { forEachRef } from '../git/for-each-ref.ts'
import { fsck } from '../git/fsck.ts'
import { initBare } from '../git/init-bare.ts'
import { packRefs } from '../git/pack-refs.ts'
import { repackGeometric } from '../git/repack.ts'
import { deleteRef } from '../git/update-ref.ts'
import { requireGit } from '../git/version.ts'
import { createRedactor } from '../secrets/create-redactor.ts'
import { type Keys, tighten } from '../secrets/keys.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { openVault, type Vault } from '../secrets/vault.ts'
import { GitAgentCommits, RUNS } from './agent-commits.ts'
import { BlobCollection } from './blob-collection.ts'
import { GitConfigurationHistory } from './configuration-history.ts'
import { replaceFile, syncFolder } from './durable.ts'
import { bringToCurrentVersion } from './format.ts'
import { GitKeptNames } from './kept-names.ts'
import { checkKeys } from './key-record.ts'
import { openLargeObjects } from './large-objects.ts'
import { awaitOldWriter, clearLeftovers } from './leftovers.ts'
import { GitManifestStore } from './manifest-store.ts'
import { mendPackedRefs } from './mend-packed-refs.ts'
import { CommitView } from './objects.ts'
import { GitRawFiles, RAW_FILES } from './raw-files.ts'
import { GitSafetySnapshots } from './safety-snapshots.ts'
import { GitSessionArchive } from './session-archive.ts'
import type { CheckResult, Store } from './store.ts'
import { StoreSize } from './store-size.ts'
import { GitTextStore } from './text-store.ts'
import { GitWorkspaceStates } from './workspace-states.ts'
import { CommitWriter } from './writer.ts'

export interface StoreOptions {
  /** The data directory. */
  readonly dir: string
  readonly key: Keys
  readonly now: () => Date
  /** What was repaired, left over, or found damaged: for the log and the health page. */
  readonly log: (message: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Default: a redactor made with the key. */
  readonly redactor?: Redactor
  /** Default: the vault of the data directory. */
  readonly vault?: Pick<Vault, 'get' | 'put'>
  /** Packs after which maintenance runs by itself. */
  readonly packsBeforeMaintenance?: number
}

/** Where manifests and texts stand, also for readers. */
export const MANIFESTS = 'refs/reprise/manifests'
export const TEXTS = 'refs/reprise/texts'
/** Only what git needs to take the folder for a repository; all settings go on the command line. Replaced when it differs. */
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\tsharedRepository = 0600\n'
const HEAD = 'ref: refs/heads/none\n'

/**
 * Opens the store, making or repairing what is missing. The caller holds the lock of the data directory (`daemon/lock.ts`): leftovers
 * of a killed writer are removed here. Throws `newer_version`, `refused` (git missing or too old) or a file system error.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dir, key, log } = options
  const context = isolateGit(options.env)
  await requireGit(context)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const isNew = !existsSync(join(dir, 'store.git'))
  const repaired: string[] = []
  await tighten(dir, 0o700, repaired)
  await bringToCurrentVersion(dir)
  const gitDir = join(dir, 'store.git')
  await openRepository(context, dir, gitDir, repaired, log)
  for (const message of repaired) log(message)

  const { refs, quarantined } = await readRefs(context, dir, gitDir, log)
  const seconds = () => Math.floor(options.now().getTime() / 1000)
  const redactor = options.redactor ?? createRedactor(key.hmacKey)
  const reader = new ObjectReader(context, gitDir)
  const size = new StoreSize(gitDir)
  const limit = options.packsBeforeMaintenance ?? 64
  const ending = new AbortController()
  let maintenance: Promise<void> | null = null
  const writer = new CommitWriter(context, gitDir, () => {
    if (writer.checkpoints >= limit && maintenance === null)
      maintain().catch((error) => log(`maintenance of the store failed: ${String(error)}`))
  })
  const maintain = (): Promise<void> => {
    maintenance ??= runMaintenance(context, gitDir, writer, ending.signal).finally(() => {
      maintenance = null
    })
    return maintenance
  }

  const collection = (ref: string, suffix: string, what: string, tip: string | null) =>
    new BlobCollection(writer, reader, { ref, suffix, what, seconds }, tip)
  // A collection whose newest state is unreadable is put aside, so that new manifests and texts can be stored all the same.
  const damagedNames: string[] = []
  const keyFaults = await checkKeys(dir, key, isNew)
  const openTip = async (ref: string): Promise<string | null> => {
    const tip = refs.get(ref) ?? null
    try {
      if (tip !== null) await new CommitView(reader, tip).root()
      return tip
    } catch (error) {
      for (const why of faultOf(error)) damagedNames.push(`${ref}: ${why}`)
      await replaceFile(await freeName(dir, ref.replaceAll('/', '_')), `${tip}\n`)
      await deleteRef(context, gitDir, ref, tip ?? '')
      return null
    }
  }
  const manifestBlobs = collection(MANIFESTS, '.json', 'manifests', await openTip(MANIFESTS))
  const known = await manifestBlobs.names((why) => damagedNames.push(why))
  const textBlobs = collection(TEXTS, '', 'texts', await openTip(TEXTS))
  for (const message of [...keyFaults, ...damagedNames]) log(message)
  const lists = [...damagedNames, ...listQuarantine(dir)]
  const complete = (ref: string) =>
    !lists.some((entry) => entry.includes(ref) || entry.includes(ref.replaceAll('/', '_')))
  const manifests = new GitManifestStore({
    blobs: manifestBlobs,
    key,
    publicKeyOf: key.publicKeyOf,
    redactor,
    known,
    complete: complete(MANIFESTS),
  })
  const texts = new GitTextStore(textBlobs, redactor, key.hmacKey, complete(TEXTS))
  const tips = new Map([...refs].filter(([ref]) => ref.startsWith('refs/sessions/')))
  const sessions = new GitSessionArchive({ writer, reader, redactor, hmacKey: key.hmacKey, seconds, warn: log, tips })

  const homes = [...refs.keys()].flatMap((ref) =>
    ref.startsWith('refs/homes/') ? [ref.slice('refs/homes/'.length)] : [],
  )
  const homeTips = new Map<string, string | null>()
  for (const home of homes) homeTips.set(`refs/homes/${home}`, await openTip(`refs/homes/${home}`))
  const configuration = new GitConfigurationHistory({
    homes: () => homes,
    collection: (ref) => collection(ref, '.json', 'changes of configuration', homeTips.get(ref) ?? null),
    redactor,
    hmacKey: key.hmacKey,
    log,
  })

  const vault = options.vault ?? openVault(dir, { platform: process.platform, env: options.env }, options.now)
  const hmacKey = key.hmacKey
  /** Refs of states, runs, safety snapshots and names, and where they stand. */
  const places = new Map([...refs].filter(([ref]) => !ref.startsWith('refs/sessions/')))
  const large = openLargeObjects(dir)
  const states = new GitWorkspaceStates({ writer, reader, hmacKey, large, vault, seconds, tips: places })
  const commits = new GitAgentCommits({ writer, reader, hmacKey, tips: places })
  const rawBlobs = collection(RAW_FILES, '', 'files of configuration', await openTip(RAW_FILES))
  const files = new GitRawFiles({ blobs: rawBlobs, vault, redactor, hmacKey, now: options.now })
  const safety = new GitSafetySnapshots({ writer, reader, hmacKey, large, vault, seconds, tips: places, log })
  const names = new GitKeptNames({
    writer,
    reader,
    hmacKey,
    seconds,
    tips: places,
    // A running fast-import would write a ref it knows again with its next checkpoint.
    deleteRef: (ref, from) => writer.pause(() => deleteRef(context, gitDir, ref, from)),
  })

  return {
    dir,
    states,
    commits,
    large,
    files,
    safety,
    names,
    manifests,
    texts,
    sessions,
    configuration,
    size: () => size.measure(),
    maintain,
    async check(): Promise<CheckResult> {
      const damaged = [...keyFaults, ...(await fsck(context, gitDir)), ...damagedNames, ...quarantined]
      damaged.push(...(await manifests.verifyAll()), ...(await texts.verifyAll().catch(faultOf)))
      damaged.push(...(await configuration.verifyAll()))
      for (const ref of [...tips.keys()])
        damaged.push(...(await sessions.verify(asRunId(ref.slice('refs/sessions/'.length)))))
      for (const ref of places.keys())
        if (ref.startsWith(RUNS)) damaged.push(...(await commits.verify(asRunId(ref.slice(RUNS.length)))))
      for (const workspace of await states.list()) damaged.push(...(await states.verify(workspace)))
      for await (const { id } of safety.list()) damaged.push(...(await safety.verify(id)))
      damaged.push(...(await large.verifyAll()), ...(await files.verifyAll((why) => damaged.push(why))))
      const { objects } = await countObjects(context, gitDir)
      return { ok: damaged.length === 0, objects, damaged: [...new Set(damaged)], quarantined: listQuarantine(dir) }
    },
    async close() {
      ending.abort()
      await writer.close()
      await maintenance?.catch(() => {})
      await reader.close()
    },
  }
}

async function openRepository(
  context: GitContext,
  dir: string,
  gitDir: string,
  repaired: string[],
  log: (message: string) => void,
): Promise<void> {
  if (existsSync(gitDir)) {
    await tighten(gitDir, 0o700, repaired)
    if (!(await awaitOldWriter(gitDir)))
      log('a git process of an earlier daemon is still running; its work will be refused if it writes')
    const left = clearLeftovers(gitDir)
    const found = Object.entries(left).filter(([, count]) => count > 0)
    if (found.length > 0)
      log(`left by an earlier run and removed: ${found.map(([what, count]) => `${count} ${what}`).join(', ')}`)
    for (const [name, content] of [
      ['config', CONFIG],
      ['HEAD', HEAD],
    ] as const) {
      const path = join(gitDir, name)
      const current = existsSync(path) ? await readFile(path, 'utf8') : null
      if (current === content) continue
      if (current !== null) log(`${path} was changed: put back, the changed one is kept in quarantine/`)
      if (current !== null) await toQuarantine(dir, path)
      await replaceFile(path, content)
    }
    if (!existsSync(join(gitDir, 'objects')) || !existsSync(join(gitDir, 'refs'))) await initBare(context, gitDir)
    return
  }
  // Made beside its place and renamed, so that a killed start leaves no half repository.
  const making = join(dir, 'store.git.new')
  await rm(making, { recursive: true, force: true })
  await initBare(context, making)
  await replaceFile(join(making, 'config'), CONFIG)
  await replaceFile(join(making, 'HEAD'), HEAD)
  await tightenAll(making)
  await rename(making, gitDir)
  await syncFolder(dir)
}

/** Folders of a new repository; git makes the files below with the modes of `core.sharedRepository`. */
async function tightenAll(folder: string): Promise<void> {
  await tighten(folder, 0o700, [])
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await tightenAll(path)
    else await tighten(path, 0o600, [])
  }
}

/** All refs there are, after those that cannot be read were put aside. Throws `damaged` when git reads none even then. */
async function readRefs(
  context: GitContext,
  dir: string,
  gitDir: string,
  log: (message: string) => void,
): Promise<{ refs: ReadonlyMap<string, string>; quarantined: readonly string[] }> {
  const first = await forEachRef(context, gitDir, ['refs/'])
  const { told, lost } = await mendPackedRefs(context, gitDir, first.whole, (path) => toQuarantine(dir, path))
  for (const message of told) log(message)
  // By the name of each, as for a ref in a file of its own: what is incomplete for ever must be known after the next start too.
  for (const [ref, line] of lost) await replaceFile(await freeName(dir, ref.replaceAll('/', '_')), `${line}\n`)
  const second = told.length === 0 ? first : await forEachRef(context, gitDir, ['refs/'])
  const quarantined = await quarantineRefs(dir, gitDir, second.broken, log)
  const { refs, whole } = quarantined.length === 0 ? second : await forEachRef(context, gitDir, ['refs/'])
  if (!whole)
    throw new RepriseError(
      'damaged',
      `git cannot read the refs of ${gitDir}`,
      'move refs/ and packed-refs in it away and start again; what the homes still hold is read anew',
    )
  return { refs, quarantined: [...told, ...quarantined] }
}

/** A ref file that git cannot read (emptied by a power cut) stops every later write to it: put aside, told, never dropped. */
async function quarantineRefs(
  dir: string,
  gitDir: string,
  broken: readonly string[],
  log: (message: string) => void,
): Promise<string[]> {
  const told: string[] = []
  for (const ref of broken) {
    const path = join(gitDir, ref)
    if (!existsSync(path)) continue
    await toQuarantine(dir, path, ref.replaceAll('/', '_'))
    told.push(`${ref} was unreadable and is in quarantine/; the objects it led to are still in the store`)
    log(told[told.length - 1] ?? '')
  }
  return told
}

async function toQuarantine(dir: string, path: string, name = basename(path)): Promise<void> {
  await rename(path, await freeName(dir, name))
}

/** A name in `quarantine/` that is not taken; nothing there is ever overwritten. */
async function freeName(dir: string, name: string): Promise<string> {
  const folder = join(dir, 'quarantine')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (let n = 0; ; n += 1) {
    const target = join(folder, n === 0 ? name : `${name}.${n}`)
    if (!existsSync(target)) return target
  }
}

function listQuarantine(dir: string): string[] {
  const folder = join(dir, 'quarantine')
  const inside = existsSync(folder) ? readdirSync(folder).map((name) => join('quarantine', name)) : []
  return [...inside, ...readdirSync(dir).filter((name) => name.includes('.damaged-'))].sort()
}

function faultOf(error: unknown): string[] {
  if (error instanceof RepriseError) return [error.message]
  throw error
}

/** Writes pause only while refs are packed; the repack runs beside a new writer, whose packs git leaves alone. */
async function runMaintenance(
  context: GitContext,
  gitDir: string,
  writer: CommitWriter,
  signal: AbortSignal,
): Promise<void> {
  writer.checkpoints = 0
  await writer.pause(() => packRefs(context, gitDir))
  if (!signal.aborted) await repackGeometric(context, gitDir, signal)
}
