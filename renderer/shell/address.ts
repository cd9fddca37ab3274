import { useCallback, useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'

type Patch = Readonly<Record<string, string | null>>

/** A path with a query; `null` and empty values leave it. */
export function pathWith(path: string, search: string, patch: Patch): string {
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The query of the address is the state of a screen: filters, tab, selection. */
export function useAddress() {
  const [path, navigate] = useLocation()
  const search = useSearch()
  const query = useMemo(() => new URLSearchParams(search), [search])
  const get = useCallback((name: string) => query.get(name), [query])
  const set = useCallback(
    (patch: Patch, how: { readonly replace?: boolean } = {}) =>
      navigate(pathWith(path, search, patch), { replace: how.replace ?? false }),
    [navigate, path, search],
  )
  return { path, search, get, set, navigate }
}

/**
 * A parameter of a route as it was before it was encoded into a path. The router decodes an address as a whole, which leaves the
 * characters that separate parts of one (`:` of a digest, `@` of a point) as they were encoded.
 */
export const namedIn = (parameter: string) =>
  parameter.replaceAll(/%(?:2[346BCF]|3[ABDF]|40)/gi, (part) => decodeURIComponent(part))

export const runPath = (run: string, seq?: number | null) =>
  `/runs/${encodeURIComponent(run)}${seq == null ? '' : `/at/${seq}`}`
export const manifestPath = (target: string) => `/manifests/${encodeURIComponent(target)}`
export const comparePath = (a: string, b: string) => `/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`
/** A change of configuration, in its place on the timeline. */
export const changePath = (id: string) => pathWith('/timeline', '', { q: 'kind:configuration', change: id })
