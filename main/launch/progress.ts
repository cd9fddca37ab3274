import { setTimeout as sleep } from 'node:timers/promises'
import type { Output } from '../../contract/endpoints.ts'
import { callDaemon } from '../daemon/call.ts'

type Status = Output<'status.get'>

export interface Terminal {
  /** Rewrites its own line on a terminal; elsewhere prints a line now and then. */
  readonly interactive: boolean
  readonly write: (text: string) => void
}

/** Nothing new for this long means that waiting on has no use; Health says what is wrong. */
const patience = 15_000

/**
 * Shows how far the history is read until that is done or the limit is over. Words become searchable later, which needs no waiting.
 * Returns the last status seen.
 */
export async function followImport(
  socket: string,
  terminal: Terminal,
  limit: number,
  stop: AbortSignal,
  now = Date.now,
): Promise<Status> {
  const began = now()
  let lastLine = began
  let drawn = false
  let status = await callDaemon(socket, 'status.get', {})
  let seen = { signs: signsOf(status), at: began }
  while (isReading(status) && now() - began < limit && now() - seen.at < patience && !stop.aborted) {
    if (terminal.interactive) {
      terminal.write(`\r\u001b[2K${progressLine(status)}`)
      drawn = true
    } else if (now() - lastLine >= 2000) {
      terminal.write(`${progressLine(status)}\n`)
      lastLine = now()
    }
    await sleep(100)
    status = await callDaemon(socket, 'status.get', {})
    if (signsOf(status) !== seen.signs) seen = { signs: signsOf(status), at: now() }
  }
  if (drawn) terminal.write('\r\u001b[2K')
  return status
}

const signsOf = ({ progress, store }: Pick<Status, 'progress' | 'store'>) => JSON.stringify([progress, store])

/** Reading has not ended while a phase of it is under way, or a home that can be read has not been read to its end once. */
export function isReading({ daemon, homes, progress }: Pick<Status, 'daemon' | 'homes' | 'progress'>): boolean {
  return (
    daemon.state === 'starting' ||
    progress.some(({ phase }) => phase === 'discovering' || phase === 'reading') ||
    homes.some(({ state, last_read_at }) => state === 'ok' && last_read_at === null)
  )
}

/** For example `reading [████████░░░░░░░░░░░░]  41 %  212 of 500 files, 98 sessions`. */
export function progressLine({ progress }: Pick<Status, 'progress'>): string {
  const sum = (pick: (each: Status['progress'][number]) => number) =>
    progress.reduce((total, each) => total + pick(each), 0)
  const files = sum((each) => each.files_total)
  const bytes = sum((each) => each.bytes_total)
  if (files === 0) return 'looking for agents and their sessions'
  const share = Math.min(1, bytes > 0 ? sum((each) => each.bytes_done) / bytes : sum((each) => each.files_done) / files)
  const full = Math.floor(share * 20)
  const percent = String(Math.floor(share * 100)).padStart(3)
  const counts = `${sum((each) => each.files_done).toLocaleString('en')} of ${files.toLocaleString('en')} files, ${sum((each) => each.sessions).toLocaleString('en')} sessions`
  return `reading [${'█'.repeat(full)}${'░'.repeat(20 - full)}] ${percent} %  ${counts}`
}
