import type { EndpointName, Output, ParsedInput } from '../../contract/index.ts'

/** One function per endpoint of the contract; a missing or surplus one does not compile. */
export type Handlers = {
  readonly [N in EndpointName]: (input: ParsedInput<N>, caller: Caller) => Output<N> | Promise<Output<N>>
}
/** Handlers of one area; `combineHandlers` makes the whole table from them. */
export type SomeHandlers = Partial<Handlers>

export interface Caller {
  /** How the call came: from the window or command over the socket, a browser over loopback, or this very process. */
  readonly via: 'socket' | 'loopback' | 'process'
}

export const combineHandlers = <const Parts extends readonly SomeHandlers[]>(
  ...parts: Parts & (EndpointName extends KeysOf<Parts> ? unknown : { missing: Exclude<EndpointName, KeysOf<Parts>> })
): Handlers => Object.assign({}, ...parts) as Handlers

type KeysOf<Parts extends readonly SomeHandlers[]> = { [I in keyof Parts]: keyof Parts[I] }[number]
