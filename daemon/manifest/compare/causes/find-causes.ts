import type { Change, Row } from '../fields.ts'
import { isInside } from '../inside.ts'
import { capabilityCauses } from './capabilities.ts'
import { type CauseContext, type Draft, Pool, shortDigest, textField, valueEvidence } from './draft.ts'
import { modelCauses } from './model.ts'
import { flagCauses, outsideCauses, statusLines } from './outside.ts'
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
  /** False: only where `takeExplainedStatus` says so. */
  readonly always: boolean
}[] = [
  {
    plain:
      /^instructions\.(effective_digest|resolved_order|truncation_notice|project_context(\..*)?)$|^execution\.agent\.workspace_digest$/,
    follows: ({ changes }) =>
      changes.some(
        ({ plain, field }) =>
          plain.startsWith('instructions.sources') &&
          /^(|text_digest|status|position|label|truncated.*|digest)$/.test(field),
      ),
    title: 'The instruction text that entered the context differs; which source it comes from is not known',
    kind: 'instruction',
    always: true,
  },
  {
    plain: /^context\.(memory_manifest_digest|memory_enabled)$/,
    follows: ({ changes }) =>
      changes.some(({ plain, category }) => plain.startsWith('context.memory') || category === 'memory and context'),
    title: 'The memory differs; which file is not known',
    kind: 'memory',
    always: true,
  },
  {
    plain: /^(external|execution\.repo)(\.|$)/,
    follows: ({ changes }) =>
      changes.some(({ plain, item }) => item?.list === 'instructions.sources' || plain === 'execution.cwd'),
    title: 'The work tree held other uncommitted changes at the start',
    kind: 'repository',
    always: false,
  },
  {
    // Some runtimes keep the prompt as a whole, with the user's texts and the name of the model in it.
    plain: /^(execution\.system_prompt_digest|instructions\.system_prompt(\..*)?)$/,
    follows: ({ kind, changes }) =>
      kind === 'program' ||
      changes.some(
        ({ plain, field }) =>
          (plain.startsWith('instructions.sources') && /^(|text_digest|status|position)$/.test(field)) ||
          plain === 'execution.model',
      ),
    title: "The program's own prompt changed, under the same version number",
    kind: 'program',
    always: true,
  },
  {
    plain: /^policy\.capability_id$/,
    follows: ({ changes, category }) =>
      changes.some(({ plain }) => plain.startsWith('capabilities.')) || category === 'skills, plugins and hooks',
    title: 'What the agent may use differs; which capability is not known',
    kind: 'tool',
    always: true,
  },
  {
    plain: /^policy\.revision$/,
    follows: ({ changes }) => changes.some(({ plain }) => plain.startsWith('policy.')),
    title: 'The policy differs; which rule is not known',
    kind: 'permission',
    always: true,
  },
]

/** Groups differences into causes. Every difference that counts ends up in at least one. */
export const findCauses = (changes: readonly Change[], context: CauseContext): readonly Draft[] => {
  const known = changes.filter(({ unknown_on }) => unknown_on === null)
  const derived = known.filter(
    ({ plain, item }) => item === null && DERIVED.some((one) => one.always && one.plain.test(plain)),
  )
  const apart = new Set(derived)
  const pool = new Pool(known.filter((change) => !apart.has(change)))
  const drafts: Draft[] = [...umbrellaCauses(pool, context)]
  // Files of settings follow what stands in them, unless they came or went as a whole.
  const files = pool.take(isSettingsFile)
  for (const find of [sourceCauses, settingCauses, flagCauses]) drafts.push(...find(pool, context))
  const chooses = drafts.findIndex(({ changes: own }) => own.some(({ plain }) => plain === 'execution.model'))
  const chosen = drafts[chooses]
  if (chosen) drafts[chooses] = { ...chosen, influence: 'used', because: 'it chose the model that gave every answer' }
  drafts.push(...modelCauses(pool, context, chosen !== undefined))
  for (const find of [policyCauses, capabilityCauses, toolCauses]) drafts.push(...find(pool, context))
  const status = takeExplainedStatus(pool, known, context)
  drafts.push(...outsideCauses(pool, context))
  return shareOut(drafts, [...derived, ...status], files, context)
}

