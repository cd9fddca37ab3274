import type { Cause, Comparison } from '../../contract/index.ts'
import type { IncidentSide } from './export-incident.ts'
import { inline, oneLine } from './render-markdown.ts'
import type { Attempt, Lacking } from './run-material.ts'

interface Incident {
  readonly a: IncidentSide
  readonly b: IncidentSide
  readonly comparison: Attempt<Comparison>
  readonly lacking: readonly Lacking[]
}

/** The incident on one page: the answer first, then what it rests on. */
export const incidentPage = ({ a, b, comparison, lacking }: Incident): string =>
  [
    '# Incident',
    '',
    'why' in comparison
      ? `The two could not be compared: ${inline(comparison.why)}.`
      : `**${inline(comparison.value.verdict)}**`,
    '',
    '| | a | b |',
    '|---|---|---|',
    ...rows(a, b).map(([name, left, right]) => `| ${name} | ${inline(left)} | ${inline(right)} |`),
    '',
    ...('value' in comparison ? causesOf(comparison.value) : []),
    '## Tests seen',
    '',
    ...sides(a, b, ({ tests }) =>
      tests.map(
        ({ seq, command, ok }) => `@${seq} ${inline(command)}: ${ok === null ? 'no result' : ok ? 'passed' : 'failed'}`,
      ),
    ),
    '## Decisions of policy',
    '',
    ...sides(a, b, ({ manifest, denied }) => [
      `mode ${inline(manifest.policy.permissions.mode ?? 'unknown')}, revision ${manifest.policy.revision ?? 'unknown'}`,
      ...denied.map(({ seq, at, what }) => `@${seq} denied${at === null ? '' : ` at ${at}`}: ${inline(what)}`),
    ]),
    '## Final effects',
    '',
    ...sides(a, b, ({ final }) =>
      final === null
        ? []
        : [
            ...final.files.map(({ path, change, last_seq }) => `${change} ${inline(path)}, last by @${last_seq}`),
            ...(final.why === null ? [] : [inline(final.why)]),
          ],
    ),
    ...(lacking.length === 0
      ? []
      : ['## Not in this bundle', '', ...lacking.map(({ what, why }) => `- ${inline(what)}: ${inline(why)}`), '']),
  ].join('\n')

const rows = (a: IncidentSide, b: IncidentSide): readonly (readonly [string, string, string])[] => {
  const row = (name: string, of: (side: IncidentSide) => string | null) =>
    [name, of(a) ?? 'unknown', of(b) ?? 'unknown'] as const
  return [
    row('target', ({ target }) => target),
    row('run', ({ details }) => details?.run.id ?? 'no run'),
    row('title', ({ details }) => (details === null ? '' : oneLine(details.run.title))),
    row(
      'agent',
      ({ manifest }) => `${manifest.execution.runtime} ${manifest.execution.runtime_version ?? 'unknown version'}`,
    ),
    row('model', ({ manifest, details }) => details?.run.models.join(', ') || manifest.execution.model),
    row('directory', ({ manifest }) => manifest.execution.cwd),
    row('started', ({ details }) => details?.run.started_at ?? null),
    row('ended as', ({ details }) => details?.run.status ?? 'no run'),
    row('tool calls', ({ details }) =>
      details === null ? '' : `${details.run.calls.total}, ${details.run.calls.failed} failed`,
    ),
    row('manifest', ({ manifest }) => manifest.integrity.manifest_digest),
    row('instructions', ({ manifest }) => manifest.instructions.effective_digest),
  ]
}

const causesOf = ({ causes, notes, categories }: Comparison): readonly string[] => [
  '## Causes, the likeliest first',
  '',
  ...(causes.length === 0 ? ['No difference was found that could be a cause.', ''] : causes.flatMap(causeOf)),
  '## What was compared',
  '',
  ...categories.map(
    ({ category, state, how, not_known }) =>
      `- ${category}: ${state.replaceAll('_', ' ')} (${inline(how)})${not_known.map(({ field, why }) => `; not known: ${inline(field)}, ${inline(why)}`).join('')}`,
  ),
  ...notes.map((note) => `- ${inline(note)}`),
  '',
]

const causeOf = ({ rank, title, class: kind, why, evidence, before, after }: Cause): readonly string[] => [
  `${rank}. **${inline(title)}** (${kind})`,
  `   - before: ${short(before)}; after: ${short(after)}`,
  `   - ${inline(why)}`,
  ...evidence.map(({ side, text }) => `   - ${side}: ${inline(text)}`),
  '',
]

const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return inline(text.length > 300 ? `${text.slice(0, 299)}…` : text)
}

const sides = (a: IncidentSide, b: IncidentSide, lines: (side: IncidentSide) => readonly string[]): readonly string[] =>
  (['a', 'b'] as const).flatMap((name) => {
    const told = lines(name === 'a' ? a : b)
    return [`### ${name}`, '', ...(told.length === 0 ? ['- none'] : told.map((line) => `- ${line}`)), '']
  })
