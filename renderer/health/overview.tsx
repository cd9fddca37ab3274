import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Status } from '../../contract/home.ts'
import { formatBytes, formatDuration } from '../parts/format.ts'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { useLink } from '../shell/link-state.ts'
import { importShare } from '../shell/progress.ts'
import { words } from '../words/en.ts'
import { GapItem } from './gap-list.tsx'
import { HomeList } from './home-list.tsx'

const w = words.health

function Row({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-4 border-b border-line px-3 py-2 text-dense max-sm:grid-cols-1">
      <dt className="text-text-3">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  )
}

/** One quiet line per row when all is well. */
export function Overview({ status }: { readonly status: Status }) {
  const { daemon, homes, watches, store, vault } = status
  const pushed = useLink((now) => now.progress)
  const reading = importShare(pushed.size > 0 ? [...pushed.values()] : status.progress)
  return (
    <ScrollArea className="pb-8">
      {status.gaps.length > 0 && (
        <ul>
          {status.gaps.map((gap) => (
            <GapItem key={gap.id} gap={gap} />
          ))}
          {status.gap_count > status.gaps.length && (
            <li className="border-b border-line px-3 py-2 text-dense">
              <Link href="/health/gaps" className="rounded-chip text-accent hover:underline">
                {w.of(status.gaps.length, status.gap_count)}
              </Link>
            </li>
          )}
        </ul>
      )}
      <section aria-label={w.homes}>
        <h2 className="px-3 pt-3 pb-1 font-semibold">{w.homes}</h2>
        <HomeList homes={homes} lagMs={status.lag_ms} />
      </section>
      <h2 className="px-3 pt-4 pb-1 font-semibold">{w.ownState}</h2>
      <dl>
        {status.gap_count === 0 && <Row name={w.tabs.gaps}>{w.gapsNone}</Row>}
        <Row name={w.lag}>
          {w.lagText(status.lag_ms < 1000 ? `${Math.round(status.lag_ms)} ms` : formatDuration(status.lag_ms))}
        </Row>
        <Row name={w.watches}>
          {w.watchesText(watches.count, watches.limit)}
          {watches.polling > 0 && <span className="text-warn">; {w.polledText(watches.polling)}</span>}
        </Row>
        <Row name={w.reading}>{reading === null ? w.readingNone : words.status.reading(reading.percent)}</Row>
        <Row name={w.search}>
          {reading === null || reading.searchable >= 100 ? w.searchAll : words.status.searchable(reading.searchable)}
        </Row>
        <Row name={w.store}>
          {w.storeText(formatBytes(store.bytes), store.runs, store.events, store.manifests)}{' '}
          <Link href="/health/storage" className="rounded-chip text-accent underline underline-offset-2">
            {words.sizes.openStorage}
          </Link>
        </Row>
        <Row name={w.vault}>
          <span className={vault.key_store === 'none' ? 'text-warn' : ''}>{w.vaults[vault.key_store]}</span>
          {vault.note !== null && <span className="text-text-2">: {vault.note}</span>}
        </Row>
        <Row name={w.dataDir}>
          <PathText path={daemon.data_dir} />
        </Row>
        <Row name={w.socket}>
          <PathText path={daemon.socket} />
        </Row>
        <Row name={w.address}>{daemon.url ?? w.noAddress}</Row>
      </dl>
    </ScrollArea>
  )
}
