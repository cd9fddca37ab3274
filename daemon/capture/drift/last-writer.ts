import { type DriftWriter, driftSchema, type RollbackTarget, type Writer } from '../../../contract/index.ts'
import type { IndexReader } from '../../store/index/reader.ts'

/**
 * Who last changed a file of configuration after a target, by what was seen: the run of the target itself is no other run. `unknown` where no
 * change of it was seen.
 */
export function readLastWriter(
  index: Pick<IndexReader, 'sql'>,
  homeId: string,
  file: string,
  target: Pick<RollbackTarget, 'run' | 'at'>,
): Writer {
  const row = index
    .sql(
      `select doc from drifts where home = ? and at >= ? and kind <> 'first_seen'
       and exists (select 1 from drift_words where drift_words.drift = drifts.id and drift_words.path = ?) order by at desc limit 1`,
    )
    .get(homeId, target.at ?? '', file) as { doc: string } | undefined
  if (!row) return { who: 'unknown', run: null, seq: null, at: null }
  const { writer, at } = driftSchema.parse(JSON.parse(row.doc))
  return { who: named(writer, target.run), run: writer.run, seq: writer.seq, at }
}

function named({ who, run }: DriftWriter, own: string | null): Writer['who'] {
  switch (who) {
    case 'run':
      return run === own ? 'edit tool' : 'another run'
    case 'agent update':
    case 'agent':
    case 'reprise':
    case 'user':
    case 'unknown':
      return who
    default:
      return who satisfies never
  }
}
