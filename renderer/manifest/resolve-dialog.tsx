import { Dialog } from 'radix-ui'
import { useId, useState } from 'react'
import { AgentSelect } from '../homes/agent-select.tsx'
import { runtimeNamesOfHomes } from '../homes/watchable.ts'
import { Button } from '../parts/button.tsx'
import { CommandHint, shellWord } from '../parts/command-hint.tsx'
import { FolderField } from '../parts/folder-field.tsx'
import { manifestPath, useAddress } from '../shell/address.ts'
import { useChange } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'

const w = words.manifest

interface ResolveDialogProps {
  readonly initial: { readonly runtime: string; readonly workspace: string; readonly flags: readonly string[] }
  readonly onClose: () => void
}

/** Splits flags as typed; quotes hold words together. */
export const splitFlags = (text: string) =>
  [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')

/** Resolves what an agent would read if it started here now. Harmless: nothing is started, no file is changed. */
export function ResolveDialog({ initial, onClose }: ResolveDialogProps) {
  const { navigate } = useAddress()
  const [runtime, setRuntime] = useState(runtimeNamesOfHomes.find((name) => name === initial.runtime) ?? 'claude-code')
  const [workspace, setWorkspace] = useState(initial.workspace)
  const [home, setHome] = useState('')
  const [flags, setFlags] = useState(initial.flags.join(' '))
  const flagsId = useId()
  const resolve = useChange('manifest.resolve')
  const trim = (path: string) => (path.length > 1 ? path.replace(/\/$/, '') : path)
  const list = splitFlags(flags)
  const folder = trim(workspace)
  const body = resolve.error === null ? null : asErrorBody(resolve.error)
  const command = `reprise manifest --runtime ${runtime} --workspace ${shellWord(folder)}${home === '' ? '' : ` --home ${shellWord(trim(home))}`}${list.map((flag) => ` --flag ${shellWord(flag)}`).join('')}`
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content className="layer fixed top-[12vh] left-1/2 z-50 w-[min(38rem,calc(100vw-2rem))] -translate-x-1/2 rounded-card bg-raised p-4 shadow-layer">
          <Dialog.Title className="text-read font-semibold">{w.resolveTitle}</Dialog.Title>
          <Dialog.Description className="mt-1 text-dense text-text-2">{w.resolveHint}</Dialog.Description>
          <form
            className="mt-3 space-y-3"
            onSubmit={(event) => {
              event.preventDefault()
              resolve.mutate(
                {
                  runtime,
                  workspace: folder,
                  ...(home === '' ? {} : { home: trim(home) }),
                  ...(list.length === 0 ? {} : { flags: list }),
                },
                {
                  onSuccess: ({ manifest }) => {
                    onClose()
                    navigate(manifestPath(manifest.integrity.manifest_digest))
                  },
                },
              )
            }}
          >
            <AgentSelect label={words.welcome.agent} value={runtime} onChange={setRuntime} />
            <FolderField label={words.timeline.workspace} value={workspace} onChange={setWorkspace} />
            <FolderField label={w.homeField} value={home} onChange={setHome} />
            <div>
              <label htmlFor={flagsId} className="mb-1 block text-meta text-text-2">
                {w.flags}
              </label>
              <input
                id={flagsId}
                value={flags}
                onChange={(event) => setFlags(event.target.value)}
                placeholder={w.flagsHint}
                spellCheck={false}
                className="h-8 w-full rounded-control border border-line-strong bg-raised px-2 font-mono text-dense outline-none focus:border-focus"
              />
            </div>
            {body !== null && (
              <p role="alert" className="text-dense text-danger">
                {body.message} {body.hint}
              </p>
            )}
            <div className="flex items-center justify-end gap-2">
              <span className="mr-auto">{folder !== '' && <CommandHint command={command} />}</span>
              <Button onClick={onClose}>{words.cancel}</Button>
              <Button type="submit" look="primary" disabled={folder === '' || resolve.isPending}>
                {resolve.isPending ? w.resolving : w.resolve}
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
