import { Check, ChevronDown } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import type { TimelinePage } from '../../contract/timeline.ts'
import { cx } from '../parts/classes.ts'
import { formatNumber } from '../parts/format.ts'
import { menuClass, menuItemClass } from '../parts/row-menu.tsx'
import { words } from '../words/en.ts'
import { type FilterKey, setToken, toggleToken, valuesOf } from './filter.ts'

const w = words.timeline

interface Choice {
  readonly value: string
  readonly label: string
  readonly count?: number
}

function Facet({
  label,
  current,
  children,
}: {
  readonly label: string
  readonly current: number
  readonly children: ReactNode
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        className={cx(
          'inline-flex h-7 shrink-0 items-center gap-1 rounded-control border px-2 text-ui whitespace-nowrap hover:bg-hover max-sm:h-11',
          current > 0 ? 'border-accent bg-select text-text' : 'border-transparent text-text-2',
        )}
      >
        {label}
        {current > 0 && <span className="text-meta text-accent tabular-nums">{current}</span>}
        <ChevronDown size={14} strokeWidth={1.75} aria-hidden="true" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className={cx(menuClass, 'max-h-96 overflow-y-auto')}
          align="start"
          sideOffset={4}
          collisionPadding={8}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

interface FacetsProps {
  readonly query: string
  readonly onChange: (query: string) => void
  readonly facets: TimelinePage['facets'] | undefined
  /** A zoom of the heat strip is in force. */
  readonly zoomed: boolean
  readonly onAllTime: () => void
}

/** Menus write tokens into the filter; the filter stays the one truth. */
export function Facets({ query, onChange, facets, zoomed, onAllTime }: FacetsProps) {
  const many = (key: FilterKey, label: string, choices: readonly Choice[]) => {
    const current = valuesOf(query, key)
    if (choices.length === 0) return null
    return (
      <Facet label={label} current={current.length}>
        {choices.map((choice) => (
          <DropdownMenu.CheckboxItem
            key={choice.value}
            checked={current.includes(choice.value)}
            onCheckedChange={() => onChange(toggleToken(query, key, choice.value))}
            onSelect={(event) => event.preventDefault()}
            className={menuItemClass}
          >
            <span className="flex w-4 shrink-0 justify-center">
              <DropdownMenu.ItemIndicator>
                <Check size={14} strokeWidth={2} aria-hidden="true" />
              </DropdownMenu.ItemIndicator>
            </span>
            <span className="min-w-0 flex-1 truncate">{choice.label}</span>
            {choice.count !== undefined && (
              <span className="text-meta text-text-3 tabular-nums">{formatNumber(choice.count)}</span>
            )}
          </DropdownMenu.CheckboxItem>
        ))}
      </Facet>
    )
  }
  const since = valuesOf(query, 'since')[0]
  const ranges = ['all', '1d', '2d', '7d', '30d'] as const
  const range = zoomed
    ? 'custom'
    : since === undefined && valuesOf(query, 'until').length === 0
      ? 'all'
      : (ranges.find((entry) => entry === since) ?? 'custom')
  const runtimeLabel = (value: string) =>
    Object.entries(words.runtimes).find(([name]) => name === value)?.[1].name ?? value
  const statusLabel = (value: string) => Object.entries(words.runStatus).find(([name]) => name === value)?.[1] ?? value
  return (
    <div className="flex shrink-0 items-center gap-0.5 max-sm:overflow-x-auto">
      {many('agent', w.agent, facets?.runtimes.map((entry) => ({ ...entry, label: runtimeLabel(entry.value) })) ?? [])}
      {many('workspace', w.workspace, facets?.workspaces.map((entry) => ({ ...entry, label: entry.value })) ?? [])}
      {many('status', w.status, facets?.statuses.map((entry) => ({ ...entry, label: statusLabel(entry.value) })) ?? [])}
      {many(
        'kind',
        w.kind,
        Object.entries(w.kinds).map(([value, label]) => ({ value, label })),
      )}
      {many(
        'has',
        w.has,
        Object.entries(w.hasWords).map(([value, label]) => ({ value, label })),
      )}
      <Facet label={w.range[range]} current={0}>
        <DropdownMenu.RadioGroup
          value={range}
          onValueChange={(value) => {
            onAllTime()
            onChange(setToken(setToken(query, 'until', null), 'since', value === 'all' ? null : value))
          }}
        >
          {ranges.map((entry) => (
            <DropdownMenu.RadioItem key={entry} value={entry} className={menuItemClass}>
              <span className="flex w-4 shrink-0 justify-center">
                <DropdownMenu.ItemIndicator>
                  <Check size={14} strokeWidth={2} aria-hidden="true" />
                </DropdownMenu.ItemIndicator>
              </span>
              {w.range[entry]}
            </DropdownMenu.RadioItem>
          ))}
        </DropdownMenu.RadioGroup>
      </Facet>
    </div>
  )
}
