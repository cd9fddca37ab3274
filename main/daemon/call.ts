import { request } from 'node:http'
import type { EndpointName, Input, Output } from '../../contract/endpoints.ts'
import type { ErrorBody } from '../../contract/errors.ts'
import { RepriseError } from '../../contract/errors.ts'

/** Asks the daemon over its Unix socket. Fails with `RepriseError`: the daemon's own, or `daemon_unreachable`. */
export function callDaemon<N extends EndpointName>(
  socket: string,
  endpoint: N,
  input: Input<N>,
  timeout = 30_000,
): Promise<Output<N>> {
  return new Promise((resolve, reject) => {
    const away = (why: string) =>
      reject(new RepriseError('daemon_unreachable', `the daemon did not answer ${endpoint}: ${why}`))
    const call = request(
      {
        socketPath: socket,
        path: `/rpc/${endpoint}`,
        method: 'POST',
        timeout,
        // A connection kept for later may be closed by the daemon in the very moment it is used again.
        agent: false,
        headers: { 'content-type': 'application/json' },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', (error) => away(error.message))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          try {
            // The daemon checks what it sends against the same table, so the shape needs no second check here.
            const answer: unknown = JSON.parse(text)
            if (response.statusCode === 200) resolve(answer as Output<N>)
            else reject(failureOf(answer, response.statusCode))
          } catch {
            away(`HTTP ${response.statusCode}, no JSON`)
          }
        })
      },
    )
    call.on('timeout', () => call.destroy(new Error(`no answer within ${timeout / 1000} s`)))
    call.on('error', (error) => away(error.message))
    call.end(JSON.stringify(input))
  })
}

function failureOf(answer: unknown, status: number | undefined): RepriseError {
  const holder = typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : answer
  const body = typeof holder === 'object' && holder !== null ? (holder as Partial<ErrorBody>) : {}
  return new RepriseError(
    body.code ?? 'internal',
    body.message ?? `the daemon answered with HTTP ${status}`,
    body.hint ?? null,
  )
}
