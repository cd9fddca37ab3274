import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Keys } from '../secrets/keys.ts'
import { codeOf, replaceFile } from './durable.ts'

/** `store-keys.json`: which keys the store was made with. Says nothing about the keys themselves. */
const recordSchema = z.object({ v: z.literal(1), signing: z.string(), hmac: z.string() })

/**
 * Keys that were exchanged make everything that was signed or sealed with them unprovable; told once, by name, instead of as damage in
 * every object. Notes the keys of a new store, and of one that has no record yet.
 */
export async function checkKeys(dir: string, key: Keys, isNew: boolean): Promise<readonly string[]> {
  const path = join(dir, 'store-keys.json')
  const hmac = createHmac('sha256', key.hmacKey).update('reprise store').digest('hex').slice(0, 32)
  const text = isNew
    ? null
    : await readFile(path, 'utf8').catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return null
        throw error
      })
  if (text === null) {
    await replaceFile(path, `${JSON.stringify({ v: 1, signing: key.keyId, hmac })}\n`)
    return []
  }
  const parsed = recordSchema.safeParse(parse(text))
  if (!parsed.success) return [`${path} is damaged: it cannot be told whether the keys are still those of the store`]
  const faults: string[] = []
  if (parsed.data.hmac !== hmac)
    faults.push('keys/hmac.key is not the key this store was sealed with: put the old one back')
  if (parsed.data.signing !== key.keyId && key.publicKeyOf(parsed.data.signing) === null)
    faults.push(
      `keys/signing.pem is ${key.keyId}, the store was signed with ${parsed.data.signing}: put the old key back, or its public key as a .pub file beside it`,
    )
  return faults
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
