import fs from 'node:fs'
import { asPath, isAscii, openQuietly } from './bytes.ts'
import { fileSystemOf } from './file-systems.ts'
import { IgnoreFile, ignoredBy, pushRules, type RuleStack } from './ignore-rules.ts'
import {
  addFolder,
  countFiles,
  dropChild,
  type FileNode,
  type FolderNode,
  hasFiles,
  isRacy,
  type LeftOutNote,
  type LeftOutReason,
} from './nodes.ts'
import { readUnit, TrackedFiles, type Unit } from './units.ts'

/** A file or link whose content may differ from the newest state. */
export interface Candidate {
  readonly path: string
  readonly name: string
  readonly folder: FolderNode
  readonly bytes: number
  readonly stat: {
    readonly mode: number
    readonly size: number
    readonly mtimeMs: number
    readonly ctimeMs: number
    readonly ino: number
  }
  /** Id of a blob in our own store that it is, where that is known without reading it. */
  oid: string | null
}

/** What went from the state. `reported`: from the disk too, and not only out of what is captured. */
export interface Removal {
  readonly path: string
  readonly node: FileNode | FolderNode
  readonly reported: boolean
}

export interface WalkParts {
  /** Absolute real path, latin1. */
  readonly root: string
  readonly tree: FolderNode
  readonly excludes: IgnoreFile
  /** By path; the walk brings it up to date. */
  readonly units: Map<string, Unit>
  readonly tracked: Map<string, TrackedFiles>
  readonly ignoreFiles: Map<string, { readonly stamp: string; readonly file: IgnoreFile }>
  /** What could not be read before; tried again. */
  readonly unread: Map<string, LeftOutNote>
  readonly mostFiles: number
  readonly now: () => number
  readonly clock: () => number
  readonly stopAt: number
  /** Lets other work go on when this has gone on for some time. */
  readonly breathe: () => Promise<void> | null
}

export interface WalkFound {
  readonly candidates: Candidate[]
  readonly removals: Removal[]
  /** Folders there was no time for. */
  readonly unvisited: string[]
  /** New files over the limit of files. */
  overFiles: number
  looked: number
}

interface Frame {
  readonly folder: FolderNode
  readonly path: string
  readonly parent: Frame | null
  readonly name: string
  readonly stat: fs.Stats
  readonly rules: RuleStack | null
  readonly unit: Unit | null
  /** The folder is ignored; only what Git tracks in it is captured. */
  readonly trackedOnly: boolean
  /** Its names, where they were read already. */
  readonly listed?: Listed | null
}

type Listed = { readonly names: readonly string[]; readonly at: number } | { readonly code: string }

type Judged = 'take' | 'tracked-only' | LeftOutNote

const CACHE_TAG = 'Signature: 8a477f597d28d172789f06886806bc55'
const S_IFMT = 0o170000
const S_IFREG = 0o100000
const S_IFDIR = 0o040000
const S_IFLNK = 0o120000

/** The root itself is gone, or no folder any more. */
export class WorkspaceGone extends Error {}

/**
 * Compares the disk with what is remembered. `only`: the paths that may have changed; null: everything is looked at. Folders whose times
 * did not move are not listed again, files whose stat is the same are not read. `first`: folders an earlier look had no time for.
 */
export async function walkWorkspace(
  parts: WalkParts,
  only: readonly string[] | null,
  first: readonly string[] = [],
): Promise<WalkFound> {
  const rootStat = existing(parts.root)
  if (rootStat === undefined || (rootStat.mode & S_IFMT) !== S_IFDIR) throw new WorkspaceGone()
  const walk = new Walk(parts, rootStat)
  if (only === null || only.includes('')) await walk.everything(first)
  else await walk.some(only)
  for (const one of walk.racy) walk.found.candidates.push(one)
  return walk.found
}

