import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { IconButton } from '../parts/button.tsx'
import { words } from '../words/en.ts'
import { modWord } from './keys.ts'
import { useView } from './view-state.ts'

const w = words.keys
const groups: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    w.groups.anywhere,
    [
      [`${modWord}+K`, w.palette],
      ['/', w.filter],
      ['?', w.sheet],
      [`${modWord}+[  ${modWord}+]`, `${w.back}, ${w.forward}`],
      ['F6', w.region],
      [`${modWord}+I`, w.inspector],
      [`${modWord}+Z`, words.rollback.undoLast],
      ['Esc', w.escape],
    ],
  ],
  [
    w.groups.lists,
    [
      ['↑ ↓', w.move],
      ['Enter', w.openRow],
      ['Space', w.peek],
      ['→ ←', w.fold],
      ['Shift+F10', w.rowMenu],
      ['b', words.rollback.open],
      ['x', words.rollback.tickKey],
      ['y', w.copyReference],
    ],
  ],
  [
    w.groups.run,
    [
      ['← →', w.step],
      ['Shift+← →', w.stepChange],
      ['Home End', w.ends],
      ['41 Enter', w.jump],
      ['p', w.play],
      ['l', w.lastChange],
      ['F7', w.nextDiff],
    ],
  ],
  [
    w.groups.go,
    [
      ['t', words.nav.timeline],
      ['f', words.nav.search],
      ['h', words.nav.homes],
      ['i', words.nav.health],
      ['s', words.nav.settings],
    ],
  ],
]

export default function KeySheet({ onClose }: { readonly onClose: () => void }) {
  const singleKeys = useView((view) => view.singleKeys)
  return (
    <Dialog.Root open onOpenChange={(now) => !now && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content
          aria-describedby={undefined}
          className="layer fixed top-[10vh] left-1/2 z-50 max-h-[80vh] w-[min(46rem,calc(100vw-2rem))] -translate-x-1/2 overflow-y-auto rounded-card bg-raised p-4 shadow-layer"
        >
          <header className="flex items-center justify-between">
            <Dialog.Title className="text-read font-semibold">{w.title}</Dialog.Title>
            <Dialog.Close asChild>
              <IconButton label={words.close}>
                <X size={16} strokeWidth={1.75} aria-hidden="true" />
              </IconButton>
            </Dialog.Close>
          </header>
          {!singleKeys && <p className="mt-1 text-dense text-text-2">{w.off}</p>}
          <div className="mt-3 grid gap-x-8 gap-y-4 sm:grid-cols-2">
            {groups.map(([title, keys]) => (
              <section key={title}>
                <h3 className="pb-1 text-meta font-semibold text-text-2">{title}</h3>
                <dl className="text-dense">
                  {keys.map(([key, does]) => (
                    <div key={key} className="flex items-baseline gap-3 border-t border-line py-1">
                      <dt className="w-28 shrink-0 font-mono text-[0.75rem] text-text-2">{key}</dt>
                      <dd>{does}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
