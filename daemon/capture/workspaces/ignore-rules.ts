import { createHash } from 'node:crypto'
import { type IgnorePattern, parsePattern } from './ignore-pattern.ts'

interface Ranked {
  readonly rank: number
  readonly pattern: IgnorePattern
}

/** The patterns of one file, so laid out that nearly every name is judged by two look-ups. */
export class IgnoreFile {
  private readonly literals = new Map<string, Ranked[]>()
  private readonly endings = new Map<string, Ranked[]>()
  private readonly endingLengths: readonly number[]
  private readonly others: Ranked[] = []
  readonly hash: string
  readonly empty: boolean

  constructor(text: string) {
    const lines = (text.startsWith('\xef\xbb\xbf') ? text.slice(3) : text).split('\n')
    let rank = 0
    for (const line of lines) {
      const pattern = parsePattern(line)
      if (pattern === null) continue
      rank += 1
      const ranked = { rank, pattern }
      if (pattern.literal !== null)
        add(this.literals, pattern.anchored ? `/${pattern.literal}` : pattern.literal, ranked)
      else if (pattern.ending !== null) add(this.endings, pattern.ending, ranked)
      else this.others.push(ranked)
    }
    this.endingLengths = [...new Set([...this.endings.keys()].map((ending) => ending.length))]
    this.others.reverse()
    this.hash = createHash('sha1').update(text, 'latin1').digest('hex')
    this.empty = rank === 0
  }

  /** `below` is the path under the folder the rules are for. Null: the rules do not speak of it. */
  judge(below: string, name: string, isFolder: boolean): boolean | null {
    let best: Ranked | null = null
    const consider = (found: readonly Ranked[] | undefined): void => {
      if (found === undefined) return
      for (const one of found)
        if ((isFolder || !one.pattern.foldersOnly) && (best === null || one.rank > best.rank)) best = one
    }
    consider(this.literals.get(name))
    consider(this.literals.get(`/${below}`))
    for (const length of this.endingLengths)
      if (name.length >= length) consider(this.endings.get(name.slice(name.length - length)))
    for (const one of this.others) {
      if (best !== null && one.rank < (best as Ranked).rank) break
      const { pattern } = one
      if ((isFolder || !pattern.foldersOnly) && pattern.matches(pattern.anchored ? below : name)) {
        best = one
        break
      }
    }
    return best === null ? null : !(best as Ranked).pattern.negated
  }
}

function add(to: Map<string, Ranked[]>, key: string, ranked: Ranked): void {
  const list = to.get(key)
  if (list === undefined) to.set(key, [ranked])
  else list.push(ranked)
}

/** The rules in force in a folder: those of its own file, then those above it, up to the top of its repository. */
export interface RuleStack {
  readonly above: RuleStack | null
  readonly file: IgnoreFile
  /** Length of the path of the folder the file stands in, its slash included. */
  readonly base: number
  readonly source: string
  /** The same rules, the same identity. */
  readonly identity: string
}

export const pushRules = (above: RuleStack | null, file: IgnoreFile, folder: string, source: string): RuleStack => ({
  above,
  file,
  base: folder === '' ? 0 : folder.length + 1,
  source,
  identity: createHash('sha1')
    .update(`${above?.identity ?? ''}\0${folder}\0${file.hash}`, 'latin1')
    .digest('hex'),
})

/** Where the rule stands that leaves the path out; null when it is not left out. */
export function ignoredBy(rules: RuleStack | null, path: string, name: string, isFolder: boolean): string | null {
  for (let stack = rules; stack !== null; stack = stack.above) {
    const verdict = stack.file.judge(path.slice(stack.base), name, isFolder)
    if (verdict !== null) return verdict ? stack.source : null
  }
  return null
}
