/**
 * Names of the tools that an embedded run of 2026.9.6 offered its model, with nothing configured (54). What plugins, channels, nodes and
 * other surfaces add is not in here.
 */
export const EMBEDDED_TOOLS: readonly string[] = (
  'agents_list agents_wait apply_patch ask_user automations browser canvas conversations_list ' +
  'conversations_send conversations_turn create_goal dashboard dir_fetch dir_list edit exec file_fetch ' +
  'file_write gateway get_goal intent ls memory_get memory_search message mobile_ui node_inference ' +
  'nodes openclaw plugins portal process progress_card read secrets session_status sessions ' +
  'sessions_history sessions_list sessions_search sessions_send sessions_spawn sessions_yield ' +
  'skill_workshop subagents talk_voice terminal theme transcripts tts update_goal web_fetch web_search ' +
  'write'
).split(' ')

/** Members of the profiles, as runs with each of them showed. `full` and no profile let everything through. */
export const PROFILES: Readonly<Record<string, readonly string[]>> = {
  minimal: 'gateway session_status'.split(' '),
  messaging: (
    'ask_user conversations_list conversations_send conversations_turn gateway intent message secrets ' +
    'session_status sessions sessions_history sessions_list sessions_search sessions_send sessions_spawn ' +
    'sessions_yield subagents theme'
  ).split(' '),
  coding: (
    'agents_wait apply_patch ask_user automations conversations_list conversations_send ' +
    'conversations_turn create_goal dashboard edit exec gateway get_goal intent ls memory_get ' +
    'memory_search plugins portal process progress_card read secrets session_status sessions ' +
    'sessions_history sessions_list sessions_search sessions_send sessions_spawn sessions_yield ' +
    'skill_workshop subagents terminal theme update_goal web_fetch web_search write'
  ).split(' '),
}

/** Profiles that let the tools of MCP servers through. */
export const PROFILES_WITH_MCP: ReadonlySet<string> = new Set(['coding', 'messaging', 'full'])

/** `group:<name>` in an allow or deny list. Seen for `fs`; the others as the package of 2026.9.6 names them. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  fs: ['apply_patch', 'edit', 'ls', 'read', 'write'],
  runtime: ['exec', 'process', 'code_execution', 'secrets'],
  web: ['web_search', 'web_fetch', 'x_search'],
  memory: ['memory_search', 'memory_get'],
  sessions: (
    'sessions sessions_list sessions_history sessions_search conversations_list conversations_send conversations_turn ' +
    'sessions_send sessions_spawn github_identity_status github_publish agents_wait sessions_yield subagents ' +
    'session_status suggest_task dismiss_task'
  ).split(' '),
  ui: ['browser', 'screen', 'theme', 'dashboard', 'terminal', 'portal', 'canvas', 'show_widget'],
  messaging: ['message'],
  automation: ['heartbeat_respond', 'automations', 'gateway', 'plugins', 'openclaw'],
  nodes: ['nodes', 'computer', 'mobile_ui'],
  agents: 'agents_list get_goal create_goal update_goal progress_card ask_user skill_workshop'.split(' '),
  media: ['view_image', 'image_generate', 'music_generate', 'video_generate', 'tts', 'pdf'],
}

/** Other names that the lists may use for a tool. */
export const ALIASES: Readonly<Record<string, string>> = {
  bash: 'exec',
  'apply-patch': 'apply_patch',
  cron: 'automations',
  update_plan: 'progress_card',
}

/** Tools that stay in the request itself while tool search is on; all others are found through the three tools of the search. */
export const DIRECT_TOOLS: ReadonlySet<string> = new Set(
  'apply_patch edit exec ls openclaw process read sessions_yield write'.split(' '),
)
export const SEARCH_TOOLS: readonly string[] = ['tool_call', 'tool_describe', 'tool_search']

/** Never given to a subagent (package of 2026.9.6); a subagent that cannot start others also loses those of the second list. */
export const DENIED_TO_SUBAGENTS: readonly string[] = (
  'gateway agents_list openclaw session_status progress_card automations message sessions_send conversations_list ' +
  'conversations_send conversations_turn'
).split(' ')
export const DENIED_TO_LEAVES: readonly string[] =
  'subagents sessions_list sessions_history sessions_search sessions_spawn'.split(' ')
