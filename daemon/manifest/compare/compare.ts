import type { Cause, CompareSide, Comparison, Drift, Evidence, ManifestBody } from '../../../contract/index.ts'
import { tableOf } from './category-table.ts'
import type { CauseContext, CauseSide, Draft } from './causes/draft.ts'
import { withDrifts } from './causes/drifts.ts'
import { findCauses } from './causes/find-causes.ts'
import { MODEL_BEHAVIOUR_TIER, type Ranked, rankCauses, tierOf, toCause } from './causes/rank.ts'
import { settleByRecord } from './entered-by-record.ts'
import type { EventFact } from './events.ts'
import { compareFields, type FieldComparison } from './fields.ts'
import { knowledgeOf } from './knowledge.ts'
import { placementOf, relatePlaces } from './places.ts'
import { alignSteps, partingOf } from './steps.ts'
import { compareText, type ReadText } from './text.ts'
import { collectUse, compareUse } from './use.ts'

/** One side of a comparison as it was found. */
export interface Compared {
  readonly about: CompareSide
  readonly body: ManifestBody
  /** Where the runtime's home lies; null when it is not known. */
  readonly home: string | null
  /** Events that count for this target; null when it is no run. */
  readonly events: readonly EventFact[] | null
  /** What a call was given, as text; null when that is not kept. */
  readonly inputOf: (seq: number) => Promise<string | null>
  /** First event that mentions a word; null when texts are not kept. */
  readonly mentions: ((word: string) => number | null) | null
  /** What a reader must know of this side. */
  readonly notes: readonly string[]
}

export interface Around {
  readonly readText: ReadText
  readonly writer: CauseContext['writer']
  /** Changes of configuration that were noticed between the two starts, oldest first. */
  readonly drifts: readonly Drift[]
}

/** Why two runs or configurations differ: fields, causes in order of likelihood, use, text and steps (R100–R106). */
export const compare = async (a: Compared, b: Compared, { readText, writer, drifts }: Around): Promise<Comparison> => {
  const placements = { a: placementOf(a.body, a.home), b: placementOf(b.body, b.home) }
  const cover = relatePlaces(placements.a, placements.b)
  const sideOf = (letter: 'a' | 'b', { about, body, events, mentions }: Compared): CauseSide => ({
    letter,
    body,
    knowledge: knowledgeOf(body),
    cover: cover[letter],
    manifest: about.manifest,
    run: about.run,
    placement: placements[letter],
    use: events === null ? null : collectUse(events),
    mentions,
  })
  const [sideA, sideB] = [sideOf('a', a), sideOf('b', b)]
  const fields = compareFields(sideA, sideB)
  const categories = tableOf(fields, sideA, sideB)
  const steps =
    a.events === null || b.events === null
      ? null
      : await alignSteps(
          { events: a.events, cover: cover.a, inputOf: a.inputOf },
          { events: b.events, cover: cover.b, inputOf: b.inputOf },
        )
  const parted = partingOf(steps)
  const context: CauseContext = { a: sideA, b: sideB, writer }
  const settled = settleByRecord(fields.changes, sideA, sideB)
  const ranked = rankCauses(findCauses(settled, context), parted).map((draft) => withDrifts(draft, drifts))
  const known = settled.filter(({ unknown_on }) => unknown_on === null)
  const isIdentical = known.length === 0
  const model = modelBehaviour({ a, b, context, ranked, categories, steps, isIdentical })
  const all: readonly Ranked[] = model === null ? ranked : insertByTier(ranked, model)
  const causes: Cause[] = []
  for (const draft of all) causes.push(toCause(draft, causes.length + 1, parted, await textOf(draft, readText)))
  return {
    a: a.about,
    b: b.about,
    identical: isIdentical,
    verdict: verdictOf(all, model, isIdentical, fields, steps),
    causes,
    fields: fields.changes.map(({ path, category, before, after, unknown_on }) => ({
      path,
      category,
      before,
      after,
      unknown_on,
    })),
    categories,
    use: compareUse(sideA, sideB),
    text: await compareText(sideA, sideB, readText),
    steps,
    notes: notesOf(a, b, steps?.cut === true, known),
  }
}

const textOf = async ({ text }: Draft, read: ReadText): Promise<Cause['text']> => {
  if (!text || text.a === text.b) return null
  const [a, b] = [await read(text.a), await read(text.b)]
  return { a: a.text, b: b.text, why: a.why ?? b.why }
}

const insertByTier = (ranked: readonly Ranked[], model: Ranked): readonly Ranked[] => {
  const at = ranked.findIndex((draft) => tierOf(draft) > MODEL_BEHAVIOUR_TIER)
  return at === -1 ? [...ranked, model] : [...ranked.slice(0, at), model, ...ranked.slice(at)]
}

interface Situation {
  readonly a: Compared
  readonly b: Compared
  readonly context: CauseContext
  readonly ranked: readonly Ranked[]
  readonly categories: Comparison['categories']
  readonly steps: Comparison['steps']
  readonly isIdentical: boolean
}

