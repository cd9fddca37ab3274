/** Origin of everything the window shows. */
export const uiOrigin = 'app://ui'

/** Whether an address belongs to our own page. The URL parser gives `app:` no origin, so its parts are compared. */
export function isOurs(address: string): boolean {
  const url = parse(address)
  return url !== null && url.protocol === 'app:' && url.host === 'ui'
}

/** A link the page may hand to the user's browser: https, with a name, without credentials. */
export function isSafeExternal(address: string): boolean {
  const url = parse(address)
  return (
    url !== null &&
    url.protocol === 'https:' &&
    url.hostname !== '' &&
    url.username === '' &&
    url.password === '' &&
    address.length < 4096
  )
}

function parse(address: string): URL | null {
  try {
    return new URL(address)
  } catch {
    return null
  }
}
