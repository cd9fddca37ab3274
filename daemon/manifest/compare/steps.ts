import { diffArrays } from 'diff'
import type { AlignedStep, Comparison } from '../../../contract/index.ts'
import type { EventFact } from './events.ts'
import type { Cover } from './places.ts'

type Steps = NonNullable<Comparison['steps']>
type StepSide = NonNullable<AlignedStep['a']>

export interface Trajectory {
  readonly events: readonly EventFact[]
  readonly cover: Cover
  /** What a call was given, in full and as text; null when that is not kept. */
  readonly inputOf: (seq: number) => Promise<string | null>
}

/** Steps looked at of each side; what lies beyond is said to be cut. */
const MOST_STEPS = 2000
/** Differences after which the rest is set side by side as it stands. */
const MOST_EDITS = 1500

const isStep = ({ kind }: EventFact): boolean =>
  ['prompt', 'model', 'tool', 'denied', 'error', 'compact'].includes(kind)
/** Words of a model vary from run to run; that it calls another tool is a difference of another kind. */
const isWords = (step: StepSide | null): boolean => step === null || step.kind === 'model'

/** Ids, times and counters that differ in every run. */
const VOLATILE = [
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi,
  /\b\d{4}-\d\d-\d\dT[\d:.]+Z?\b/g,
  /\/tmp\/[^\s"']+/g,
  /\b(toolu|call|msg|fc|rs|resp)_\w+/g,
]

const withoutVolatile = (text: string): string =>
  VOLATILE.reduce((left, pattern) => left.replaceAll(pattern, '·'), text)

const keyOf = (event: EventFact, cover: Cover): string => {
  const text = withoutVolatile(cover(event.summary))
  const effects = event.effects.map(({ path, change, after }) => `${cover(path)} ${change} ${after ?? ''}`).sort()
  return JSON.stringify([event.kind, event.tool, text, event.ok, effects])
}

const sideOf = (event: EventFact): StepSide => ({
  seq: event.seq,
  kind: event.kind,
  tool: event.tool,
  summary: event.summary,
  ok: event.ok,
  effects: event.effects.map(({ path, change }) => ({ path, change })),
})

/** Calls whose whole input is read: those before the first difference, where one more would matter. */
const MOST_INPUTS = 150

/** Both trajectories side by side: what is the same, what differs, what only one of them did. */
export const alignSteps = async (a: Trajectory, b: Trajectory): Promise<Steps> => {
  const steps = alignByHead(a, b)
  const until = steps.first_difference ?? steps.aligned.length
  let read = 0
  for (const [at, step] of steps.aligned.slice(0, until).entries()) {
    if (step.state !== 'equal' || step.a === null || step.b === null || step.a.kind !== 'tool') continue
    if (read === MOST_INPUTS) return { ...steps, cut: true }
    read += 1
    const [mine, other] = [await a.inputOf(step.a.seq), await b.inputOf(step.b.seq)]
    if (mine === null || other === null) continue
    if (withoutVolatile(a.cover(mine)) === withoutVolatile(b.cover(other))) continue
    const aligned = steps.aligned.map((one, n) => (n === at ? { ...one, state: 'changed' as const } : one))
    return { ...steps, aligned, first_difference: at }
  }
  return steps
}

/** By what an event says in one line, and by its effects. */
const alignByHead = (a: Trajectory, b: Trajectory): Steps => {
  const all = { a: a.events.filter(isStep), b: b.events.filter(isStep) }
  const kept = { a: all.a.slice(0, MOST_STEPS), b: all.b.slice(0, MOST_STEPS) }
  const cut = kept.a.length < all.a.length || kept.b.length < all.b.length
  const keys = { a: kept.a.map((event) => keyOf(event, a.cover)), b: kept.b.map((event) => keyOf(event, b.cover)) }
  const parts = diffArrays(keys.a, keys.b, { maxEditLength: MOST_EDITS })
  const aligned: AlignedStep[] = []
  let [atA, atB] = [0, 0]
  const take = (fromA: number, fromB: number): { a: EventFact[]; b: EventFact[] } => {
    const taken = { a: kept.a.slice(atA, atA + fromA), b: kept.b.slice(atB, atB + fromB) }
    atA += fromA
    atB += fromB
    return taken
  }
  const pairUp = (left: readonly EventFact[], right: readonly EventFact[]): void => {
    const waiting = [...right]
    for (const one of left) {
      const at = waiting.findIndex((other) => other.kind === one.kind && other.tool === one.tool)
      if (at === -1) {
        aligned.push({ state: 'only_a', a: sideOf(one), b: null })
        continue
      }
      for (const other of waiting.splice(0, at)) aligned.push({ state: 'only_b', a: null, b: sideOf(other) })
      const other = waiting.shift() as EventFact
      aligned.push({ state: 'changed', a: sideOf(one), b: sideOf(other) })
    }
    for (const other of waiting) aligned.push({ state: 'only_b', a: null, b: sideOf(other) })
  }
  if (parts === undefined) {
    // Too different to be worth aligning: what they have in common at the start, then the rest as it stands.
    let common = 0
    while (common < keys.a.length && common < keys.b.length && keys.a[common] === keys.b[common]) common += 1
    const same = take(common, common)
    same.a.forEach((one, n) => {
      aligned.push({ state: 'equal', a: sideOf(one), b: sideOf(same.b[n] as EventFact) })
    })
    const rest = take(kept.a.length, kept.b.length)
    pairUp(rest.a, rest.b)
  } else {
    let gone: EventFact[] = []
    for (const part of parts) {
      const count = part.value.length
      if (part.removed) gone.push(...take(count, 0).a)
      else if (part.added) {
        pairUp(gone, take(0, count).b)
        gone = []
      } else {
        pairUp(gone, [])
        gone = []
        const same = take(count, count)
        same.a.forEach((one, n) => {
          aligned.push({ state: 'equal', a: sideOf(one), b: sideOf(same.b[n] as EventFact) })
        })
      }
    }
    pairUp(gone, [])
  }
  const differs = (step: AlignedStep): boolean => step.state !== 'equal'
  const byDeed = aligned.findIndex((step) => differs(step) && !(isWords(step.a) && isWords(step.b)))
  const any = byDeed === -1 ? aligned.findIndex(differs) : byDeed
  return { aligned, first_difference: any === -1 ? null : any, cut: cut || parts === undefined }
}

/** The events at which they part, by side: where one side has no step of its own there, its next one. */
export const partingOf = (steps: Steps | null): { readonly a: number | null; readonly b: number | null } | null => {
  if (steps === null || steps.first_difference === null) return null
  const from = steps.aligned.slice(steps.first_difference)
  return { a: from.find(({ a }) => a !== null)?.a?.seq ?? null, b: from.find(({ b }) => b !== null)?.b?.seq ?? null }
}
