import { QueryClient, type UseQueryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { EndpointName, Input, MutationName, Output } from '../../contract/endpoints.ts'
import { invalidates, provides } from '../../contract/tags.ts'
import { CallFailed, type Transport } from './transport.ts'

export type ReadName = Exclude<EndpointName, MutationName>

export const TransportContext = createContext<Transport | null>(null)

export function useTransport(): Transport {
  const transport = useContext(TransportContext)
  if (transport === null) throw new Error('no transport above this component')
  return transport
}

export const createQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY, // what changed is pushed; nothing is polled
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: false,
        networkMode: 'always', // the daemon is on this machine: a browser that calls itself offline still reaches it
        retry: (count, failure) => failure instanceof CallFailed && failure.body.code === 'store_busy' && count < 3,
      },
      mutations: { networkMode: 'always' },
    },
  })

export const queryKey = <N extends ReadName>(name: N, input: Input<N>) => [name, input] as const

type ReadOptions<N extends ReadName, T> = Omit<UseQueryOptions<Output<N>, Error, T>, 'queryKey' | 'queryFn'>

export function useRead<N extends ReadName, T = Output<N>>(name: N, input: Input<N>, options: ReadOptions<N, T> = {}) {
  const transport = useTransport()
  return useQuery<Output<N>, Error, T>({
    ...options,
    queryKey: queryKey(name, input),
    queryFn: ({ signal }) => transport.call(name, input, { signal }),
  })
}

/** Names of the reads that show one of the tags. */
export function readsShowing(tags: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [name, shown] of Object.entries(provides)) if (shown.some((tag) => tags.includes(tag))) names.add(name)
  return names
}

/**
 * Reads whose `meta.manual` is set are left alone: their screen decides when rows may move. `meta.shows` names the tags of a question
 * that is no read to the daemon, as a plan.
 */
export function invalidateTags(client: QueryClient, tags: readonly string[]): Promise<void> {
  const names = readsShowing(tags)
  return client.invalidateQueries({
    predicate: ({ queryKey: [name], meta }) =>
      (names.has(String(name)) ||
        (Array.isArray(meta?.shows) && meta.shows.some((tag) => tags.includes(String(tag))))) &&
      meta?.manual !== true,
  })
}

export function useChange<N extends MutationName>(name: N) {
  const transport = useTransport()
  const client = useQueryClient()
  return useMutation<Output<N>, Error, Input<N>>({
    mutationKey: [name],
    mutationFn: (input) => transport.call(name, input),
    onSuccess: () => invalidateTags(client, invalidates[name]),
  })
}
