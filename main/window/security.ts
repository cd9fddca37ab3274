import { app, type Session, shell, type WebContents } from 'electron'
import { isOurs, isSafeExternal } from './addresses.ts'

/** Sent with every page; the daemon sends the same to a browser. CodeMirror injects its styles, hence `unsafe-inline` for those. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * What a browser engine fetches on its own account: dictionaries, component updates, probes of the network. Must run before the app is
 * ready. The window needs no name but `ui`, so every other one is answered with "not found" before a resolver is asked (seen in a
 * trace of Electron 25: look-ups for the dictionary of the spell checker, although each page had it switched off).
 */
export function silenceEngine(): void {
  for (const flag of [
    'disable-background-networking',
    'disable-component-update',
    'disable-domain-reliability',
    'no-pings',
  ]) {
    app.commandLine.appendSwitch(flag)
  }
  app.commandLine.appendSwitch('host-resolver-rules', 'MAP * ~NOTFOUND')
}

/** Keeps a page where it is: no other windows, no navigation away, no embedded views. Safe links open in the user's browser. */
export function confineContents(contents: WebContents): void {
  contents.setWindowOpenHandler(({ url }) => {
    if (isSafeExternal(url)) void shell.openExternal(url)
    return { action: 'deny' }
  })
  contents.on('will-navigate', (event, url) => {
    if (isOurs(url)) return
    event.preventDefault()
    if (isSafeExternal(url)) void shell.openExternal(url)
  })
  contents.on('will-redirect', (event, url) => {
    if (!isOurs(url)) event.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
}

/** Nothing the page does reaches a network, and it gets no permission but writing to the clipboard after a click. */
export function confineSession(session: Session): void {
  session.setSpellCheckerEnabled(false)
  session.webRequest.onBeforeRequest((details, decide) => {
    decide({ cancel: !/^(app:\/\/ui\/|data:|blob:app:\/\/ui\/|devtools:)/.test(details.url) })
  })
  session.setPermissionRequestHandler((_contents, permission, decide) =>
    decide(permission === 'clipboard-sanitized-write'),
  )
  session.setPermissionCheckHandler((_contents, permission) => permission === 'clipboard-sanitized-write')
  session.on('will-download', (event, item) => {
    // Exports are made by the page itself as blobs; anything else has no business here.
    if (!item.getURL().startsWith('blob:app://ui/')) event.preventDefault()
  })
}
