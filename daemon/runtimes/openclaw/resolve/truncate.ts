/** How 2026.9.6 cuts a bootstrap file that is too long. All lengths are UTF-16 units; the strings are what it puts in place of the rest. */
export interface Cut {
  readonly text: string
  readonly isCut: boolean
}

/** `content` is what the file holds; the blanks at its end do not count. */
export function cutBootstrapFile(content: string, name: string, most: number): Cut {
  const text = content.trimEnd()
  if (text.length <= most) return { text, isCut: false }
  return { text: name.toLowerCase() === 'agents.md' ? cutAgents(text, most) : cutPlain(text, name, most), isCut: true }
}

/** Never between the halves of a surrogate pair. */
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

export function headOf(text: string, units: number): string {
  const end = Math.min(units, text.length)
  return text.slice(
    0,
    end > 0 && end < text.length && isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end)) ? end - 1 : end,
  )
}

function tailOf(text: string, units: number): string {
  if (units <= 0) return ''
  const start = Math.max(0, text.length - units)
  return text.slice(
    start > 0 && isLow(text.charCodeAt(start)) && isHigh(text.charCodeAt(start - 1)) ? start + 1 : start,
  )
}

const readOn = (name: string): string => `[...truncated, read ${name} for full content...]`

/** 75 % head, a marker, 25 % tail of what the marker leaves; a marker on one line where the long one would leave next to nothing. */
function cutPlain(text: string, name: string, most: number): string {
  const long = (head: number, tail: number): string =>
    `\n${readOn(name)}\n…(truncated ${name}: kept ${head}+${tail} chars of ${text.length})…\n`
  const short = (head: number, tail: number): string => `[…truncated ${head}+${tail}/${text.length}]`
  const isLong = most - long(0, 0).length - 2 >= 16
  const marker = isLong ? long : short
  const joints = (head: number, tail: number): number => (isLong ? Number(head > 0) + Number(tail > 0) : 0)
  const lengthOf = (head: number, tail: number): number => head + tail + marker(head, tail).length + joints(head, tail)

  let head = 0
  let tail = 0
  // The marker names the numbers it leaves room for: three rounds settle it.
  for (let round = 0; round < 3; round += 1) {
    const room = Math.max(0, most - marker(head, tail).length - joints(head, tail))
    const [nextHead, nextTail] = [Math.floor(room * 0.75), Math.floor(room * 0.25)]
    if (nextHead === head && nextTail === tail) break
    head = nextHead
    tail = nextTail
  }
  while (lengthOf(head, tail) > most && (head > 0 || tail > 0)) {
    const over = lengthOf(head, tail) - most
    if (tail > 0) tail = Math.max(0, tail - over)
    else head = Math.max(0, head - over)
  }
  if (head === 0 && tail === 0 && lengthOf(1, 0) <= most) head = 1
  const whole = [headOf(text, head), marker(head, tail), tailOf(text, tail)]
    .filter((part) => part !== '')
    .join(isLong ? '\n' : '')
  return headOf(whole, most)
}

interface PolicyLine {
  readonly text: string
  readonly isUrgent: boolean
}

const WORDS = [
  'AGENTS\\.md',
  'scoped',
  'required',
  'must',
  'never',
  'do not',
  'before subtree',
  'read scoped',
  'security',
  'secret',
  'credential',
]
const FURTHER_WORDS = ['owner', 'test', 'validation', 'command', 'commit', 'push', 'github', 'pr']
const SIGNS = ['🔴', '禁止', '嚴禁', '不得', '絕不', '絕對不', '切勿']
const FURTHER_SIGNS = ['必須', '務必', '一律', '紅線']
const URGENT = new RegExp(`\\b(?:${WORDS.join('|')})\\b|(?:${SIGNS.join('|')})`, 'iu')
const POLICY = new RegExp(
  `\\b(?:${[...WORDS, ...FURTHER_WORDS].join('|')})\\b|(?:${[...SIGNS, ...FURTHER_SIGNS].join('|')})`,
  'iu',
)
const MARKED = /^(?:#{1,6}|\s*[-*+]|\s*\d+[.)])\s+\S/u
const LONGEST_LINE = 240

/** 45 % head, a digest of the lines that look like rules in up to 35 %, 15 % tail. */
function cutAgents(text: string, most: number): string {
  let head = Math.floor(most * 0.45)
  let tail = Math.floor(most * 0.15)
  let room = Math.floor(most * 0.35)
  const lines = room > 0 ? policyLines(text) : []
  let digest = chooseLines(lines, room)
  const render = (): string =>
    [
      headOf(text, head),
      readOn('AGENTS.md'),
      digest.text === '' ? '' : '[Policy digest from AGENTS.md]',
      digest.text,
      digest.omitted > 0 ? `[...${digest.omitted} more policy lines omitted...]` : '',
      `…(truncated AGENTS.md: kept ${head}+policy ${digest.text.length}+${tail} chars of ${text.length})…`,
      tailOf(text, tail),
    ]
      .filter((part) => part !== '')
      .join('\n')
  let whole = render()
  while (whole.length > most && (tail > 0 || head > 1 || room > 0)) {
    const over = whole.length - most
    if (tail > 0) tail = Math.max(0, tail - over)
    else if (head > 1) head = Math.max(1, head - over)
    else {
      room = Math.max(0, room - over)
      digest = chooseLines(lines, room)
    }
    whole = render()
  }
  return headOf(whole, most)
}

/** Headings, list items and lines with a word of the table, each with the line of prose right before it. */
function policyLines(text: string): readonly PolicyLine[] {
  const found: PolicyLine[] = []
  let prose: string | null = null
  for (const source of text.split(/\r?\n/u)) {
    const line = shorten(source.trim().replace(/\s+/gu, ' '))
    if (line === '' || /^(?:`{3,}|~{3,})/u.test(line)) prose = null
    else if (MARKED.test(line) || POLICY.test(line)) {
      found.push({ text: prose === null ? line : `${prose}\n${line}`, isUrgent: URGENT.test(line) })
      prose = null
    } else prose = line
  }
  return found
}

const shorten = (line: string): string => (line.length <= LONGEST_LINE ? line : `${headOf(line, LONGEST_LINE - 1)}…`)

/** Urgent lines first, then the others, as many as fit; they are shown in the order of the file. */
function chooseLines(lines: readonly PolicyLine[], room: number): { readonly text: string; readonly omitted: number } {
  if (room <= 0) return { text: '', omitted: 0 }
  const chosen = new Set<PolicyLine>()
  let used = 0
  for (const line of [...lines.filter((one) => one.isUrgent), ...lines]) {
    const costs = (chosen.size > 0 ? 1 : 0) + line.text.length
    if (chosen.has(line) || used + costs > room) continue
    chosen.add(line)
    used += costs
  }
  return {
    text: lines
      .filter((line) => chosen.has(line))
      .map((line) => line.text)
      .join('\n'),
    omitted: lines.length - chosen.size,
  }
}
