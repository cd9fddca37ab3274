import { applyKeyEdits } from '../files/structured/apply-key-edits.ts'
import type { StructuredFormat } from '../files/structured/format.ts'
import { isRefused, type KeyEdit, type KeyPath, type Refused, showKey } from '../files/structured/key-path.ts'
import { readKey } from '../files/structured/read-keys.ts'
import { belongsTo, leadsTo, type SharedFile } from '../runtimes/shared/shared-file.ts'

export interface Merged {
  readonly text: string
  /** Keys that keep what they have now although the target has something else. */
  readonly keeps: readonly string[]
}

/**
 * The text to be written for a file that is configuration only in part. Where most of it is configuration the target's own bytes are the
 * basis, and what must stay is put into them; where most of it is not, the present bytes are.
 */
export function mergeShared(
  { now, target }: { readonly now: string | null; readonly target: string },
  format: StructuredFormat,
  rule: SharedFile['rule'],
): Merged | Refused {
  if (now === null) {
    if ('state' in rule) return { text: target, keeps: [] }
    const edits = pick(target, format, rule.configuration)
    return isRefused(edits) ? edits : apply('{}\n', format, edits, [])
  }
  const was = wholeOf(now, format)
  const is = wholeOf(target, format)
  if (isRefused(was)) return was
  if (isRefused(is)) return is
  if ('configuration' in rule) {
    const edits = differences(was.value, is.value, (key) => chosen(key, rule.configuration))
    const left = differences(was.value, is.value, (key) =>
      belongsTo(key, rule.configuration) ? 'leave' : leadsTo(key, rule.configuration) ? 'enter' : 'take',
    )
    return apply(
      now,
      format,
      edits,
      left.map(({ key }) => showKey(key)),
    )
  }
  const back = differences(is.value, was.value, (key) => chosen(key, rule.state))
  return apply(
    target,
    format,
    back,
    back.map(({ key }) => showKey(key)),
  )
}

/** One key of the present text as the target has it; everything else stays. */
export function mergeKey(now: string, target: string, format: StructuredFormat, key: KeyPath): Merged | Refused {
  const wanted = readKey(target, format, key)
  if (wanted !== null && isRefused(wanted)) return wanted
  const edit: KeyEdit = wanted === null ? { key } : { key, value: wanted.value }
  return apply(now, format, [edit], [])
}

const chosen = (key: KeyPath, named: readonly KeyPath[]): 'take' | 'enter' | 'leave' =>
  belongsTo(key, named) ? 'take' : leadsTo(key, named) ? 'enter' : 'leave'

function apply(text: string, format: StructuredFormat, edits: readonly KeyEdit[], keeps: readonly string[]) {
  const edited = applyKeyEdits(text, format, edits)
  return isRefused(edited) ? edited : { text: edited.text, keeps }
}

function wholeOf(text: string, format: StructuredFormat): { readonly value: unknown } | Refused {
  const whole = readKey(text, format, [])
  return whole ?? { value: {} }
}

function pick(text: string, format: StructuredFormat, named: readonly KeyPath[]): readonly KeyEdit[] | Refused {
  const whole = wholeOf(text, format)
  return isRefused(whole) ? whole : differences({}, whole.value, (key) => chosen(key, named))
}

/** Edits that lead from one value to the other, at the outermost keys that are to be taken and differ. */
function differences(
  from: unknown,
  to: unknown,
  choose: (key: KeyPath) => 'take' | 'enter' | 'leave',
  under: KeyPath = [],
): KeyEdit[] {
  if (!isTable(to) && !isTable(from)) return []
  const [old, wanted] = [isTable(from) ? from : {}, isTable(to) ? to : {}]
  return [...new Set([...Object.keys(old), ...Object.keys(wanted)])].flatMap((name): KeyEdit[] => {
    const key = [...under, name]
    const [was, is] = [old[name], wanted[name]]
    if (JSON.stringify(was) === JSON.stringify(is)) return []
    switch (choose(key)) {
      case 'leave':
        return []
      case 'enter':
        return differences(was, is, choose, key)
      case 'take':
        // Into tables on both sides: a smaller edit leaves more of the file as it is.
        if (isTable(was) && isTable(is)) return differences(was, is, () => 'take', key)
        return [is === undefined ? { key } : { key, value: is }]
      default:
        return []
    }
  })
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
