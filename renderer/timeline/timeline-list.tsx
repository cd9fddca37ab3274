import { EyeOff, FileWarning } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { Drift } from '../../contract/drift.ts'
import type { TimelineItem } from '../../contract/timeline.ts'
import { cx } from '../parts/classes.ts'
import { copyText } from '../parts/copy.ts'
import { ExportDialog } from '../parts/export-dialog.tsx'
import { dayKey, formatClock, formatDay, formatDuration, shortId } from '../parts/format.ts'
import { placeOf } from '../parts/grid-memory.ts'
import { type MenuEntry, RowMenu } from '../parts/row-menu.tsx'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { receiptPath, rollbackPath, undoPath } from '../rollback/address.ts'
import { driftDoor } from '../rollback/doors.ts'
import { canUndo } from '../rollback/record-text.ts'
import { useReference } from '../shell/acts.ts'
import { comparePath, manifestPath, runPath, useAddress } from '../shell/address.ts'
import { putIntoSlot, whyPath } from '../shell/comparing.ts'
import { useRowHeight, useView } from '../shell/view-state.ts'
import { words } from '../words/en.ts'
import { DriftRow, driftSentence } from './drift-row.tsx'
import { setToken } from './filter.ts'
import { Gutter, gutterWidth } from './gutter.tsx'
import { type Lane, layLanes } from './lanes.ts'
import { usePeek } from './peek-store.ts'
import { RollbackRow, rollbackSentence } from './rollback-row.tsx'
import { type TimelineRow, toRows } from './rows.ts'
import { type RowShape, RunRow, rowColumns, runSentence } from './run-row.tsx'
import { useChildren } from './use-timeline.ts'

const w = words.timeline
const noLane: Lane = { column: 0, through: [], joins: [], begins: false }

interface TimelineListProps {
  readonly items: readonly TimelineItem[]
  readonly complete: boolean
  readonly total: number
  readonly memory: string
  /** The change of configuration the address names; its row is where the list begins. */
  readonly change: string | null
  readonly onNearEnd: () => void
  readonly onTop: (top: boolean) => void
  readonly onFocus: (focused: boolean) => void
  readonly query: string
  readonly setQuery: (query: string) => void
}

