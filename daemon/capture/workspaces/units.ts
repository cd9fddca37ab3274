import fs from 'node:fs'
import path from 'node:path'
import { asPath, readSmall } from './bytes.ts'
import { type GitIndex, readGitIndex } from './git-index.ts'

/** A repository in a workspace: the workspace's own, or one further down. Read by us; nothing in a `.git` is written, locked or freshened. */
export interface Unit {
  /** Relative to the workspace; empty for the workspace itself. */
  readonly path: string
  readonly kind: 'repository' | 'submodule' | 'worktree'
  readonly head: string | null
  readonly branch: string | null
  /** Absolute, latin1; null: not known, and `why` says so. */
  readonly gitDir: string | null
  readonly commonDir: string | null
  readonly sha256: boolean
  readonly why: string | null
}

const MEGABYTE = 1 << 20
const MOST_PACKED_REFS = 64 * MEGABYTE

/** `folder` absolute, latin1. A repository that is broken is one with a reason. */
export function readUnit(folder: string, relative: string, dotGit: 'folder' | 'file' | 'link'): Unit {
  const unknown = (kind: Unit['kind'], why: string): Unit => ({
    path: relative,
    kind,
    head: null,
    branch: null,
    gitDir: null,
    commonDir: null,
    sha256: false,
    why,
  })
  if (dotGit === 'link') return unknown('repository', 'its .git is a link, which is not followed')
  let gitDir = `${folder}/.git`
  let kind: Unit['kind'] = 'repository'
  if (dotGit === 'file') {
    const target = /^gitdir: ([^\n]+?)\s*$/.exec(readSmall(gitDir, MEGABYTE)?.toString('latin1') ?? '')?.[1]
    if (target === undefined) return unknown('worktree', 'its .git file names no folder')
    gitDir = path.posix.resolve(folder, target)
    kind = /(?:^|\/)modules\//.test(target) ? 'submodule' : 'worktree'
  }
  const text = (name: string): string | null => readSmall(name, MEGABYTE)?.toString('latin1').trim() ?? null
  const headText = text(`${gitDir}/HEAD`)
  if (headText === null) return unknown(kind, `its folder ${gitDir} has no HEAD`)
  const common = text(`${gitDir}/commondir`)
  const commonDir = common === null || common === '' ? gitDir : path.posix.resolve(gitDir, common)
  if (common !== null) kind = 'worktree'
  const config = text(`${commonDir}/config`) ?? ''
  const ref = /^ref: (.+)$/.exec(headText)?.[1] ?? null
  const head = ref === null ? asId(headText) : resolveRef(gitDir, commonDir, ref)
  return {
    path: relative,
    kind,
    head,
    branch: ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null,
    gitDir,
    commonDir,
    sha256: /^\s*objectformat\s*=\s*sha256\s*$/im.test(config),
    why: null,
  }
}

const asId = (text: string): string | null => (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null)

function resolveRef(gitDir: string, commonDir: string, ref: string): string | null {
  let name = ref
  for (let hop = 0; hop < 5; hop += 1) {
    if (name.split('/').includes('..')) return null
    const own = readSmall(`${gitDir}/${name}`, 4096) ?? readSmall(`${commonDir}/${name}`, 4096)
    if (own === null) break
    const text = own.toString('latin1').trim()
    const next = /^ref: (.+)$/.exec(text)?.[1]
    if (next === undefined) return asId(text)
    name = next
  }
  const packed = readSmall(`${commonDir}/packed-refs`, MOST_PACKED_REFS)
  if (packed === null) return null
  const at = packed.indexOf(` ${name}\n`, 0, 'latin1')
  if (at < 0) return null
  const start = packed.lastIndexOf(0x0a, at) + 1
  return asId(packed.toString('latin1', start, at))
}

/** Stat of the index, as far as it tells whether it is the same one. */
function stampIndex(gitDir: string): string {
  try {
    const stat = fs.lstatSync(asPath(`${gitDir}/index`))
    return `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino}`
  } catch {
    return 'none'
  }
}

/** What Git tracks in a unit: read when it is first asked for, and again when the index moved since the last look. */
export class TrackedFiles {
  private known: { readonly index: GitIndex | null; readonly why: string | null } | null = null
  private knownStamp = ''
  private checked = false

  constructor(
    readonly gitDir: string,
    private readonly sha256: boolean,
  ) {}

  /** A new look begins. */
  lookAgain(): void {
    this.checked = false
  }

  /** The same index, the same stamp. */
  stamp(): string {
    if (!this.checked) {
      const stamp = stampIndex(this.gitDir)
      if (stamp !== this.knownStamp) this.known = null
      this.knownStamp = stamp
      this.checked = true
    }
    return this.knownStamp
  }

  /** Null: nothing is tracked, or it is not known ({@link why}). */
  index(): GitIndex | null {
    this.stamp()
    if (this.known === null) {
      const index = readGitIndex(this.gitDir, this.sha256)
      this.known = index !== null && 'why' in index ? { index: null, why: index.why } : { index, why: null }
    }
    return this.known.index
  }

  why(): string | null {
    this.index()
    return this.known?.why ?? null
  }
}
