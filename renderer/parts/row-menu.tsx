import { DropdownMenu } from 'radix-ui'
import { Button } from './button.tsx'

export interface MenuEntry {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly disabled?: string | null
  readonly run: () => void
}

export const menuClass =
  'layer z-50 min-w-44 max-w-96 rounded-control bg-raised p-1 text-ui text-text shadow-layer outline-none'
export const menuItemClass =
  'flex min-h-7 cursor-default items-center gap-2 rounded-chip px-2 py-1 outline-none select-none data-[highlighted]:bg-select-strong data-[disabled]:text-text-3 max-sm:min-h-11'

function Entries({ entries }: { readonly entries: readonly MenuEntry[] }) {
  return entries.map((entry) => (
    <DropdownMenu.Item key={entry.id} disabled={entry.disabled != null} onSelect={entry.run} className={menuItemClass}>
      <span className="min-w-0 flex-1">
        <span className="block truncate">{entry.label}</span>
        {entry.disabled != null && <span className="block text-meta">{entry.disabled}</span>}
      </span>
      {entry.hint !== undefined && <kbd className="font-mono text-meta text-text-3">{entry.hint}</kbd>}
    </DropdownMenu.Item>
  ))
}

interface RowMenuProps {
  readonly at: { readonly x: number; readonly y: number } | null
  readonly entries: readonly MenuEntry[]
  readonly onClose: () => void
}

/** The menu of a row, opened where the pointer or the row is. */
export function RowMenu({ at, entries, onClose }: RowMenuProps) {
  if (at === null) return null
  return (
    <DropdownMenu.Root open onOpenChange={(open) => !open && onClose()} modal={false}>
      <DropdownMenu.Trigger asChild>
        <span aria-hidden="true" style={{ position: 'fixed', left: at.x, top: at.y, width: 0, height: 0 }} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={menuClass} align="start" sideOffset={2} collisionPadding={8}>
          <Entries entries={entries} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** A button that opens a menu: what has no room beside it. */
export function MoreMenu({ label, entries }: { readonly label: string; readonly entries: readonly MenuEntry[] }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <Button small aria-label={label} title={label}>
          ⋯
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={menuClass} align="end" sideOffset={2} collisionPadding={8}>
          <Entries entries={entries} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
