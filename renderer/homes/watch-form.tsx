import { Check, ChevronDown } from 'lucide-react'
import { Select } from 'radix-ui'
import { useId, useState } from 'react'
import type { RuntimeName } from '../../contract/run.ts'
import { Button } from '../parts/button.tsx'
import { CommandHint, shellWord } from '../parts/command-hint.tsx'
import { FolderField } from '../parts/folder-field.tsx'
import { menuClass, menuItemClass } from '../parts/row-menu.tsx'
import { useChange } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'

/** Agents whose homes can be watched; the other two names are of runs Reprise starts itself. */
const watchable: readonly RuntimeName[] = ['claude-code', 'codex', 'openclaw', 'hermes']

interface AgentSelectProps {
  readonly label: string
  readonly value: RuntimeName
  readonly onChange: (runtime: RuntimeName) => void
}

export function AgentSelect({ label, value, onChange }: AgentSelectProps) {
  const id = useId()
  return (
    <div>
      <span id={id} className="mb-1 block text-meta text-text-2">
        {label}
      </span>
      <Select.Root value={value} onValueChange={(next) => onChange(watchable.find((name) => name === next) ?? value)}>
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
              {watchable.map((name) => (
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

/** Adds a home by hand. */
export function WatchForm({ primary = false }: { readonly primary?: boolean }) {
  const [runtime, setRuntime] = useState<RuntimeName>('claude-code')
  const [path, setPath] = useState('')
  const watch = useChange('homes.watch')
  const folder = path.length > 1 ? path.replace(/\/$/, '') : path
  const body = watch.error === null ? null : asErrorBody(watch.error)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (folder !== '') watch.mutate({ runtime, path: folder }, { onSuccess: () => setPath('') })
      }}
    >
      <div className="flex flex-wrap items-end gap-2">
        <AgentSelect label={words.welcome.agent} value={runtime} onChange={setRuntime} />
        <FolderField label={words.welcome.folder} value={path} onChange={setPath} />
        <Button
          type="submit"
          look={primary ? 'primary' : 'plain'}
          className="h-8"
          disabled={folder === '' || watch.isPending}
        >
          {words.welcome.add}
        </Button>
      </div>
      <div className="mt-1 flex min-h-6 flex-wrap items-center gap-2">
        {body === null ? (
          <span className="text-meta text-text-3">{words.welcome.folderHint}</span>
        ) : (
          <span role="alert" className="text-dense text-danger">
            {body.message} {body.hint}
          </span>
        )}
        {folder !== '' && <CommandHint command={`reprise watch-home ${shellWord(folder)} --runtime ${runtime}`} />}
      </div>
    </form>
  )
}
