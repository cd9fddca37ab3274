import type { StartFlags } from './flags.ts'
import type { ConfigLayer } from './layers.ts'
import { settingOf, textSetting } from './settings.ts'
import { VERIFIED_VERSION } from './sources.ts'
import { textOf, withoutCredentials } from './values.ts'

/** Without any configuration (0.171.0). Another version has another default, which is then not known. */
const DEFAULT_MODEL = 'gpt-6.2-sol'
const DEFAULT_EFFORT = 'low'
const DEFAULT_PROVIDER = 'openai'

export interface ModelChoice {
  readonly model: string | null
  readonly reasoning: string | null
  /** The provider's name, which is what a session record tells of it too. */
  readonly provider: string
  /** Its address without credentials; null where that is built in. */
  readonly baseUrl: string | null
  /** Variable the key is taken from; null when the provider names none. */
  readonly keyVariable: string | null
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

export function chooseModel(layers: readonly ConfigLayer[], flags: StartFlags, version: string | null): ModelChoice {
  const unknown: { field: string; why: string }[] = []
  const known = version === null || version === VERIFIED_VERSION
  const named = flags.value('--model') ?? textSetting(layers, 'model')
  const oss = flags.has('--oss')
  const model = named ?? (known && !oss ? DEFAULT_MODEL : null)
  if (model === null)
    unknown.push({
      field: 'execution.model',
      why: oss
        ? 'the default model of a local provider is not known here'
        : `nothing names a model; the default is known for ${VERIFIED_VERSION} only`,
    })
  const effort = textSetting(layers, 'model_reasoning_effort')
  const reasoning = effort ?? (named === null && model !== null ? DEFAULT_EFFORT : null)
  if (reasoning === null)
    unknown.push({ field: 'execution.reasoning', why: 'nothing names an effort; the default depends on the model' })
  const provider =
    flags.value('--local-provider') ??
    (oss ? textSetting(layers, 'oss_provider') : null) ??
    textSetting(layers, 'model_provider') ??
    DEFAULT_PROVIDER
  const own = settingOf(layers, 'model_providers', provider, 'base_url')?.value
  const url = textOf(own) ?? (provider === DEFAULT_PROVIDER ? textSetting(layers, 'openai_base_url') : null)
  return {
    model,
    reasoning,
    provider,
    baseUrl: url === null ? null : withoutCredentials(url),
    keyVariable: textSetting(layers, 'model_providers', provider, 'env_key'),
    unknown,
  }
}
