import os from 'node:os'
import { isDigest, RepriseError } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import { PLACEHOLDER } from '../secrets/find-secrets.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { OriginalAbout } from '../secrets/vault.ts'
import type { RunRow } from '../store/index/run-row.ts'
import { readEventContent } from './event-content.ts'
import type { Caller, SomeHandlers } from './handlers.ts'
import { readContextText } from './run-context.ts'

/**
 * `e:<run>:<seq>:<p|b|a><n>:<start>-<end>`: a span of a part, or of a side of a change, of one event. With `x`, of the n-th text of the
 * request that led to this event. Places are those of the text before covering; after `~`, those of the covered text, where it is all
 * there is.
 */
const REFERENCE = /^e:(r_[0-9a-f]{12}):(\d{1,9}):([pbax])(\d{1,6}):(~?)(\d{1,12})-(\d{1,12})$/
const WHOLE_TEXT = /^text:(sha256:[0-9a-f]{64})$/

interface Found {
  readonly text: string
  readonly family: string
  readonly where: string
}
type Missing = { readonly why: string }

const NOT_KEPT: Missing = { why: 'the original is not kept: only the covered text is in the store' }
const CHANGED: Missing = { why: 'the session has changed since; look at the event again' }

const readEventText = async (parts: Parts, row: RunRow, seq: number, side: string, n: number, originals: boolean) => {
  const { content, lines } = await readEventContent(parts, row, seq, originals)
  const change = content.changes[n]
  return {
    text: side === 'p' ? content.parts[n]?.text : side === 'b' ? change?.before : change?.after,
    from: lines.from,
  }
}

const findSpan = async (parts: Parts, reference: RegExpExecArray): Promise<Found | Missing> => {
  const [, run = '', seq, side = '', n, covered, start, end] = reference
  const row = parts.index().findRun(run)
  const from = Number(start)
  const to = Number(end)
  const where = `${run}@${seq}`
  if (covered === '~') {
    if (side === 'x') return NOT_KEPT
    const { text, from: origin } = await readEventText(parts, row, Number(seq), side, Number(n), true)
    if (origin !== 'vault' || typeof text !== 'string') return NOT_KEPT
    const found = spanOfCovered(parts.redactor, text, from, to)
    return found === null ? CHANGED : { ...found, where }
  }
  const { text, from: origin } =
    side === 'x'
      ? await readContextText(parts, row, Number(seq), Number(n))
      : await readEventText(parts, row, Number(seq), side, Number(n), false)
  if (origin !== 'disk') return NOT_KEPT
  // Only what was covered can be opened this way: any other span would be a way around the record of openings.
  const shift = Math.max(0, from - 4096)
  const around = text?.slice(shift, to + 4096) ?? ''
  const found = parts.redactor.find(around).find((one) => one.start + shift === from && one.end + shift === to)
  return typeof text !== 'string' || !found ? CHANGED : { text: text.slice(from, to), family: found.family, where }
}

/** What stands in the original where its covered form has the placeholder at this place. */
const spanOfCovered = (redactor: Redactor, original: string, from: number, to: number): Omit<Found, 'where'> | null => {
  const { text, findings } = redactor.redact(original)
  if (new RegExp(`^(?:${PLACEHOLDER.source})$`).exec(text.slice(from, to)) === null) return null
  let shift = 0
  for (const { start, end, family, placeholder } of findings) {
    // A secret over several lines has a placeholder on each; any of them opens the whole.
    const secret = original.slice(start, end)
    const shown = secret.includes('\n') ? secret.replace(/[^\r\n]+/g, placeholder).length : placeholder.length
    if (from >= start + shift && to <= start + shift + shown) return { text: secret, family }
    shift += shown - (end - start)
  }
  return null
}

const findText = async (parts: Parts, digest: string): Promise<Found | Missing> => {
  if (!isDigest(digest)) throw new RepriseError('wrong_usage', 'ref: not one of ours')
  const original = await parts.vault.get(`text:${digest}`)
  if (original !== null)
    return { text: original.content.toString('utf8'), family: familiesOf(original.about), where: digest }
  const kept = await parts.store.texts.get(digest)
  if (kept === null) return { why: 'no text with this digest is kept' }
  return kept.redactions === 0 ? { why: 'nothing in it is covered: look at the text itself' } : NOT_KEPT
}

const familiesOf = ({ families }: OriginalAbout): string => families.join(', ')

/** The account that asked. Whoever reaches the endpoints is this one: the socket and the key of the page are for its owner alone. */
const accountOf = (): string => {
  try {
    return os.userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

export const createSensitiveHandlers = (parts: Parts) =>
  ({
    'sensitive.reveal': async ({ ref, reason }, { via }: Caller) => {
      const span = REFERENCE.exec(ref)
      const [, digest] = WHOLE_TEXT.exec(ref) ?? []
      if (span === null && digest === undefined)
        throw new RepriseError('wrong_usage', 'ref: not one of ours', 'a covered place of an event, or text:<digest>')
      const found = span === null ? await findText(parts, digest ?? '') : await findSpan(parts, span)
      if ('why' in found) return { text: null, why: found.why }
      const { text, family, where } = found
      // On record before it is shown; the reason too is kept without secrets.
      const told = parts.egress.text(reason)
      await parts.reveals.append({
        at: parts.now().toISOString(),
        ref,
        family,
        where,
        by: via,
        who: accountOf(),
        reason: told,
      })
      return { text, why: null }
    },
    'sensitive.reads': async ({ limit }) => {
      const { reads, total, unreadable } = await parts.reveals.read(limit ?? 200)
      return { reads: [...reads], total, unreadable }
    },
  }) satisfies SomeHandlers
