import { useQuery } from '@tanstack/react-query'
import type { Comparison } from '../../contract/compare.ts'
import { useTransport } from '../transport/queries.ts'

/** Two targets side by side. `now` changes the store, so the daemon counts it among its mutations; for the window it is a question. */
export function useComparison(a: string | null, b: string | null) {
  const transport = useTransport()
  return useQuery<Comparison, Error>({
    queryKey: ['compare.run', { a, b }],
    enabled: a !== null && b !== null && a !== b,
    queryFn: ({ signal }) => transport.call('compare.run', { a: a ?? '', b: b ?? '' }, { signal }),
  })
}
