import { useCallback, useMemo, useState } from 'react'
import type { Manifest, ManifestSource } from '../../contract/manifest.ts'
import { cx } from '../parts/classes.ts'
import { Empty } from '../parts/feedback.tsx'
import { formatBytes, formatNumber } from '../parts/format.ts'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { useRowHeight, useView } from '../shell/view-state.ts'
import { words } from '../words/en.ts'
import { ListFilter } from './list-filter.tsx'
import { type SourceRow, sourceKey, sourceName, toSourceRows } from './source-tree.ts'
import { whyEmpty } from './why-empty.ts'

const w = words.manifest
const grid = 'grid-cols-[1.25rem_minmax(0,1.7fr)_minmax(0,8rem)_minmax(0,1.3fr)_3.75rem_6rem_4.75rem_3.75rem]'

interface SourcesTabProps {
  readonly manifest: Manifest
  readonly onSelect: (source: ManifestSource) => void
}

/** Everything that could influence the run, in the order it counts, with the reason where something was left out. */
export function SourcesTab({ manifest, onSelect }: SourcesTabProps) {
  const [text, setText] = useState('')
  const [neverUsed, setNeverUsed] = useState(false)
  const [active, setActive] = useState<string | null>(null)
  const { ref, width } = useSize<HTMLDivElement>()
  const wide = width >= 760
  const base = useRowHeight()
  const height = wide ? base : 48
  const rows = useMemo(() => {
    const wanted = text.trim().toLowerCase()
    return toSourceRows(manifest.instructions.sources).filter(
      ({ source }) =>
        (!neverUsed || source.used === false) &&
        (wanted === '' ||
          `${sourceName(source)} ${source.scope} ${source.kind} ${source.status}`.toLowerCase().includes(wanted)),
    )
  }, [manifest, text, neverUsed])
  const keyOf = useCallback(
    (index: number) => {
      const entry = rows[index]
      return entry === undefined ? `none:${index}` : sourceKey(entry.source)
    },
    [rows],
  )
  const row = useCallback(
    (index: number): GridRow => {
      const entry = rows[index]
      return entry === undefined
        ? { key: `none:${index}`, heading: true }
        : { key: sourceKey(entry.source), level: entry.depth + 1, label: sentence(entry) }
    },
    [rows],
  )
  return (
    <div ref={ref} className="flex min-h-0 flex-1 flex-col">
      <ListFilter text={text} onText={setText} neverUsed={neverUsed} onNeverUsed={setNeverUsed} />
      {rows.length === 0 ? (
        <Empty title={text === '' && !neverUsed ? w.noSources : w.noSource} hint={whyEmpty(manifest, 'instructions')} />
      ) : (
        width > 0 && (
          <VirtualGrid
            label={w.sourcesLabel}
            tree
            count={rows.length}
            row={row}
            keyOf={keyOf}
            rowHeight={() => height}
            active={active}
            onActive={(key, index) => {
              setActive(key)
              const entry = rows[index]
              if (entry !== undefined) onSelect(entry.source)
            }}
            onPeek={() => useView.getState().toggleInspector(true)}
            onOpen={() => useView.getState().toggleInspector(true)}
            header={
              wide ? (
                <div
                  aria-hidden="true"
                  className={cx(
                    'grid h-6 shrink-0 items-center gap-x-2.5 border-b border-line px-3 text-meta text-text-3',
                    grid,
                  )}
                >
                  {Object.entries(w.columns).map(([name, column]) => (
                    <span key={name} className={name === 'size' ? 'text-right' : ''}>
                      {column}
                    </span>
                  ))}
                </div>
              ) : null
            }
            render={(index) => {
              const entry = rows[index]
              return entry === undefined ? null : wide ? <WideRow entry={entry} /> : <NarrowRow entry={entry} />
            }}
          />
        )
      )}
    </div>
  )
}

