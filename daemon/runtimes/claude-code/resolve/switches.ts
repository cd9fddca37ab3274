import path from 'node:path'
import { isOn } from './environment.ts'
import type { StartFlags } from './flags.ts'
import { parseJsonObject } from './json-file.ts'
import { withoutCredentials } from './mcp.ts'
import { listOf, type SettingsLayer, scalarOf } from './settings.ts'

export interface Narrowing {
  readonly sources: { readonly user: boolean; readonly project: boolean; readonly local: boolean }
  readonly whySourcesOff: string
}

export function readNarrowing(flags: StartFlags): Narrowing {
  if (flags.has('--restricted')) {
    return {
      sources: { user: false, project: false, local: false },
      whySourcesOff: '--restricted leaves out user, project and local sources',
    }
  }
  const given = flags.value('--setting-sources')
  if (given === null) return { sources: { user: true, project: true, local: true }, whySourcesOff: '' }
  const names = given.split(',').map((name) => name.trim())
  return {
    sources: { user: names.includes('user'), project: names.includes('project'), local: names.includes('local') },
    whySourcesOff: `--setting-sources "${given}" leaves this source out`,
  }
}

export function whyInstructionsOff(
  get: (name: string) => string | null,
  isSafe: boolean,
  isBare: boolean,
): string | null {
  if (isOn(get('CLAUDE_CODE_DISABLE_CLAUDE_MDS'))) return 'CLAUDE_CODE_DISABLE_CLAUDE_MDS is set'
  if (isSafe) return '--safe-mode loads no instruction files'
  if (isBare) return '--bare loads no instruction files'
  return null
}

export function whyMemoryOff(at: {
  flags: StartFlags
  layers: readonly SettingsLayer[]
  get: (name: string) => string | null
  isBare: boolean
}): string | null {
  if (isOn(at.get('CLAUDE_CODE_DISABLE_AUTO_MEMORY'))) return 'CLAUDE_CODE_DISABLE_AUTO_MEMORY is set'
  const setting = scalarOf(at.layers, 'autoMemoryEnabled')
  if (setting?.value === false) return `autoMemoryEnabled is false in ${setting.origin}`
  if (at.isBare) return '--bare switches automatic memory off'
  if (at.flags.has('--restricted')) return '--restricted switches automatic memory off'
  return null
}

export function addedDirectories(flags: StartFlags, layers: readonly SettingsLayer[], cwd: string): readonly string[] {
  const fromSettings = listOf(layers, 'permissions', 'additionalDirectories').flatMap(({ entry }) =>
    typeof entry === 'string' ? [entry] : [],
  )
  return withoutRepeats(
    [...flags.values('--add-dir'), ...fromSettings].map((directory) => path.resolve(cwd, directory)),
  )
}

export function agentsOfFlag(flags: StartFlags): Readonly<Record<string, unknown>> {
  const text = flags.value('--agents')
  if (text === null) return {}
  const parsed = parseJsonObject(text)
  return parsed.state === 'ok' ? parsed.value : {}
}

/** The flag beats the variable, the variable every setting, managed ones included (2.1.332). */
export function chooseModel(
  flags: StartFlags,
  get: (name: string) => string | null,
  layers: readonly SettingsLayer[],
): string | null {
  return flags.value('--model') ?? get('ANTHROPIC_MODEL') ?? textOrNull(scalarOf(layers, 'model')?.value)
}

export function endpoint(get: (name: string) => string | null): string {
  for (const [name, profile] of [
    ['CLAUDE_CODE_USE_BEDROCK', 'bedrock'],
    ['CLAUDE_CODE_USE_VERTEX', 'vertex'],
    ['CLAUDE_CODE_USE_FOUNDRY', 'foundry'],
  ] as const) {
    if (isOn(get(name))) return profile
  }
  const url = get('ANTHROPIC_BASE_URL')
  return url === null ? 'default' : withoutCredentials(url)
}

export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const withoutRepeats = (list: readonly string[]): string[] => [...new Set(list)]
