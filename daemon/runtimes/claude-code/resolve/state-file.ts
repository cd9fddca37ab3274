import path from 'node:path'
import canonicalize from 'canonicalize'
import { bytesDigest } from '../../shared/disk.ts'
import { type JsonReading, readJsonObject } from './json-file.ts'
import { isObject } from './settings.ts'
import { makeSource, type Source } from './sources.ts'

/** What the global state file says of configuration. It mixes configuration, state and secrets and is never kept or digested whole. */
export interface StateFile {
  readonly path: string
  /** False when the file is there and could not be read: then nothing below is known. */
  readonly known: boolean
  readonly userServers: Readonly<Record<string, unknown>>
  readonly project: Readonly<Record<string, unknown>>
  /** Keys that are secrets by nature, with their values, for keyed digests only. */
  readonly secrets: readonly { readonly key: string; readonly value: string }[]
  /** Preferences of the first level that are configuration. */
  readonly preferences: Readonly<Record<string, unknown>>
  readonly sources: readonly Source[]
  readonly problems: readonly { readonly path: string | null; readonly message: string }[]
}

const PROJECT_KEYS = [
  'mcpServers',
  'allowedTools',
  'hasTrustDialogAccepted',
  'hasClaudeMdExternalIncludesApproved',
  'enabledMcpjsonServers',
  'disabledMcpjsonServers',
  'disabledMcpServers',
] as const
const PREFERENCES = ['theme', 'editorMode'] as const
const SECRETS = ['customApiKeyResponses', 'oauthAccount', 'primaryApiKey'] as const

/** `project` is the key of the main work tree: neither a subdirectory nor a linked work tree has one of its own (2.1.332). */
export function readStateFile(reading: JsonReading, stateFile: string, configDir: string, project: string): StateFile {
  const legacy = path.join(configDir, '.config.json')
  const file = reading.disk.exists(legacy) ? legacy : stateFile
  const read = readJsonObject(reading, file)
  const draft = { path: file, scope: 'user', kind: 'state' as const, classification: 'secret' as const }
  const nothing = { path: file, userServers: {}, project: {}, secrets: [], preferences: {} }
  if (read.state === 'missing') return { ...nothing, known: true, sources: [], problems: [] }
  if (read.state !== 'ok') {
    return {
      ...nothing,
      known: false,
      sources: [makeSource({ ...draft, status: 'unknown', reason: read.why })],
      problems: [{ path: file, message: `the state file could not be read: ${read.why}` }],
    }
  }
  const projects = isObject(read.value.projects) ? read.value.projects : {}
  const own = isObject(projects[project]) ? projects[project] : {}
  const userServers = isObject(read.value.mcpServers) ? read.value.mcpServers : {}
  const kept = pick(own, PROJECT_KEYS)
  const preferences = pick(read.value, PREFERENCES)
  return {
    path: file,
    known: true,
    userServers,
    project: kept,
    secrets: SECRETS.flatMap((key) => {
      const value = read.value[key]
      return value === undefined ? [] : [{ key, value: typeof value === 'string' ? value : JSON.stringify(value) }]
    }),
    preferences,
    sources: [
      makeSource({
        ...draft,
        status: 'loaded',
        reason: null,
        rule: 'only the keys that are configuration count; the rest is state or secret and changes on every start',
        // Servers carry secrets in env and headers: their names only.
        digest: bytesDigest(
          canonicalize({
            preferences,
            project: { ...kept, mcpServers: namesOf(kept.mcpServers) },
            mcpServers: namesOf(userServers),
          }) ?? '',
        ),
        extra: { digest_of: 'the configuration keys, MCP servers by name' },
      }),
    ],
    problems: [],
  }
}

const namesOf = (value: unknown): readonly string[] => (isObject(value) ? Object.keys(value).sort() : [])

function pick(from: Readonly<Record<string, unknown>>, keys: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]))
}
