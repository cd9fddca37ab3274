import path from 'node:path'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { agentsBlock, agentsPieces, labelled } from './codex-tree.ts'
import type { AppServer } from './run-codex.ts'
import type { ResponsesItem } from './scripted-responses.ts'

/** What stands in the first messages and comes from the tree; the vendor's own texts are left out. */
export interface PromptAnswers {
  readonly developer: string | null
  readonly memory: string | null
  readonly agents: string | null
  /** `name: description (path)` of the skills that are not bundled, in the order of the list. */
  readonly skills: readonly string[]
}

export interface ServerAnswers {
  readonly layers: readonly {
    readonly type: string
    readonly file: string
    readonly disabled: boolean
    readonly version: string
  }[]
  /** Layer that won, by dotted key. */
  readonly origins: Readonly<Record<string, string>>
  readonly instructionSources: readonly string[]
  readonly skills: readonly {
    readonly name: string
    readonly scope: string
    readonly enabled: boolean
    readonly path: string
    readonly description: string
  }[]
  readonly skillErrors: readonly string[]
  readonly hooks: readonly {
    readonly key: string
    readonly trust: string
    readonly enabled: boolean
    readonly hash: string
    readonly command: string | null
    readonly matcher: string | null
    readonly timeout: number
  }[]
}

const VENDOR =
  /^(<skills_instructions>|<permissions instructions>|<collaboration_mode>|<tools>|<plugins_instructions>|<multi_agent|## Memory)/
const SUMMARY = /MEMORY_SUMMARY BEGINS =+\n([\s\S]*?)\n=+ MEMORY_SUMMARY ENDS/

/** @param input the items of a request after the base prompt. */
export function readPrompt(input: readonly ResponsesItem[]): PromptAnswers {
  const messages = input.filter((item) => item.type === 'message')
  const texts = (role: string): readonly string[] =>
    messages.filter((item) => item.role === role).flatMap((item) => (item.content ?? []).map((part) => part.text ?? ''))
  const first = (messages.find((item) => item.role === 'developer')?.content ?? []).map((part) => part.text ?? '')
  const memory = texts('developer').find((text) => text.startsWith('## Memory'))
  const list = texts('developer').find((text) => text.startsWith('<skills_instructions>')) ?? ''
  return {
    developer: first[0] !== undefined && !VENDOR.test(first[0]) ? first[0] : null,
    memory: memory === undefined ? null : (SUMMARY.exec(memory)?.[1] ?? null),
    agents: texts('user').find((text) => text.startsWith('# AGENTS.md instructions')) ?? null,
    skills: listedSkills(list),
  }
}

function listedSkills(list: string): readonly string[] {
  const roots = new Map([...list.matchAll(/^- `(r\d+)` = `(.+)`$/gm)].map(([, name = '', root = '']) => [name, root]))
  return [...list.matchAll(/^- (.+?): (.*) \(file: ([^)]+)\)$/gm)].flatMap(
    ([, name = '', description = '', file = '']) => {
      const [root = '', ...rest] = file.split('/')
      const place = roots.has(root) ? path.join(roots.get(root) ?? '', ...rest) : file
      return place.includes('/.system/') ? [] : [`${name}: ${description} (${place})`]
    },
  )
}

/** The same of a resolution. */
export function resolvedPrompt(resolution: Resolution): PromptAnswers {
  return {
    developer: labelled(resolution, 'developer instructions'),
    memory: labelled(resolution, 'memory summary'),
    agents: agentsBlock(resolution),
    skills: resolution.body.capabilities.skills
      .filter((skill) => skill.status === 'active' && skill.model_invocable !== false && skill.source !== 'system')
      .map((skill) => `${skill.name}: ${skill.description} (${skill.reached_as ?? skill.path})`),
  }
}

interface Layer {
  readonly name: { readonly type: string; readonly file?: string; readonly dotCodexFolder?: string }
  readonly version: string
  readonly disabledReason?: string | null
}

const placeOf = ({ name }: Pick<Layer, 'name'>): string => name.dotCodexFolder ?? name.file ?? 'flags'

