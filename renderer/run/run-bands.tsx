import { Dialog } from 'radix-ui'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Band, Failure, Loading } from '../parts/feedback.tsx'
import { shortId } from '../parts/format.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import type { RunDetails } from './run-screen.tsx'

const w = words.run

/** What a reader must know before believing what is below: unreadable lines, a file that shrank or is gone, a copied beginning. */
export function RunBands({ details, onCoverage }: { readonly details: RunDetails; readonly onCoverage: () => void }) {
  const { run, unreadable } = details
  const [recovering, setRecovering] = useState(false)
  const lines = Math.max(run.unreadable_lines, unreadable.length)
  return (
    <>
      {run.status === 'unreadable' && <Band tone="danger">{w.unreadable}</Band>}
      {run.status === 'no_conversation' && <Band tone="plain">{w.noConversation}</Band>}
      {lines > 0 && (
        <Band
          acts={
            <Button small onClick={onCoverage}>
              {w.seeCoverage}
            </Button>
          }
        >
          {w.unreadableLines(lines)}
        </Band>
      )}
      {run.source_state !== 'present' && (
        <Band
          acts={
            <Button small onClick={() => setRecovering(true)}>
              {w.recover}
            </Button>
          }
        >
          {run.source_state === 'shrank' ? w.shrank : w.vanished}
        </Band>
      )}
      {run.copied_events > 0 && run.parent !== null && (
        <Band tone="plain">{w.copied(run.copied_events, shortId(run.parent))}</Band>
      )}
      {run.clock_steps_back > 0 && <Band tone="plain">{w.clock}</Band>}
      {recovering && <RecoverDialog run={run.id} onClose={() => setRecovering(false)} />}
    </>
  )
}

/** The longest version that is known, as text to save; nothing is written back to the agent's folder. */
function RecoverDialog({ run, onClose }: { readonly run: string; readonly onClose: () => void }) {
  const recovered = useRead('runs.recover', { run }, { gcTime: 0 })
  const save = (text: string) => {
    const url = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${run}.jsonl`
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content
          aria-describedby={undefined}
          className="layer fixed top-[10vh] left-1/2 z-50 flex max-h-[80vh] w-[min(52rem,calc(100vw-2rem))] -translate-x-1/2 flex-col rounded-card bg-raised p-4 shadow-layer"
        >
          <Dialog.Title className="text-read font-semibold">{w.recoverTitle}</Dialog.Title>
          {recovered.isPending && <Loading what={w.recoverTitle} rows={4} />}
          {recovered.error !== null && (
            <Failure what={w.recoverTitle} failure={recovered.error} onRetry={() => void recovered.refetch()} />
          )}
          {recovered.data !== undefined && (
            <>
              <p className="mt-1 text-dense text-text-2">{w.recoverText(recovered.data.lines)}</p>
              <pre className="mt-3 min-h-24 flex-1 overflow-auto rounded-control bg-sunken p-2 font-mono text-[0.75rem] leading-4 whitespace-pre-wrap break-all">
                {recovered.data.text.slice(0, 20_000)}
              </pre>
              <div className="mt-3 flex justify-end gap-2">
                <Button onClick={onClose}>{words.close}</Button>
                <Button look="primary" onClick={() => save(recovered.data.text)}>
                  {w.save}
                </Button>
              </div>
            </>
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
