import { Toast } from 'radix-ui'
import { create } from 'zustand'

interface Shown {
  readonly id: number
  readonly message: string
}
const useToasts = create<{ readonly shown: Shown | null }>(() => ({ shown: null }))

/** The result of an act, for a moment; never the only place of an error. A new one takes the place of the last. */
export const toast = (message: string) =>
  useToasts.setState(({ shown }) => ({ shown: { id: (shown?.id ?? 0) + 1, message } }))

export function Toasts() {
  const shown = useToasts((now) => now.shown)
  return (
    <Toast.Provider duration={2500} swipeDirection="right">
      {shown !== null && (
        <Toast.Root
          key={shown.id}
          type="background"
          onOpenChange={(open) => !open && useToasts.setState({ shown: null })}
          className="layer rounded-control bg-raised px-3 py-2 text-dense text-text shadow-layer"
        >
          <Toast.Title className="break-words">{shown.message}</Toast.Title>
        </Toast.Root>
      )}
      <Toast.Viewport className="fixed right-3 bottom-9 z-50 w-72 max-w-[calc(100vw-1.5rem)] outline-none" />
    </Toast.Provider>
  )
}
