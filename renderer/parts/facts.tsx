import type { ReactNode } from 'react'

/** Name and value pairs of an inspector. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="grid grid-cols-[minmax(5.5rem,auto)_minmax(0,1fr)] gap-x-3 gap-y-1 px-3 py-2 text-dense">
      {children}
    </dl>
  )
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-text-3">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  )
}

export function PaneHeading({ children }: { readonly children: ReactNode }) {
  return <h3 className="px-3 pt-3 pb-1 text-meta font-semibold text-text-2">{children}</h3>
}
