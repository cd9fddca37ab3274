import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GitContext } from '../git/core.ts'
import { listCommits } from '../git/list-commits.ts'
import { replaceFile } from './durable.ts'

/** First line of the file as git writes it; all our refs name commits, so none has a peeled line. */
const HEAD = '# pack-refs with: peeled fully-peeled sorted '
const LINE = /^([0-9a-f]{40}) (refs\/(?:sessions\/[\w-]+|homes\/[\w-]+|reprise\/(?:manifests|texts)))$/
/** A line git reads although its name is none of ours: of a later version, or a changed one. It is told and stays. */
const ANY = /^([0-9a-f]{40}) (refs\/[\w./-]+)$/
const LOST = 'the objects it led to are still in the store'

interface Found {
  readonly refs: ReadonlyMap<string, string>
  /** Lines that are not as git writes them, and are left out of `refs`. */
  readonly odd: readonly { readonly number: number; readonly id: string; readonly ref: string | null }[]
  readonly intact: boolean
  readonly lines: readonly string[]
}

export interface MendedRefs {
  /** What happened, one sentence per ref; empty when nothing was wrong. */
  readonly told: readonly string[]
  /** Refs that were in the file and could not be saved, as far as their names are known, with their lines. */
  readonly lost: ReadonlyMap<string, string>
}

/**
 * Git refuses every ref when one byte of `packed-refs` is wrong. What stands in intact lines is saved into a new file, an id with one wrong
 * character is found again among the commits of the store; the old file goes to `quarantine`. `whole` tells that git could read all refs.
 */
export async function mendPackedRefs(
  context: GitContext,
  gitDir: string,
  whole: boolean,
  quarantine: (path: string) => Promise<void>,
): Promise<MendedRefs> {
  const path = join(gitDir, 'packed-refs')
  if (!existsSync(path)) return { told: [], lost: new Map() }
  const found = parse(readFileSync(path, 'latin1'))
  if (whole && found.intact) return { told: [], lost: new Map() }
  const commits = await listCommits(context, gitDir)
  const refs = new Map<string, string>()
  const lost = new Map<string, string>()
  const told: string[] = []
  const save = (ref: string, id: string): void => {
    const known = commits.has(id) ? [id] : [...commits].filter((commit) => differsInOne(commit, id))
    const [commit] = known
    if (commit === undefined || known.length > 1) {
      lost.set(ref, id)
      told.push(`${ref} was unreadable in packed-refs, which is in quarantine/; ${LOST}`)
      return
    }
    if (commit !== id)
      told.push(`${ref} was unreadable in packed-refs, which is in quarantine/; its commit was found again`)
    refs.set(ref, commit)
  }
  for (const [ref, id] of found.refs) save(ref, id)
  for (const { number, id, ref } of found.odd) {
    const other = ANY.exec(lineOf(found, number))
    if (ref !== null) save(ref, id)
    else if (other?.[1] !== undefined && other[2] !== undefined && commits.has(other[1])) {
      told.push(
        `line ${number} of packed-refs, which is in quarantine/, names no ref of ours (${other[2]}); it was kept as it is`,
      )
      refs.set(other[2], other[1])
    } else told.push(`line ${number} of packed-refs, which is in quarantine/, names no ref that can be read; ${LOST}`)
  }
  if (told.length === 0) {
    // Git could not read something else, which is not ours to mend here.
    if (found.intact) return { told: [], lost }
    told.push('packed-refs was damaged and is in quarantine/; every ref in it was saved')
  }
  // A name that was lost may be that of a collection: it must not seem empty.
  for (const ref of ['refs/reprise/manifests', 'refs/reprise/texts'])
    if (found.odd.some((odd) => odd.ref === null) && !refs.has(ref) && !existsSync(join(gitDir, ref))) lost.set(ref, '')
  await quarantine(path)
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([ref, id]) => `${id} ${ref}`)
  await replaceFile(path, `${[HEAD, ...lines].join('\n')}\n`)
  return { told, lost }
}

function parse(text: string): Found {
  const refs = new Map<string, string>()
  const odd: { number: number; id: string; ref: string | null }[] = []
  const [head = '', ...lines] = text.split('\n')
  let last = ''
  let isSorted = true
  lines.forEach((line, n) => {
    const [, id, ref] = LINE.exec(line) ?? []
    if (id !== undefined && ref !== undefined && !refs.has(ref)) {
      if (ref < last) isSorted = false
      last = ref
      refs.set(ref, id)
    } else if (line !== '' || n < lines.length - 1) {
      const name = LINE.exec(`${'0'.repeat(40)} ${line.slice(41)}`)?.[2] ?? null
      odd.push({ number: n + 2, id: line.slice(0, 40), ref: name !== null && refs.has(name) ? null : name })
    }
  })
  return { refs, odd, lines, intact: head === HEAD && isSorted && odd.length === 0 && text.endsWith('\n') }
}

const lineOf = ({ lines }: Found, number: number): string => lines[number - 2] ?? ''

function differsInOne(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let differing = 0
  for (let n = 0; n < a.length && differing < 2; n += 1) if (a[n] !== b[n]) differing += 1
  return differing === 1
}
