import { words } from '../words/en.ts'

/** Dates, numbers and sizes as the viewer writes them (`Intl`), in the viewer's zone. */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const tenth = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
export const formatNumber = (value: number) => whole.format(value)

/** `412k`; the exact figure stands in the inspector. */
export function formatTokens(value: number): string {
  if (value < 1000) return whole.format(value)
  if (value < 999_500) return `${value < 10_000 ? tenth.format(value / 1000) : whole.format(value / 1000)}k`
  return `${tenth.format(value / 1_000_000)}M`
}

export function formatBytes(value: number): string {
  if (value < 1000) return `${whole.format(value)} B`
  if (value < 1_000_000) return `${tenth.format(value / 1000)} kB`
  if (value < 1_000_000_000) return `${tenth.format(value / 1_000_000)} MB`
  return `${tenth.format(value / 1_000_000_000)} GB`
}

/** `840 ms`, `1.4 s`, `3 min 20 s`, `2 h 05 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${tenth.format(ms / 1000)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
  const minutes = Math.round(seconds / 60)
  return `${whole.format(Math.floor(minutes / 60))} h ${String(minutes % 60).padStart(2, '0')} min`
}

const two = (value: number, width = 2) => String(value).padStart(width, '0')

/** `14:02`. */
export function formatClock(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? words.unknown : `${two(date.getHours())}:${two(date.getMinutes())}`
}
/** `14:02:31`, for lists of events. */
export function formatClockSeconds(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime())
    ? words.unknown
    : `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}
/** `2026-11-30 14:02:31.207 +01:00`. */
export function formatExact(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return at
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)} ${zone}`
}

/** Local calendar day, as a key that sorts. */
export function dayKey(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '' : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' })
const longDay = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})

export function formatDay(key: string, now: Date): string {
  if (key === '') return words.unknownDay
  const day = new Date(`${key}T12:00:00`)
  if (key === dayKey(now.toISOString())) return words.today
  if (key === dayKey(new Date(now.getTime() - 86_400_000).toISOString())) return words.yesterday
  return day.getFullYear() === now.getFullYear() ? weekday.format(day) : longDay.format(day)
}

/** `2026-11-30 14:02`, for axes and ranges. */
export const formatStamp = (at: string) => formatExact(at).slice(0, 16)

const tickForms = {
  day: new Intl.DateTimeFormat(undefined, { weekday: 'short' }),
  week: new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' }),
  month: new Intl.DateTimeFormat(undefined, { month: 'short' }),
} as const

/**
 * A mark of a time axis, as coarse as its moment allows: `15:58:30`, `15:58`, `Mon 23`, `Nov 29` where a week begins (so that an
 * axis of weeks names its months), `Nov`, `2026`. Times are those of the rows: 24 hours, whatever the locale says.
 */
export function formatTick(date: Date): string {
  const at = date.toISOString()
  if (date.getMilliseconds() !== 0) return `${formatClockSeconds(at)}.${two(date.getMilliseconds(), 3)}`
  if (date.getSeconds() !== 0) return formatClockSeconds(at)
  if (date.getHours() !== 0 || date.getMinutes() !== 0) return formatClock(at)
  if (date.getDate() === 1) return date.getMonth() === 0 ? String(date.getFullYear()) : tickForms.month.format(date)
  return date.getDay() === 0 ? tickForms.week.format(date) : `${tickForms.day.format(date)} ${date.getDate()}`
}

/** Ids are short on screen and whole when copied: `r_91d0`, 8 digits of a digest. */
export const shortId = (id: string) => (/^[a-z]_[0-9a-f]{7,}$/.test(id) ? id.slice(0, 8) : id)
export const shortDigest = (digest: string) => digest.replace(/^sha256:/, '').slice(0, 8)

/** Control characters made visible: a name may carry a newline or an escape sequence. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g
export const escapeControls = (text: string) =>
  text.replace(CONTROL, (character) =>
    character === '\n'
      ? '\\n'
      : character === '\t'
        ? '\\t'
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
export const hasControls = (text: string) => text.search(CONTROL) >= 0
