import type { Cause } from '../../../../contract/index.ts'
import { sameModel } from '../use.ts'
import {
  type CauseContext,
  type CauseSide,
  type Draft,
  eventEvidence,
  fieldEvidence,
  type Pool,
  say,
  valueEvidence,
} from './draft.ts'

/** The name a side asked for, as far as its manifest tells. */
const askedOf = ({ body }: CauseSide): string | null => {
  for (const key of ['model', 'agents.defaults.model.primary', 'agents.defaults.model', 'model.default']) {
    const value = body.settings[key]?.value
    if (typeof value === 'string') return value
  }
  const { requested_model } = body.execution
  return typeof requested_model === 'string' ? requested_model : body.execution.model
}

/** The models that answered, most used first, with the first event of each. */
const servedOf = ({
  use,
}: CauseSide): readonly { readonly name: string; readonly first: number; readonly times: number }[] =>
  [...(use?.items ?? [])]
    .filter(({ kind, name }) => kind === 'model' && !/^<.*>$/.test(name))
    .sort((x, y) => y.times - x.times)

/** What remains of model and endpoint once settings, flags and variables have taken theirs. `isChosen`: one of them chose another model. */
export const modelCauses = (pool: Pool, context: CauseContext, isChosen: boolean): readonly Draft[] => {
  const { a, b } = context
  const [askedA, askedB] = [askedOf(a), askedOf(b)]
  const [servedA, servedB] = [servedOf(a), servedOf(b)]
  const names = pool.take(
    ({ plain, unknown_on }) => unknown_on === null && /^execution\.(model|requested_model)$/.test(plain),
  )
  const drafts: Draft[] = []
  const mainA = servedA[0]?.name ?? a.body.execution.model
  const mainB = servedB[0]?.name ?? b.body.execution.model
  const isMoved = mainA !== null && mainB !== null && mainA !== mainB
  const onlyServed =
    !isChosen &&
    names.length === 0 &&
    servedA.length > 0 &&
    servedB.length > 0 &&
    isMoved &&
    !servedB.some(({ name }) => name === mainA)
  if (names.length > 0 || onlyServed) {
    const isAlias = askedA !== null && askedA === askedB && isMoved && (askedA !== mainB || askedA !== mainA)
    const change = names[0]
    const first: Cause['first_seq'] = { a: servedA[0]?.first ?? null, b: servedB[0]?.first ?? null }
    const before = mainA ?? change?.before ?? null
    const after = mainB ?? change?.after ?? null
    drafts.push({
      kind: 'model',
      // The name stands still; what is behind it is the provider's to change.
      class: isAlias || onlyServed ? 'external state' : 'configuration',
      category: 'model and endpoint',
      title:
        isAlias || onlyServed
          ? `The ${isAlias && !sameName(askedA, mainA) ? 'alias' : 'name'} ${askedA ?? say(a.body.execution.model)} points to another model: ${say(before)} → ${say(after)}`
          : `Another model: ${say(before)} → ${say(after)}`,
      before,
      after,
      influence: 'used',
      because:
        servedA.length + servedB.length > 0 ? 'every answer of the run came from it' : 'every answer comes from it',
      first,
      evidence: [
        ...names.flatMap((one) => valueEvidence(context, one)),
        ...[a, b].flatMap((side) => {
          const asked = side.letter === 'a' ? askedA : askedB
          const served = side.letter === 'a' ? servedA : servedB
          return [
            ...(asked === null ? [] : [fieldEvidence(side, 'execution.model', `asked for ${asked}`)]),
            ...served.slice(0, 3).flatMap(({ name, first: seq }) => eventEvidence(side, seq, `answered by ${name}`)),
          ]
        }),
      ],
      changes: names,
    })
  }
  const rest = pool.take(
    ({ plain, unknown_on }) =>
      unknown_on === null && /^execution\.(reasoning|parameters|provider|endpoint_profile)/.test(plain),
  )
  for (const change of rest)
    drafts.push({
      kind: 'model',
      class: 'configuration',
      category: 'model and endpoint',
      title: /endpoint|provider/.test(change.plain)
        ? `Requests go to another service: ${say(change.before)} → ${say(change.after)}`
        : `The model is asked with other parameters: ${change.plain.replace('execution.', '').replace('parameters.', '')} ${say(change.before)} → ${say(change.after)}`,
      before: change.before,
      after: change.after,
      influence: 'in force',
      because: 'it was in force for every request',
      first: { a: null, b: null },
      evidence: valueEvidence(context, change),
      changes: [change],
    })
  return drafts
}
const sameName = (asked: string | null, served: string | null): boolean =>
  asked !== null && served !== null && asked === served && sameModel(asked, served)
