import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useLayoutEffect, useRef } from 'react'

export interface TabEntry {
  readonly id: string
  readonly label: string
  readonly count?: number | null
  readonly warn?: boolean
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly TabEntry[]
  readonly value: string
  readonly onChange: (id: string) => void
  readonly children: ReactNode
  readonly small?: boolean
}

/** Tabs whose current one stands in the address; each panel fills what is left of the pane. */
export function Tabs({ label, tabs, value, onChange, children, small = false }: TabsProps) {
  // A press of the mouse first moves the focus, which chooses the tab, and then chooses it once more before anything is drawn
  // again (Radix Tabs 1.1): without this each click would leave two entries in the history.
  const asked = useRef(value)
  useLayoutEffect(() => {
    asked.current = value
  })
  const choose = (id: string) => {
    if (asked.current === id) return
    asked.current = id
    onChange(id)
  }
  return (
    <Radix.Root value={value} onValueChange={choose} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <Radix.List
        aria-label={label}
        className={`flex shrink-0 gap-1 overflow-x-auto border-b border-line px-2 ${small ? 'h-8' : 'h-9'}`}
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            className="relative flex shrink-0 items-center gap-1.5 rounded-chip px-2 text-ui text-text-2 outline-offset-[-2px] hover:text-text data-[state=active]:font-medium data-[state=active]:text-text data-[state=active]:after:absolute data-[state=active]:after:inset-x-1 data-[state=active]:after:bottom-0 data-[state=active]:after:h-0.5 data-[state=active]:after:bg-accent"
          >
            {tab.label}
            {tab.count != null && (
              <span className={`text-meta tabular-nums ${tab.warn === true ? 'text-warn' : 'text-text-3'}`}>
                {tab.count.toLocaleString()}
              </span>
            )}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  )
}

export function TabPanel({
  id,
  children,
  className = '',
}: {
  readonly id: string
  readonly children: ReactNode
  readonly className?: string
}) {
  return (
    <Radix.Content
      value={id}
      tabIndex={-1}
      className={`flex min-h-0 min-w-0 flex-1 flex-col outline-none ${className}`}
    >
      {children}
    </Radix.Content>
  )
}
