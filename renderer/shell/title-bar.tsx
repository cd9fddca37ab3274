import { ChevronLeft, ChevronRight, Menu, Moon, PanelRight, Search, Sun } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useState } from 'react'
import { Link } from 'wouter'
import { IconButton } from '../parts/button.tsx'
import { useChange } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { useScreen } from './acts.ts'
import { modWord } from './keys.ts'
import { Rail } from './rail.tsx'
import { SlotChips } from './slot-chips.tsx'
import { shownTheme } from './theme.ts'
import { useView } from './view-state.ts'

export function TitleBar({ openPalette }: { readonly openPalette: () => void }) {
  const crumbs = useScreen((screen) => screen.crumbs)
  const inspector = useScreen((screen) => screen.inspector)
  return (
    <header data-region="title" className="flex h-11 shrink-0 items-center gap-1 border-b border-line bg-canvas px-2">
      <DrawerButton />
      <IconButton label={`${words.back} (${modWord}+[)`} onClick={() => history.back()}>
        <ChevronLeft size={16} strokeWidth={1.75} aria-hidden="true" />
      </IconButton>
      <IconButton label={`${words.forward} (${modWord}+])`} onClick={() => history.forward()} className="max-sm:hidden">
        <ChevronRight size={16} strokeWidth={1.75} aria-hidden="true" />
      </IconButton>
      <ol className="flex min-w-0 flex-1 items-center gap-1.5 pl-1 text-ui">
        {crumbs.map((crumb, index) => (
          <li
            key={crumb.label}
            className={
              index === crumbs.length - 1
                ? 'min-w-0 truncate'
                : 'flex shrink-0 items-center gap-1.5 text-text-2 max-sm:hidden'
            }
          >
            {crumb.href === undefined ? (
              <span className="font-medium">{crumb.label}</span>
            ) : (
              <Link href={crumb.href} className="rounded-chip hover:text-text hover:underline">
                {crumb.label}
              </Link>
            )}
            {index < crumbs.length - 1 && (
              <span aria-hidden="true" className="text-text-3">
                /
              </span>
            )}
          </li>
        ))}
      </ol>
      <button
        type="button"
        onClick={openPalette}
        className="flex h-7 w-72 shrink items-center gap-2 rounded-control border border-line-strong bg-raised px-2 text-ui text-text-3 hover:text-text-2 max-lg:w-48 max-sm:h-11 max-sm:w-11 max-sm:justify-center max-sm:border-transparent max-sm:bg-transparent"
      >
        <Search size={14} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
        <span className="min-w-0 flex-1 truncate text-left max-sm:sr-only">{words.palette.open}</span>
        <kbd className="font-sans text-meta max-sm:hidden">{modWord}+K</kbd>
      </button>
      <SlotChips />
      {inspector && (
        <IconButton
          label={`${words.keys.inspector} (${modWord}+I)`}
          onClick={() => useView.getState().toggleInspector()}
        >
          <PanelRight size={16} strokeWidth={1.75} aria-hidden="true" />
        </IconButton>
      )}
      <ThemeButton />
    </header>
  )
}

/** Switches between light and dark; “as the system” is a choice in Settings. */
function ThemeButton() {
  const setTheme = useView((view) => view.setTheme)
  useView((view) => view.theme)
  const { mutate } = useChange('settings.set')
  const dark = shownTheme() === 'dark'
  const Icon = dark ? Sun : Moon
  return (
    <IconButton
      label={words.theme.toggle}
      className="max-sm:hidden"
      onClick={() => {
        const next = dark ? 'light' : 'dark'
        setTheme(next)
        mutate({ theme: next })
      }}
    >
      <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
    </IconButton>
  )
}

function DrawerButton() {
  const [open, setOpen] = useState(false)
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger asChild>
        <IconButton label={words.nav.menu} className="sm:hidden">
          <Menu size={16} strokeWidth={1.75} aria-hidden="true" />
        </IconButton>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content
          className="layer fixed inset-y-0 left-0 z-50 bg-canvas shadow-layer"
          aria-describedby={undefined}
        >
          <Dialog.Title className="sr-only">{words.nav.label}</Dialog.Title>
          <Rail drawer onGo={() => setOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
