import { useCallback, useMemo, useState } from 'react'
import type { Manifest, ManifestSetting } from '../../contract/manifest.ts'
import { cx } from '../parts/classes.ts'
import { Empty } from '../parts/feedback.tsx'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { useRowHeight, useView } from '../shell/view-state.ts'
import { words } from '../words/en.ts'
import { ListFilter } from './list-filter.tsx'
import { SettingValue } from './setting-value.tsx'
import { whyEmpty } from './why-empty.ts'

const w = words.manifest
const grid = 'grid-cols-[minmax(0,1.2fr)_minmax(0,1.4fr)_6rem_minmax(0,1.4fr)_5rem]'

interface ValuesTabProps {
  readonly manifest: Manifest
  readonly onSelect: (name: string, setting: ManifestSetting) => void
}

/** Each effective setting, who won and how many lost. */
export function ValuesTab({ manifest, onSelect }: ValuesTabProps) {
  const [text, setText] = useState('')
  const [active, setActive] = useState<string | null>(null)
  const { ref, width } = useSize<HTMLDivElement>()
  const wide = width >= 720
  const base = useRowHeight()
  const entries = useMemo(() => {
    const wanted = text.trim().toLowerCase()
    return Object.entries(manifest.settings)
      .filter(
        ([name, setting]) =>
          wanted === '' ||
          `${name} ${setting.source} ${JSON.stringify(setting.value ?? '')}`.toLowerCase().includes(wanted),
      )
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }, [manifest, text])
  const keyOf = useCallback((index: number) => entries[index]?.[0] ?? `none:${index}`, [entries])
  const row = useCallback(
    (index: number): GridRow => {
      const entry = entries[index]
      if (entry === undefined) return { key: `none:${index}`, heading: true }
      return {
        key: entry[0],
        label: `${entry[0]}, ${JSON.stringify(entry[1].value ?? w.values.secret)}, ${w.values.winner} ${entry[1].source}`,
      }
    },
    [entries],
  )
  return (
    <div ref={ref} className="flex min-h-0 flex-1 flex-col">
      <ListFilter text={text} onText={setText} />
      {entries.length === 0 ? (
        <Empty title={text === '' ? w.noValues : w.noValue} hint={whyEmpty(manifest, 'settings')} />
      ) : (
        width > 0 && (
          <VirtualGrid
            label={w.values.label}
            count={entries.length}
            row={row}
            keyOf={keyOf}
            rowHeight={() => (wide ? base : 48)}
            active={active}
            onActive={(key, index) => {
              setActive(key)
              const entry = entries[index]
              if (entry !== undefined) onSelect(entry[0], entry[1])
            }}
            onOpen={() => useView.getState().toggleInspector(true)}
            onPeek={() => useView.getState().toggleInspector(true)}
            header={
              wide ? (
                <div
                  aria-hidden="true"
                  className={cx(
                    'grid h-6 shrink-0 items-center gap-x-3 border-b border-line px-3 text-meta text-text-3',
                    grid,
                  )}
                >
                  {[w.values.key, w.values.value, w.values.rule, w.values.winner, w.values.losers].map((column) => (
                    <span key={column}>{column}</span>
                  ))}
                </div>
              ) : null
            }
            render={(index) => {
              const entry = entries[index]
              if (entry === undefined) return null
              const [name, setting] = entry
              const rule = setting.rule === 'unknown' ? <Unknown>{w.rules.unknown}</Unknown> : w.rules[setting.rule]
              if (!wide)
                return (
                  <div className="flex h-full flex-col justify-center border-b border-line px-3 text-dense">
                    <Cell className="flex gap-3">
                      <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
                      <span className="min-w-0 truncate">
                        <SettingValue of={setting} />
                      </span>
                    </Cell>
                    <Cell className="flex gap-3 text-meta text-text-2">
                      <span>{rule}</span>
                      <PathText path={setting.source} />
                    </Cell>
                  </div>
                )
              return (
                <div className={cx('grid h-full items-center gap-x-3 px-3 text-dense', grid)}>
                  <Cell className="truncate font-medium">{name}</Cell>
                  <Cell className="truncate">
                    <SettingValue of={setting} />
                  </Cell>
                  <Cell className="truncate text-text-2">{rule}</Cell>
                  <Cell className="truncate">
                    <PathText path={setting.source} />
                  </Cell>
                  <Cell className="text-text-3 tabular-nums">
                    {setting.overridden.length > 0 ? setting.overridden.length : ''}
                  </Cell>
                </div>
              )
            }}
          />
        )
      )}
    </div>
  )
}
