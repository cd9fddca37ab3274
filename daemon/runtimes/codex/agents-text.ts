import type { EffectivePiece } from '../../manifest/effective-text.ts'

/**
 * The one form in which AGENTS.md texts go into `instructions.effective_digest`, for a resolver and for a reader of records alike: one
 * piece for the whole block, because a record does not say where one file ends and the next begins. `text` is what stands between
 * `<INSTRUCTIONS>` and its end, less the line ends beside the tags; `directory` is the one its heading names, null when it names none.
 */
export const agentsPiece = (directory: string | null, text: string): EffectivePiece => ({
  path: directory ?? '',
  label: null,
  text,
})
