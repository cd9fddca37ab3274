import { Dialog } from 'radix-ui'
import { useId, useState } from 'react'
import { words } from '../words/en.ts'
import { Button } from './button.tsx'
import { CommandHint, shellWord } from './command-hint.tsx'

const w = words.hidden

interface RevealDialogProps {
  /** What would be opened, in words. */
  readonly what: string
  readonly reference: string
  /** The reason given last on this screen: an investigation opens several places for one reason. */
  readonly last: string
  readonly onReveal: (reason: string) => void
  readonly onClose: () => void
}

/** Asks why a covered place is to be opened (R76); the answer goes on record with it. */
export function RevealDialog({ what, reference, last, onReveal, onClose }: RevealDialogProps) {
  const id = useId()
  const [reason, setReason] = useState(last)
  const good = reason.trim().length >= 3
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content className="layer fixed top-[16vh] left-1/2 z-50 w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 rounded-card bg-raised p-4 shadow-layer">
          <Dialog.Title className="text-read font-semibold">{w.revealTitle}</Dialog.Title>
          <Dialog.Description className="mt-1 text-dense text-text-2">
            {what}. {w.logged}
          </Dialog.Description>
          <form
            className="mt-3"
            onSubmit={(event) => {
              event.preventDefault()
              if (good) onReveal(reason.trim())
            }}
          >
            <label htmlFor={id} className="mb-1 block text-meta text-text-2">
              {w.reason}
            </label>
            <input
              id={id}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
              maxLength={500}
              autoComplete="off"
              placeholder={w.reasonHint}
              className="h-8 w-full rounded-control border border-line-strong bg-raised px-2 text-ui outline-none focus:border-focus max-sm:h-11"
            />
            <div className="mt-4 flex items-center justify-end gap-2">
              <span className="mr-auto">
                {good && (
                  <CommandHint
                    command={`reprise reveal ${shellWord(reference)} --reason ${shellWord(reason.trim())}`}
                  />
                )}
              </span>
              <Button onClick={onClose}>{words.cancel}</Button>
              <Button type="submit" look="primary" disabled={!good}>
                {w.revealOne}
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
