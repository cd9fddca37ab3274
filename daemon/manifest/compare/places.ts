import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ManifestBody } from '../../../contract/index.ts'
import { isInside } from './inside.ts'

/** Where the things of one side lie. Two checkouts, worktrees or homes hold the same configuration at other places. */
export interface Placement {
  readonly workspace: string | null
  /** The main work tree; runtimes name what they keep of a project after it. */
  readonly main: string | null
  readonly cwd: string | null
  readonly home: string | null
}

/** A text with the places that differ between the sides replaced by words, so that equal things are equal. */
export type Cover = (text: string) => string

const same: Cover = (text) => text

export const placementOf = ({ execution }: ManifestBody, home: string | null): Placement => {
  const { repo, cwd } = execution
  const known = repo !== null && repo.root_known !== false
  const workspace = known ? repo.root : cwd
  return { workspace, main: repo !== null && typeof repo.main === 'string' ? repo.main : workspace, cwd, home }
}

const overlap = (a: string, b: string): boolean => isInside(a, b) || isInside(b, a)

/**
 * Covers for both sides. Only a place that lies elsewhere as a whole is covered: a start in another directory of the same tree is a
 * difference and stays one.
 */
export const relatePlaces = (a: Placement, b: Placement): { readonly a: Cover; readonly b: Cover } => {
  // A record that does not name the root of the repository may have been started below it.
  const rootA =
    a.workspace !== null && b.workspace !== null && isInside(a.workspace, b.workspace) ? b.workspace : a.workspace
  const rootB =
    a.workspace !== null && b.workspace !== null && isInside(b.workspace, a.workspace) ? a.workspace : b.workspace
  const pairs: { readonly a: string; readonly b: string; readonly word: string }[] = []
  const folders: typeof pairs = []
  if (rootA !== null && rootB !== null && !overlap(rootA, rootB))
    pairs.push({ a: rootA, b: rootB, word: '<workspace>' })
  if (a.main !== null && b.main !== null && !overlap(a.main, b.main))
    // Runtimes name folders after the directory they belong to, with every other sign replaced.
    folders.push({ a: folderName(a.main), b: folderName(b.main), word: '<workspace>' })
  if (a.home !== null && b.home !== null && a.home !== b.home) {
    pairs.push({ a: a.home, b: b.home, word: '<home>' })
    // What a home is accompanied by (`~/.claude.json`) lies beside it.
    const [besideA, besideB] = [path.dirname(a.home), path.dirname(b.home)]
    if (besideA !== besideB && path.basename(a.home) === path.basename(b.home) && path.basename(a.home).startsWith('.'))
      pairs.push({ a: besideA, b: besideB, word: '<user home>' })
  }
  if (pairs.length === 0 && folders.length === 0) return { a: same, b: same }
  const side = (letter: 'a' | 'b') =>
    coverOf([
      ...pairs.flatMap(({ word, ...pair }) => [
        { form: pair[letter], word },
        { form: pathToFileURL(pair[letter]).pathname, word },
      ]),
      ...folders.map(({ word, ...pair }) => ({ form: pair[letter], word })),
    ])
  return { a: side('a'), b: side('b') }
}

const folderName = (place: string): string => place.replaceAll(/[^A-Za-z0-9]/g, '-')

const coverOf = (given: readonly { readonly form: string; readonly word: string }[]): Cover => {
  const forms = [...given].sort((x, y) => y.form.length - x.form.length)
  const words = new Map(forms.map(({ form, word }) => [form, word]))
  const pattern = new RegExp(`(${forms.map(({ form }) => quote(form)).join('|')})(?![A-Za-z0-9_-])`, 'g')
  return (text) => text.replaceAll(pattern, (found) => words.get(found) ?? found)
}

const quote = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A path as a person would say it: below the start directory or workspace, or below the home. */
export const shortPath = (file: string, { workspace, cwd, home }: Placement): string => {
  for (const root of [workspace, cwd])
    if (root !== null && file !== root && isInside(file, root)) return file.slice(root.length + 1)
  if (
    cwd !== null &&
    workspace !== null &&
    isInside(cwd, path.dirname(workspace)) &&
    isInside(file, path.dirname(workspace))
  )
    return path.relative(workspace, file)
  if (home !== null && isInside(file, path.dirname(home))) return `~/${path.relative(path.dirname(home), file)}`
  return file
}