/**
 * A work tree that differs only in files whose difference is known, or in how it names them: that follows from them. Where the record shows
 * no list of what had changed, the files known to differ have to account for the number of those that do.
 */
const takeExplainedStatus = (pool: Pool, known: readonly Change[], context: CauseContext): readonly Change[] => {
  const isState = ({ plain, item, unknown_on }: Change): boolean =>
    unknown_on === null && (isStatusItem(item) || /^execution\.repo\.dirty_(digest|paths)$/.test(plain))
  const states = pool.peek(isState)
  if (states.length === 0 || pool.peek(({ plain }) => /^execution\.repo\.(sha|branch)$/.test(plain)).length > 0)
    return []
  const isMoved = known.some(({ plain }) => plain === 'execution.cwd')
  const files = new Set<string>()
  for (const { item, field } of known) {
    const file = item?.list === 'instructions.sources' ? textField(item.b ?? item.a, 'path') : null
    if (file !== null && /^(|digest|bytes)$/.test(field)) files.add(file)
  }
  const status = states.find(({ item }) => isStatusItem(item))
  if (status) {
    const { gone, come } = statusLines(context, status)
    const isKnown = ({ file }: { readonly file: string }): boolean =>
      files.has(file) || (file.endsWith('/') && [...files].some((other) => other.startsWith(file)))
    const lines = [...gone, ...come]
    return (lines.length > 0 || isMoved) && lines.every(isKnown) ? pool.take(isState) : []
  }
  const inside = [...files].filter((file) =>
    [context.a, context.b].some(({ placement: { workspace } }) => workspace !== null && isInside(file, workspace)),
  )
  const count = states.find(({ plain }) => plain.endsWith('dirty_paths'))
  const more = Math.abs(Number(count?.before ?? 0) - Number(count?.after ?? 0))
  return inside.length >= Math.max(1, more) ? pool.take(isState) : []
}
const isStatusItem = (item: Change['item']): boolean => item?.list === 'external' && item.key === 'git status at start'

const isSettingsFile = ({ item }: Change): boolean =>
  item?.list === 'config_layers' ||
  (item?.list === 'instructions.sources' &&
    ['settings', 'state', 'environment'].includes(String((item.b ?? item.a)?.kind)))
/** The file behind a source or a layer of settings. */
const fileOf = (row: Row | null | undefined): string | null =>
  ['path', 'file', 'origin', 'source'].map((name) => textField(row ?? null, name)).find((place) => place !== null) ??
  null

const shareOut = (
  drafts: readonly Draft[],
  derived: readonly Change[],
  files: readonly Change[],
  context: CauseContext,
): readonly Draft[] => {
  const extra = new Map<Draft, Change[]>(drafts.map((draft) => [draft, []]))
  const lonely: Change[] = []
  for (const change of files) {
    const file = fileOf(change.item?.a ?? change.item?.b)
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
  const whole = drafts.map((draft) => ({ ...draft, changes: [...draft.changes, ...(extra.get(draft) ?? [])] }))
  const alone: Draft[] = []
  const follow = new Map<Draft, Change[]>(whole.map((draft) => [draft, []]))
  for (const change of derived) {
    const rule = DERIVED.find((one) => one.plain.test(change.plain))
    const causes = whole.filter((draft) => rule?.follows(draft))
    for (const draft of causes) follow.get(draft)?.push(change)
    if (causes.length === 0 && rule)
      alone.push({
        kind: rule.kind,
        class: 'configuration',
        category: change.category,
        title: rule.title,
        before: shown(change.before),
        after: shown(change.after),
        influence: /^policy\.revision$|system_prompt/.test(change.plain)
          ? 'in force'
          : change.plain === 'policy.capability_id'
            ? 'cannot be told'
            : 'entered',
        because: 'its digest differs',
        first: { a: null, b: null },
        evidence: valueEvidence(context, change),
        changes: [change],
      })
  }
  return [
    ...whole.map((draft) => ({ ...draft, changes: [...draft.changes, ...(follow.get(draft) ?? [])] })),
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
