import { TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import type { Home } from '../../contract/home.ts'
import { formatExact } from '../parts/format.ts'
import { driftTitle } from '../timeline/drift-row.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.homes.history
/** The most one question may ask for; beyond it the count says that it is a part. */
const LOOKED_AT = 1000

export const historyPath = (home: string) => `/homes?history=${encodeURIComponent(home)}`

/** When the configuration of a home last changed and how, with the way to all its changes; what was lost is never left out. */
export function LastChange({ home }: { readonly home: Home }) {
  const read = useRead('drift.list', { home: home.id, limit: LOOKED_AT })
  if (read.data === undefined)
    return <span className="text-text-2">{read.error === null ? words.loading : read.error.message}</span>
  const { changes, total } = read.data
  const last = changes.find(({ kind }) => kind !== 'first_seen')
  const alerts = changes.filter(({ alert }) => alert !== null)
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2">
      {last === undefined ? (
        <span className="text-text-2">{changes.length === 0 ? w.never : w.unchanged}</span>
      ) : (
        <span>
          {driftTitle(last)}
          <span className="text-text-3 tabular-nums">, {formatExact(last.at).slice(0, 16)}</span>
        </span>
      )}
      {alerts[0] !== undefined && (
        <Link
          href={`${historyPath(home.id)}&change=${encodeURIComponent(alerts[0].id)}`}
          className="inline-flex items-baseline gap-1 rounded-chip font-medium text-danger hover:underline"
        >
          <TriangleAlert size={12} strokeWidth={2} aria-hidden="true" className="shrink-0 self-center" />
          {alerts[0].alert}
          {alerts.length > 1 && `, ${w.moreAlerts(alerts.length - 1, changes.length < total)}`}
        </Link>
      )}
      {total > 0 && (
        <Link href={historyPath(home.id)} className="rounded-chip text-accent hover:underline">
          {w.open(total)}
        </Link>
      )}
    </span>
  )
}
