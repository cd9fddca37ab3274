import type { EventDetail } from '../../contract/index.ts'
import { RepriseError } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import { EVENTS_OF_RUN, type EventRow, toEvent } from '../store/index/event-row.ts'
import { withCaptured } from './captured-events.ts'
import { cutsOfEvent } from './event-borders.ts'
import { readEventContent } from './event-content.ts'
import { parsePoint } from './references.ts'
import { type ShowOptions, showText } from './shown-text.ts'

/** One event with everything it says, secrets covered. `whole`: also what is longer than a screen should get. */
export const readEventDetail = async (parts: Parts, run: string, seq: number, whole: boolean): Promise<EventDetail> => {
  const index = parts.index()
  const row = index.findRun(parsePoint(run).run)
  const event = index.sql(`${EVENTS_OF_RUN} and events.seq = ?`).get(row.key, seq) as EventRow | undefined
  if (!event) throw new RepriseError('not_found', `${row.id} has no event ${seq}`)
  const { content, lines } = await readEventContent(parts, row, seq)
  const place = `e:${row.id}:${seq}`
  const cuts = await cutsOfEvent(parts, row, seq, content)
  const shown = (text: string, where: string, cut: ShowOptions['cut'] = []) =>
    showText(parts.redactor, text, `${place}:${where}`, { whole, archived: lines.from === 'archive', cut })
  return {
    event: withCaptured(index, row.id, [toEvent(event)])[0] ?? toEvent(event),
    parts:
      lines.from === 'none'
        ? [{ role: 'error', label: 'not kept', body: { text: lines.why ?? '', total: 0, hidden: [] }, format: 'text' }]
        : content.parts.map(({ role, label, text, format }, n) => ({
            role,
            label,
            body: shown(text, `p${n}`, cuts[n]),
            format,
          })),
    changes: content.changes.map(({ path, change, before, after, why }, n) => ({
      path,
      change,
      before: before === null ? null : shown(before, `b${n}`),
      after: after === null ? null : shown(after, `a${n}`),
      why,
    })),
    source: lines.lines[0] ? { path: lines.file, line: event.line, byte: event.byte, bytes: event.bytes } : null,
    fed_by: neighbours(parts, row.key, event.parent_seq === null ? [] : [event.parent_seq]),
    feeds: (
      index.sql('select seq from events where run = ? and parent_seq = ? order by seq limit 50').all(row.key, seq) as {
        seq: number
      }[]
    ).map((next) => next.seq),
  }
}

const neighbours = (parts: Parts, run: number, seqs: readonly number[]): number[] =>
  seqs.filter((seq) => parts.index().sql('select 1 from events where run = ? and seq = ?').get(run, seq) !== undefined)
