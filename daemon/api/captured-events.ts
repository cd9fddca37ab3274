import type { Effect, RunEvent } from '../../contract/index.ts'
import { readCaptured } from '../capture/actions/capture-rows.ts'
import type { IndexReader } from '../store/index/reader.ts'

/** Events with what was captured of them: commit, states before and after, and the changes the states show beside those of the record. */
export const withCaptured = (index: Pick<IndexReader, 'sql'>, run: string, events: readonly RunEvent[]): RunEvent[] => {
  const [first, last] = [events[0], events.at(-1)]
  if (!first || !last) return []
  const captured = readCaptured(index.sql, run, first.seq, last.seq)
  return events.map((event) => {
    const found = captured.get(event.seq)
    if (!found) return event
    return {
      ...event,
      commit: found.commit,
      pre_state: found.before,
      post_state: found.tree,
      effects: mergeEffects(event.effects, found.effects),
      // Two states say everything that changed between them; what was left out of them is said by the coverage.
      effects_state: event.effects_state === 'not_applicable' ? event.effects_state : 'complete',
    }
  })
}

/** What the record says and what the states show, each path once. */
export function mergeEffects(recorded: readonly Effect[], captured: readonly Effect[]): Effect[] {
  const seen = new Map(captured.map((effect) => [effect.path, effect]))
  const merged = recorded.map((effect): Effect => {
    const both = seen.get(effect.path)
    seen.delete(effect.path)
    if (!both) return { ...effect, seen_in: 'session' }
    return { ...both, added_lines: effect.added_lines, removed_lines: effect.removed_lines, seen_in: 'both' }
  })
  return [...merged, ...seen.values()]
}
