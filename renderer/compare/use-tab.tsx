import type { Comparison, UseDifference } from '../../contract/compare.ts'
import { Empty } from '../parts/feedback.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { words } from '../words/en.ts'
import { EvidenceLink } from './evidence-link.tsx'

const w = words.compare

/** What each run really used of what it had, first what only one of them did. */
export function UseTab({ comparison: { use, a, b } }: { readonly comparison: Comparison }) {
  if (use.length === 0)
    return <Empty title={w.noUse} hint={a.run === null || b.run === null ? w.noUseHint : undefined} />
  const newly = use.filter((entry) => entry.a === 0 && (entry.b ?? 0) > 0)
  const no_longer = use.filter((entry) => (entry.a ?? 0) > 0 && entry.b === 0)
  const rest = use.filter((entry) => !newly.includes(entry) && !no_longer.includes(entry))
  return (
    <ScrollArea className="pb-6">
      {(
        [
          [w.newly, newly],
          [w.noLonger, no_longer],
          [w.inBoth, rest],
        ] as const
      ).map(([title, entries]) =>
        entries.length === 0 ? null : (
          <Section key={title} title={title}>
            <UseTable entries={entries} runs={{ a: a.run, b: b.run }} />
          </Section>
        ),
      )}
    </ScrollArea>
  )
}

function UseTable({
  entries,
  runs,
}: {
  readonly entries: readonly UseDifference[]
  readonly runs: { readonly a: string | null; readonly b: string | null }
}) {
  return (
    <table className="w-full max-w-4xl text-dense">
      <TableHead columns={[w.what, w.kind, 'A', 'B']} right={['A', 'B']} />
      <tbody>
        {entries.map((entry) => (
          <tr key={`${entry.kind}\0${entry.name}`} className="border-b border-line">
            <th
              scope="row"
              className="w-full max-w-0 min-w-36 truncate py-1 pr-3 text-left font-mono text-[0.75rem] font-normal"
              title={entry.name}
            >
              {entry.name.startsWith('/') ? <PathText path={entry.name} /> : entry.name}
            </th>
            <td className="py-1 pr-3 whitespace-nowrap text-text-2">{w.kinds[entry.kind]}</td>
            {(['a', 'b'] as const).map((side) => {
              const run = runs[side]
              const seq = entry.first[side]
              const times = entry[side]
              return (
                <td key={side} className="py-1 pr-3 text-right whitespace-nowrap tabular-nums">
                  {times === null ? (
                    <span className="text-text-3">{w.noRun}</span>
                  ) : (
                    <EvidenceLink reference={run === null || seq === null ? null : { type: 'event', run, seq }}>
                      {w.times(times)}
                    </EvidenceLink>
                  )}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
