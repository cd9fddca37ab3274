import type { Disk } from '../../shared/disk.ts'
import type { ConfigLayer, Problem } from './layers.ts'
import { settingOf } from './settings.ts'
import { fileUri, makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { trimmed } from './values.ts'

export interface InstructionTexts {
  /** What replaces the built-in prompt; null when nothing does. */
  readonly base: Source | null
  readonly developer: Source | null
  readonly leftOut: readonly Source[]
  readonly problems: readonly Problem[]
}

/** Texts that settings bring into the first messages: the base prompt and the developer's own part (0.171.0). */
export function resolveInstructionTexts(disk: Disk, layers: readonly ConfigLayer[]): InstructionTexts {
  const problems: Problem[] = []
  const leftOut: Source[] = []
  const file = settingOf(layers, 'model_instructions_file')
  const inline = settingOf(layers, 'instructions')
  let base: Source | null = null
  if (typeof file?.value === 'string') {
    const place = file.value
    const read = disk.read(place, Number.MAX_SAFE_INTEGER)
    const draft = {
      path: place,
      scope: scopeOf(file.layer),
      kind: 'instructions' as const,
      label: 'base instructions',
      rule: `model_instructions_file in ${file.layer.origin} replaces the built-in prompt, trimmed (${VERIFIED_VERSION})`,
    }
    const text = read.state === 'ok' ? trimmed(read.bytes.toString('utf8')) : ''
    if (read.state === 'ok' && text !== '') base = makeSource({ ...draft, status: 'loaded', raw: read.bytes, text })
    else {
      const why =
        read.state === 'ok'
          ? 'it is blank'
          : read.state === 'unreadable'
            ? read.why
            : `it is ${read.state.replace('_', ' ')}`
      leftOut.push(makeSource({ ...draft, status: 'not_loaded', reason: `the program does not start: ${why}` }))
      problems.push({
        path: file.layer.origin,
        message: `model_instructions_file names ${place}, and ${why}; the program does not start`,
      })
    }
  }
  if (typeof inline?.value === 'string') {
    const source = keySource(inline.layer, 'instructions', 'base instructions', inline.value)
    if (file !== null)
      leftOut.push({ ...source, status: 'not_loaded', text: null, reason: 'model_instructions_file wins' })
    else if (inline.value === '')
      leftOut.push({
        ...source,
        status: 'not_loaded',
        text: null,
        reason: 'empty: the request has no base prompt at all',
      })
    else base = source
  }
  const developer = settingOf(layers, 'developer_instructions')
  return {
    base,
    developer:
      typeof developer?.value === 'string' && developer.value !== ''
        ? keySource(developer.layer, 'developer_instructions', 'developer instructions', developer.value)
        : null,
    leftOut,
    problems,
  }
}

const scopeOf = (layer: ConfigLayer): string => (layer.name === 'flags' ? 'flag' : layer.name)

/** A text that is the value of one key: no file of its own. */
function keySource(layer: ConfigLayer, key: string, label: string, text: string): Source {
  return makeSource({
    uri: layer.folder === null ? `${layer.origin}#${key}` : `${fileUri(layer.origin)}#${key}`,
    path: layer.folder === null ? null : layer.origin,
    scope: scopeOf(layer),
    kind: 'instructions',
    label,
    status: 'loaded',
    rule: `the highest layer that sets ${key}, as written (${VERIFIED_VERSION})`,
    text,
  })
}
