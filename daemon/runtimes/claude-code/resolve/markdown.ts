import { Lexer, type Token } from 'marked'
import { type FrontMatter, readFrontMatter } from '../../shared/front-matter.ts'

/** A Markdown instruction file, taken apart once. */
export interface InstructionText {
  readonly frontMatter: FrontMatter
  /** What enters the context: no byte order mark, no front matter, no block comments, trimmed. Empty when nothing is left. */
  readonly text: string
  readonly tokens: readonly Token[]
}

/**
 * Normalises as 2.1.332 does. Line ends change only when a block comment was taken out: the runtime's Markdown lexer turns them into LF
 * on the way, other texts keep their CRLF.
 */
export function readInstructionText(bytes: Uint8Array | string): InstructionText {
  const decoded =
    typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const frontMatter = readFrontMatter(decoded.startsWith('\uFEFF') ? decoded.slice(1) : decoded)
  const { body } = frontMatter
  // Lexing costs far more than all the rest; a text without comment and without @ needs none.
  const tokens = body.includes('<!--') || body.includes('@') ? lexMarkdown(body) : []
  return { frontMatter, text: removeBlockComments(body, tokens).trim(), tokens }
}

/** CommonMark without the GitHub additions, as the runtime reads it. */
export const lexMarkdown = (text: string): readonly Token[] => new Lexer({ gfm: false }).lex(text)

const COMMENT = /<!--[\s\S]*?-->/g

/** An HTML block that begins with a comment: what is left of it without its comments, or null when it is something else. */
export function withoutComments(token: Token): string | null {
  if (token.type !== 'html') return null
  const raw = token.raw
  if (!raw.trimStart().startsWith('<!--') || !raw.includes('-->')) return null
  return raw.replace(COMMENT, '')
}

function removeBlockComments(body: string, tokens: readonly Token[]): string {
  if (!body.includes('<!--')) return body
  let out = ''
  let removed = false
  let afterRemoved = false
  for (const token of tokens) {
    const rest = withoutComments(token)
    if (rest !== null) {
      removed = true
      afterRemoved = rest.trim() === ''
      if (!afterRemoved) out += rest
      continue
    }
    // The line ends behind a comment go with it.
    out += afterRemoved && token.type === 'space' ? token.raw.replace(/^\n+/, '') : token.raw
    afterRemoved = false
  }
  return removed ? out : body
}
