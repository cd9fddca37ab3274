import type { ErrorBody } from './errors.ts'

/** What `out/node/app.cjs` offers to the command when it runs the endpoints in its own process (`REPRISE_NO_DAEMON=1`). */
export interface InProcessApp {
  call(
    name: string,
    input: unknown,
  ): Promise<{ readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly error: ErrorBody }>
  close(): Promise<void>
}

export type OpenInProcess = (env: Readonly<Record<string, string | undefined>>) => Promise<InProcessApp>

/** Content of `<data>/daemon.json`, by which windows and commands find the daemon. Trusted only when the handshake gives the same nonce. */
export interface DaemonInfo {
  readonly pid: number
  readonly version: string
  readonly contract: number
  readonly nonce: string
  readonly socket: string
  readonly startedAt: string
}
