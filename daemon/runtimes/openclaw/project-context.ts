import type { InstructionText } from './evidence.ts'

const SECTION = '\n# Project Context\n'
/** What ends the section: the mark of the stable part where a provider of the user's own is used, else that of the cache (2026.9.6). */
const ENDS = ['\n<!-- /openclaw:attempt:STABLE', '\n<!-- OPENCLAW_CACHE_BOUNDARY']
/** A heading of a file: files of other names never stand here. */
const HEADING = /^## (\/.*\/(?:AGENTS|SOUL|IDENTITY|USER|TOOLS|BOOTSTRAP|MEMORY|HEARTBEAT)\.md|[A-Za-z]:\\.*\.md)$/gim

/**
 * The files of the workspace as a system prompt shows them, in its order: `## <path>`, then the text. Null when the section's end cannot be
 * found; empty when there is no section.
 */
export function readProjectContext(prompt: string): readonly InstructionText[] | null {
  const start = prompt.indexOf(SECTION)
  if (start === -1) return []
  const end = Math.min(...ENDS.map((mark) => prompt.indexOf(mark, start)).filter((at) => at !== -1))
  if (!Number.isFinite(end)) return null
  const section = prompt.slice(start, end)
  const headings = [...section.matchAll(HEADING)]
  return headings.map((heading, n) => {
    const from = heading.index + heading[0].length + 1
    const until = headings[n + 1]?.index ?? section.length + 1
    return { path: heading[1] ?? '', text: section.slice(from, until - 1) }
  })
}

/** Names of the skills a system prompt lists, in its order. */
export function readListedSkills(prompt: string): readonly string[] {
  return [...prompt.matchAll(/<skill>\s*<name>(.*?)<\/name>/gs)].map(([, name = '']) => plain(name))
}

/** Whether the program covered a value in it: then it is not, character by character, what the model was given. */
export const isCovered = (text: string): boolean => /<redacted>|\[redacted\]|\*{6,}/i.test(text)

const plain = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')
