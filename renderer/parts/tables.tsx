import type { ReactNode } from 'react'

export function TableHead({
  columns,
  right = [],
}: {
  readonly columns: readonly string[]
  readonly right?: readonly string[]
}) {
  return (
    <thead className="text-left text-meta text-text-3">
      <tr className="border-b border-line">
        {columns.map((column) => (
          <th
            key={column}
            scope="col"
            className={`py-1 pr-3 font-medium whitespace-nowrap ${right.includes(column) ? 'text-right' : ''}`}
          >
            {column}
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface SectionProps {
  readonly title: string
  readonly children: ReactNode
  readonly hint?: ReactNode
  readonly acts?: ReactNode
}

export function Section({ title, children, hint, acts }: SectionProps) {
  return (
    <section aria-label={title} className="px-3 pt-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="font-semibold">{title}</h2>
        {acts !== undefined && <span className="ml-auto flex flex-wrap items-center gap-2">{acts}</span>}
      </div>
      {hint !== undefined && <p className="mt-0.5 max-w-prose text-dense text-text-2">{hint}</p>}
      <div className="mt-2 overflow-x-auto">{children}</div>
    </section>
  )
}
