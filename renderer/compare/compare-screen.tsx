import { useEffect, useMemo, useState } from 'react'
import type { Comparison } from '../../contract/compare.ts'
import { Button } from '../parts/button.tsx'
import { ExportDialog } from '../parts/export-dialog.tsx'
import { Band, Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatClockSeconds, shortDigest, shortId } from '../parts/format.ts'
import { TabPanel, Tabs } from '../parts/tabs.tsx'
import { useActs, useCrumbs } from '../shell/acts.ts'
import { useAddress } from '../shell/address.ts'
import { setSlots, useSlots } from '../shell/compare-slots.ts'
import { letterAllowed } from '../shell/keys.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { CausesTab } from './causes-tab.tsx'
import { CompareHeader } from './compare-header.tsx'
import { FieldsTab } from './fields-tab.tsx'
import { StepsTab } from './steps-tab.tsx'
import { TextTab } from './text-tab.tsx'
import { useComparison } from './use-comparison.ts'
import { UseTab } from './use-tab.tsx'

const w = words.compare
const tabs = ['causes', 'fields', 'text', 'use', 'steps'] as const

/** Why two runs differ. With `b` alone the daemon says what to compare it with, and by which rule. */
export default function CompareScreen() {
  const { get, set } = useAddress()
  const slots = useSlots()
  const a = get('a')
  const b = get('b') ?? (a === null ? null : (slots.b?.target ?? null))
  useCrumbs([words.timeline.title, '/timeline'], words.nav.compare)
  if (b !== null && a === null) return <FindPartner run={b} />
  if (a === null || b === null) {
    return (
      <Empty title={w.pickTwo} hint={w.pickTwoHint}>
        {slots.a !== null && slots.b !== null && (
          <Button look="primary" onClick={() => set({ a: slots.a?.target ?? null, b: slots.b?.target ?? null })}>
            {w.compareSlots(slots.a.label, slots.b.label)}
          </Button>
        )}
      </Empty>
    )
  }
  if (a === b) return <Empty title={w.sameTwice} hint={w.sameTwiceHint} />
  return <Compared a={a} b={b} rule={get('rule')} />
}

function FindPartner({ run }: { readonly run: string }) {
  const { set } = useAddress()
  const read = useRead('compare.partners', { run })
  const best = read.data?.partners[0]
  useEffect(() => {
    if (best) set({ a: best.run.id, rule: best.rule }, { replace: true })
  }, [best, set])
  if (read.error !== null) return <Failure what={w.partners} failure={read.error} onRetry={() => void read.refetch()} />
  if (read.data !== undefined && best === undefined) return <Empty title={w.noPartner} hint={w.noPartnerHint} />
  return <Loading what={w.partners} />
}

function Compared({ a, b, rule }: { readonly a: string; readonly b: string; readonly rule: string | null }) {
  const read = useComparison(a, b)
  const { set } = useAddress()
  useEffect(() => setSlots({ target: a, label: nameOf(a) }, { target: b, label: nameOf(b) }), [a, b])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 's' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (!letterAllowed(event.target)) return
      set({ a: b, b: a, rule: null, cause: null })
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [a, b, set])
  if (read.data === undefined)
    return read.error === null ? (
      <Loading what={w.comparing} />
    ) : (
      <Failure what={w.comparing} failure={read.error} onRetry={() => void read.refetch()} />
    )
  return (
    <>
      {read.error !== null && (
        <Failure
          what={w.comparing}
          failure={read.error}
          onRetry={() => void read.refetch()}
          lastGood={formatClockSeconds(new Date(read.dataUpdatedAt).toISOString())}
        />
      )}
      <Opened
        key={`${a}\0${b}`}
        comparison={read.data}
        rule={rule}
        onSwap={() => set({ a: b, b: a, rule: null, cause: null })}
      />
    </>
  )
}

function Opened({
  comparison,
  rule,
  onSwap,
}: {
  readonly comparison: Comparison
  readonly rule: string | null
  readonly onSwap: () => void
}) {
  const { get, set } = useAddress()
  const { causes, fields, text, use, steps, notes } = comparison
  const [exporting, setExporting] = useState(false)
  const acts = useMemo(
    () => [
      { id: 'incident', label: words.export.incident, run: () => setExporting(true) },
      { id: 'swap', label: w.swap, keys: 's', run: onSwap },
      ...tabs.map((id) => ({
        id: `tab-${id}`,
        label: w.tabs[id],
        run: () => set({ view: id === 'causes' ? null : id }),
      })),
    ],
    [onSwap, set],
  )
  useActs(acts)
  const tab = tabs.find((entry) => entry === get('view')) ?? 'causes'
  const changedUse = use.filter((entry) => (entry.a === 0) !== (entry.b === 0)).length
  const counts: Record<(typeof tabs)[number], number | null> = {
    causes: causes.length,
    fields: fields.length,
    text: text.pieces.filter(({ state }) => state !== 'equal').length,
    use: changedUse,
    steps: steps === null ? null : steps.aligned.filter(({ state }) => state !== 'equal').length,
  }
  return (
    <>
      <CompareHeader comparison={comparison} rule={rule} onSwap={onSwap} onExport={() => setExporting(true)} />
      {exporting && (
        <ExportDialog
          subject={{ kind: 'incident', a: comparison.a.target, b: comparison.b.target }}
          onClose={() => setExporting(false)}
        />
      )}
      {notes.length === 1 && <Band tone="plain">{notes[0]}</Band>}
      {notes.length > 1 && (
        <Band tone="plain">
          <details>
            <summary className="cursor-pointer rounded-chip">{w.notes(notes.length)}</summary>
            <ul className="mt-1 list-disc pl-4">
              {notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          </details>
        </Band>
      )}
      <Tabs
        label={w.tabsLabel}
        value={tab}
        onChange={(id) => set({ view: id === 'causes' ? null : id })}
        tabs={tabs.map((id) => ({ id, label: w.tabs[id], count: counts[id] }))}
      >
        <TabPanel id="causes">
          <CausesTab comparison={comparison} />
        </TabPanel>
        <TabPanel id="fields">
          <FieldsTab comparison={comparison} />
        </TabPanel>
        <TabPanel id="text">
          <TextTab comparison={comparison} />
        </TabPanel>
        <TabPanel id="use">
          <UseTab comparison={comparison} />
        </TabPanel>
        <TabPanel id="steps">
          <StepsTab comparison={comparison} />
        </TabPanel>
      </Tabs>
    </>
  )
}

const nameOf = (target: string): string => (target.startsWith('sha256:') ? shortDigest(target) : shortId(target))
