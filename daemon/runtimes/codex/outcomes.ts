import { asList, asName, asNumber, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { parseObject } from './records.ts'

/** What the output of a call says of how the call ended. */
export interface Outcome {
  readonly text: string
  /** Null while a command runs on. */
  readonly ok: boolean | null
  /** Why the call was refused; null when it was not. */
  readonly refused: string | null
  /** Nothing was run: refused, not a tool, arguments that could not be read. */
  readonly notRun: boolean
  readonly exitCode: number | null
  readonly running: boolean
}

/** Fixed words of the program for calls that it did not carry out (0.171.0 unless said otherwise). */
const refusals: readonly RegExp[] = [
  /^Command blocked by \w+ hook: /,
  /^exec_command failed: .*Rejected\(/s,
  /\brejected: /,
  /^(exec command|patch|command) rejected by user/i, // until 2025
  /^rejected by user/i,
  /approval policy is .*reject command/i,
]
const failures: readonly RegExp[] = [
  /^unsupported call: /,
  /^unsupported custom tool call: /,
  /^failed to parse function arguments: /,
  /^exec_command failed: /,
  /^apply_patch verification failed: /,
  /^aborted( by user)?\b/,
  /^(Wall time: [\d.]+ seconds\n)?aborted by user/,
  /^Script (failed|error)/,
  /^write_stdin failed: /,
]
const notRun: readonly RegExp[] = [
  /^unsupported (custom tool )?call: /,
  /^failed to parse function arguments: /,
  /^apply_patch verification failed: /,
]
/** What the operating system answers to a command that the sandbox holds back. */
const sandboxed = /read-only file system|operation not permitted|permission denied|seccomp|landlock/i

export function readOutcome(item: Row): Outcome {
  const { text, success } = textOfOutput(item.output)
  const structured = parseObject(text)
  const metadata = asRow(structured?.metadata)
  const shown = metadata === null ? text : (asText(structured?.output) ?? text)
  const exitCode = asNumber(metadata?.exit_code) ?? exitCodeIn(text)
  const refused = refusals.some((words) => words.test(text)) ? text : null
  const running = /^Process running with session ID \d+$/m.test(text) || /^Script running with cell ID /.test(text)
  const failed =
    refused !== null ||
    success === false ||
    (exitCode !== null && exitCode !== 0) ||
    failures.some((words) => words.test(text))
  return {
    text: shown,
    ok: failed ? false : running ? null : true,
    refused,
    notRun: refused !== null || notRun.some((words) => words.test(text)),
    exitCode,
    running,
  }
}

/** A text, a list of parts, or `{content, success}`. */
function textOfOutput(output: unknown): { readonly text: string; readonly success: unknown } {
  const row = asRow(output)
  if (row !== null) return { text: asText(row.content) ?? plainText(row.content), success: row.success }
  return { text: plainText(output), success: null }
}

function exitCodeIn(text: string): number | null {
  const head = text.slice(0, 400)
  const found = /^(?:Process exited with code|Exit code:) (-?\d+)$/m.exec(head)
  return found === null ? null : Number(found[1])
}

/** Output without what differs between two equal runs (page 2): ids of chunks, times, counts. */
export function steadyOutput(text: string): string {
  return text
    .replace(/^Chunk ID: [0-9a-f]+$/m, '')
    .replace(/^Wall time:? [\d.]+ seconds$/m, '')
    .replace(/^Process running with session ID \d+$/m, '')
    .replace(/"(chunk_id|wall_time_seconds)":("[^"]*"|[\d.e-]+)/g, '')
}

export const soundsSandboxed = (text: string): boolean => sandboxed.test(text)

/** Milliseconds of `{secs, nanos}`. */
export function durationOf(value: unknown): number | null {
  const row = asRow(value)
  const seconds = asNumber(row?.secs)
  return row === null || seconds === null ? null : Math.round(seconds * 1000 + (asNumber(row.nanos) ?? 0) / 1e6)
}

/** How a call ended, as an item or event of the program tells it, whatever the version calls it. */
export interface Finish {
  readonly id: string | null
  readonly tool: string
  readonly ok: boolean | null
  readonly declined: boolean
  readonly durationMs: number | null
  /** What it was given, for a call that stands nowhere else. */
  readonly input: string
  readonly output: string
  readonly changes: unknown
}

export function readFinish(payload: Row): Finish | null {
  const item = payload.type === 'item_completed' ? asRow(payload.item) : null
  const row = item ?? payload
  const id = asName(row.id) ?? asName(row.call_id)
  const status = asName(row.status)
  const base = {
    id,
    declined: status === 'declined',
    durationMs: durationOf(row.duration) ?? between(payload.started_at_ms, payload.completed_at_ms),
    changes: null,
  }
  switch (item === null ? payload.type : item.type) {
    case 'CommandExecution':
    case 'exec_command_end':
      return {
        ...base,
        tool: 'exec_command',
        ok: asNumber(row.exit_code) === 0 && status !== 'failed' && status !== 'declined',
        input: asList(row.command)
          .filter((part) => typeof part === 'string')
          .join('\0'),
        output:
          asText(row.aggregated_output) ?? [asText(row.stdout), asText(row.stderr)].filter((text) => text).join('\n'),
      }
    case 'FileChange':
    case 'patch_apply_end':
      return {
        ...base,
        tool: 'apply_patch',
        ok: status === null ? row.success === true : status === 'completed',
        input: Object.keys(asRow(row.changes) ?? {}).join('\n'),
        output: [asText(row.stdout), asText(row.stderr)].filter((text) => text).join('\n'),
        changes: row.changes,
      }
    case 'McpToolCall':
    case 'mcp_tool_call_end':
      return readMcpFinish(row, base)
    case 'DynamicToolCall':
      return {
        ...base,
        tool: asName(row.tool) ?? 'dynamic tool',
        ok: status !== 'failed' && row.success !== false,
        input: '',
        output: '',
      }
    default:
      return null
  }
}

function readMcpFinish(row: Row, base: Omit<Finish, 'tool' | 'ok' | 'input' | 'output'>): Finish {
  const invocation = asRow(row.invocation) ?? row
  const result = asRow(row.result)
  // `{Ok: …}` or `{Err: …}` in the events of older versions.
  const inner = asRow(result?.Ok) ?? result
  const failed =
    base.declined || asName(row.status) === 'failed' || inner?.isError === true || (result !== null && 'Err' in result)
  return {
    ...base,
    tool: `mcp__${asName(invocation.server) ?? 'unknown'}__${asName(invocation.tool) ?? 'unknown'}`,
    ok: !failed,
    input: JSON.stringify(invocation.arguments ?? null),
    output: plainText(inner?.content) || (asText(result?.Err) ?? asText(asRow(row.error)?.message) ?? ''),
  }
}

function between(from: unknown, to: unknown): number | null {
  const start = asNumber(from)
  const end = asNumber(to)
  return start === null || end === null || end < start ? null : end - start
}
