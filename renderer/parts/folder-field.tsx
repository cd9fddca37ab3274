import { keepPreviousData } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { FolderOpen } from 'lucide-react'
import { useId, useState } from 'react'
import { desktop } from '../desktop.ts'
import { usePaused } from '../shell/use-paused.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { Button } from './button.tsx'

interface FolderFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (path: string) => void
}

/** A path with completion; in the desktop window the platform's folder dialog as well. */
export function FolderField({ label, value, onChange }: FolderFieldProps) {
  const id = useId()
  const [open, setOpen] = useState(false)
  const [picked, setPicked] = useState('')
  const prefix = usePaused(value, 80)
  const { data } = useRead(
    'folders.complete',
    { prefix },
    { enabled: open && prefix !== '', placeholderData: keepPreviousData },
  )
  const folders = open && value !== '' ? (data?.folders.filter((folder) => folder !== value) ?? []) : []
  const bridge = desktop()
  return (
    <div className="min-w-0 flex-1 basis-64">
      <label htmlFor={id} className="mb-1 block text-meta text-text-2">
        {label}
      </label>
      <div className="flex gap-2">
        <Command
          vimBindings={false}
          shouldFilter={false}
          label={label}
          value={picked}
          onValueChange={setPicked}
          className="relative min-w-0 flex-1"
          onKeyDown={(event) => {
            const first = folders.find((folder) => folder === picked) ?? folders[0]
            if (event.key === 'Tab' && !event.shiftKey && first !== undefined) {
              event.preventDefault()
              onChange(`${first}/`)
            } else if (event.key === 'Escape' && open) {
              event.preventDefault()
              event.stopPropagation()
              setOpen(false)
            }
          }}
        >
          <Command.Input
            id={id}
            value={value}
            onValueChange={(next) => {
              onChange(next)
              setOpen(true)
            }}
            onFocus={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            spellCheck={false}
            autoComplete="off"
            placeholder="~/"
            className="h-8 w-full rounded-control border border-line-strong bg-raised px-2 font-mono text-dense outline-none focus:border-focus max-sm:h-11"
          />
          <Command.List
            hidden={folders.length === 0}
            onMouseDown={(event) => event.preventDefault()}
            className="layer absolute top-full left-0 z-40 mt-1 max-h-64 w-full overflow-y-auto rounded-control bg-raised p-1 shadow-layer"
          >
            {folders.slice(0, 100).map((folder) => (
              <Command.Item
                key={folder}
                value={folder}
                onSelect={() => onChange(`${folder}/`)}
                className="flex min-h-7 cursor-default items-center rounded-chip px-2 font-mono text-dense break-all select-none data-[selected=true]:bg-select-strong"
              >
                {folder}
              </Command.Item>
            ))}
          </Command.List>
        </Command>
        {bridge !== null && (
          <Button
            className="h-8"
            icon={<FolderOpen size={14} strokeWidth={1.75} aria-hidden="true" />}
            onClick={() => {
              void bridge.pickFolder(label).then((path) => path !== null && onChange(path))
            }}
          >
            {words.welcome.choose}
          </Button>
        )}
      </div>
    </div>
  )
}
