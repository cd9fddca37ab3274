import { type EventContent, type EventPlace, isTypedOnly, type RawLine, type SessionUnit } from '../adapter.ts'
import { describeRecords } from './detail.ts'
import { describeTypedPrompt } from './typed-prompts.ts'

/** One event in full. Codex spills nothing into files of its own: everything stands in the records. */
export const describeEvent = async (
  unit: SessionUnit,
  event: EventPlace,
  lines: readonly RawLine[],
): Promise<EventContent> =>
  isTypedOnly(unit) ? describeTypedPrompt(lines.map(({ value }) => value)) : describeRecords(event, lines)
