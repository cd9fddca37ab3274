import { Check, ChevronDown } from 'lucide-react'
import { Select } from 'radix-ui'
import { useId } from 'react'
import { menuClass, menuItemClass } from '../parts/row-menu.tsx'
import { words } from '../words/en.ts'
import { type HomeRuntime, runtimeNamesOfHomes } from './watchable.ts'

interface AgentSelectProps {
  readonly label: string
  readonly value: HomeRuntime
  readonly onChange: (runtime: HomeRuntime) => void
}

export function AgentSelect({ label, value, onChange }: AgentSelectProps) {
  const id = useId()
  return (
    <div>
      <span id={id} className="mb-1 block text-meta text-text-2">
        {label}
      </span>
      <Select.Root
        value={value}
        onValueChange={(next) => onChange(runtimeNamesOfHomes.find((name) => name === next) ?? value)}
      >
        <Select.Trigger
          aria-labelledby={id}
          className="flex h-8 w-40 items-center justify-between gap-2 rounded-control border border-line-strong bg-raised px-2 text-ui max-sm:h-11"
        >
          <Select.Value />
          <Select.Icon>
            <ChevronDown size={14} strokeWidth={1.75} aria-hidden="true" />
          </Select.Icon>
        </Select.Trigger>
        <Select.Portal>
          <Select.Content position="popper" sideOffset={4} className={menuClass}>
            <Select.Viewport>
              {runtimeNamesOfHomes.map((name) => (
                <Select.Item key={name} value={name} className={menuItemClass}>
                  <span className="flex w-4 shrink-0">
                    <Select.ItemIndicator>
                      <Check size={14} strokeWidth={2} aria-hidden="true" />
                    </Select.ItemIndicator>
                  </span>
                  <Select.ItemText>{words.runtimes[name].name}</Select.ItemText>
                </Select.Item>
              ))}
            </Select.Viewport>
          </Select.Content>
        </Select.Portal>
      </Select.Root>
    </div>
  )
}