class Walk {
  readonly found: WalkFound = { candidates: [], removals: [], unvisited: [], overFiles: 0, looked: 0 }
  /** Most likely the same: what certainly differs is read before them. */
  readonly racy: Candidate[] = []
  private readonly listsAreReliable: boolean
  private files: number
  private readonly top: Frame
  private readonly entered = new Map<string, Frame | null>()
  private readonly freshUnits = new Set<string>()

  constructor(
    private readonly parts: WalkParts,
    rootStat: fs.Stats,
  ) {
    this.listsAreReliable = fileSystemOf(parts.root).kind === 'local'
    for (const tracked of parts.tracked.values()) tracked.lookAgain()
    this.files = countFiles(parts.tree)
    this.top = {
      folder: parts.tree,
      path: '',
      parent: null,
      name: '',
      stat: rootStat,
      rules: null,
      unit: null,
      trackedOnly: false,
    }
  }

  async everything(first: readonly string[]): Promise<void> {
    for (const path of this.parts.unread.keys()) this.listAgain(path)
    for (const path of first) if (path !== '') await this.one(path)
    const before = new Set(this.parts.units.keys())
    await this.below(this.top)
    if (this.found.unvisited.length === 0)
      for (const path of before) if (!this.freshUnits.has(path)) this.dropUnit(path)
  }

  async some(paths: readonly string[]): Promise<void> {
    const sorted = [...new Set(paths)].sort()
    const done: string[] = []
    for (const path of sorted) {
      if (done.some((above) => path === above || path.startsWith(`${above}/`))) continue
      const covered = await this.one(path)
      if (covered !== null) done.push(covered)
    }
    for (const path of [...this.parts.units.keys()])
      if (!this.freshUnits.has(path) && (path === '' || sorted.some((one) => one.startsWith(`${path}/`))))
        this.enterUnit(path, this.parts.units.get(path)?.why === null ? undefined : null)
  }

  /** Looks at one path. Gives the folder that was looked at as a whole, or null. */
  private async one(path: string): Promise<string | null> {
    const names = path.split('/')
    let frame = this.enteredOnce(this.top)
    for (let n = 0; n < names.length && frame !== null; n += 1) {
      const name: string = names[n] ?? ''
      if (name === '.git') {
        const stat = existing(join(this.parts.root, join(frame.path, '.git')))
        const now = dotGitOf(stat)
        if (now === frame.folder.dotGit) {
          if (now !== null) this.enterUnit(frame.path, now)
          return null
        }
        frame.folder.names = null // rules begin or end here
        await this.below(frame)
        return frame.path
      }
      const last = n === names.length - 1
      if (last && (name === '.gitignore' || name === 'CACHEDIR.TAG')) {
        frame.folder.names = null
        await this.below(frame)
        return frame.path
      }
      const next: Frame | 'file' | null = this.visit(frame, name)
      if (next === null || next === 'file') {
        if (frame.folder.children.size === 0 && frame.folder.others.size === 0) frame.folder.names = null
        if (frame.folder.names === null || frame.folder.names === 0) this.countNames(frame)
        return null
      }
      frame.folder.names = Math.max(1, frame.folder.names ?? 0)
      if (last || next.folder.names === null) {
        await this.below(next)
        return next.path
      }
      frame = this.enteredOnce(next)
    }
    return null
  }

  private enteredOnce(frame: Frame): Frame | null {
    const known = this.entered.get(frame.path)
    if (known !== undefined) return known
    const entered = this.enter(frame, false)
    this.entered.set(frame.path, entered)
    return entered
  }

  private countNames(frame: Frame): void {
    try {
      frame.folder.names = fs.readdirSync(asPath(join(this.parts.root, frame.path)), 'latin1').length
      frame.folder.ctimeMs = -1 // its names were only counted
    } catch {
      // It went meanwhile; the next look tells.
    }
  }

  private listAgain(path: string): void {
    let folder = this.parts.tree
    const names = path.split('/')
    names.pop()
    for (const name of names) {
      const next = folder.children.get(name)
      if (next?.kind !== 'folder') break
      folder = next
    }
    folder.names = null
  }

