import { RepriseError } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import type { RunRow } from '../store/index/run-row.ts'
import { readEventContent } from './event-content.ts'
import type { SomeHandlers } from './handlers.ts'
import { readContextText } from './run-context.ts'

/**
 * `e:<run>:<seq>:<p|b|a><n>:<start>-<end>`: a span of a part, or of a side of a change, of one event. With `x`, of the n-th text of the
 * request that led to this event.
 */
const REFERENCE = /^e:(r_[0-9a-f]{12}):(\d{1,9}):([pbax])(\d{1,6}):(\d{1,12})-(\d{1,12})$/

const readEventText = async (parts: Parts, row: RunRow, seq: number, side: string, n: number) => {
  const { content, lines } = await readEventContent(parts, row, seq)
  const change = content.changes[n]
  return {
    text: side === 'p' ? content.parts[n]?.text : side === 'b' ? change?.before : change?.after,
    from: lines.from,
  }
}

export const createSensitiveHandlers = (parts: Parts) =>
  ({
    'sensitive.reveal': async ({ ref }, { via }) => {
      const [, run, seq, side, n, start, end] = REFERENCE.exec(ref) ?? []
      if (!run || !side) throw new RepriseError('wrong_usage', 'ref: not one of ours')
      const row = parts.index().findRun(run)
      const { text, from: origin } =
        side === 'x'
          ? await readContextText(parts, row, Number(seq), Number(n))
          : await readEventText(parts, row, Number(seq), side, Number(n))
      if (origin !== 'disk')
        return { text: null, why: 'the original is not kept: only the covered text is in the store' }
      const from = Number(start)
      const to = Number(end)
      // Only what was covered can be opened this way: any other span would be a way around the log of openings.
      const around = text?.slice(Math.max(0, from - 4096), to + 4096) ?? ''
      const shift = Math.max(0, from - 4096)
      const found = parts.redactor
        .find(around)
        .find((finding) => finding.start + shift === from && finding.end + shift === to)
      if (typeof text !== 'string' || !found)
        return { text: null, why: 'the session has changed since; look at the event again' }
      await parts.reveals.append({
        at: parts.now().toISOString(),
        ref,
        family: found.family,
        where: `${run}@${seq}`,
        by: via,
      })
      return { text: text.slice(from, to), why: null }
    },
    'sensitive.reads': async ({ limit }) => ({ reads: [...(await parts.reveals.read(limit ?? 200)).reads] }),
  }) satisfies SomeHandlers
