import type { Change } from '../fields.ts'
import { capabilityCauses } from './capabilities.ts'
import { type CauseContext, type Draft, Pool, shortDigest, valueEvidence } from './draft.ts'
import { modelCauses } from './model.ts'
import { outsideCauses } from './outside.ts'
import { policyCauses } from './policy.ts'
import { settingCauses } from './settings.ts'
import { sourceCauses } from './sources.ts'
import { toolCauses } from './tools.ts'
import { umbrellaCauses } from './umbrellas.ts'

/** Digests and orders that follow from other fields: they share in the causes that changed these, and stand alone only when none did. */
const DERIVED: readonly {
  readonly plain: RegExp
  readonly follows: (draft: Draft) => boolean
  readonly title: string
  readonly kind: string
}[] = [
  {
    plain: /^instructions\.(effective_digest|resolved_order)$/,
    follows: ({ changes }) =>
      changes.some(
        ({ plain, field }) =>
          plain.startsWith('instructions.sources') &&
          /^(|text_digest|status|position|label|truncated.*|digest)$/.test(field),
      ),
    title: 'The instruction text that entered the context differs; which source it comes from is not known',
    kind: 'instruction',
  },
  {
    plain: /^context\.(memory_manifest_digest|memory_enabled)$/,
    follows: ({ changes }) =>
      changes.some(({ plain, category }) => plain.startsWith('context.memory') || category === 'memory and context'),
    title: 'The memory differs; which file is not known',
    kind: 'memory',
  },
  {
    plain: /^policy\.revision$/,
    follows: ({ changes }) => changes.some(({ plain }) => plain.startsWith('policy.')),
    title: 'The policy differs; which rule is not known',
    kind: 'permission',
  },
]

/** Groups differences into causes. Every difference that counts ends up in at least one. */
export const findCauses = (changes: readonly Change[], context: CauseContext): readonly Draft[] => {
  const known = changes.filter(({ unknown_on }) => unknown_on === null)
  const derived = known.filter(({ plain, item }) => item === null && DERIVED.some((one) => one.plain.test(plain)))
  const files = known.filter(isSettingsFile)
  const apart = new Set([...derived, ...files])
  const pool = new Pool(known.filter((change) => !apart.has(change)))
  const drafts: Draft[] = []
  for (const find of [
    umbrellaCauses,
    sourceCauses,
    settingCauses,
    modelCauses,
    policyCauses,
    capabilityCauses,
    toolCauses,
  ])
    drafts.push(...find(pool, context))
  drafts.push(...outsideCauses(pool, context))
  return shareOut(drafts, derived, files, context)
}

const isSettingsFile = ({ item }: Change): boolean =>
  item?.list === 'instructions.sources' && ['settings', 'state'].includes(String((item.b ?? item.a)?.kind))

const shareOut = (
  drafts: readonly Draft[],
  derived: readonly Change[],
  files: readonly Change[],
  context: CauseContext,
): readonly Draft[] => {
  const extra = new Map<Draft, Change[]>(drafts.map((draft) => [draft, []]))
  const alone: Draft[] = []
  for (const change of derived) {
    const rule = DERIVED.find((one) => one.plain.test(change.plain))
    const causes = drafts.filter((draft) => rule?.follows(draft))
    for (const draft of causes) extra.get(draft)?.push(change)
    if (causes.length === 0 && rule)
      alone.push({
        kind: rule.kind,
        class: 'configuration',
        category: change.category,
        title: rule.title,
        before: shown(change.before),
        after: shown(change.after),
        influence: change.plain === 'policy.revision' ? 'in force' : 'entered',
        because: 'its digest differs',
        first: { a: null, b: null },
        evidence: valueEvidence(context, change),
        changes: [change],
      })
  }
  const lonely: Change[] = []
  for (const change of files) {
    const file = change.item?.a?.path ?? change.item?.b?.path
    const causes = drafts.filter(({ changes }) =>
      changes.some(
        ({ item }) =>
          [item?.a, item?.b].some(
            (row) =>
              row &&
              (row.source === file ||
                (typeof row.source === 'string' && row.source.startsWith(`${String(file)}#`)) ||
                (Array.isArray(row.merged_from) && row.merged_from.includes(file))),
          ) ||
          (typeof file === 'string' &&
            changes.some(({ before, after }) =>
              [before, after].some((value) => typeof value === 'string' && value.startsWith(`${file}#`)),
            )),
      ),
    )
    for (const draft of causes) extra.get(draft)?.push(change)
    if (causes.length === 0) lonely.push(change)
  }
  return [
    ...drafts.map((draft) => ({ ...draft, changes: [...draft.changes, ...(extra.get(draft) ?? [])] })),
    ...mergeAlone(alone),
    ...outsideCauses(new Pool(lonely), context),
  ]
}

const shown = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('sha256:') ? shortDigest(value) : value

/** The digest and the order of the same text are one thing. */
const mergeAlone = (drafts: readonly Draft[]): readonly Draft[] => {
  const byKind = new Map<string, Draft>()
  for (const draft of drafts) {
    const known = byKind.get(draft.kind)
    byKind.set(draft.kind, known ? { ...known, changes: [...known.changes, ...draft.changes] } : draft)
  }
  return [...byKind.values()]
}
