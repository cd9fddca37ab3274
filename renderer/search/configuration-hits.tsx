import { useCallback, useState } from 'react'
import type { ConfigurationHit } from '../../contract/drift.ts'
import type { RuntimeName } from '../../contract/run.ts'
import { Band, Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatStamp } from '../parts/format.ts'
import { RuntimeTile } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { changePath, manifestPath, useAddress } from '../shell/address.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.search
/** The most one answer holds. */
const LIMIT = 200

export const useConfigurationHits = (text: string, runtime: RuntimeName | undefined, enabled: boolean) =>
  useRead(
    'search.configuration',
    { text, limit: LIMIT, ...(runtime === undefined ? {} : { runtime }) },
    { enabled, placeholderData: (before) => before },
  )

/** Where a hit can be looked at: the change it was part of, else the manifest. */
export const hitPath = ({ drift, manifest }: ConfigurationHit): string | null =>
  drift !== null ? changePath(drift) : manifest !== null ? manifestPath(manifest) : null

interface ConfigurationHitsProps {
  readonly text: string
  readonly read: ReturnType<typeof useConfigurationHits>
}

/** Words in the history of configuration, newest first: what was written, changed or taken away, and when. */
export function ConfigurationHits({ text, read }: ConfigurationHitsProps) {
  if (read.data === undefined)
    return read.error === null ? (
      <Loading what={w.parts.configuration} rowHeight={48} />
    ) : (
      <Failure what={w.parts.configuration} failure={read.error} onRetry={() => void read.refetch()} />
    )
  const { hits, total } = read.data
  if (hits.length === 0) return <Empty title={w.noConfiguration(text)} hint={w.noConfigurationHint} />
  return <Hits hits={hits} total={total} />
}

function Hits({ hits, total }: { readonly hits: readonly ConfigurationHit[]; readonly total: number }) {
  const { navigate } = useAddress()
  const [active, setActive] = useState<string | null>(null)
  const { ref, width } = useSize<HTMLDivElement>()
  const key = (index: number) => `hit:${index}`
  const row = useCallback(
    (index: number): GridRow => {
      const hit = hits[index]
      return hit === undefined
        ? { key: `none:${index}`, heading: true }
        : {
            key: `hit:${index}`,
            label: `${hit.path ?? ''} ${whatOf(hit)}, ${hit.snippet.replace(/[\u{e000}\u{e001}]/gu, '')}`,
          }
    },
    [hits],
  )
  return (
    <div ref={ref} className="flex min-h-0 flex-1 flex-col">
      {hits.length < total && <Band tone="plain">{words.health.of(hits.length, total)}</Band>}
      {width > 0 && (
        <VirtualGrid
          label={w.parts.configuration}
          count={hits.length}
          row={row}
          keyOf={key}
          rowHeight={() => 48}
          active={active}
          onActive={setActive}
          openOnClick
          onOpen={(index) => {
            const hit = hits[index]
            const path = hit === undefined ? null : hitPath(hit)
            if (path !== null) navigate(path)
          }}
          header={null}
          render={(index) => {
            const hit = hits[index]
            if (hit === undefined) return null
            return (
              <div className="flex h-full flex-col justify-center gap-0.5 border-b border-line px-3 text-dense">
                <div className="flex items-center gap-2 overflow-hidden">
                  <Cell className="flex shrink-0">
                    <RuntimeTile runtime={hit.runtime} />
                  </Cell>
                  <Cell className="min-w-0 truncate font-medium">
                    {hit.path === null ? whatOf(hit) : <PathText path={hit.path} className="max-w-96" />}
                  </Cell>
                  {hit.path !== null && <Cell className="shrink-0 text-text-3">{whatOf(hit)}</Cell>}
                  <Cell className="ml-auto shrink-0 text-meta text-text-3 tabular-nums">{formatStamp(hit.at)}</Cell>
                </div>
                <Cell className="truncate pl-8 text-text-2">
                  <Snippet text={hit.snippet} />
                </Cell>
              </div>
            )
          }}
        />
      )}
    </div>
  )
}

const whatOf = ({ what }: ConfigurationHit): string => words.drift.whats[what] ?? what