export function TimelineList(props: TimelineListProps) {
  const { items, complete, memory, onNearEnd, query, setQuery } = props
  const { navigate } = useAddress()
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [active, setActive] = useState<string | null>(() =>
    props.change === null ? (placeOf(memory)?.key ?? null) : `configuration:${props.change}`,
  )
  const [menu, setMenu] = useState<{
    readonly at: { readonly x: number; readonly y: number }
    readonly entries: readonly MenuEntry[]
  } | null>(null)
  const { ref, width } = useSize<HTMLDivElement>()
  const listHeight = useRowHeight()
  const childrenOf = useChildren(open)
  const rows = useMemo(() => toRows(items, { open, childrenOf }, complete), [items, open, childrenOf, complete])
  const { lanes, columns } = useMemo(
    () =>
      layLanes(
        rows.map((row) =>
          row.type === 'run' && row.level === 1
            ? { run: row.run.id, forkOf: row.run.relation === 'fork' ? row.run.parent : null }
            : { run: null, forkOf: null },
        ),
      ),
    [rows],
  )
  const sticky = useMemo(() => rows.flatMap((row, index) => (row.type === 'day' ? [index] : [])), [rows])
  const shape: RowShape = width >= 760 ? 'wide' : width >= 480 ? 'two' : 'card'
  const rowHeight = shape === 'wide' ? listHeight : 48
  const heightOf = useCallback((index: number) => (rows[index]?.type === 'day' ? 28 : rowHeight), [rows, rowHeight])
  const now = useMemo(() => new Date(), [])
  const keyOf = useCallback((index: number) => rows[index]?.key ?? `none:${index}`, [rows])
  const rowAt = useCallback(
    (index: number): GridRow => {
      const row = rows[index]
      if (row === undefined) return { key: `none:${index}`, heading: true }
      if (row.type === 'day' || row.type === 'waiting')
        return { key: row.key, heading: true, level: row.type === 'day' ? 1 : 2 }
      if (row.type === 'configuration') return { key: row.key, level: 1, label: driftSentence(row.item.drift) }
      if (row.type === 'rollback') return { key: row.key, level: 1, label: rollbackSentence(row.item.rollback) }
      if (row.type !== 'run') return { key: row.key, level: 1 }
      const { run, key, level } = row
      const label = runSentence(run, run.started_at === null ? '' : formatDay(dayKey(run.started_at), now))
      return row.children.length > 0 ? { key, label, level, expanded: row.open } : { key, label, level }
    },
    [rows, now],
  )
  const activeRow = useMemo(() => rows.find((row) => row.key === active), [rows, active])
  useReference(
    activeRow?.type === 'run'
      ? activeRow.run.id
      : activeRow?.type === 'configuration'
        ? activeRow.item.drift.after
        : activeRow?.type === 'rollback'
          ? activeRow.item.id
          : null,
  )
  // The inspector shows the row one stands on, as its run goes on.
  useEffect(() => usePeek.setState({ row: activeRow ?? null }), [activeRow])
  useEffect(() => () => usePeek.setState({ row: null }), [])

  const toggle = (run: string, isOpen: boolean) =>
    setOpen((before) => {
      const next = new Set(before)
      if (isOpen) next.add(run)
      else next.delete(run)
      return next
    })
  const openRow = (index: number) => {
    const row = rows[index]
    if (row?.type === 'run') navigate(runPath(row.run.id))
    else if (row?.type === 'source') navigate(runPath(row.item.run))
    else if (row?.type === 'configuration') {
      const { before, after } = row.item.drift
      navigate(before === null ? manifestPath(after) : comparePath(before, after))
    } else if (row?.type === 'rollback') navigate(receiptPath(row.item.id))
    else if (row?.type === 'gap') navigate('/health/gaps')
  }
  const [exporting, setExporting] = useState<{ readonly run: string; readonly title: string } | null>(null)
  const goBefore = (drift: Drift) => {
    const door = driftDoor(drift)
    if (door !== null) navigate(rollbackPath(door))
  }
  const entriesOf = (row: TimelineRow): readonly MenuEntry[] => {
    if (row.type === 'configuration') {
      const { before, after, id } = row.item.drift
      return [
        {
          id: 'compare',
          label: words.drift.compare,
          hint: 'Enter',
          disabled: before === null ? words.drift.none : null,
          run: () => before !== null && navigate(comparePath(before, after)),
        },
        { id: 'manifest', label: w.openManifest, run: () => navigate(manifestPath(after)) },
        {
          id: 'back',
          label: words.rollback.beforeThis,
          hint: 'b',
          disabled: driftDoor(row.item.drift) === null ? words.rollback.noBefore : null,
          run: () => goBefore(row.item.drift),
        },
        { id: 'copy', label: words.copyReference, hint: 'y', run: () => void copyText(id, id) },
      ]
    }
    if (row.type === 'rollback') {
      const { rollback } = row.item
      return [
        {
          id: 'open',
          label: words.receipt.openReceipt,
          hint: 'Enter',
          run: () => navigate(receiptPath(rollback.id)),
        },
        {
          id: 'undo',
          label: words.receipt.undo,
          hint: 'b',
          disabled: canUndo(rollback)
            ? null
            : rollback.undone_by === null
              ? words.receipt.undoWhy.other
              : words.receipt.undoWhy.undone,
          run: () => navigate(undoPath(rollback.id)),
        },
        {
          id: 'copy',
          label: words.copyReference,
          hint: 'y',
          run: () => void copyText(rollback.id, rollback.id),
        },
      ]
    }
    if (row.type !== 'run')
      return row.type === 'source'
        ? [{ id: 'open', label: w.openRun, hint: 'Enter', run: () => navigate(runPath(row.item.run)) }]
        : []
    const { run } = row
    const { manifest, workspace } = run
    return [
      { id: 'open', label: w.openRun, hint: 'Enter', run: () => navigate(runPath(run.id)) },
      {
        id: 'why',
        label: words.compare.whyLong,
        hint: 'w',
        disabled: manifest === null ? words.peek.notCaptured : null,
        run: () => navigate(whyPath(run.id)),
      },
      { id: 'slot', label: words.compare.add, hint: 'c', run: () => putIntoSlot(run.id) },
      {
        id: 'back',
        label: words.rollback.open,
        hint: 'b',
        run: () => navigate(rollbackPath({ target: run.id })),
      },
      {
        id: 'manifest',
        label: w.openManifest,
        disabled: manifest === null ? words.peek.notCaptured : null,
        run: () => manifest !== null && navigate(manifestPath(manifest)),
      },
      {
        id: 'workspace',
        label: w.onlyWorkspace,
        disabled: workspace === null ? w.noWorkspace : null,
        run: () => workspace !== null && setQuery(setToken(query, 'workspace', workspace)),
      },
      {
        id: 'task',
        label: w.onlyTask,
        disabled: run.task === null ? w.noTask : null,
        run: () => run.task !== null && setQuery(setToken(query, 'task', run.task)),
      },
      { id: 'agent', label: w.onlyAgent, run: () => setQuery(setToken(query, 'agent', run.runtime)) },
      { id: 'copy', label: words.copyReference, hint: 'y', run: () => void copyText(run.id, run.id) },
      { id: 'export', label: words.export.act, run: () => setExporting({ run: run.id, title: run.title }) },
      {
        id: 'command',
        label: words.copyCommand,
        run: () => void copyText(`reprise show ${run.id}`, `reprise show ${shortId(run.id)}`),
      },
    ]
  }
  const nearEnd = useRef(onNearEnd)
  nearEnd.current = onNearEnd
  const count = rows.length
  const onVisible = useCallback(
    (_first: number, last: number) => void (last > count - 60 && nearEnd.current()),
    [count],
  )
  const timeOf = (row: TimelineRow) => (row.type === 'source' || row.type === 'gap' ? formatClock(row.item.at) : '')

  return (
    <div ref={ref} className="@container flex min-h-0 flex-1 flex-col">
      {width > 0 && (
        <VirtualGrid
          label={w.label}
          tree
          count={rows.length}
          total={complete ? rows.length : props.total}
          row={rowAt}
          keyOf={keyOf}
          rowHeight={heightOf}
          active={active}
          onActive={setActive}
          onOpen={openRow}
          onPeek={() => useView.getState().toggleInspector(true)}
          onToggle={(index, isOpen) => {
            const row = rows[index]
            if (row?.type === 'run') toggle(row.run.id, isOpen)
          }}
          onMenu={(index, at) => {
            const row = rows[index]
            if (row !== undefined) setMenu({ at, entries: entriesOf(row) })
          }}
          onKey={(event, index) => {
            if (event.key !== 'b' || !useView.getState().singleKeys) return false
            const row = rows[index]
            if (row?.type === 'configuration') goBefore(row.item.drift)
            else if (row?.type === 'rollback' && canUndo(row.item.rollback)) navigate(undoPath(row.item.id))
            else return false
            return true
          }}
          onVisible={onVisible}
          onTop={props.onTop}
          onFocusChange={props.onFocus}
          memory={memory}
          sticky={sticky}
          header={
            shape === 'wide' ? (
              <div
                aria-hidden="true"
                className="flex h-6 shrink-0 items-center border-b border-line bg-surface pr-3 text-meta text-text-3"
              >
                <span style={{ width: gutterWidth(columns) }} />
                <span className={cx('grid flex-1 gap-x-2.5', rowColumns)}>
                  {Object.entries(w.columns).map(([name, column]) => (
                    <span
                      key={name}
                      className={
                        name === 'calls' || name === 'tokens'
                          ? 'text-right'
                          : name === 'id'
                            ? 'hidden @min-[1160px]:block'
                            : ''
                      }
                    >
                      {column}
                    </span>
                  ))}
                </span>
              </div>
            ) : null
          }
          render={(index) => {
            const row = rows[index]
            if (row === undefined) return null
            const lane = lanes[index] ?? noLane
            if (row.type === 'day')
              return (
                <div className="flex h-full items-center gap-2 border-b border-line bg-canvas text-dense">
                  <Cell className="flex items-center gap-2 px-3">
                    <span className="font-semibold">{formatDay(row.day, now)}</span>
                    <span className="text-text-3">
                      {[
                        row.runs > 0 ? w.dayRuns(row.runs, row.whole) : '',
                        row.changes > 0 ? words.drift.dayChanges(row.changes) : '',
                        row.rollbacks > 0 ? words.receipt.dayRollbacks(row.rollbacks) : '',
                        row.others > 0 ? w.dayOthers(row.others) : '',
                      ]
                        .filter((part) => part !== '')
                        .join(' · ')}
                    </span>
                  </Cell>
                </div>
              )
            if (row.type === 'waiting')
              return (
                <div
                  className="flex h-full items-center text-dense text-text-3"
                  style={{ paddingLeft: gutterWidth(columns) + 96 }}
                >
                  <Cell>{w.childrenLoading}</Cell>
                </div>
              )
            if (row.type === 'run')
              return (
                <div className={cx('flex h-full items-center', shape !== 'wide' && 'border-b border-line')}>
                  <Gutter
                    lane={lane}
                    columns={columns}
                    height={rowHeight}
                    mark={
                      row.level === 2
                        ? 'none'
                        : row.run.status === 'failed'
                          ? 'failed'
                          : row.run.status === 'running'
                            ? 'running'
                            : 'run'
                    }
                  />
                  <RunRow
                    run={row.run}
                    shape={shape}
                    level={row.level}
                    subagents={row.children.length}
                    open={row.open}
                    onToggle={() => toggle(row.run.id, !row.open)}
                  />
                </div>
              )
            if (row.type === 'configuration')
              return (
                <div className={cx('flex h-full items-center', shape !== 'wide' && 'border-b border-line')}>
                  <Gutter lane={lane} columns={columns} height={rowHeight} mark="none" />
                  <DriftRow drift={row.item.drift} wide={shape === 'wide'} />
                </div>
              )
            if (row.type === 'rollback')
              return (
                <div className={cx('flex h-full items-center', shape !== 'wide' && 'border-b border-line')}>
                  <Gutter lane={lane} columns={columns} height={rowHeight} mark="none" />
                  <RollbackRow record={row.item.rollback} wide={shape === 'wide'} />
                </div>
              )
            const gap = row.type === 'gap'
            const Icon = gap ? EyeOff : FileWarning
            return (
              <div
                className={cx(
                  'flex h-full items-center text-dense text-text-2',
                  gap && 'hatched',
                  shape !== 'wide' && 'border-b border-line',
                )}
              >
                <Gutter lane={lane} columns={columns} height={rowHeight} mark="none" />
                <div className="flex min-w-0 flex-1 items-center gap-3 pr-3">
                  <Cell className="w-11 shrink-0 text-text-3 tabular-nums">{timeOf(row)}</Cell>
                  <Cell className="flex w-7 shrink-0 justify-center">
                    <Icon size={14} strokeWidth={1.75} className="text-warn" aria-hidden="true" />
                  </Cell>
                  <Cell className="flex-1 truncate">
                    <span className="font-medium text-warn">{gap ? w.gap : w[row.item.change]}</span>{' '}
                    <span>{row.item.message}</span>
                    {row.type === 'gap' && row.item.until !== null && (
                      <span className="text-text-3">
                        {' '}
                        {formatDuration(Math.max(0, Date.parse(row.item.until) - Date.parse(row.item.at)))}
                      </span>
                    )}
                  </Cell>
                  {row.type === 'source' && (
                    <Cell className="shrink-0 font-mono text-[0.75rem]">
                      <Link href={runPath(row.item.run)} className="rounded-chip text-accent hover:underline">
                        {shortId(row.item.run)}
                      </Link>
                    </Cell>
                  )}
                </div>
              </div>
            )
          }}
        />
      )}
      <RowMenu at={menu?.at ?? null} entries={menu?.entries ?? []} onClose={() => setMenu(null)} />
      {exporting !== null && (
        <ExportDialog subject={{ kind: 'run', ...exporting }} onClose={() => setExporting(null)} />
      )}
    </div>
  )
}