export async function askServer(server: AppServer, cwd: string): Promise<ServerAnswers> {
  const config = (await server.call('config/read', { cwd, includeLayers: true })) as unknown as {
    readonly layers: readonly Layer[]
    readonly origins: Readonly<Record<string, Layer>>
    readonly config: unknown
  }
  const thread = await server.call('thread/start', { cwd, ephemeral: true })
  const skills = (await server.call('skills/list', { cwds: [cwd] })) as unknown as {
    readonly data: readonly {
      readonly skills: ServerAnswers['skills']
      readonly errors: readonly { path: string; message: string }[]
    }[]
  }
  const hooks = (await server.call('hooks/list', { cwds: [cwd] })) as unknown as {
    readonly data: readonly { readonly hooks: readonly Readonly<Record<string, unknown>>[] }[]
  }
  return {
    layers: config.layers.map((layer) => ({
      type: layer.name.type,
      file: placeOf(layer),
      disabled: typeof layer.disabledReason === 'string',
      version: layer.version,
    })),
    origins: Object.fromEntries(
      Object.entries(config.origins)
        .filter(([key]) => !key.startsWith('hooks.') && isInForce(config.config, key))
        .map(([key, layer]) => [key, placeOf(layer)]),
    ),
    instructionSources: thread.instructionSources as readonly string[],
    skills: (skills.data[0]?.skills ?? [])
      .filter((skill) => skill.scope !== 'system')
      .map(({ name, scope, enabled, path: file, description }) => ({ name, scope, enabled, path: file, description })),
    skillErrors: (skills.data[0]?.errors ?? []).map(({ path: file, message }) => `${file}: ${message}`).sort(),
    hooks: (hooks.data[0]?.hooks ?? []).map((hook) => ({
      key: String(hook.key),
      trust: String(hook.trustStatus),
      enabled: hook.enabled === true,
      hash: String(hook.currentHash),
      command: typeof hook.command === 'string' ? hook.command : null,
      matcher: typeof hook.matcher === 'string' ? hook.matcher : null,
      timeout: Number(hook.timeoutSec),
    })),
  }
}

/** The server goes on naming the layer of an index that the shorter list in force no longer has. */
function isInForce(config: unknown, key: string): boolean {
  const index = /^(.*?)\.(\d+)(?:\.(.*))?$/.exec(key)
  if (index === null) return true
  let value: unknown = config
  for (const name of (index[1] ?? '').split('.')) value = (value as Record<string, unknown> | null)?.[name]
  if (!Array.isArray(value)) return true
  const item: unknown = value[Number(index[2])]
  return item !== undefined && (index[3] === undefined || Object.hasOwn(Object(item), index[3]))
}

const TYPES: Readonly<Record<string, string>> = {
  managed: 'legacyManagedConfigTomlFromFile',
  flags: 'sessionFlags',
  project: 'project',
  profile: 'user',
  user: 'user',
  system: 'system',
}

export function resolvedServer(resolution: Resolution): ServerAnswers {
  const { body } = resolution
  const layers = body.config_layers as readonly {
    readonly name: string
    readonly source: string
    readonly version: string
    readonly disabled: string | null
  }[]
  const project = new Set(layers.filter(({ name }) => name === 'project').map(({ source }) => source))
  const place = (source: string): string =>
    source === 'flag:--config' ? 'flags' : project.has(source) ? path.dirname(source) : source
  const { skills, hooks } = body.capabilities
  const order = ['repo', 'user', 'admin']
  return {
    layers: layers.map(({ name, source, version, disabled }) => ({
      type: TYPES[name] ?? name,
      file: place(source),
      disabled: disabled !== null,
      version,
    })),
    origins: Object.fromEntries(
      Object.entries(body.settings).flatMap(([key, setting]) => {
        // Hooks add up, of which the server's view of the configuration knows nothing; they have a list of their own.
        if (key.startsWith('hooks.')) return []
        const plain = key.replaceAll(/"((?:[^"\\]|\\.)*)"/g, '$1')
        return leaves(plain, setting.value_ref === undefined ? setting.value : 'covered').map((leaf) => [
          leaf,
          place(setting.source),
        ])
      }),
    ),
    instructionSources: agentsPieces(resolution).map((piece) => piece.path),
    skills: skills
      .filter((skill) => skill.source !== 'system' && skill.description !== null)
      .map((skill) => ({
        name: skill.name,
        scope: skill.source,
        enabled: skill.status === 'active',
        path: String(skill.path),
        description: String(skill.description),
      }))
      .sort((a, b) => order.indexOf(a.scope) - order.indexOf(b.scope)),
    skillErrors: skills
      .filter((skill) => skill.description === null)
      .map((skill) => `${skill.path}: ${skill.reason}`)
      .sort(),
    // The server leaves out hooks of what is off as a whole.
    hooks: hooks
      .filter((hook) => hook.trust !== null)
      .map((hook) => ({
        key: String(hook.key),
        trust: String(hook.trust),
        enabled: hook.enabled === true,
        hash: String(hook.digest),
        command: hook.description,
        matcher: typeof hook.matcher === 'string' ? hook.matcher : null,
        timeout: Number(hook.timeout),
      })),
  }
}

/** A value with its lists and tables taken apart, as the server names them. */
function leaves(key: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each, n) => leaves(`${key}.${n}`, each))
  if (typeof value !== 'object' || value === null) return [key]
  return Object.entries(value).flatMap(([name, inner]) => leaves(`${key}.${name}`, inner))
}

/** What the record holds: paths below the fixture's root, and no digest that depends on a path. */
export function portable<T>(answers: T, there: (text: string) => string): T {
  const text = JSON.stringify(answers, (key, value: unknown) =>
    key === 'hash' || key === 'version' ? undefined : value,
  )
  return JSON.parse(there(text)) as T
}
