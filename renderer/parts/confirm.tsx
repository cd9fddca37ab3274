import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { words } from '../words/en.ts'
import { Button } from './button.tsx'

interface ConfirmProps {
  readonly title: string
  readonly children: ReactNode
  /** Verb, object, count. */
  readonly act: string
  readonly danger?: boolean
  readonly busy?: boolean
  readonly command?: ReactNode
  readonly onAct: () => void
  readonly onClose: () => void
}

/** What an act will do, before it does it. The focus starts on Cancel. */
export function Confirm({ title, children, act, danger = false, busy = false, command, onAct, onClose }: ConfirmProps) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content
          className="layer fixed top-[16vh] left-1/2 z-50 w-[min(34rem,calc(100vw-2rem))] -translate-x-1/2 rounded-card bg-raised p-4 shadow-layer"
          onOpenAutoFocus={(event) => {
            event.preventDefault()
            document.querySelector<HTMLElement>('[data-cancel]')?.focus()
          }}
          aria-describedby={undefined}
        >
          <Dialog.Title className="text-read font-semibold break-words">{title}</Dialog.Title>
          <div className="mt-2 text-ui text-text-2">{children}</div>
          <div className="mt-4 flex items-center justify-end gap-2">
            <span className="mr-auto">{command}</span>
            <Button data-cancel onClick={onClose}>
              {words.cancel}
            </Button>
            <Button look={danger ? 'danger' : 'primary'} disabled={busy} onClick={onAct}>
              {act}
            </Button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
