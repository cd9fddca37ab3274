import {
  type EndpointName,
  type ErrorBody,
  endpoints,
  errorCodes,
  invalidates,
  type MutationName,
  RepriseError,
  type Tag,
} from '../../contract/index.ts'
import type { Log } from '../log.ts'
import type { Egress } from '../secrets/egress.ts'
import type { Caller, Handlers } from './handlers.ts'

export type Answer = { readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly error: ErrorBody }

export interface Dispatch {
  /** Checks the input, runs the handler (mutations one after another), and turns every failure into a coded one. */
  (name: string, input: unknown, caller: Caller): Promise<Answer>
  /** Resolves when every mutation accepted so far is done; later ones are refused. */
  drain(): Promise<void>
}

/** Gives out what was covered: that is its purpose, and each time is on record before it answers. */
const OPENING: EndpointName = 'sensitive.reveal'

export const isEndpoint = (name: string): name is EndpointName => Object.hasOwn(endpoints, name)

export interface DispatchParts {
  readonly changed: (tags: readonly Tag[]) => void
  readonly log: Log
  /** Told of an object of the store that turned out to be damaged. */
  readonly damaged?: (message: string) => void
  /** Every answer and every error goes through it, whatever the handler did. */
  readonly gate: Pick<Egress, 'value'>
}

export const createDispatch = (handlers: Handlers, { changed, log, gate, damaged }: DispatchParts): Dispatch => {
  let queue: Promise<unknown> = Promise.resolve()
  let draining = false

  const refuse = (error: ErrorBody): Answer => ({ ok: false, error: gate.value(error) })

  const run = async (name: EndpointName, input: unknown, caller: Caller): Promise<Answer> => {
    const parsed = endpoints[name].input.safeParse(input)
    if (!parsed.success) {
      const where = parsed.error.issues
        .map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`)
        .join('; ')
      return refuse(new RepriseError('wrong_usage', `${name}: ${where}`).toBody())
    }
    try {
      // The table of handlers was checked per endpoint; here the name is only known as one of many.
      const handler = handlers[name] as (input: unknown, caller: Caller) => unknown
      const output = await handler(parsed.data, caller)
      if (endpoints[name].kind === 'mutation') changed(invalidates[name as MutationName])
      return { ok: true, output: name === OPENING ? output : gate.value(output) }
    } catch (error) {
      if (error instanceof RepriseError && error.code === 'damaged') damaged?.(error.message)
      return refuse(toErrorBody(error, name, log))
    }
  }

  const dispatch = (name: string, input: unknown, caller: Caller): Promise<Answer> => {
    if (!isEndpoint(name)) {
      const body = new RepriseError(
        'not_found',
        `there is no endpoint ${JSON.stringify(name)}`,
        null,
        Object.keys(endpoints),
      ).toBody()
      return Promise.resolve(refuse(body))
    }
    if (endpoints[name].kind === 'read') return run(name, input, caller)
    if (draining && name !== 'daemon.stop')
      return Promise.resolve(
        refuse(new RepriseError('store_busy', 'the daemon is stopping', 'try again in a moment').toBody()),
      )
    const next = queue.then(() => run(name, input, caller))
    queue = next.catch(() => undefined)
    return next
  }
  return Object.assign(dispatch, {
    drain: async () => {
      draining = true
      await queue
    },
  })
}

export const toErrorBody = (error: unknown, where: string, log: Log): ErrorBody => {
  if (error instanceof RepriseError) return error.toBody()
  const fault = error instanceof Error ? error : new Error(String(error))
  log('error', 'fault', {
    where,
    name: fault.name,
    message: fault.message,
    stack: fault.stack?.split('\n').slice(1, 6).join(' | ') ?? null,
  })
  return {
    code: 'internal',
    status: errorCodes.internal.status,
    message: `${where} failed: ${fault.message}`,
    hint: 'this is a fault of Reprise; its log says more',
  }
}