  /** A folder and all below it. */
  private async below(start: Frame): Promise<void> {
    const stack: Frame[] = [start]
    for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
      if (this.parts.clock() > this.parts.stopAt) {
        this.found.unvisited.push(frame.path, ...stack.map((one) => one.path))
        return
      }
      const entered = this.enter(frame, true)
      if (entered === null) continue
      await this.list(entered, stack)
    }
  }

  /** What holds inside a folder: its unit and rules. Null: it is left out as a whole. */
  private enter(frame: Frame, whole: boolean): Frame | null {
    const { folder, path } = frame
    const full = join(this.parts.root, path)
    let { rules, unit, trackedOnly } = frame
    const same = this.hasSameNames(frame)
    const listed = same || !whole ? null : this.readNames(full)
    const present = listed !== null && 'names' in listed ? new Set(listed.names) : null
    const holds = (name: string): boolean =>
      present !== null ? present.has(name) : !same || folder.children.has(name) || folder.others.has(name)
    const hasGit = present === null ? !same || folder.dotGit !== null : present.has('.git')
    const dotGit = hasGit ? dotGitOf(existing(`${full}/.git`)) : null
    if (dotGit !== folder.dotGit) {
      folder.dotGit = dotGit
      folder.names = null
    }
    if (dotGit !== null) {
      unit = this.enterUnit(path, dotGit)
      rules = null
      trackedOnly = false
      const exclude = unit.commonDir === null ? null : this.ignoreFile(`${unit.commonDir}/info/exclude`)
      if (exclude !== null) rules = pushRules(rules, exclude, path, 'ignored by .git/info/exclude')
    } else if (this.parts.units.has(path)) this.dropUnit(path)
    const own = holds('.gitignore') ? this.ignoreFile(`${full}/.gitignore`) : null
    if (own !== null) rules = pushRules(rules, own, path, `ignored by ${join(path, '.gitignore')}`)
    if (path !== '' && dotGit === null && !trackedOnly && holds('CACHEDIR.TAG') && isCache(full)) {
      if (this.trackedBelow(unit, path, folder)) trackedOnly = true
      else {
        this.leaveOut(frame, { reason: 'cache', why: 'a cache, by its CACHEDIR.TAG', bytes: null, folder: true })
        return null
      }
    }
    return { ...frame, rules, unit, trackedOnly, listed }
  }

  private readNames(full: string): Listed {
    const at = this.parts.now()
    try {
      return { names: fs.readdirSync(asPath(full), 'latin1'), at }
    } catch (error) {
      return { code: (error as NodeJS.ErrnoException).code ?? '' }
    }
  }

  private enterUnit(path: string, dotGit: 'folder' | 'file' | 'link' | null | undefined): Unit {
    const full = join(this.parts.root, path)
    const unit = readUnit(full, path, dotGit ?? dotGitOf(existing(`${full}/.git`)) ?? 'folder')
    this.parts.units.set(path, unit)
    this.freshUnits.add(path)
    if (unit.gitDir === null) this.parts.tracked.delete(path)
    else if (this.parts.tracked.get(path)?.gitDir !== unit.gitDir)
      this.parts.tracked.set(path, new TrackedFiles(unit.gitDir, unit.sha256))
    return unit
  }

  private dropUnit(path: string): void {
    this.parts.units.delete(path)
    this.parts.tracked.delete(path)
  }

  /** Rules of a file, read again when its stat moved. Null: there is none, or nothing in it. */
  private ignoreFile(path: string): IgnoreFile | null {
    const stat = existing(path)
    if (stat === undefined || (stat.mode & S_IFMT) !== S_IFREG || stat.size > 4_000_000) return null
    const stamp = `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino}`
    const known = this.parts.ignoreFiles.get(path)
    if (known?.stamp === stamp) return known.file.empty ? null : known.file
    let text: string
    try {
      const fd = openQuietly(asPath(path))
      try {
        text = fs.readFileSync(fd, 'latin1')
      } finally {
        fs.closeSync(fd)
      }
    } catch {
      return known === undefined || known.file.empty ? null : known.file
    }
    const file = new IgnoreFile(text)
    const racy = isRacy({ ctimeMs: stat.ctimeMs, seenAt: this.parts.now() })
    this.parts.ignoreFiles.set(path, { stamp: racy ? '' : stamp, file })
    return file.empty ? null : file
  }

  /** All names of a folder. */
  private async list(frame: Frame, stack: Frame[]): Promise<void> {
    const { folder, path, stat, unit } = frame
    const full = join(this.parts.root, path)
    const same = this.hasSameNames(frame) && folder.rules === this.rulesOf(frame, folder.askedIndex)
    let seenAt = 0
    let names: Iterable<string>
    if (same) names = [...folder.children.keys()]
    else {
      const read = frame.listed ?? this.readNames(full)
      if ('code' in read) {
        if (read.code === 'ENOENT' || read.code === 'ENOTDIR') {
          if (frame.parent !== null) this.remove(frame.parent, frame.name, true)
        } else
          this.parts.unread.set(path, {
            reason: 'unreadable',
            why: `the folder cannot be read (${read.code}); what was known of it is kept`,
            bytes: null,
            folder: true,
          })
        return
      }
      const listed = read.names
      seenAt = read.at
      this.parts.unread.delete(path)
      folder.askedIndex = false
      const present = new Set(listed)
      for (const name of [...folder.children.keys()]) if (!present.has(name)) this.remove(frame, name, true)
      for (const name of [...folder.others.keys()]) if (!present.has(name)) folder.others.delete(name)
      for (const name of present) this.parts.unread.delete(join(path, name))
      names = listed
      folder.names = present.has('.git') ? listed.length - 1 : listed.length
    }
    let at = 0
    for (const name of names) {
      if (name === '.git') continue
      const next = this.visit(frame, name, same)
      if (next !== null && next !== 'file') stack.push(next)
      at += 1
      if ((at & 31) === 0) {
        const pause = this.parts.breathe()
        if (pause !== null) await pause
      }
    }
    if (!same) {
      folder.mtimeMs = stat.mtimeMs
      folder.ctimeMs = stat.ctimeMs
      folder.ino = stat.ino
      folder.seenAt = seenAt
      folder.rules = this.rulesOf({ ...frame, unit }, folder.askedIndex)
    }
    const pause = this.parts.breathe()
    if (pause !== null) await pause
  }

  /** No name came or went since the folder was listed. */
  private hasSameNames({ folder, stat }: Frame): boolean {
    return (
      this.listsAreReliable &&
      folder.names !== null &&
      folder.ctimeMs === stat.ctimeMs &&
      folder.mtimeMs === stat.mtimeMs &&
      folder.ino === stat.ino &&
      !isRacy(folder)
    )
  }

  private rulesOf({ rules, unit, trackedOnly }: Frame, askedIndex: boolean): string {
    const index = askedIndex && unit !== null ? (this.parts.tracked.get(unit.path)?.stamp() ?? '') : ''
    return `${this.parts.excludes.hash} ${rules?.identity ?? ''} ${trackedOnly ? 'tracked' : ''} ${index}`
  }

  /** One name of a folder. Gives the frame of a folder to go into. `judged`: known to be captured, by the rules in force. */
  private visit(frame: Frame, name: string, judged = false): Frame | 'file' | null {
    const { folder, path } = frame
    const below = path === '' ? name : `${path}/${name}`
    const stat = statOf(`${this.parts.root}/${below}`)
    this.found.looked += 1
    if (stat === undefined) {
      this.parts.unread.delete(below)
      folder.others.delete(name)
      this.remove(frame, name, true)
      return null
    }
    if (stat === 'unreadable') {
      this.parts.unread.set(below, {
        reason: 'unreadable',
        why: 'it cannot be looked at; what was known of it is kept',
        bytes: null,
        folder: false,
      })
      return null
    }
    const type = stat.mode & S_IFMT
    const isFolder = type === S_IFDIR
    const child = folder.children.get(name)
    let trackedOnly = frame.trackedOnly
    if (!judged) {
      const verdict = this.judge(frame, below, name, isFolder, stat)
      if (verdict !== 'take' && verdict !== 'tracked-only') {
        this.remove(frame, name, false)
        folder.others.set(name, verdict)
        return null
      }
      if (verdict === 'tracked-only') trackedOnly = true
      // A credential is in the state by its digest, and named as left out all the same.
      if (child === undefined || folder.others.get(name)?.reason !== 'credential') folder.others.delete(name)
    } else if (isFolder && !trackedOnly && folder.askedIndex) {
      trackedOnly = this.judge(frame, below, name, true, stat) === 'tracked-only'
    }
    if (isFolder) {
      if (stat.dev !== this.top.stat.dev) {
        const system = fileSystemOf(`${this.parts.root}/${below}`)
        if (system.kind === 'network' || system.kind === 'pseudo') {
          const why = `another file system is mounted here (${system.name})`
          this.remove(frame, name, false)
          folder.others.set(name, { reason: 'special', why, bytes: null, folder: true })
          return null
        }
      }
      let inner: FolderNode
      if (child?.kind === 'folder') inner = child
      else {
        if (child !== undefined) this.remove(frame, name, true)
        if (this.files >= this.parts.mostFiles) {
          this.found.overFiles += 1
          folder.others.set(name, this.overFiles(true, null))
          folder.names = null
          return null
        }
        inner = addFolder(folder, name)
      }
      return { ...frame, folder: inner, path: below, parent: frame, name, stat, trackedOnly }
    }
    if (child?.kind === 'folder') this.remove(frame, name, true)
    if (type !== S_IFREG && type !== S_IFLNK) {
      this.remove(frame, name, true)
      folder.others.set(name, { reason: 'special', why: specialName(type), bytes: null, folder: false })
      return null
    }
    const node = child?.kind === 'file' ? child : undefined
    if (
      node !== undefined &&
      node.size === stat.size &&
      node.mtimeMs === stat.mtimeMs &&
      node.ctimeMs === stat.ctimeMs &&
      node.ino === stat.ino
    ) {
      if (isRacy(node))
        this.racy.push({ path: below, name, folder, bytes: stat.size, stat: plainStat(stat), oid: null })
      return 'file'
    }
    if (node === undefined) {
      if (this.files >= this.parts.mostFiles) {
        this.found.overFiles += 1
        folder.others.set(name, this.overFiles(false, stat.size))
        folder.names = null
        return null
      }
      this.files += 1
    }
    this.found.candidates.push({ path: below, name, folder, bytes: stat.size, stat: plainStat(stat), oid: null })
    return 'file'
  }

  private overFiles(folder: boolean, bytes: number | null): LeftOutNote {
    return { reason: 'budget', why: `over the limit of ${this.parts.mostFiles} files`, bytes, folder }
  }

  private judge(frame: Frame, path: string, name: string, isFolder: boolean, stat: fs.Stats): Judged {
    if (name.length === 4 && name.toLowerCase() === '.git')
      return note('special', 'a name that Git takes for a folder of its own', isFolder, stat)
    if (!this.parts.excludes.empty && this.parts.excludes.judge(path, name, isFolder) === true)
      return note('excluded', 'by the setting workspace_excludes', isFolder, stat)
    const source = frame.trackedOnly ? 'ignored, as the folder is' : ignoredBy(frame.rules, path, name, isFolder)
    if (source === null) return 'take'
    if (isFolder) {
      if (this.trackedBelow(frame.unit, path, frame.folder)) return 'tracked-only'
    } else if (this.isTracked(frame.unit, path, frame.folder)) return 'take'
    return note('ignored', source, isFolder, stat)
  }

  private isTracked(unit: Unit | null, path: string, folder: FolderNode): boolean {
    folder.askedIndex = true
    if (unit === null) return false
    return this.parts.tracked.get(unit.path)?.index()?.has(inUnit(unit, path)) ?? false
  }

  private trackedBelow(unit: Unit | null, path: string, folder: FolderNode): boolean {
    folder.askedIndex = true
    if (unit === null) return false
    return this.parts.tracked.get(unit.path)?.index()?.hasBelow(inUnit(unit, path)) ?? false
  }

  private leaveOut(frame: Frame, note: LeftOutNote): void {
    if (frame.parent === null) return
    this.remove(frame.parent, frame.name, false)
    frame.parent.folder.others.set(frame.name, note)
  }

  private remove(frame: Frame, name: string, reported: boolean): void {
    const node = frame.folder.children.get(name)
    if (node === undefined) return
    const path = join(frame.path, name)
    dropChild(frame.folder, name)
    frame.folder.others.delete(name)
    if (node.kind === 'file' || hasFiles(node)) this.found.removals.push({ path, node, reported })
    this.files -= node.kind === 'file' ? 1 : countFiles(node)
    this.parts.unread.delete(path)
    if (node.kind === 'folder')
      for (const unread of [...this.parts.unread.keys()])
        if (unread === path || unread.startsWith(`${path}/`)) this.parts.unread.delete(unread)
  }
}

