import { homedir } from 'node:os'
import type { Output } from '../../contract/endpoints.ts'
import { isReading, progressLine } from './progress.ts'

type Status = Output<'status.get'>
type Runs = Output<'runs.list'>['runs']
type Runtime = Runs[number]['runtime']

const names: Readonly<Record<Runtime, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  openclaw: 'OpenClaw',
  hermes: 'Hermes',
  native: 'Reprise agent',
  command: 'Command',
}

/** What was found, in a few lines for a terminal. `runs` are the newest ones, newest first. */
export function summarise(status: Status, runs: Runs, home = homedir()): string {
  const short = (path: string) =>
    path === home ? '~' : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
  const lines = [`Reprise ${status.daemon.version}, data in ${short(status.daemon.data_dir)}`, '']
  if (status.homes.length === 0) return [...lines, ...nothingFound(status, short)].join('\n')
  for (const each of status.homes) {
    const facts = [
      each.version ?? 'version unknown',
      counted(each.sessions, 'session'),
      ...(each.unreadable > 0 ? [counted(each.unreadable, 'unreadable line')] : []),
      ...(each.state === 'ok' ? [] : [each.reason ?? each.state]),
    ]
    lines.push(`  ${names[each.runtime].padEnd(14)}${short(each.path).padEnd(26)}  ${facts.join(', ')}`)
  }
  for (const each of status.looked) {
    if (each.found > 0 || status.homes.some((home) => home.runtime === each.runtime)) continue
    lines.push(`  ${names[each.runtime].padEnd(14)}${each.supported ? 'not found, ' : ''}${lookedIn(each, short)}`)
  }
  lines.push('', `  ${counted(status.store.runs, 'run')}, ${counted(status.store.events, 'event')}`)
  if (status.gap_count > 0) lines[lines.length - 1] += `, ${counted(status.gap_count, 'gap')} (shown under Health)`
  if (isReading(status)) lines.push(`  still ${progressLine(status)}; this goes on in the background`)
  if (runs.length > 0) lines.push('', ...runs.map(runLine))
  return lines.join('\n')
}

/** A runtime without a reader was not looked for: that must not read as absent. */
function lookedIn({ places, supported }: Status['looked'][number], short: (path: string) => string): string {
  return supported ? `looked in ${places.map(short).join(' and ')}` : 'not read by this version yet'
}

function nothingFound(status: Status, short: (path: string) => string): string[] {
  const looked = status.looked.map((each) => `  ${names[each.runtime].padEnd(14)}${lookedIn(each, short)}`)
  return ['No agent that this version reads was found.', ...looked, '', 'To see Reprise on sample data:  npm run demo']
}

function runLine(run: Runs[number]): string {
  const when = run.started_at === null ? 'time unknown    ' : localMinute(run.started_at)
  return `  ${when}  ${names[run.runtime].padEnd(12)}  ${clip(run.title, 60).padEnd(60)}  ${counted(run.events, 'event')}`
}

/** Local time, sortable: `2026-11-30 14:03`. */
function localMinute(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return 'time unknown    '
  const two = (n: number) => String(n).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

/** Titles come from prompts: control characters in them must not reach the terminal. */
function clip(text: string, length: number): string {
  const plain = text.replace(/\p{Cc}+/gu, ' ').trim()
  const points = [...plain]
  return points.length > length ? `${points.slice(0, length - 1).join('')}…` : plain
}

const counted = (n: number, noun: string) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`
