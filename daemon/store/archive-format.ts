import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import canonicalize from 'canonicalize'
import { z } from 'zod'
import { RepriseError } from '../../contract/errors.ts'

/**
 * How a run lies in `refs/sessions/<run>`:
 *
 *     run.json                                  what the caller says of the run, small
 *     files.json                                every file and generation, how far it is archived ({@link filesSchema})
 *     <generation>/<file>/<part>.jsonl          redacted lines
 *     <generation>/<file>/<part>.lines          where they stood in the original ({@link partSchema})
 *
 * One commit per append; older states stay in the history.
 */
export const ARCHIVE_VERSION = 1

const count = z.number().int().min(0)
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

const mac = z.string().regex(/^[0-9a-f]{64}$/)

export const generationSchema = z.object({
  generation: z.number().int().min(1),
  lines: count,
  /** Original bytes. */
  bytes: count,
  /** SHA-256 of the original bytes. */
  prefix_digest: digest,
  /** State of that digest, sealed: it holds the last few original bytes, which may be part of a secret. */
  digest_state: z.string(),
  /** The last line has no line end yet. */
  open: z.boolean(),
  /** Number and stored bytes of each part, in order. */
  parts: z.array(z.tuple([count, count])),
})
export const filesSchema = z.object({
  v: z.literal(ARCHIVE_VERSION),
  /** Seal over the rest and the run (R68); missing in archives of earlier versions. */
  mac: mac.optional(),
  files: z.array(z.object({ file: z.string(), generations: z.array(generationSchema).min(1) })),
})
export type ArchiveFiles = z.infer<typeof filesSchema>
export type Generation = Readonly<z.infer<typeof generationSchema>>

export const partSchema = z.object({
  v: z.literal(ARCHIVE_VERSION),
  /** Seal over the rest and its place; through `stored_digest` also over the lines. */
  mac: mac.optional(),
  first_line: z.number().int().min(1),
  first_byte: count,
  lines: count,
  bytes: count,
  /** Of the redacted content. */
  stored_digest: digest,
  redactions: count,
  /** Lines whose length redaction changed: index in the part, original bytes with the line end. */
  changed: z.array(z.tuple([count, count])),
})
export type Part = Readonly<z.infer<typeof partSchema>>

export function parseArchiveJson<T extends { v: number }>(schema: z.ZodType<T>, content: Uint8Array, where: string): T {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(content).toString('utf8'))
  } catch {
    throw new RepriseError('damaged', `${where} is not JSON any more.`)
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  if (
    typeof value === 'object' &&
    value !== null &&
    'v' in value &&
    typeof value.v === 'number' &&
    value.v > ARCHIVE_VERSION
  ) {
    throw new RepriseError(
      'newer_version',
      `${where} has format ${value.v}; it was made by a newer version.`,
      'Update Reprise to read it.',
    )
  }
  throw new RepriseError('damaged', `${where} has a wrong shape at ${parsed.error.issues[0]?.path.join('.') ?? '?'}.`)
}

/**
 * One name for a path in a tree: letters, digits, `_`, `-` and inner dots stay, everything else is percent-encoded, so that nothing in
 * it means anything to git or a file system. Very long ones keep their end and get a digest.
 */
export function encodePath(path: string): string {
  const encoded = path.replace(/[^A-Za-z0-9_.-]/gu, (char) => {
    const bytes = /^[\ud800-\udfff]$/.test(char)
      ? [0xed, char.charCodeAt(0) >> 8, char.charCodeAt(0) & 0xff]
      : Buffer.from(char, 'utf8')
    return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')
  })
  const safe = encoded.replace(/^\./, '%2E').replace(/\.$/, '%2E')
  if (safe.length <= 180 && safe !== '') return safe
  return `${createHash('sha256').update(path).digest('hex').slice(0, 32)}-${safe.slice(-140)}`
}

export const partName = (number: number): string => String(number).padStart(8, '0')

const sealKeys = new WeakMap<Uint8Array, Buffer>()

const sealOf = (value: object, place: readonly string[], hmacKey: Uint8Array): string => {
  const known = sealKeys.get(hmacKey) ?? Buffer.from(hkdfSync('sha256', hmacKey, '', 'reprise archive seal', 32))
  sealKeys.set(hmacKey, known)
  return createHmac('sha256', known)
    .update(JSON.stringify([place, canonicalOf(value)]))
    .digest('hex')
}

/** One text per value whatever the order of its names; half a surrogate pair in a path is no reason to refuse. */
const canonicalOf = (value: object): string => canonicalize(JSON.parse(JSON.stringify(value))) ?? ''

/** The value with a keyed digest over it and the place it stands at: what is put in another place, or altered, shows (R68). */
export const sealed = <T extends object>(
  value: T,
  place: readonly string[],
  hmacKey: Uint8Array,
): T & { mac: string } => {
  const { mac: _, ...rest } = value as T & { mac?: string }
  return { ...value, mac: sealOf(rest, place, hmacKey) }
}

/** Throws `damaged` when the seal is not that of the value. One without a seal is of an earlier version. */
export const requireSeal = (
  value: object & { readonly mac?: unknown },
  place: readonly string[],
  hmacKey: Uint8Array,
  where: string,
): void => {
  if (value.mac === undefined) return
  const { mac: found, ...rest } = value
  const expected = Buffer.from(sealOf(rest, place, hmacKey))
  const given = Buffer.from(String(found))
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new RepriseError(
      'damaged',
      `${where} does not match its seal.`,
      'It was altered, or keys/hmac.key was replaced. Run `reprise check` to see everything that is damaged.',
    )
}

const stateKeys = new WeakMap<Uint8Array, Buffer>()

/** Derived once per key: deriving it for every append was a tenth of an import's time. */
const stateKey = (hmacKey: Uint8Array): Buffer => {
  const known = stateKeys.get(hmacKey)
  if (known) return known
  const key = Buffer.from(hkdfSync('sha256', hmacKey, '', 'reprise digest state', 32))
  stateKeys.set(hmacKey, key)
  return key
}

export function sealState(state: string, hmacKey: Uint8Array): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', stateKey(hmacKey), iv)
  const sealed = Buffer.concat([cipher.update(state, 'latin1'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
}

/** Throws `damaged` when it was altered or sealed with another key. */
export function openState(sealed: string, hmacKey: Uint8Array, where: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  try {
    const decipher = createDecipheriv('aes-256-gcm', stateKey(hmacKey), bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('latin1')
  } catch {
    throw new RepriseError(
      'damaged',
      `The digest state of ${where} cannot be opened.`,
      'It was altered, or keys/hmac.key was replaced. Archive the file as a new generation.',
    )
  }
}
