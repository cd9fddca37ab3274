import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { CommandHint, shellWord } from '../parts/command-hint.tsx'
import { FolderField } from '../parts/folder-field.tsx'
import { useChange } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { AgentSelect } from './agent-select.tsx'
import type { HomeRuntime } from './watchable.ts'

/** Adds a home by hand. */
export function WatchForm({ primary = false }: { readonly primary?: boolean }) {
  const [runtime, setRuntime] = useState<HomeRuntime>('claude-code')
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
