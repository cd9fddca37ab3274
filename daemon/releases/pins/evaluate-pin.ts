import { isDigest, type ManifestBody, type Pin, type PinPart, type PinViolation } from '../../../contract/index.ts'
import { type Change, compareFields, type FieldSide } from '../../manifest/compare/fields.ts'
import { knowledgeOf } from '../../manifest/compare/knowledge.ts'
import { findPart } from './pin-parts.ts'
import type { PinRecord } from './pin-records.ts'

/** What else is known of a home, looked up only where a part differs. */
export interface PinEvidence {
  /** When a file, key or program was first seen as it is now, after the pin was set. */
  since(part: PinPart, found: string | null): string | null
  /** The bytes of a file are kept. */
  isKept(digest: string): Promise<boolean>
  /** Models that answered in the newest run of the home. */
  lastModels(): readonly string[]
}

/** Differences in these are no broken promise of a configuration: where it runs and what it works on. */
const ELSEWHERE = new Set(['repository', 'external state', 'environment', 'flags and start'])

/** Whether what would be in force is what the pin says. */
export async function evaluatePin(
  pin: PinRecord,
  wanted: ManifestBody,
  now: ManifestBody,
  evidence: PinEvidence,
): Promise<Pick<Pin, 'state' | 'violations'>> {
  const violations: PinViolation[] = []
  let unknown = 0
  const add = async (part: PinPart, found: string | null, why: string, isUnknown = false): Promise<void> => {
    if (isUnknown) unknown += 1
    violations.push({
      kind: part.kind,
      name: part.name,
      wanted: part.value,
      found,
      since: isUnknown ? null : evidence.since(part, found),
      why,
      restorable:
        part.kind === 'file' && part.value !== null && isDigest(part.value) && (await evidence.isKept(part.value)),
    })
  }
  if (now.execution.runtime !== wanted.execution.runtime) {
    const part = { kind: 'binary' as const, name: '', value: wanted.execution.runtime }
    await add(part, now.execution.runtime, 'another agent')
  } else {
    for (const part of pin.parts) {
      if (part.kind !== 'manifest') await checkPart(part, now, evidence, add)
      else for (const one of wholeManifest(wanted, now)) await add(one.part, one.found, one.why, one.unknown)
    }
  }
  const broken = violations.length > unknown
  return { state: broken ? 'cannot' : unknown > 0 ? 'unknown' : 'honoured', violations }
}

async function checkPart(
  part: PinPart,
  now: ManifestBody,
  evidence: PinEvidence,
  add: (part: PinPart, found: string | null, why: string, isUnknown?: boolean) => Promise<void>,
): Promise<void> {
  const found = findPart(now, part)
  if (!found.there && found.unknown === null) return add(part, null, 'it is not there any more')
  if (found.floats)
    return add(
      part,
      found.value,
      'the command that starts it leaves its version open: the next start may fetch another one',
    )
  if (found.unknown !== null) return add(part, null, found.unknown, true)
  if (found.value === part.value) return
  if (part.kind !== 'model' || part.value === null || found.value === null)
    return add(part, found.value, `it is another ${part.kind === 'binary' ? 'program' : 'content or version'}`)
  // A name such as `opus` is settled by the service when a run begins; what it stood for last is the best that can be known.
  if (!isAliasOf(found.value, part.value)) return add(part, found.value, 'another model is asked for')
  const last = evidence.lastModels()
  if (last.includes(part.value)) return
  const moved = last.find((model) => isAliasOf(found.value ?? '', model))
  if (moved !== undefined) return add(part, moved, `${found.value} now stands for ${moved}`)
  return add(part, found.value, `what ${found.value} stands for is only known once a run has begun`, true)
}

const isAliasOf = (alias: string, model: string): boolean =>
  alias !== '' && !/\d/.test(alias) && model !== alias && model.toLowerCase().includes(alias.toLowerCase())

interface Deviation {
  readonly part: PinPart
  readonly found: string | null
  readonly why: string
  readonly unknown: boolean
}

function wholeManifest(wanted: ManifestBody, now: ManifestBody): readonly Deviation[] {
  const side = (body: ManifestBody): FieldSide => ({ body, knowledge: knowledgeOf(body), cover: (text) => text })
  const deviations = new Map<string, Deviation>()
  for (const change of compareFields(side(wanted), side(now)).changes) {
    // What the pin itself does not know it cannot demand.
    if (ELSEWHERE.has(change.category) || change.unknown_on === 'a') continue
    const deviation = toDeviation(change)
    const key = `${deviation.part.kind}\0${deviation.part.name}`
    if (!deviations.has(key) || (deviations.get(key)?.unknown && !deviation.unknown)) deviations.set(key, deviation)
  }
  for (const { name, package_floating, package_version, status } of now.capabilities.mcp_servers)
    if (status === 'active' && package_floating === true && !deviations.has(`mcp_package\0${name}`))
      deviations.set(`mcp_package\0${name}`, {
        part: { kind: 'mcp_package', name, value: package_version },
        found: package_version,
        why: 'the command that starts it leaves its version open: the next start may fetch another one',
        unknown: false,
      })
  return [...deviations.values()]
}

function toDeviation(change: Change): Deviation {
  const { plain, item, path, unknown_on } = change
  const unknown = unknown_on === 'b'
  const row = item?.b ?? item?.a ?? {}
  const why = unknown ? 'it could not be looked at' : `${path} differs`
  const of = (kind: PinPart['kind'], name: string): Deviation => ({
    part: { kind, name, value: shown(change.before) },
    found: shown(change.after),
    why,
    unknown,
  })
  if (plain.startsWith('execution.runtime') || plain.startsWith('execution.program')) return of('binary', '')
  if (plain === 'execution.model') return of('model', '')
  if (item?.list === 'capabilities.plugins') return of('plugin', item.key)
  if (item?.list === 'capabilities.mcp_servers' && /package_version/.test(plain)) return of('mcp_package', item.key)
  const file = typeof row.path === 'string' ? row.path : null
  if (file !== null && (item?.list === 'instructions.sources' || item?.list === 'capabilities.files')) {
    const digestOf = (one: Readonly<Record<string, unknown>> | null | undefined): string | null =>
      typeof one?.digest === 'string' ? one.digest : null
    return {
      part: { kind: 'file', name: file, value: digestOf(item.a) },
      found: digestOf(item.b),
      why: item.b === null ? 'it is not there any more' : item.a === null ? 'it was not there' : why,
      unknown,
    }
  }
  return of('manifest', path)
}

function shown(value: unknown): string | null {
  if (value === null || value === undefined) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 300 ? `${text.slice(0, 299)}…` : text
}
