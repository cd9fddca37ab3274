import type { Home } from '../../contract/home.ts'
import { Failure, Loading } from '../parts/feedback.tsx'
import { ResultMark, RuntimeTile, Unknown } from '../parts/marks.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { TableHead } from '../parts/tables.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.health
const c = w.factColumns

/** The rules of each agent as Reprise applies them, and on which versions they were verified. */
export function FactsTab({ homes }: { readonly homes: readonly Home[] }) {
  const read = useRead('health.facts', {})
  if (read.error !== null)
    return <Failure what={w.tabs.facts} failure={read.error} onRetry={() => void read.refetch()} />
  if (read.data === undefined) return <Loading what={w.tabs.facts} />
  const runtimes = [...new Set(read.data.facts.map((fact) => fact.runtime))]
  return (
    <ScrollArea className="px-3 pt-3 pb-8 overflow-x-auto">
      <h2 className="font-semibold">{w.facts}</h2>
      <p className="max-w-prose text-dense text-text-2">{w.factsHint}</p>
      {runtimes.map((runtime) => {
        const installed = homes.find((home) => home.runtime === runtime)?.version ?? null
        const facts = read.data.facts.filter((fact) => fact.runtime === runtime)
        const verified = facts.some((fact) => installed !== null && fact.versions.includes(installed))
        return (
          <section key={runtime} className="pt-4">
            <h3 className="flex items-center gap-2 font-medium">
              <RuntimeTile runtime={runtime} />
              {words.runtimes[runtime].name}
              {installed !== null && <span className="font-normal text-text-2">{installed}</span>}
              {installed !== null && !verified && (
                <span className="text-dense font-normal text-warn">{w.unverified}</span>
              )}
            </h3>
            <table className="mt-1 w-full text-dense">
              <TableHead columns={[c.area, c.fact, c.status, c.versions]} />
              <tbody>
                {facts.map((fact) => (
                  <tr key={`${fact.area}${fact.fact}`} className="border-b border-line align-top">
                    <td className="w-36 py-1 pr-3 text-text-2">{fact.area}</td>
                    <td className="py-1 pr-3">{fact.fact}</td>
                    <td className="w-32 py-1 pr-3">
                      {fact.status === 'verified' ? (
                        <ResultMark result="pass">{w.factStatus.verified}</ResultMark>
                      ) : fact.status === 'unknown' ? (
                        <Unknown />
                      ) : (
                        w.factStatus.documented
                      )}
                    </td>
                    <td className="w-48 py-1 text-text-2 tabular-nums">{fact.versions.join(', ')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )
      })}
    </ScrollArea>
  )
}
