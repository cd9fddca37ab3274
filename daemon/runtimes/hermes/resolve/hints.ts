import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import { blockedFile, scan } from './scan.ts'
import { makeSource, type Source } from './sources.ts'
import { pointsOf, readText, strip } from './text.ts'
import type { Rules } from './versions.ts'

/** A walk below the start directory looks at this many names and then says what it left out. */
const MOST_NAMES = 20_000
const MOST_CHARACTERS = 8000
const NAMES = ['AGENTS.md', 'agents.md', 'CLAUDE.md', 'claude.md', '.cursorrules']
/** Folders with copies of context files (runtime page 5.5); the full list of the program is longer. */
const SKIPPED = /^(node_modules|vendor|\.git|\.venv|venv|__pycache__|site-packages|.*(backup|\.bak).*)$/i

export interface Hints {
  readonly lazy: readonly Source[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/**
 * Context files below the start directory that would come in with the result of a call that touches their directory (R51, runtime page
 * 5.5, 0.20.0). Breadth first and by name, so that the bound cuts at the same place everywhere.
 */
export function findHints(disk: Disk, cwd: string, userHome: string, rules: Rules): Hints {
  const unknown: { field: string; why: string }[] = []
  if (cwd === userHome || path.dirname(cwd) === cwd) {
    unknown.push({
      field: 'instructions.sources',
      why: `${cwd} is a home or root directory; context files below it were not searched`,
    })
    return { lazy: [], unknown }
  }
  const lazy: Source[] = []
  const names = rules === '0.20.0' ? NAMES : ['AGENTS.override.md', ...NAMES]
  let seen = 0
  let unread = 0
  let queue = [cwd]
  while (queue.length > 0) {
    const next: string[] = []
    for (const directory of queue.sort()) {
      if (seen > MOST_NAMES) {
        unread++
        continue
      }
      const listing = disk.names(directory)
      if (listing === null) continue
      if ('why' in listing) {
        unknown.push({ field: 'instructions.sources', why: `${directory}: ${listing.why}` })
        continue
      }
      // One huge folder must not hide its neighbours.
      seen += Math.min(listing.length, MOST_NAMES / 10)
      for (const entry of listing)
        if (entry.isDirectory() && !SKIPPED.test(entry.name)) next.push(path.join(directory, entry.name))
      if (directory === cwd) continue
      const present = new Set(listing.map(({ name }) => name))
      const hint = names.filter((name) => present.has(name)).flatMap((name) => hintOf(disk, cwd, directory, name))[0]
      if (hint !== undefined) lazy.push(hint)
    }
    queue = next
  }
  if (unread > 0)
    unknown.push({
      field: 'instructions.sources',
      why: `context files below ${unread} folders were not searched; the search stops after ${MOST_NAMES} names`,
    })
  return { lazy, unknown }
}

function hintOf(disk: Disk, cwd: string, directory: string, name: string): readonly Source[] {
  const file = path.join(directory, name)
  const found = readText(disk, file)
  if (found.state !== 'text') return []
  const content = strip(found.text)
  if (content === '') return []
  const ids = scan(content, 'everywhere')
  const points = pointsOf(content)
  const label = path.relative(cwd, file).split(path.sep).join('/')
  const isCut = points > MOST_CHARACTERS
  return [
    makeSource({
      path: file,
      scope: 'path',
      kind: 'instructions',
      label,
      status: 'lazy',
      rule: 'appended to the result of the first call that touches its directory, once per directory and content (0.20.0)',
      trigger: `a call names a path in or below ${directory}`,
      reason:
        ids.length > 0
          ? `kept out by the security scan (${ids.join(', ')}): only a note of it would enter`
          : isCut
            ? `longer than ${MOST_CHARACTERS} characters; how it is cut differs between versions`
            : null,
      raw: found.raw,
      text: ids.length > 0 ? blockedFile(name, ids) : isCut ? null : content,
      truncated: isCut && ids.length === 0 ? { at: MOST_CHARACTERS, unit: 'characters' } : null,
      scan: { result: ids.length > 0 ? 'rejected' : 'clean', rules: [...ids] },
    }),
  ]
}
