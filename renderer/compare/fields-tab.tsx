import { useCallback, useMemo, useState } from 'react'
import type { Comparison } from '../../contract/compare.ts'
import { cx } from '../parts/classes.ts'
import { Empty } from '../parts/feedback.tsx'
import { inside } from '../parts/paths.ts'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { useRowHeight } from '../shell/view-state.ts'
import { words } from '../words/en.ts'
import { ValueText } from './value-text.tsx'

const w = words.compare
const grid = 'grid-cols-[minmax(0,2fr)_minmax(0,1.5fr)_minmax(0,1.5fr)]'

/** Every field of the manifests that differs. */
export function FieldsTab({ comparison: { fields, b } }: { readonly comparison: Comparison }) {
  const [text, setText] = useState('')
  const [active, setActive] = useState<string | null>(null)
  const { ref, width } = useSize<HTMLDivElement>()
  const base = useRowHeight()
  const wide = width >= 700
  const rows = useMemo(() => {
    const wanted = text.trim().toLowerCase()
    return fields.filter(
      ({ path, before, after }) =>
        wanted === '' || `${path} ${JSON.stringify(before)} ${JSON.stringify(after)}`.toLowerCase().includes(wanted),
    )
  }, [fields, text])
  const keyOf = useCallback((index: number) => rows[index]?.path ?? `none:${index}`, [rows])
  const row = useCallback(
    (index: number): GridRow => {
      const field = rows[index]
      if (field === undefined) return { key: `none:${index}`, heading: true }
      return {
        key: field.path,
        label: w.fieldSentence(field.path, JSON.stringify(field.before), JSON.stringify(field.after)),
      }
    },
    [rows],
  )
  return (
    <div ref={ref} className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-9 shrink-0 items-center gap-2 border-b border-line px-3">
        <input
          data-filter=""
          type="search"
          value={text}
          aria-label={w.filterFields}
          placeholder={w.filterFields}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || text === '') return
            event.preventDefault()
            setText('')
          }}
          className="h-7 w-72 max-w-full rounded-control border border-line-strong bg-raised px-2 text-dense"
        />
        <span className="text-meta text-text-3 tabular-nums">{w.fieldCount(rows.length)}</span>
      </div>
      {rows.length === 0 ? (
        <Empty title={text === '' ? w.noFields : w.noField} />
      ) : (
        width > 0 && (
          <VirtualGrid
            label={w.tabs.fields}
            count={rows.length}
            row={row}
            keyOf={keyOf}
            rowHeight={() => (wide ? base : 64)}
            active={active}
            onActive={setActive}
            onOpen={() => undefined}
            onPeek={() => undefined}
            header={
              wide ? (
                <div
                  aria-hidden="true"
                  className={cx(
                    'grid h-6 shrink-0 items-center gap-x-3 border-b border-line px-3 text-meta text-text-3',
                    grid,
                  )}
                >
                  <span>{w.field}</span>
                  <span>A</span>
                  <span>B</span>
                </div>
              ) : null
            }
            render={(index) => {
              const field = rows[index]
              if (field === undefined) return null
              const values = (
                <>
                  <Cell className="truncate">
                    <ValueText value={field.unknown_on === 'a' ? 'unknown' : field.before} />
                  </Cell>
                  <Cell className="truncate">
                    <ValueText value={field.unknown_on === 'b' ? 'unknown' : field.after} />
                  </Cell>
                </>
              )
              return (
                <div
                  className={cx(
                    'h-full px-3 text-dense',
                    wide ? cx('grid items-center gap-x-3', grid) : 'flex flex-col justify-center border-b border-line',
                  )}
                >
                  <Cell className="truncate font-mono text-[0.75rem]">
                    <span title={field.path}>{inside(field.path, b.workspace)}</span>
                  </Cell>
                  {values}
                </div>
              )
            }}
          />
        )
      )}
    </div>
  )
}
