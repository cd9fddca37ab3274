import { isUtf8 } from 'node:buffer'
import path from 'node:path'
import {
  type EventContent,
  type EventPlace,
  isTypedOnly,
  type RawLine,
  type ReadSideFile,
  type SessionUnit,
  type SideFileContent,
} from '../adapter.ts'
import { type DetailRequest, readDetail } from './detail.ts'
import { sideFoldersOf } from './list-sessions.ts'
import { describeTypedPrompt } from './typed-prompts.ts'

/** One event in full, what lies in files of its own included. Only side files of this very session are asked for. */
export const describeEvent = async (
  unit: SessionUnit,
  event: EventPlace,
  lines: readonly RawLine[],
  readSideFile: ReadSideFile,
): Promise<EventContent> => {
  if (isTypedOnly(unit)) return describeTypedPrompt(lines.map(({ value }) => value))
  const found = new Map<string, SideFileContent>()
  const wanted = new Set<string>()
  const request: DetailRequest = {
    kind: event.kind,
    id: event.id,
    toolUseId: event.toolUseId,
    tool: event.tool,
    rows: lines.map(({ value }) => value),
    readSideFile: (named) => {
      wanted.add(named)
      return textOf(found.get(named))
    },
    whyMissing: (named) => whyMissing(found.get(named)),
  }
  const first = readDetail(request)
  if (wanted.size === 0) return first
  // The first pass told which files are needed; now that they are read, the second one puts the event together.
  for (const named of wanted) found.set(named, await readSideFile(placeOf(unit, named)))
  const { parts, changes } = readDetail(request)
  const cut = [...found].filter(([, { bytes, total }]) => bytes !== null && bytes.length < total)
  return {
    parts: [
      ...parts,
      ...cut.map(
        ([named, { bytes, total }]) =>
          ({
            role: 'context',
            label: 'Cut',
            text: `Of ${named} the first ${bytes?.length ?? 0} of ${total} bytes are shown.`,
            format: 'text',
          }) as const,
      ),
    ],
    changes,
  }
}

/**
 * The record names an output by the absolute path of the machine it was written on, a checkpoint by its mere name; what counts is the
 * file of that name in this session's folders.
 */
const placeOf = (unit: SessionUnit, named: string): string => {
  const { session, checkpoints } = sideFoldersOf(unit)
  const steps = named.split(/[\\/]/)
  const last = steps.at(-1) ?? named
  return steps.length === 1 ? path.join(checkpoints, last) : path.join(session, 'tool-results', last)
}

const textOf = (content: SideFileContent | undefined): string | null => {
  if (!content?.bytes || isBinary(content)) return null
  return Buffer.from(content.bytes).toString('utf8')
}

const whyMissing = (content: SideFileContent | undefined): string | null => {
  if (!content) return null
  return content.bytes === null ? content.why : isBinary(content) ? `no text (${content.total} bytes)` : null
}

/** Text may have a damaged place or end in half a character where it was cut; what holds NULs, or is no UTF-8 at its head, is none. */
const isBinary = ({ bytes }: SideFileContent): boolean => {
  if (bytes === null) return false
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64 * 1024))
  if (head.includes(0)) return true
  if (isUtf8(head)) return false
  const lost = head.toString('utf8').split('\ufffd').length - 1
  return lost > head.length / 50
}
