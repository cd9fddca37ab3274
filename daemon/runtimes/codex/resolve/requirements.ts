import path from 'node:path'
import { type Reading, readTomlFile } from './config-file.ts'
import type { ConfigLayer, Layers, Problem } from './layers.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { at, isTable, type Table, textsOf, toTable } from './values.ts'

/** What an administrator allows. */
export interface Requirements {
  readonly file: string
  /** Null: anything. */
  readonly approvalPolicies: readonly string[] | null
  readonly sandboxModes: readonly string[] | null
  readonly values: Table
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/** Keys that are applied here. */
const FOLLOWED: ReadonlySet<string> = new Set(['allowed_approval_policies', 'allowed_sandbox_modes', 'features'])

/** `requirements.toml` holds constraints, not values; a value of the managed file is the only one allowed (0.171.0). */
export function readRequirements(reading: Reading, layers: readonly ConfigLayer[]): Requirements {
  const file = path.join(reading.systemDir, 'requirements.toml')
  const read = readTomlFile(reading, file)
  const sources: Source[] = []
  const problems: Problem[] = []
  if (read.state !== 'missing') {
    const why = 'why' in read ? read.why : null
    if (why !== null) problems.push({ path: file, message: `the program does not start: ${why}` })
    sources.push(
      makeSource({
        path: file,
        scope: 'managed',
        kind: 'settings',
        label: 'requirements',
        status: read.state === 'ok' ? 'loaded' : read.state === 'invalid' ? 'not_loaded' : 'unknown',
        reason: why,
        rule: `constraints on what other layers say, no values of its own (${VERIFIED_VERSION})`,
        ...('raw' in read ? { raw: read.raw } : {}),
      }),
    )
  }
  const values = read.state === 'ok' ? toTable(read.value) : {}
  const managed = layers.find((layer) => layer.name === 'managed')
  const list = (key: string, single: string): readonly string[] | null => {
    const fixed = managed === undefined ? undefined : at(managed.value, single)
    if (typeof fixed === 'string') return [fixed]
    return Array.isArray(values[key]) ? textsOf(values[key]) : null
  }
  return {
    file,
    approvalPolicies: list('allowed_approval_policies', 'approval_policy'),
    sandboxModes: list('allowed_sandbox_modes', 'sandbox_mode'),
    values,
    sources,
    problems,
    unknown: Object.keys(values)
      .filter((key) => !FOLLOWED.has(key))
      .map((key) => ({ field: `policy ${key}`, why: `${file} sets ${key}, whose effect is not followed here` })),
  }
}

/** Features that the requirements fix, above every layer; null when there are none. */
export function requiredFeatures({ file, values }: Requirements): ConfigLayer | null {
  const features = at(values, 'features')
  if (!isTable(features)) return null
  return {
    name: 'managed',
    origin: file,
    folder: null,
    value: { features: features as Table },
    version: '',
    disabled: null,
    ignored: {},
    hooksFrom: null,
  }
}

export function withRequired(layers: Layers, required: ConfigLayer | null): Layers {
  return required === null ? layers : { ...layers, active: [required, ...layers.active] }
}
