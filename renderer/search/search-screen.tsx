import { useInfiniteQuery } from '@tanstack/react-query'
import { Search as SearchIcon } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { RuntimeName } from '../../contract/run.ts'
import type { SearchResult } from '../../contract/timeline.ts'
import { Button } from '../parts/button.tsx'
import { cx } from '../parts/classes.ts'
import { CommandHint, shellWord } from '../parts/command-hint.tsx'
import { Band, Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatStamp, shortId } from '../parts/format.ts'
import { placeOf } from '../parts/grid-memory.ts'
import { RuntimeTile, Unknown } from '../parts/marks.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { TabPanel, Tabs } from '../parts/tabs.tsx'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { useCrumbs, useReference } from '../shell/acts.ts'
import { runPath, useAddress } from '../shell/address.ts'
import { say } from '../shell/announcer.tsx'
import { usePaused } from '../shell/use-paused.ts'
import { useTransport } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { ConfigurationHits, useConfigurationHits } from './configuration-hits.tsx'

const w = words.search
const PAGE = 100
type Hit = SearchResult['hits'][number]

/** Words in sessions, best first; each hit leads to its event. */
export default function SearchScreen() {
  useCrumbs(w.title)
  const { get, set, navigate } = useAddress()
  const query = get('q') ?? ''
  const agent = get('agent')
  const runtime = Object.keys(words.runtimes).find((name): name is RuntimeName => name === agent)
  const [text, setText] = useState(query)
  const asked = usePaused(text.trim(), 120)
  useEffect(() => {
    if (asked !== query) set({ q: asked }, { replace: true })
  }, [asked, query, set])
  const transport = useTransport()
  const enabled = asked.length >= 2
  const list = useInfiniteQuery({
    queryKey: ['search.run', { text: asked, runtime }],
    enabled,
    meta: { manual: true },
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      transport.call(
        'search.run',
        {
          text: asked,
          limit: PAGE,
          ...(runtime === undefined ? {} : { runtime }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        { signal },
      ),
    getNextPageParam: (last) => last.next,
  })
  const first = list.data?.pages[0]
  const part = get('in') === 'configuration' ? 'configuration' : 'sessions'
  const configuration = useConfigurationHits(asked, runtime, enabled)
  const hits = useMemo(() => list.data?.pages.flatMap((page) => page.hits) ?? [], [list.data])
  useEffect(() => {
    if (first !== undefined) say(w.hits(first.total))
  }, [first])
  const sessions = (
    <>
      {first !== undefined && first.searchable < 1 && <Band>{w.partial(Math.floor(first.searchable * 100))}</Band>}
      {list.error !== null && <Failure what={w.title} failure={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && list.error === null && <Loading what={w.title} rowHeight={48} />}
      {first !== undefined && hits.length === 0 && (
        <Empty title={w.none(asked)} hint={w.noneHint}>
          <Button onClick={() => navigate(`/timeline?q=${encodeURIComponent(asked)}`)}>{w.inTimeline}</Button>
        </Empty>
      )}
      {hits.length > 0 && (
        <Hits
          key={asked}
          hits={hits}
          total={first?.total ?? hits.length}
          memory={`search?${asked}`}
          onNearEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
        />
      )}
    </>
  )
  return (
    <>
      <h1 className="sr-only">{w.title}</h1>
      <div data-region="filter" className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        <div className="flex h-8 min-w-64 flex-1 items-center gap-2 rounded-control border border-line-strong bg-raised px-2 focus-within:border-focus max-sm:h-11">
          <SearchIcon size={14} strokeWidth={1.75} className="shrink-0 text-text-3" aria-hidden="true" />
          <input
            data-filter
            // biome-ignore lint/a11y/noAutofocus: the page is this field
            autoFocus
            value={text}
            onChange={(event) => setText(event.target.value)}
            aria-label={w.field}
            placeholder={w.placeholder}
            spellCheck={false}
            className="min-w-0 flex-1 bg-transparent outline-none"
          />
        </div>
        <fieldset aria-label={words.timeline.agent} className="flex gap-1">
          {([null, 'claude-code', 'codex', 'openclaw', 'hermes'] as const).map((name) => (
            <button
              key={name ?? 'all'}
              type="button"
              aria-pressed={(runtime ?? null) === name}
              onClick={() => set({ agent: name }, { replace: true })}
              className={cx(
                'h-7 rounded-control border px-2 text-dense whitespace-nowrap max-sm:h-11',
                (runtime ?? null) === name
                  ? 'border-accent bg-select text-text'
                  : 'border-transparent text-text-2 hover:bg-hover',
              )}
            >
              {name === null ? w.agent : words.runtimes[name].name}
            </button>
          ))}
        </fieldset>
        {enabled && (
          <CommandHint
            command={`reprise search ${shellWord(asked)}${part === 'configuration' ? ' --config' : ''}${runtime === undefined ? '' : ` --runtime ${runtime}`}`}
          />
        )}
      </div>
      {enabled ? (
        <Tabs
          label={w.partsLabel}
          value={part}
          onChange={(id) => set({ in: id === 'sessions' ? null : id }, { replace: true })}
          tabs={[
            { id: 'sessions', label: w.parts.sessions, count: first?.total ?? null },
            { id: 'configuration', label: w.parts.configuration, count: configuration.data?.total ?? null },
          ]}
        >
          <TabPanel id="sessions">{sessions}</TabPanel>
          <TabPanel id="configuration">
            <ConfigurationHits text={asked} read={configuration} />
          </TabPanel>
        </Tabs>
      ) : (
        <Empty title={w.start} hint={w.startHint} />
      )}
    </>
  )
}

interface HitsProps {
  readonly hits: readonly Hit[]
  readonly total: number
  readonly memory: string
  readonly onNearEnd: () => void
}

function Hits({ hits, total, memory, onNearEnd }: HitsProps) {
  const { navigate } = useAddress()
  const [active, setActive] = useState<string | null>(() => placeOf(memory)?.key ?? null)
  const { ref, width } = useSize<HTMLDivElement>()
  useReference(active)
  const keyOf = useCallback(
    (index: number) => {
      const hit = hits[index]
      return hit === undefined ? `none:${index}` : `${hit.run}@${hit.seq}`
    },
    [hits],
  )
  const row = useCallback(
    (index: number): GridRow => {
      const hit = hits[index]
      return hit === undefined
        ? { key: `none:${index}`, heading: true }
        : {
            key: `${hit.run}@${hit.seq}`,
            label: `${hit.title}, ${hit.kind}, ${hit.snippet.replace(/[\u{e000}\u{e001}]/gu, '')}`,
          }
    },
    [hits],
  )
  return (
    <div ref={ref} className="flex min-h-0 flex-1 flex-col">
      {width > 0 && (
        <VirtualGrid
          label={w.label}
          count={hits.length}
          total={total}
          row={row}
          keyOf={keyOf}
          rowHeight={() => 48}
          active={active}
          onActive={setActive}
          openOnClick
          memory={memory}
          onOpen={(index) => {
            const hit = hits[index]
            if (hit !== undefined) navigate(runPath(hit.run, hit.seq))
          }}
          onVisible={(_first, last) => {
            if (last > hits.length - 30) onNearEnd()
          }}
          render={(index) => {
            const hit = hits[index]
            if (hit === undefined) return null
            return (
              <div className="flex h-full flex-col justify-center gap-0.5 border-b border-line px-3 text-dense">
                <div className="flex items-center gap-2 overflow-hidden">
                  <Cell className="flex shrink-0">
                    <RuntimeTile runtime={hit.runtime} />
                  </Cell>
                  <Cell className="truncate font-medium">{hit.title === '' ? words.timeline.noTitle : hit.title}</Cell>
                  <Cell className="shrink-0 text-text-3">
                    {Object.entries(words.run.kinds).find(([name]) => name === hit.kind)?.[1] ?? hit.kind}
                  </Cell>
                  <Cell className="ml-auto shrink-0 text-meta text-text-3 tabular-nums">
                    {hit.at === null ? <Unknown /> : formatStamp(hit.at)}
                  </Cell>
                  <Cell className="w-28 shrink-0 truncate text-right font-mono text-[0.75rem] text-text-3 max-sm:hidden">
                    {shortId(hit.run)}@{hit.seq}
                  </Cell>
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
