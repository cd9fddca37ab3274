import type { RuntimeName } from '../../../contract/index.ts'
import type { KeyPath } from '../structured/key-path.ts'

/**
 * Keys of the agents' own files as their pages name them, to find a mistyped one by its neighbour; `*` stands for any name. An agent may know
 * more: a key that is near none of these is not called wrong. OpenClaw's own table is in its adapter, which tells of every key it would refuse.
 */
export interface KeyTable {
  /** Ends of paths it is for. */
  readonly files: RegExp
  readonly runtime: RuntimeName
  readonly version: string
  readonly keys: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, ValueRule>>
}
export interface ValueRule {
  readonly type: 'string' | 'boolean' | 'number' | 'list' | 'table' | 'string or table' | 'string or list'
  readonly oneOf?: readonly string[]
  /** Of a list: what its entries are. */
  readonly entries?: 'string'
}

const claudeHooks =
  'PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied Notification UserPromptSubmit Stop StopFailure ' +
  'SubagentStart SubagentStop PreCompact PostCompact SessionStart SessionEnd Setup TeammateIdle TaskCreated TaskCompleted ConfigChange ' +
  'InstructionsLoaded WorktreeCreate WorktreeRemove CwdChanged FileChanged Elicitation ElicitationResult'

export const keyTables: readonly KeyTable[] = [
  {
    files: /(?:^|\/)(?:settings|settings\.local|managed-settings)\.json$/,
    runtime: 'claude-code',
    version: '2.1.332',
    keys: {
      '':
        '$schema apiKeyHelper env permissions model hooks disableAllHooks allowManagedHooksOnly allowManagedMcpServersOnly ' +
        'allowManagedPermissionRulesOnly statusLine outputStyle cleanupPeriodDays includeCoAuthoredBy attribution ' +
        'enableAllProjectMcpServers enabledMcpjsonServers disabledMcpjsonServers allowedMcpServers deniedMcpServers enabledPlugins ' +
        'extraKnownMarketplaces strictKnownMarketplaces blockedMarketplaces sandbox claudeMd claudeMdExcludes fallbackModel ' +
        'autoMemoryEnabled autoMemoryDirectory alwaysThinkingEnabled effortLevel availableModels awsAuthRefresh awsCredentialExport ' +
        'otelHeadersHelper forceLoginMethod forceLoginOrgUUID companyAnnouncements language theme spinnerTipsEnabled respectGitignore ' +
        'skipDangerousModePermissionPrompt plansDirectory teammateMode fileSuggestion showThinkingSummaries worktree agent',
      permissions: 'allow ask deny defaultMode additionalDirectories disableBypassPermissionsMode',
      hooks: claudeHooks,
      'hooks.*.*': 'matcher hooks',
      'hooks.*.*.hooks.*':
        'type command url prompt timeout async once statusMessage shell args headers if model allowedEnvVars',
      statusLine: 'type command padding refreshInterval',
    },
    values: {
      env: { type: 'table' },
      permissions: { type: 'table' },
      hooks: { type: 'table' },
      model: { type: 'string' },
      disableAllHooks: { type: 'boolean' },
      cleanupPeriodDays: { type: 'number' },
      'permissions.allow': { type: 'list', entries: 'string' },
      'permissions.ask': { type: 'list', entries: 'string' },
      'permissions.deny': { type: 'list', entries: 'string' },
      'permissions.additionalDirectories': { type: 'list', entries: 'string' },
      'permissions.defaultMode': {
        type: 'string',
        oneOf: ['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions', 'delegate'],
      },
      enabledMcpjsonServers: { type: 'list', entries: 'string' },
      disabledMcpjsonServers: { type: 'list', entries: 'string' },
    },
  },
  {
    files: /(?:^|\/)(?:\.mcp|\.claude)\.json$/,
    runtime: 'claude-code',
    version: '2.1.332',
    keys: { 'mcpServers.*': 'type command args env url headers headersHelper timeout oauth alwaysLoad' },
    values: {
      mcpServers: { type: 'table' },
      'mcpServers.*': { type: 'table' },
      'mcpServers.*.command': { type: 'string' },
      'mcpServers.*.args': { type: 'list', entries: 'string' },
      'mcpServers.*.type': { type: 'string', oneOf: ['stdio', 'sse', 'http', 'ws', 'sdk'] },
    },
  },
  {
    files: /(?:^|\/)(?:[\w-]+\.)?config\.toml$/,
    runtime: 'codex',
    version: '0.171.0',
    keys: {
      '':
        'model model_provider model_providers model_reasoning_effort model_reasoning_summary model_verbosity model_context_window ' +
        'model_auto_compact_token_limit model_instructions_file model_supports_reasoning_summaries review_model approval_policy ' +
        'approvals_reviewer sandbox_mode sandbox_workspace_write permissions default_permissions mcp_servers projects profiles features ' +
        'tools skills plugins marketplaces hooks agents notify history tui file_opener project_doc_max_bytes project_doc_fallback_filenames ' +
        'project_root_markers instructions developer_instructions personality service_tier web_search shell_environment_policy ' +
        'hide_agent_reasoning show_raw_agent_reasoning chatgpt_base_url openai_base_url cli_auth_credentials_store ' +
        'mcp_oauth_credentials_store otel analytics feedback memories compact_prompt notice log_dir sqlite_home tool_output_token_limit ' +
        'check_for_update_on_startup disable_paste_burst allow_login_shell windows apps bundled_skills',
      'mcp_servers.*':
        'command args env env_vars cwd url bearer_token_env_var http_headers env_http_headers startup_timeout_sec startup_timeout_ms ' +
        'tool_timeout_sec enabled required enabled_tools disabled_tools scopes oauth_resource tools default_tools_approval_mode',
      'projects.*': 'trust_level',
      sandbox_workspace_write: 'writable_roots network_access exclude_tmpdir_env_var exclude_slash_tmp',
      'model_providers.*':
        'name base_url env_key env_key_instructions wire_api query_params http_headers env_http_headers request_max_retries ' +
        'stream_max_retries stream_idle_timeout_ms requires_openai_auth experimental_bearer_token supports_websockets auth',
    },
    values: {
      model: { type: 'string' },
      approval_policy: { type: 'string or table', oneOf: ['untrusted', 'on-request', 'on-failure', 'never'] },
      sandbox_mode: { type: 'string', oneOf: ['read-only', 'workspace-write', 'danger-full-access'] },
      mcp_servers: { type: 'table' },
      'mcp_servers.*': { type: 'table' },
      'mcp_servers.*.command': { type: 'string' },
      'mcp_servers.*.args': { type: 'list', entries: 'string' },
      'mcp_servers.*.enabled': { type: 'boolean' },
      'projects.*.trust_level': { type: 'string', oneOf: ['trusted', 'untrusted'] },
      project_doc_max_bytes: { type: 'number' },
    },
  },
  {
    files: /(?:^|\/)config\.yaml$/,
    runtime: 'hermes',
    version: '0.20.0',
    keys: {
      'mcp_servers.*':
        'command args env url headers timeout connect_timeout enabled tools auth transport sampling oauth roots ssl_verify client_cert',
    },
    values: {
      mcp_servers: { type: 'table' },
      'mcp_servers.*': { type: 'table' },
      'mcp_servers.*.command': { type: 'string' },
      'mcp_servers.*.args': { type: 'list' },
      model: { type: 'string or table' },
      toolsets: { type: 'string or list' },
    },
  },
]

/** Keys and entries at a place, `*` for any name or number. */
export function matching<T>(table: Readonly<Record<string, T>>, key: KeyPath): T | undefined {
  for (const [pattern, value] of Object.entries(table)) {
    const parts = pattern === '' ? [] : pattern.split('.')
    if (parts.length === key.length && parts.every((part, at) => part === '*' || part === String(key[at]))) return value
  }
  return undefined
}

/** The known key that a wrong one was meant to be: two letters away at most, and nearer than it is long. */
export function nearestKey(given: string, known: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.min(2, Math.max(1, Math.floor(given.length / 3))) + 1
  for (const one of known) {
    const steps = distance(given.toLowerCase(), one.toLowerCase(), least)
    if (steps < least) {
      least = steps
      best = one
    }
  }
  return best
}

function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? most
}
