import { type Digest, isDigest } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'

/** The manifest a pin of this name is bound to; null when there is no such pin. */
export const parsePin = async (parts: Pick<Parts, 'store'>, name: string): Promise<Digest | null> => {
  for await (const pin of parts.store.names.list('pins'))
    if (pin.name === name && typeof pin.about.manifest === 'string' && isDigest(pin.about.manifest))
      return pin.about.manifest
  return null
}
