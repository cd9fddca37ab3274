/**
 * Every failure that crosses the boundary of the daemon carries one of these codes; nobody matches on sentences.
 * `status` is the HTTP status, `exit` the exit code of the command (`cli.md`).
 */
export const errorCodes = {
  wrong_usage: { status: 400, exit: 2 },
  unauthorized: { status: 401, exit: 4 },
  forbidden: { status: 403, exit: 4 },
  not_found: { status: 404, exit: 3 },
  ambiguous: { status: 409, exit: 3 },
  conflict: { status: 409, exit: 4 },
  refused: { status: 422, exit: 4 },
  too_large: { status: 413, exit: 2 },
  wrong_host: { status: 421, exit: 4 },
  unreadable: { status: 422, exit: 1 },
  damaged: { status: 500, exit: 1 },
  newer_version: { status: 409, exit: 4 },
  internal: { status: 500, exit: 1 },
  store_busy: { status: 503, exit: 5 },
  daemon_unreachable: { status: 503, exit: 5 },
} as const satisfies Record<string, { readonly status: number; readonly exit: number }>

export type ErrorCode = keyof typeof errorCodes

export interface ErrorBody {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  /** What to do about it; null when there is nothing to say beyond the message. */
  readonly hint: string | null
  /** For `not_found` and `ambiguous`: what could have been meant. */
  readonly candidates?: readonly string[]
}

/** An expected failure with a code. Faults of our own stay ordinary exceptions and become `internal`. */
export class RepriseError extends Error {
  override readonly name = 'RepriseError'
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly hint: string | null = null,
    readonly candidates: readonly string[] = [],
  ) {
    super(message)
  }

  toBody(): ErrorBody {
    const { status } = errorCodes[this.code]
    const body = { code: this.code, status, message: this.message, hint: this.hint }
    return this.candidates.length > 0 ? { ...body, candidates: this.candidates } : body
  }
}
