import type { EventDetail } from '../../contract/index.ts'
import type { Lacking, RunDetails } from './run-material.ts'

/** A run as a page people read: what it was, how completely it was seen, and every event in order. */
export const markdownHead = (
  { run, coverage, branches, unreadable }: RunDetails,
  lacking: readonly Lacking[],
): string =>
  [
    `# ${inline(run.title) || `Run ${run.id}`}`,
    '',
    ...factsOf(run, coverage).map(([name, value]) => `- **${name}**: ${inline(value)}`),
    ...(branches.length > 0
      ? [`- **branches**: ${branches.map(({ id, relation }) => `${relation} ${id}`).join(', ')}`]
      : []),
    '',
    '## How completely it was captured',
    '',
    `${coverage.mode}, ${coverage.state}`,
    '',
    ...coverage.items.map(({ what, state, why }) => `- ${what}: ${state}${why === null ? '' : ` (${inline(why)})`}`),
    ...(unreadable.length > 0 ? [`- ${unreadable.length} unreadable lines in its file`] : []),
    ...lacking.map(({ what, why }) => `- not in this export: ${what} (${inline(why)})`),
    '',
    '## Events',
    '',
  ].join('\n')

export const factsOf = (
  run: RunDetails['run'],
  coverage: RunDetails['coverage'],
): readonly (readonly [string, string])[] => [
  ['run', run.id],
  ['agent', `${run.runtime} ${run.runtime_version ?? 'unknown version'}`],
  ['session', run.session],
  ['directory', run.workspace ?? 'unknown'],
  ['models', run.models.join(', ') || 'unknown'],
  ['started', run.started_at ?? 'unknown'],
  ['ended', run.ended_at ?? 'unknown'],
  ['status', run.status],
  ['tool calls', `${run.calls.total}, ${run.calls.failed} failed`],
  ['files', `${run.effects.added} added, ${run.effects.changed} changed, ${run.effects.deleted} deleted`],
  [
    'tokens',
    `${run.tokens.input} in, ${run.tokens.output} out, ${run.tokens.cache_read} read from cache, ${run.tokens.cache_write} written to cache${run.tokens_are_lower_bound ? ' (at least)' : ''}`,
  ],
  ['manifests', run.stretches.map(({ n, manifest }) => `${n}: ${manifest ?? 'none'}`).join(', ') || 'none'],
  ['coverage', coverage.state],
]

export const markdownEvent = ({ event, parts, changes }: EventDetail): string => {
  const state = event.ok === null ? '' : event.ok ? ', ok' : ', failed'
  return [
    `### ${event.seq} ${inline(event.tool ?? event.kind)}${state}`,
    '',
    `${event.at ?? 'no time'}${event.model === null ? '' : `, ${inline(event.model)}`}`,
    '',
    ...parts.flatMap(({ label, body, format }) => [`**${inline(label)}**`, '', fenced(body.text, format), '']),
    ...changes.flatMap(({ path, change, before, after, why }) => [
      `**${change}** ${inline(path)}${why === null ? '' : ` (${inline(why)})`}`,
      '',
      ...(before === null ? [] : ['before', '', fenced(before.text, 'text'), '']),
      ...(after === null ? [] : ['after', '', fenced(after.text, 'text'), '']),
    ]),
  ].join('\n')
}

/** A fence longer than any inside, so that no text of a session can end it. */
const fenced = (text: string, format: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${format === 'json' ? 'json' : ''}\n${withoutControls(text)}\n${fence}`
}

export const oneLine = (text: string): string => withoutControls(text).replaceAll(/\s+/g, ' ').trim()

/** Text inside a sentence: nothing in it means anything to a reader of Markdown. */
export const inline = (text: string): string => oneLine(text).replaceAll(/[\\`*_{}[\]<>#|]/g, '\\$&')

/** Colours and cursor movements of a terminal mean nothing in a file. */
export const withoutControls = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  text.replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replaceAll(/(?![\n\t])\p{Cc}/gu, '\ufffd')
