import { lazy, Suspense } from 'react'
import { create } from 'zustand'

const Toaster = lazy(() => import('sonner').then((sonner) => ({ default: sonner.Toaster })))
const useWanted = create<{ readonly wanted: boolean }>(() => ({ wanted: false }))

/** The result of an act, for a moment; never the only place of an error. Loaded with the first one. */
export function toast(message: string) {
  useWanted.setState({ wanted: true })
  void import('sonner').then((sonner) => sonner.toast(message))
}

export function Toasts() {
  const wanted = useWanted((now) => now.wanted)
  if (!wanted) return null
  return (
    <Suspense fallback={null}>
      <Toaster
        position="bottom-right"
        offset={36}
        duration={2500}
        toastOptions={{
          unstyled: true,
          className: 'layer w-72 rounded-control bg-raised px-3 py-2 text-dense text-text shadow-layer',
        }}
      />
    </Suspense>
  )
}
