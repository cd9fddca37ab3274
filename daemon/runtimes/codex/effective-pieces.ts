import type { EffectivePiece } from '../../manifest/effective-text.ts'

/** Texts of the user's own that enter the first messages, as a resolver finds them and as a session record shows them. */
export interface EffectiveTexts {
  /** What replaces the built-in prompt; null when nothing does. */
  readonly base: string | null
  readonly developer: string | null
  /** The memory summary, as it stands between its markers. */
  readonly memory: string | null
  /** AGENTS.md texts as one block (`joinAgents`): a record does not say where one file ends and the next begins. */
  readonly agents: string | null
}

/**
 * The one form in which these texts go into `instructions.effective_digest`, for the resolver and for the reader of records alike; in the
 * order of the first request (0.171.0). No paths: the model is shown none, except the directory of the start, which is no instruction.
 */
export function effectivePieces({ base, developer, memory, agents }: EffectiveTexts): readonly EffectivePiece[] {
  const piece = (label: string, text: string | null): readonly EffectivePiece[] =>
    text === null ? [] : [{ path: '', label, text }]
  return [
    ...piece('base instructions', base),
    ...piece('developer_instructions', developer),
    ...piece('memory', memory),
    ...piece('AGENTS.md', agents),
  ]
}

/** The block as Codex puts it together (0.171.0): the text of the home, a line that sets it off, those of the project; null without any. */
export function joinAgents(files: readonly { readonly scope: string; readonly text: string | null }[]): string | null {
  const texts = (ofHome: boolean): string[] =>
    files.flatMap(({ scope, text }) => (text !== null && (scope === 'user') === ofHome ? [text] : []))
  const parts = [texts(true), texts(false)].filter((found) => found.length > 0).map((found) => found.join('\n\n'))
  return parts.length === 0 ? null : parts.join('\n\n--- project-doc ---\n\n')
}
