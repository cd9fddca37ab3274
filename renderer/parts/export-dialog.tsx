import { Dialog, RadioGroup } from 'radix-ui'
import { useId, useState } from 'react'
import type { ExportFormat } from '../../contract/export.ts'
import { useChange } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { Button } from './button.tsx'
import { CommandHint, shellWord } from './command-hint.tsx'
import { FolderField } from './folder-field.tsx'
import { formatBytes } from './format.ts'

const w = words.export

/** What is written into a file: a run, or the evidence of a comparison. */
export type ExportSubject =
  | { readonly kind: 'run'; readonly run: string; readonly title: string }
  | { readonly kind: 'incident'; readonly a: string; readonly b: string }

const endings: Record<ExportFormat, string> = {
  bundle: '.tar.gz',
  md: '.md',
  html: '.html',
  json: '.json',
  jsonl: '.jsonl',
}
const formats = ['bundle', 'md', 'html', 'json', 'jsonl'] as const satisfies readonly ExportFormat[]

/** Writes a file on the side of the daemon. A file that is there is replaced only after it was said that it is. */
export function ExportDialog({ subject, onClose }: { readonly subject: ExportSubject; readonly onClose: () => void }) {
  const ids = useId()
  const [format, setFormat] = useState<ExportFormat>('bundle')
  const [folder, setFolder] = useState('~/')
  const [name, setName] = useState(subject.kind === 'run' ? subject.run : 'incident')
  const run = useChange('export.run')
  const incident = useChange('export.incident')
  const call = subject.kind === 'run' ? run : incident
  const failure = call.error === null ? null : asErrorBody(call.error)
  const taken = failure?.code === 'conflict'
  const file = `${folder.replace(/\/+$/, '')}/${name.trim()}${endings[format]}`
  const good = folder.trim() !== '' && /^[^/\\]+$/.test(name.trim()) && !['.', '..'].includes(name.trim())
  const target = subject.kind === 'run' ? subject.run : `--incident ${shellWord(subject.a)} ${shellWord(subject.b)}`
  const command = `reprise export ${target}${subject.kind === 'run' ? ` --format ${format}` : ''} -o ${shellWord(file)}`
  const write = (replace: boolean) => {
    if (subject.kind === 'run') run.mutate({ run: subject.run, format, file, replace })
    else incident.mutate({ a: subject.a, b: subject.b, file, replace })
  }
  const change = (put: () => void) => {
    call.reset()
    put()
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content className="layer fixed top-[12vh] left-1/2 z-50 w-[min(38rem,calc(100vw-2rem))] -translate-x-1/2 rounded-card bg-raised p-4 shadow-layer">
          <Dialog.Title className="text-read font-semibold break-words">
            {subject.kind === 'run' ? w.title(subject.title.slice(0, 120)) : w.incidentTitle}
          </Dialog.Title>
          <Dialog.Description className="mt-1 text-dense text-text-2">
            {subject.kind === 'run' ? w.hint : w.incidentHint}
          </Dialog.Description>
          <form
            className="mt-3 space-y-3"
            onSubmit={(event) => {
              event.preventDefault()
              write(taken)
            }}
          >
            {subject.kind === 'run' && (
              <fieldset>
                <legend className="mb-1 text-meta text-text-2">{w.format}</legend>
                <RadioGroup.Root
                  aria-label={w.format}
                  value={format}
                  onValueChange={(next) => {
                    const chosen = formats.find((one) => one === next)
                    if (chosen !== undefined) change(() => setFormat(chosen))
                  }}
                  className="space-y-1"
                >
                  {formats.map((one) => (
                    <div key={one} className="flex items-start gap-2 text-ui">
                      <RadioGroup.Item
                        id={`${ids}${one}`}
                        value={one}
                        className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full border border-line-strong bg-raised data-[state=checked]:border-accent"
                      >
                        <RadioGroup.Indicator className="size-2 rounded-full bg-accent" />
                      </RadioGroup.Item>
                      <label htmlFor={`${ids}${one}`}>
                        {w.formats[one].label} <span className="text-text-2">{w.formats[one].hint}</span>
                      </label>
                    </div>
                  ))}
                </RadioGroup.Root>
              </fieldset>
            )}
            <FolderField label={w.folder} value={folder} onChange={(next) => change(() => setFolder(next))} />
            <div>
              <label htmlFor={`${ids}name`} className="mb-1 block text-meta text-text-2">
                {w.name}
              </label>
              <div className="flex items-center gap-1">
                <input
                  id={`${ids}name`}
                  value={name}
                  onChange={(event) => change(() => setName(event.target.value))}
                  spellCheck={false}
                  autoComplete="off"
                  className="h-8 min-w-0 flex-1 rounded-control border border-line-strong bg-raised px-2 font-mono text-dense outline-none focus:border-focus max-sm:h-11"
                />
                <span className="font-mono text-dense text-text-2">{endings[format]}</span>
              </div>
            </div>
            <div role="status" className="min-h-5 text-dense break-words">
              {call.isPending && <span className="text-text-2">{w.writing}</span>}
              {call.data !== undefined && (
                <span>
                  {w.done(call.data.file, formatBytes(call.data.bytes))} {w.covered(call.data.redactions)}
                </span>
              )}
              {failure !== null && (
                <span role="alert" className={taken ? 'text-warn' : 'text-danger'}>
                  {failure.message} {taken ? w.taken : failure.hint}
                </span>
              )}
            </div>
            <div className="flex items-center justify-end gap-2">
              <span className="mr-auto">
                {good && <CommandHint command={`${command}${taken ? ' --replace' : ''}`} />}
              </span>
              <Button onClick={onClose}>{call.data === undefined ? words.cancel : w.close}</Button>
              {call.data === undefined && (
                <Button type="submit" look={taken ? 'danger' : 'primary'} disabled={!good || call.isPending}>
                  {taken ? w.replace : w.write}
                </Button>
              )}
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
