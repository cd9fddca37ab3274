import { Check } from 'lucide-react'
import { Checkbox } from 'radix-ui'
import { useId } from 'react'
import { words } from '../words/en.ts'

interface ListFilterProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly neverUsed?: boolean
  readonly onNeverUsed?: (on: boolean) => void
}

/** Words, and only what was declared but never used (R93). */
export function ListFilter({ text, onText, neverUsed, onNeverUsed }: ListFilterProps) {
  const id = useId()
  return (
    <div data-region="filter" className="flex h-9 shrink-0 items-center gap-3 border-b border-line px-3 text-dense">
      <input
        data-filter
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || text === '') return
          event.preventDefault()
          onText('')
        }}
        aria-label={words.manifest.filter}
        placeholder={words.manifest.filter}
        spellCheck={false}
        className="h-7 w-64 min-w-0 shrink rounded-control border border-line-strong bg-raised px-2 outline-none focus:border-focus"
      />
      {onNeverUsed !== undefined && (
        <span className="flex items-center gap-1.5">
          <Checkbox.Root
            id={id}
            checked={neverUsed === true}
            onCheckedChange={(on) => onNeverUsed(on === true)}
            className="flex size-4 items-center justify-center rounded-chip border border-line-strong bg-raised data-[state=checked]:border-accent-fill data-[state=checked]:bg-accent-fill"
          >
            <Checkbox.Indicator>
              <Check size={12} strokeWidth={2.5} className="text-on-fill" aria-hidden="true" />
            </Checkbox.Indicator>
          </Checkbox.Root>
          <label htmlFor={id} className="whitespace-nowrap text-text-2">
            {words.manifest.neverUsed}
          </label>
        </span>
      )}
    </div>
  )
}
