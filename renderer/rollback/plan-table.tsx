import { ChevronDown, ChevronRight } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { RollbackPlan } from '../../contract/rollback.ts'
import { cx } from '../parts/classes.ts'
import { formatNumber } from '../parts/format.ts'
import { PathText } from '../parts/path-text.tsx'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { useRowHeight } from '../shell/view-state.ts'
import { words } from '../words/en.ts'
import type { Choices, ConflictChoice, PlanItem } from './plan-model.ts'
import { PathRow, rowSentence } from './plan-row.tsx'
import { type Folds, type TableRow, type Tick, tableRows } from './table-rows.ts'

const w = words.rollback

export interface PlanTableProps {
  readonly plan: RollbackPlan
  readonly choices: Choices
  readonly fixed: boolean
  readonly changed: ReadonlySet<string>
  readonly active: string | null
  readonly onActive: (key: string | null, of: PlanItem | null) => void
  readonly onTick: (items: readonly PlanItem[], on: boolean) => void
  readonly onChoice: (path: string, choice: ConflictChoice) => void
  /** Shows the path in the inspector, and puts the focus there. */
  readonly onOpen: () => void
}

/** Every path of the plan under its heading, ten thousand of them as quickly as ten. */
export function PlanTable({
  plan,
  choices,
  fixed,
  changed,
  active,
  onActive,
  onTick,
  onChoice,
  onOpen,
}: PlanTableProps) {
  const [folds, setFolds] = useState<Folds>(new Map())
  const { ref, width } = useSize<HTMLDivElement>()
  const rows = useMemo(() => tableRows(plan, choices, folds, fixed), [plan, choices, folds, fixed])
  const listHeight = useRowHeight()
  const wide = width >= 640
  const heightOf = useCallback(
    (index: number) => {
      const row = rows[index]
      if (row?.type !== 'path') return Math.max(32, listHeight)
      if (row.of.group === 'conflict') return wide ? 80 : 104
      return wide ? listHeight : 48
    },
    [rows, wide, listHeight],
  )
  const keyOf = useCallback((index: number) => rows[index]?.key ?? `none:${index}`, [rows])
  const rowAt = useCallback(
    (index: number): GridRow => {
      const row = rows[index]
      if (row === undefined) return { key: `none:${index}`, heading: true }
      if (row.type === 'more') return { key: row.key, heading: true, level: 2 }
      if (row.type === 'group')
        return {
          key: row.key,
          level: 1,
          label: `${w.groups[row.group]} ${row.count}: ${w.groupHints[row.group]}`,
          ...(row.count > 0 ? { expanded: row.open } : {}),
        }
      if (row.type === 'folder')
        return { key: row.key, level: 2, label: `${row.folder}, ${w.inFolder(row.items.length)}`, expanded: row.open }
      return { key: row.key, level: row.level, label: rowSentence(row, changed.has(row.key)) }
    },
    [rows, changed],
  )
  const fold = (index: number, open: boolean) => {
    const row = rows[index]
    if (row !== undefined) setFolds((now) => new Map(now).set(row.key, open))
  }
  const toggle = (row: TableRow | undefined) => {
    if (row?.type === 'path' && row.of.group !== 'conflict' && row.ticked !== null) onTick([row.of], !row.ticked)
    else if ((row?.type === 'group' || row?.type === 'folder') && row.tick !== null)
      onTick(row.items, row.tick !== 'all')
    else return false
    return true
  }
  // The table is what one came for: the arrows go through it at once.
  useEffect(() => {
    if (width > 0 && document.activeElement === document.body)
      ref.current?.querySelector<HTMLElement>('[role=treegrid]')?.focus({ preventScroll: true })
  }, [width, ref])

  return (
    <div ref={ref} className="@container flex min-h-0 flex-1 flex-col">
      {width > 0 && (
        <VirtualGrid
          label={w.table}
          tree
          count={rows.length}
          row={rowAt}
          keyOf={keyOf}
          rowHeight={heightOf}
          active={active}
          onActive={(key, index) => {
            const row = rows[index]
            onActive(key, row?.type === 'path' ? row.of : null)
          }}
          onOpen={(index) => {
            const row = rows[index]
            if (row?.type === 'path') onOpen()
            else if (row !== undefined && row.type !== 'more') fold(index, !row.open)
          }}
          onPeek={(index) => {
            if (!toggle(rows[index])) onOpen()
          }}
          onToggle={fold}
          onKey={(event, index) => {
            if (event.key !== 'x') return false
            return toggle(rows[index])
          }}
          render={(index) => {
            const row = rows[index]
            if (row === undefined) return null
            if (row.type === 'path')
              return (
                <PathRow
                  row={row}
                  plan={plan}
                  choices={choices}
                  wide={wide}
                  changed={changed.has(row.key)}
                  onTick={(on) => onTick([row.of], on)}
                  onChoice={onChoice}
                />
              )
            if (row.type === 'more')
              return (
                <div className="flex h-full items-center pl-9 text-dense text-text-3">
                  <Cell>{w.more(row.count)}</Cell>
                </div>
              )
            const Chevron = row.open ? ChevronDown : ChevronRight
            const name =
              row.type === 'group' ? (
                <>
                  <span className="font-semibold">{w.groups[row.group]}</span>
                  <span className={cx('tabular-nums', tone(row.group, row.count))}>{formatNumber(row.count)}</span>
                  <span className="truncate text-text-3 max-sm:hidden">{row.count > 0 && w.groupHints[row.group]}</span>
                </>
              ) : (
                <>
                  <PathText path={row.folder} className="max-w-full text-text-2" />
                  <span className="shrink-0 text-text-3 tabular-nums">{formatNumber(row.items.length)}</span>
                </>
              )
            return (
              <div
                className={cx(
                  'flex h-full items-center gap-1.5 border-b border-line pr-3 text-dense',
                  row.type === 'group' ? 'pl-1.5' : 'pl-6',
                )}
              >
                <Cell className="flex shrink-0">
                  <button
                    type="button"
                    tabIndex={-1}
                    aria-label={row.open ? words.hide : words.show}
                    onClick={() => fold(index, !row.open)}
                    disabled={row.type === 'group' && row.count === 0}
                    className="inline-flex size-6 items-center justify-center rounded-chip text-text-2 hover:bg-hover disabled:text-line-strong disabled:hover:bg-transparent"
                  >
                    <Chevron size={14} strokeWidth={1.75} aria-hidden="true" />
                  </button>
                </Cell>
                {row.tick !== null && (
                  <Cell className="flex shrink-0">
                    <TriState
                      tick={row.tick}
                      label={row.type === 'group' ? w.tickGroup(w.groups[row.group]) : w.tickFolder(row.folder)}
                      onChange={(on) => onTick(row.items, on)}
                    />
                  </Cell>
                )}
                <Cell className="flex min-w-0 flex-1 items-baseline gap-2">{name}</Cell>
              </div>
            )
          }}
        />
      )}
    </div>
  )
}

const tone = (group: string, count: number) =>
  count === 0
    ? 'text-text-3'
    : group === 'cannot' || group === 'conflict'
      ? 'text-warn'
      : group === 'delete'
        ? 'text-danger'
        : 'text-text-2'

/** A box over many: all, some or none of them. */
function TriState({
  tick,
  label,
  onChange,
}: {
  readonly tick: Exclude<Tick, null>
  readonly label: string
  readonly onChange: (on: boolean) => void
}) {
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = tick === 'some'
  }, [tick])
  return (
    <span className="inline-flex size-6 items-center justify-center">
      <input
        ref={box}
        type="checkbox"
        tabIndex={-1}
        aria-label={label}
        checked={tick === 'all'}
        onChange={() => onChange(tick !== 'all')}
      />
    </span>
  )
}