const join = (folder: string, name: string): string =>
  folder === '' ? name : name === '' ? folder : `${folder}/${name}`

const inUnit = (unit: Unit, path: string): string => (unit.path === '' ? path : path.slice(unit.path.length + 1))

const note = (reason: LeftOutReason, why: string, folder: boolean, stat: fs.Stats): LeftOutNote => ({
  reason,
  why,
  bytes: folder ? null : stat.size,
  folder,
})

/** What is kept of many at once must not hold the dates that come with each. */
const plainStat = ({ mode, size, mtimeMs, ctimeMs, ino }: fs.Stats): Candidate['stat'] => ({
  mode,
  size,
  mtimeMs,
  ctimeMs,
  ino,
})

/** Undefined: nothing is there. */
function statOf(path: string): fs.Stats | undefined | 'unreadable' {
  try {
    return fs.lstatSync(isAscii(path) ? path : asPath(path), { throwIfNoEntry: false })
  } catch {
    return 'unreadable'
  }
}

/** Undefined: nothing is there, or it may not be looked at. */
function existing(path: string): fs.Stats | undefined {
  const stat = statOf(path)
  return stat === 'unreadable' ? undefined : stat
}

function dotGitOf(stat: fs.Stats | undefined): 'folder' | 'file' | 'link' | null {
  if (stat === undefined) return null
  const type = stat.mode & S_IFMT
  return type === S_IFDIR ? 'folder' : type === S_IFREG ? 'file' : type === S_IFLNK ? 'link' : null
}

function isCache(full: string): boolean {
  const stat = existing(`${full}/CACHEDIR.TAG`)
  if (stat === undefined || (stat.mode & S_IFMT) !== S_IFREG) return false
  try {
    const fd = openQuietly(asPath(`${full}/CACHEDIR.TAG`))
    try {
      const head = Buffer.alloc(CACHE_TAG.length)
      fs.readSync(fd, head, 0, head.length, 0)
      return head.toString('latin1') === CACHE_TAG
    } finally {
      fs.closeSync(fd)
    }
  } catch {
    return false
  }
}

function specialName(type: number): string {
  switch (type) {
    case 0o140000:
      return 'a socket'
    case 0o010000:
      return 'a pipe'
    case 0o020000:
      return 'a character device'
    case 0o060000:
      return 'a block device'
    default:
      return 'of a kind that is not known'
  }
}