/** What remains when everything else is equal as far as it is known, and what cannot be told apart from the causes before it (R103). */
const modelBehaviour = ({ a, b, context, ranked, categories, steps, isIdentical }: Situation): Ranked | null => {
  if (a.events === null || b.events === null) return null
  const reached = ranked.filter((draft) => tierOf(draft) < MODEL_BEHAVIOUR_TIER)
  if (reached.some(({ kind }) => kind === 'model')) return null
  const isSame = steps !== null && steps.first_difference === null
  const evidence: Evidence[] = categories.map(({ category, state, a: digestA, b: digestB, how, not_known }) => ({
    side: 'both',
    text: `${category}: ${stateWords[state]}${digestA === null ? '' : digestA === digestB ? `, ${how}, digest ${digestA.slice(7, 15)} on both sides` : `, digests ${digestA.slice(7, 15)} and ${digestB?.slice(7, 15)}`}${not_known.length === 0 ? '' : `; not known: ${not_known.length}`}`,
    ref: null,
  }))
  const unknowns = categories.flatMap(({ not_known }) => not_known)
  const model = context.b.body.execution.model
  const title =
    reached.length > 0
      ? `The model itself: ${model ?? 'the same model'} under the same name; not separable from the ${reached.length === 1 ? 'cause' : 'causes'} before`
      : isSame
        ? 'Nothing that was compared can have made a difference, and both runs took the same steps'
        : `${isIdentical ? 'Nothing in the configuration or the outside state changed' : 'Nothing that reached the runs changed'}; what remains is the model`
  return {
    kind: 'model behaviour',
    class: 'model behaviour',
    category: 'model and endpoint',
    title,
    before: model === null ? null : `${a.body.execution.model}`,
    after: model === null ? null : `${b.body.execution.model}`,
    influence: 'cannot be told',
    because:
      reached.length > 0
        ? 'one pair of runs cannot tell the model apart from what changed around it'
        : 'everything else that is known is equal',
    first: { a: null, b: null },
    evidence: [
      ...(reached.length > 0 ? evidence.filter(({ text }) => /^(model and endpoint|program)/.test(text)) : evidence),
      ...(unknowns.length === 0
        ? []
        : [
            {
              side: 'both' as const,
              text: `could not be known: ${[...new Set(unknowns.map(({ field }) => field))].join(', ')}`,
              ref: null,
            },
          ]),
    ],
    changes: [],
    late: false,
  }
}
const stateWords: Readonly<Record<Comparison['categories'][number]['state'], string>> = {
  equal: 'equal',
  different: 'different',
  partly_compared: 'equal as far as it could be compared',
  not_compared: 'not compared',
}

const verdictOf = (
  all: readonly Ranked[],
  model: Ranked | null,
  isIdentical: boolean,
  { changes }: FieldComparison,
  steps: Comparison['steps'],
): string => {
  const unknown = new Set(changes.filter(({ unknown_on }) => unknown_on !== null).map(({ plain }) => plain)).size
  const open = unknown === 0 ? '' : ` ${unknown} ${unknown === 1 ? 'field' : 'fields'} could not be compared.`
  const reached = all.filter((draft) => draft !== model && tierOf(draft) < MODEL_BEHAVIOUR_TIER)
  const beside = all.filter((draft) => draft !== model).length - reached.length
  const same = steps !== null && steps.first_difference === null ? ' Both runs took the same steps.' : ''
  if (reached.length > 0) {
    const [first] = reached
    return `${reached.length === 1 ? '1 difference' : `${reached.length} differences`} can explain it; the likeliest: ${first?.title}.${beside > 0 ? ` ${beside} more reached neither side.` : ''}${same}${open}`
  }
  const remains = model === null ? '' : ' What remains is model behaviour.'
  if (isIdentical) return `Nothing that was compared differs.${same === '' ? remains : same}${open}`
  return `Nothing that reached a run differs; ${beside === 1 ? '1 difference' : `${beside} differences`} did not.${same === '' ? remains : same}${open}`
}

const notesOf = (a: Compared, b: Compared, isCut: boolean, known: FieldComparison['changes']): string[] => {
  const notes: string[] = []
  for (const [letter, side] of [
    ['A', a],
    ['B', b],
  ] as const) {
    if (side.about.origin === 'inferred')
      notes.push(
        `${letter} was read from its record after it had begun: settings, permissions, what was not loaded, flags and environment are not known there`,
      )
    if (side.about.origin === 'resolved')
      notes.push(`${letter} is a configuration that no run has used: what only a run shows is not known there`)
    for (const note of side.notes) notes.push(`${letter}: ${note}`)
  }
  if (a.about.manifest === b.about.manifest)
    notes.push(
      a.about.target === b.about.target || (a.about.run === b.about.run && a.about.run !== null)
        ? 'both sides are the same target'
        : 'both sides have the same manifest',
    )
  if (a.about.runtime !== b.about.runtime)
    notes.push('the two sides are different agents: fields that only one of them has are listed as differences')
  if (known.some(({ plain }) => plain.startsWith('task')))
    notes.push('the two runs were given different tasks; differences in their steps follow from that first of all')
  if (isCut) notes.push('the steps are too many or too different to be aligned as a whole: what is shown was cut')
  return notes
}
