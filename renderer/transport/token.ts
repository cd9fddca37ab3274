/**
 * The browser's key to the daemon comes in the URL fragment (`#t=TOKEN`): a fragment reaches no server log. It moves to
 * sessionStorage at once, so that a reload works and the address can be shared without it. In Electron there is none.
 */
const KEY = 'reprise.token'

export function takeToken(page: {
  readonly location: Location
  readonly history: History
  readonly sessionStorage: Storage
}): string | null {
  const found = /^#t=([\w.~-]+)$/.exec(page.location.hash)?.[1]
  if (found !== undefined) {
    page.sessionStorage.setItem(KEY, found)
    page.history.replaceState(page.history.state, '', page.location.pathname + page.location.search)
  }
  return page.sessionStorage.getItem(KEY)
}
