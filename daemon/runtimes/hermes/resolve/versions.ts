/** Releases whose loader was called: 0.20.0 itself, 0.20.4 through a community port of that release (runtime page, marks). */
export const VERIFIED = ['0.20.0', '0.20.4'] as const
export const NEWEST_VERIFIED = '0.20.4'

/** Rules that changed between the two. `0.20.0`: only the start directory; `0.20.4`: every directory from the git root down. */
export type Rules = (typeof VERIFIED)[number]

export interface RuleChoice {
  readonly rules: Rules
  /** Why it is not certain that these are the rules of that version; null when they were seen on it. */
  readonly unsure: string | null
}

/** Calendar names of releases stand beside the numbers: 2026.8.3 is 0.20.0, 2026.8.18 is 0.20.4. */
const CALENDAR: readonly (readonly [string, string])[] = [
  ['2026.8.3', '0.20.0'],
  ['2026.8.18', '0.20.4'],
]

/** `installed`: version of the program that was found, for a request that names none; no session of Hermes does. */
export function rulesOf(version: string | null, installed: string | null = null): RuleChoice {
  if (version === null && installed !== null) {
    const { rules, unsure } = rulesOf(installed)
    return {
      rules,
      unsure: unsure ?? `the version is not given; the rules of ${rules}, which is installed, were applied`,
    }
  }
  if (version === null)
    return { rules: NEWEST_VERIFIED, unsure: `the version is not given; the rules of ${NEWEST_VERIFIED} were applied` }
  const numbers = numbersOf(version)
  if (numbers === null)
    return {
      rules: NEWEST_VERIFIED,
      unsure: `${version} is no version number known here; the rules of ${NEWEST_VERIFIED} were applied`,
    }
  const isCalendar = (numbers[0] ?? 0) >= 2000
  const at = (index: number): readonly number[] => numbersOf(CALENDAR[index]?.[isCalendar ? 0 : 1] ?? '') ?? []
  const toOld = compare(numbers, at(0))
  const toNew = compare(numbers, at(1))
  if (toOld === 0) return { rules: '0.20.0', unsure: null }
  if (toNew === 0) return { rules: '0.20.4', unsure: null }
  const rules = toNew > 0 ? '0.20.4' : '0.20.0'
  return {
    rules,
    unsure: `the rules were seen on ${VERIFIED.join(' and ')}, not on ${version}; those of ${rules} were applied`,
  }
}

function numbersOf(version: string): readonly number[] | null {
  const found = /^v?(\d+(?:\.\d+)+)/.exec(version.trim())
  return found?.[1] === undefined ? null : found[1].split('.').map(Number)
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return 0
}
