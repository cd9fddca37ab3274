import { at, type Branch, dotted, type Tree } from './config-tree.ts'
import type { Problem } from './sources.ts'

/**
 * Names of the keys that 2026.9.6 knows in the objects that shape a run (`openclaw config schema`). The vendor's schema knows far more
 * objects and every type; what is not in this table is not checked here. `*` stands for any name.
 */
const KEYS: Readonly<Record<string, string>> = {
  '':
    '$schema accessGroups acp agents approvals attachments auth bindings broadcast browser channels ' +
    'cloudWorkers commands cron desktop diagnostics discovery env gateway hooks logging mcp memory ' +
    'messages meta models nodeHost plugins proxy secrets security session skills surfaces talk telemetry ' +
    'tools transcripts tts ui update wizard worktreeAcceleration worktreeRoot',
  agents: 'defaults entries ownership',
  'agents.defaults':
    'authInheritance blockStreamingBreak blockStreamingChunk blockStreamingCoalesce blockStreamingDefault ' +
    'bootstrapMaxChars bootstrapTotalMaxChars compaction contextInjection contextLimits contextPruning ' +
    'cwd decisionModel elevatedDefault embeddedAgent experimental fastModeDefault heartbeat humanDelay ' +
    'imageMaxDimensionPx imageModel imageQuality maxConcurrent mediaMaxMb mediaModels model modelPolicy ' +
    'modelSelectionScope models params pdfMaxMb pdfMaxPages pdfModel reasoningDefault repoRoot sandbox ' +
    'sessionStore silentReply skills skipBootstrap skipOptionalBootstrapFiles startupContext subagents ' +
    'systemAgent thinkingDefault timeoutSeconds toolProgressDetail typingIntervalSeconds typingMode ' +
    'userTimezone utilityModel verboseDefault voiceModel workspace',
  'agents.entries.*':
    'agentDir bootstrapMaxChars bootstrapTotalMaxChars contextInjection contextLimits cwd decisionModel ' +
    'default description embeddedAgent experimental fastModeDefault groupChat heartbeat humanDelay ' +
    'identity memory model modelPolicy models name params reasoningDefault runtime sandbox skills ' +
    'skillsLimits subagents thinkingDefault toolProgressDetail tools tts typingMode utilityModel ' +
    'verboseDefault workspace',
  tools:
    'agentToAgent allow alsoAllow byProvider codeMode deny elevated exec fs github links loopDetection ' +
    'media message profile sandbox sessions sessions_spawn subagents swarm toolSearch toolsBySender ' +
    'updatePlan web',
  'agents.entries.*.tools':
    'allow alsoAllow byProvider codeMode deny elevated exec fs github loopDetection message profile ' +
    'sandbox swarm toolsBySender',
  skills: 'allowBundled entries install limits load workshop',
  'skills.load': 'allowSymlinkTargets extraDirs watch',
  'skills.limits':
    'maxCandidatesPerRoot maxSkillFileBytes maxSkillsInPrompt maxSkillsLoadedPerSource ' + 'maxSkillsPromptChars',
  mcp: 'apps servers sessionIdleTtlMs',
  models: 'catalogRefresh mode providers',
  'models.providers.*':
    'agentRuntime api apiKey auth authHeader baseUrl headers injectNumCtxForOpenAICompat localService ' +
    'maxTokens models params region request timeoutSeconds',
  env: 'shellEnv vars',
  hooks:
    'allowRequestSessionKey allowedAgentIds allowedSessionKeyPrefixes defaultSessionKey enabled gmail ' +
    'internal mappings path presets token transformsDir',
  'hooks.internal': 'enabled entries load',
  plugins: 'allow deny enabled entries load slots',
  'plugins.load': 'paths',
  auth: 'order profiles',
  session:
    'dmScope groupScope identityLinks mainKey maintenance notifyOnCreate reset resetByChannel resetByType ' +
    'resetTriggers scope sendPolicy sharing store threadBindings',
  'tools.subagents': 'tools',
  'tools.sandbox': 'tools',
  'agents.defaults.sandbox':
    'backend browser docker mode prune scope sessionToolsVisibility ssh workspaceAccess workspaceRoot',
  gateway:
    'allowRealIpFallback auth bind cliAgents controlUi customBindHost http mode nodes port portals ' +
    'publicOrigin push reload remote roles tailscale terminal tls tools trustedProxies',
}
const KNOWN: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(KEYS).map(([place, names]) => [place, new Set(names.split(' '))]),
)

/** Scopes in which `allow` and `alsoAllow` may not stand together. */
const TOOL_SCOPES: readonly (readonly string[])[] = [
  ['tools'],
  ['tools', 'byProvider', '*'],
  ['tools', 'sandbox', 'tools'],
  ['tools', 'subagents', 'tools'],
  ['agents', 'entries', '*', 'tools'],
  ['agents', 'entries', '*', 'tools', 'byProvider', '*'],
  ['agents', 'entries', '*', 'tools', 'sandbox', 'tools'],
]

/** Limits that must be numbers above zero. */
const POSITIVE: readonly (readonly string[])[] = [
  ['agents', 'defaults'],
  ['agents', 'entries', '*'],
]
const LIMITS = ['bootstrapMaxChars', 'bootstrapTotalMaxChars'] as const

/**
 * Each finding makes the runtime refuse the whole configuration. Older forms are no exception: but for `agents.list` and the marker
 * `default` of an agent, only `doctor --fix` migrates them (2026.9.6).
 */
export function checkSchema(tree: Tree, file: string): readonly Problem[] {
  const problems: Problem[] = []
  for (const [place, names] of KNOWN) {
    for (const { keys, found } of expand(tree, place === '' ? [] : place.split('.'))) {
      const where = keys.length === 0 ? '<root>' : dotted(keys)
      for (const [key, inner] of found.entries) {
        if (names.has(key)) continue
        problems.push({
          path: inner.origin,
          message: `${where}: ${key} is no key that 2026.9.6 knows; one such key makes the whole configuration invalid`,
        })
      }
    }
  }
  for (const scope of TOOL_SCOPES) {
    for (const { keys, found } of expand(tree, scope)) {
      if (!found.entries.has('allow') || !found.entries.has('alsoAllow')) continue
      problems.push({
        path: found.entries.get('alsoAllow')?.origin ?? file,
        message: `${dotted(keys)}: allow and alsoAllow may not stand in one scope; the configuration is invalid`,
      })
    }
  }
  for (const scope of POSITIVE) {
    for (const { keys, found } of expand(tree, scope)) {
      for (const name of LIMITS) {
        const limit = found.entries.get(name)
        if (limit === undefined || (limit.type === 'leaf' && typeof limit.value === 'number' && limit.value > 0))
          continue
        problems.push({ path: limit.origin, message: `${dotted([...keys, name])}: must be a number above 0` })
      }
    }
  }
  return problems
}

function expand(
  tree: Tree,
  pattern: readonly string[],
  keys: readonly string[] = [],
): readonly { readonly keys: readonly string[]; readonly found: Branch }[] {
  const [next, ...rest] = pattern
  if (tree.type !== 'branch') return []
  if (next === undefined) return [{ keys, found: tree }]
  if (next !== '*') {
    const inner = at(tree, next)
    return inner === null ? [] : expand(inner, rest, [...keys, next])
  }
  return [...tree.entries].flatMap(([key, inner]) => expand(inner, rest, [...keys, key]))
}