function sentence({ source }: SourceRow): string {
  return [
    sourceName(source),
    w.kinds[source.kind],
    source.scope,
    w.statuses[source.status],
    source.reason ?? '',
    source.truncated === null ? '' : `${w.facts.truncated} ${source.truncated.at}`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** State by word first; what was left out carries its reason. */
export function Loaded({ source }: { readonly source: ManifestSource }) {
  switch (source.status) {
    case 'loaded':
      return w.statuses.loaded
    case 'lazy':
      return source.trigger === null ? w.statuses.lazy : w.lazyOn(source.trigger)
    case 'not_loaded':
      return (
        <>
          <span className="font-medium text-warn">{w.statuses.not_loaded}</span>
          {source.reason !== null && `: ${source.reason}`}
        </>
      )
    case 'unknown':
      return (
        <>
          <Unknown why={source.reason} />
          {source.reason !== null && `: ${source.reason}`}
        </>
      )
    default:
      return source.status satisfies never
  }
}

export function Used({ used }: { readonly used: boolean | null }) {
  if (used === null) return <Unknown why={w.usedWhy}>{w.used.unknown}</Unknown>
  return used ? w.used.yes : <span className="text-text-3">{w.used.no}</span>
}

export function Scan({ scan }: { readonly scan: ManifestSource['scan'] }) {
  if (scan === null) return <span className="text-text-3">{w.scans.not_scanned}</span>
  const bad = scan.result === 'flagged' || scan.result === 'rejected'
  return (
    <span
      className={bad ? 'text-warn' : scan.result === 'not_scanned' ? 'text-text-3' : ''}
      title={scan.rules.join(', ')}
    >
      {w.scans[scan.result]}
    </span>
  )
}

/** Only a file has a size; when it was not seen it is unknown, not nothing. */
const Size = ({ source }: { readonly source: ManifestSource }) =>
  source.bytes !== null ? formatBytes(source.bytes) : source.path === null ? null : <Unknown />

const Cut = ({ source }: { readonly source: ManifestSource }) =>
  source.truncated === null ? (
    <span className="text-text-3">{w.notCut}</span>
  ) : (
    <span className="text-warn">{w.cutAt(formatNumber(source.truncated.at), source.truncated.unit)}</span>
  )

function WideRow({ entry: { source, depth } }: { readonly entry: SourceRow }) {
  const out = source.status === 'not_loaded'
  return (
    <div className={cx('grid h-full items-center gap-x-2.5 px-3 text-dense', grid, out && 'text-text-2')}>
      <Cell className="text-text-3 tabular-nums">{source.position === null ? '' : source.position + 1}</Cell>
      <Cell className="truncate">
        <span style={{ paddingLeft: depth * 16 }} className="flex min-w-0">
          <PathText path={sourceName(source)} />
        </span>
      </Cell>
      <Cell className="truncate text-text-2">
        {w.kinds[source.kind]}
        {source.scope !== source.kind && `, ${source.scope}`}
      </Cell>
      <Cell className="truncate">
        <Loaded source={source} />
      </Cell>
      <Cell className="truncate text-right tabular-nums">
        <Size source={source} />
      </Cell>
      <Cell className="truncate">
        <Cut source={source} />
      </Cell>
      <Cell className="truncate">
        <Scan scan={source.scan} />
      </Cell>
      <Cell className="truncate">
        <Used used={source.used} />
      </Cell>
    </div>
  )
}

function NarrowRow({ entry: { source, depth } }: { readonly entry: SourceRow }) {
  return (
    <div
      className="flex h-full flex-col justify-center border-b border-line px-3 text-dense"
      style={{ paddingLeft: 12 + depth * 16 }}
    >
      <div className="flex items-center gap-2">
        <Cell className="w-5 shrink-0 text-text-3 tabular-nums">
          {source.position === null ? '' : source.position + 1}
        </Cell>
        <Cell className="flex-1 truncate">
          <PathText path={sourceName(source)} />
        </Cell>
        <Cell className="shrink-0 text-text-3 tabular-nums">
          <Size source={source} />
        </Cell>
      </div>
      <div className="flex items-center gap-3 pl-7 text-meta text-text-2">
        <Cell className="flex-1 truncate">
          <Loaded source={source} />
        </Cell>
        <Cell className="shrink-0">
          {w.kinds[source.kind]}
          {source.scope !== source.kind && `, ${source.scope}`}
        </Cell>
        {source.truncated !== null && (
          <Cell className="shrink-0">
            <Cut source={source} />
          </Cell>
        )}
        {source.scan !== null && source.scan.result !== 'clean' && (
          <Cell className="shrink-0">
            <Scan scan={source.scan} />
          </Cell>
        )}
      </div>
    </div>
  )
}
