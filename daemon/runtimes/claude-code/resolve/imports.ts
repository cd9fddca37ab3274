import path from 'node:path'
import type { Token } from 'marked'
import { withoutComments } from './markdown.ts'

/** An `@path` as the runtime reads it, before anything was looked up. */
export interface ImportMention {
  /** The path as written, fragment taken off, `\ ` turned into a space. */
  readonly written: string
}

/** An `@path` that a reader of the text would take for an import and the runtime does not. */
export interface NearMiss {
  readonly written: string
  readonly reason: string
}

const MENTION = /(?:^|\s)@((?:[^\s\\]|\\ )+)/g

/** Extensions the runtime imports (2.1.332, each tried); a name without one is imported too, which includes `.env`. */
const IMPORTED_EXTENSIONS = new Set(
  (
    'md txt text rst adoc asciidoc org tex latex log json yaml yml toml xml csv ini cfg conf config env properties html htm css scss sass less ' +
    'js jsx ts tsx mjs cjs mts cts vue svelte astro ejs hbs pug jade py pyi pyw rb erb rake go rs java kt kts scala sbt gradle c h cc cpp cxx hpp ' +
    'hxx cs swift php pl pm lua r dart ex exs erl hrl hs lhs clj cljs cljc edn elm ml mli f f90 f95 for sh bash zsh fish ps1 bat cmd sql graphql ' +
    'gql proto cmake make makefile lock patch diff'
  ).split(' '),
)

/** Null when the runtime imports files of this name; otherwise the reason why not. */
export function refusedByName(file: string): string | null {
  const extension = path.extname(file).toLowerCase()
  if (extension === '' || IMPORTED_EXTENSIONS.has(extension.slice(1))) return null
  return `the runtime does not import files that end in ${extension === '.' ? 'a dot' : extension}`
}

/** Imports in the order in which they are followed, each written path once. */
export function findImports(tokens: readonly Token[]): readonly ImportMention[] {
  const found = new Set<string>()
  collect(tokens, found)
  return [...found].map((written) => ({ written }))
}

function collect(tokens: readonly Token[], found: Set<string>, inListItem = false): void {
  for (const token of tokens) {
    // An image's description is no running text.
    if (token.type === 'code' || token.type === 'codespan' || token.type === 'image') continue
    if (token.type === 'html') {
      const rest = withoutComments(token)
      if (rest !== null) mentionsIn(rest, found)
      continue
    }
    // The text of a list item is looked at as written, code spans and comments in it included (seen with 2.1.332).
    const asWritten = token.type === 'text' || (inListItem && token.type === 'paragraph')
    if (asWritten && 'text' in token) mentionsIn(String(token.text), found)
    for (const children of childrenOf(token)) collect(children, found, token.type === 'list_item')
  }
}

function mentionsIn(text: string, found: Set<string>): void {
  for (const match of text.matchAll(MENTION)) {
    const written = readMention(match[1] ?? '')
    if (written !== null) found.add(written)
  }
}

function readMention(raw: string): string | null {
  const hash = raw.indexOf('#')
  const written = (hash >= 0 ? raw.slice(0, hash) : raw).replaceAll('\\ ', ' ')
  if (written === '' || written === '/') return null
  const known =
    written.startsWith('./') || written.startsWith('~/') || written.startsWith('/') || /^[A-Za-z0-9._-]/.test(written)
  return known ? written : null
}

/**
 * What looks like an import but is none, so that nothing that exists is silently absent: in code, in comments, in link targets, inside
 * a word, or with punctuation that belongs to the path.
 */
export function findNearMisses(body: string, tokens: readonly Token[]): readonly NearMiss[] {
  const misses = new Map<string, string>()
  const miss = (text: string, reason: string, pattern: RegExp = ANY_AT): void => {
    for (const match of text.matchAll(pattern)) {
      const written = readMention((match[1] ?? '').replace(/[`*)\]}"'>,.;:!?]+$/, ''))
      if (written !== null && !misses.has(written)) misses.set(written, reason)
    }
  }
  const walk = (list: readonly Token[]): void => {
    for (const token of list) {
      if (token.type === 'code') miss(token.raw, 'written in a code block, where the runtime imports nothing')
      else if (token.type === 'codespan') miss(token.raw, 'written in a code span, where the runtime imports nothing')
      else if (token.type === 'html') {
        const comment = /<!--/.test(token.raw)
        miss(
          token.raw,
          comment
            ? 'written in an HTML comment, which the runtime removes or skips'
            : 'written in an HTML block, where the runtime imports nothing',
        )
      } else if (token.type === 'def') miss(token.raw, 'written as a link target, which is no import')
      else {
        if (token.type === 'image' && 'text' in token) {
          miss(` ${String(token.text)}`, 'written in the description of an image, where the runtime imports nothing')
        }
        if ((token.type === 'link' || token.type === 'image') && 'href' in token) {
          miss(` ${String(token.href)}`, 'written as a link target, which is no import')
        }
        for (const children of childrenOf(token)) walk(children)
      }
    }
  }
  walk(tokens)
  miss(body, 'the @ directly follows another character, so the runtime does not take it for an import', INSIDE_WORD)
  miss(body, 'punctuation directly after the path is read as part of it, and no such file exists', FREE_AT)
  return [...misses].map(([written, reason]) => ({ written, reason }))
}

const ANY_AT = /@((?:[^\s\\`]|\\ )+)/g
const INSIDE_WORD = /[^\s`]@((?:[^\s\\`]|\\ )+)/g
const FREE_AT = /(?:^|\s)@((?:[^\s\\`]|\\ )+)/g

function childrenOf(token: Token): readonly (readonly Token[])[] {
  const lists: (readonly Token[])[] = []
  if ('tokens' in token && Array.isArray(token.tokens)) lists.push(token.tokens)
  if ('items' in token && Array.isArray(token.items)) lists.push(token.items as readonly Token[])
  return lists
}
