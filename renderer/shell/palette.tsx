import { keepPreviousData } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { Dialog } from 'radix-ui'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { dayKey, formatClock, formatDay, shortId } from '../parts/format.ts'
import { RuntimeTile, StatusMark } from '../parts/marks.tsx'
import { lastPart } from '../parts/paths.ts'
import { Snippet } from '../parts/snippet.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { type Act, useScreen } from './acts.ts'
import { changePath, manifestPath, runPath } from './address.ts'
import { say } from './announcer.tsx'
import { usePaused } from './use-paused.ts'

const PER_GROUP = 8
const w = words.palette

interface PaletteProps {
  readonly onClose: () => void
  readonly navigate: (path: string) => void
  readonly pages: readonly Act[]
}

/** Reach or do anything. The daemon matches; cmdk carries the combobox pattern. */
export default function Palette({ onClose, navigate, pages }: PaletteProps) {
  const [text, setText] = useState('')
  const asked = usePaused(text.trim(), 80)
  const acts = useScreen((screen) => screen.acts)
  const enabled = asked.length >= 2
  const runs = useRead(
    'timeline.page',
    { filter: { text: asked }, limit: PER_GROUP },
    { enabled: asked.length >= 1, placeholderData: keepPreviousData, meta: { manual: true } },
  )
  const hits = useRead('search.run', { text: asked, limit: PER_GROUP }, { enabled, placeholderData: keepPreviousData })
  const configuration = useRead(
    'search.configuration',
    { text: asked, limit: PER_GROUP },
    { enabled, placeholderData: keepPreviousData },
  )
  const matches = useMemo(() => {
    const wanted = text.trim().toLowerCase().replace(/^>\s*/, '').split(/\s+/).filter(Boolean)
    const fits = (label: string) => wanted.every((word) => label.toLowerCase().includes(word))
    return {
      acts: acts.filter((act) => fits(act.label)).slice(0, PER_GROUP),
      pages: pages.filter((act) => fits(act.label)),
    }
  }, [text, acts, pages])
  const found =
    asked.length >= 1 ? (runs.data?.items.flatMap((item) => (item.type === 'run' ? [item.run] : [])) ?? []) : []
  const direct = directTargets(text.trim())
  const texts = enabled ? (hits.data?.hits ?? []) : []
  const settings = enabled ? (configuration.data?.hits ?? []) : []
  const shown =
    matches.acts.length + matches.pages.length + found.length + texts.length + settings.length + direct.length
  useEffect(() => {
    if (enabled && hits.data !== undefined) say(w.results(shown))
  }, [enabled, hits.data, shown])
  const perform = (act: Act) => {
    onClose()
    act.run()
  }
  const go = (path: string) => {
    onClose()
    navigate(path)
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content
          aria-describedby={undefined}
          className="layer fixed top-[12vh] left-1/2 z-50 w-[min(44rem,calc(100vw-1rem))] -translate-x-1/2 overflow-hidden rounded-card bg-raised shadow-layer"
        >
          <Dialog.Title className="sr-only">{w.label}</Dialog.Title>
          <Command vimBindings={false} shouldFilter={false} label={w.label} loop>
            <Command.Input
              autoFocus
              value={text}
              onValueChange={setText}
              placeholder={w.placeholder}
              className="h-12 w-full border-b border-line bg-raised px-4 text-read outline-none"
            />
            <Command.List className="max-h-[56vh] overflow-y-auto p-1.5">
              {shown === 0 && text.trim() !== '' && !runs.isFetching && !hits.isFetching && (
                <p className="px-3 py-6 text-center text-dense text-text-2">{w.nothing}</p>
              )}
              <Section heading={w.do} shown={matches.acts.length > 0}>
                {matches.acts.map((act) => (
                  <Row key={act.id} value={`act-${act.id}`} onSelect={() => perform(act)} hint={act.keys}>
                    {act.label}
                  </Row>
                ))}
              </Section>
              <Section heading={w.go} shown={matches.pages.length + direct.length > 0}>
                {direct.map((entry) => (
                  <Row key={entry.path} value={`direct-${entry.path}`} onSelect={() => go(entry.path)}>
                    {entry.label}
                  </Row>
                ))}
                {matches.pages.map((act) => (
                  <Row key={act.id} value={`page-${act.id}`} onSelect={() => perform(act)} hint={act.keys}>
                    {act.label}
                  </Row>
                ))}
              </Section>
              <Section heading={w.runs} shown={found.length > 0}>
                {found.map((run) => (
                  <Row key={run.id} value={`run-${run.id}`} onSelect={() => go(runPath(run.id))}>
                    <RuntimeTile runtime={run.runtime} />
                    <span className="min-w-0 flex-1 truncate">
                      {run.title === '' ? words.timeline.noTitle : run.title}
                    </span>
                    <span className="w-24 truncate text-dense">
                      <StatusMark status={run.status} />
                    </span>
                    <span className="text-meta text-text-3 tabular-nums">
                      {run.started_at === null
                        ? words.unknown
                        : `${formatDay(dayKey(run.started_at), new Date())} ${formatClock(run.started_at)}`}
                    </span>
                    <span className="font-mono text-meta text-text-3">{shortId(run.id)}</span>
                  </Row>
                ))}
              </Section>
              <Section heading={w.text} shown={texts.length > 0}>
                {texts.map((hit) => (
                  <Row
                    key={`${hit.run}@${hit.seq}`}
                    value={`hit-${hit.run}@${hit.seq}`}
                    onSelect={() => go(runPath(hit.run, hit.seq))}
                  >
                    <span className="w-40 shrink-0 truncate">{hit.title}</span>
                    <span className="min-w-0 flex-1 truncate text-dense text-text-2">
                      <Snippet text={hit.snippet} />
                    </span>
                    <span className="font-mono text-meta text-text-3">
                      {shortId(hit.run)}@{hit.seq}
                    </span>
                  </Row>
                ))}
                {hits.data !== undefined && (
                  <Row value="all-hits" onSelect={() => go(`/search?q=${encodeURIComponent(asked)}`)}>
                    {w.allHits(hits.data.total, asked)}
                    {hits.data.searchable < 1 && (
                      <span className="ml-auto text-meta text-text-3">
                        {w.searchable(Math.floor(hits.data.searchable * 100))}
                      </span>
                    )}
                  </Row>
                )}
              </Section>
              <Section heading={w.configuration} shown={settings.length > 0}>
                {settings.map((hit, index) => {
                  const path =
                    hit.drift !== null
                      ? changePath(hit.drift)
                      : hit.manifest === null
                        ? null
                        : manifestPath(hit.manifest)
                  return (
                    path !== null && (
                      // biome-ignore lint/suspicious/noArrayIndexKey: one change may hold the words several times
                      <Row key={`${path}${index}`} value={`configuration-${index}`} onSelect={() => go(path)}>
                        <RuntimeTile runtime={hit.runtime} />
                        <span className="w-40 shrink-0 truncate">
                          {hit.path === null ? hit.what : lastPart(hit.path)}
                        </span>
                        <span className="min-w-0 flex-1 truncate text-dense text-text-2">
                          <Snippet text={hit.snippet} />
                        </span>
                        <span className="text-meta text-text-3 tabular-nums">
                          {formatDay(dayKey(hit.at), new Date())} {formatClock(hit.at)}
                        </span>
                      </Row>
                    )
                  )
                })}
                {configuration.data !== undefined && (
                  <Row
                    value="all-configuration"
                    onSelect={() => go(`/search?q=${encodeURIComponent(asked)}&in=configuration`)}
                  >
                    {w.allConfiguration(configuration.data.total, asked)}
                  </Row>
                )}
              </Section>
            </Command.List>
          </Command>
          <p className="border-t border-line px-4 py-1.5 text-meta text-text-3">{w.hint}</p>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** A reference typed in full goes straight there: `r_91d0@41`, a digest. */
function directTargets(text: string): readonly { readonly label: string; readonly path: string }[] {
  const run = /^(r_[0-9a-f]{2,}|last(?::[\w-]+)?)(?:@(\d+))?$/.exec(text)
  if (run?.[1] !== undefined)
    return [{ label: w.openRun(text), path: runPath(run[1], run[2] === undefined ? null : Number(run[2])) }]
  if (/^(?:sha256:[0-9a-f]{6,64}|[0-9a-f]{8,64})$/.test(text))
    return [{ label: w.openDigest(text), path: manifestPath(text) }]
  return []
}

function Section({
  heading,
  shown,
  children,
}: {
  readonly heading: string
  readonly shown: boolean
  readonly children: ReactNode
}) {
  if (!shown) return null
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-meta [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-text-3"
    >
      {children}
    </Command.Group>
  )
}

interface RowProps {
  readonly value: string
  readonly onSelect: () => void
  readonly hint?: string | undefined
  readonly children: ReactNode
}

function Row({ value, onSelect, hint, children }: RowProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex min-h-8 cursor-default items-center gap-2 rounded-control px-2 text-ui select-none data-[selected=true]:bg-select-strong max-sm:min-h-11"
    >
      {children}
      {hint !== undefined && <kbd className="ml-auto font-mono text-meta text-text-3">{hint}</kbd>}
    </Command.Item>
  )
}
