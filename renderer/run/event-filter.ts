import type { RunEvent } from '../../contract/run.ts'
import type { Ticks } from '../parts/scrubber.tsx'

export interface EventFilter {
  readonly words: readonly string[]
  readonly tools: readonly string[]
  readonly kinds: readonly string[]
  readonly changed: readonly string[] | null
  readonly failedOnly: boolean
}

/** `tool:Bash kind:model changed:src/ retry`; `changed:` alone takes whatever changed something. */
export function parseEventFilter(text: string, failedOnly: boolean): EventFilter {
  const words: string[] = []
  const tools: string[] = []
  const kinds: string[] = []
  let changed: string[] | null = null
  for (const part of text.split(/\s+/).filter(Boolean)) {
    const [key = '', value = ''] = part.includes(':')
      ? [part.slice(0, part.indexOf(':')), part.slice(part.indexOf(':') + 1)]
      : ['', part]
    if (key === 'tool') tools.push(value.toLowerCase())
    else if (key === 'kind') kinds.push(value.toLowerCase())
    else if (key === 'changed') changed = value === '' ? (changed ?? []) : [...(changed ?? []), value.toLowerCase()]
    else words.push(part.toLowerCase())
  }
  return { words, tools: tools.filter(Boolean), kinds: kinds.filter(Boolean), changed, failedOnly }
}

export const isEmptyFilter = (filter: EventFilter) =>
  filter.words.length === 0 &&
  filter.tools.length === 0 &&
  filter.kinds.length === 0 &&
  filter.changed === null &&
  !filter.failedOnly

/** Whether the small ticks are enough to answer, without reading every event. */
export const needsEvents = (filter: EventFilter) =>
  filter.words.length > 0 || filter.tools.length > 0 || (filter.changed?.length ?? 0) > 0

export function matchTick(filter: EventFilter, ticks: Ticks, index: number): boolean {
  if (filter.failedOnly && ticks.failed[index] !== true) return false
  if (filter.changed !== null && ticks.changed[index] !== true) return false
  return filter.kinds.length === 0 || filter.kinds.includes(ticks.kinds[index] ?? '')
}

export function matchEvent(filter: EventFilter, event: RunEvent): boolean {
  const tool = event.tool?.toLowerCase() ?? ''
  if (filter.tools.length > 0 && !filter.tools.some((wanted) => tool.includes(wanted))) return false
  if (filter.changed !== null && filter.changed.length > 0) {
    const paths = event.effects.map((effect) => effect.path.toLowerCase())
    if (!filter.changed.every((wanted) => paths.some((path) => path.includes(wanted)))) return false
  }
  const text = `${tool} ${event.kind} ${event.summary}`.toLowerCase()
  return filter.words.every((word) => text.includes(word))
}
