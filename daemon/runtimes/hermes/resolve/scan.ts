/**
 * The security scan a text passes before it enters the prompt (runtime page 5.4). What it looks for is written here in a notation of our
 * own: words stand as they are, `a|b` is one of several, `…` is up to eight further words, `*` is anything within the line, a space is
 * white space. Ids are those of the program. Where a rule was not seen on a verified version it comes from the source of upstream main.
 */
interface Rule {
  readonly id: string
  readonly pattern: RegExp
  /** `memory`: looked for in memory entries only. */
  readonly scope: 'everywhere' | 'memory'
}

/** Only so much of a text is looked at: a phrase behind it passes (seen on 0.20.0). */
const SCANNED = 65_536

const WORDS = String.raw`(?:[\p{L}\p{N}_]+\s+){0,8}`
const WORD = String.raw`[\p{L}\p{N}_]`
/** `\b` as the program means it: between letters of any script. */
const EDGE = `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`

function phrase(text: string): RegExp {
  const source = text.split(' ').reduce((sum, part, at) => {
    if (part === '…') return `${sum}${WORDS}`
    const isLast = at === text.split(' ').length - 1
    return `${sum}(?:${part})${isLast ? '' : '\\s+'}`
  }, '')
  return new RegExp(source, 'iu')
}

const line = (before: string, after: string): RegExp => new RegExp(`(?:${before})\\s+[^\\n]{0,2048}${after}`, 'iu')

const SECRET_NAME = String.raw`\$\{?${WORD}*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?${EDGE}`
const AGENTS = '(?:CLAUDE|CODEX|HERMES|AGENT|OPENAI|ANTHROPIC)'

const everywhere = (id: string, pattern: RegExp): Rule => ({ id, pattern, scope: 'everywhere' })
const inMemory = (id: string, pattern: RegExp): Rule => ({ id, pattern, scope: 'memory' })

const RULES: readonly Rule[] = [
  everywhere('prompt_injection', phrase('ignore … previous|all|above|prior … instructions')),
  everywhere('sys_prompt_override', phrase('system prompt override')),
  everywhere('disregard_rules', phrase('disregard … your|all|any … instructions|rules|guidelines')),
  everywhere(
    'bypass_restrictions',
    phrase("act as if|though … you … have\\s+no|don't\\s+have … restrictions|limits|rules"),
  ),
  everywhere(
    'html_comment_injection',
    /<!--[^>]{0,512}(?<![A-Za-z])(?:hidden|ignore|override|secret|system)(?![A-Za-z])[^>]{0,512}-->/iu,
  ),
  everywhere('hidden_div', /<\s*div\s+style\s*=\s*["'][^>]{0,2048}display\s*:\s*none/iu),
  everywhere(
    'translate_execute',
    new RegExp(
      `translate\\s+[^\\n]{0,512}\\s+into\\s+${WORD}+(?:[\\s-]+${WORD}+){0,2}\\s+and\\s+(?:execute|run|eval)${EDGE}`,
      'iu',
    ),
  ),
  everywhere('deception_hide', phrase('do not … tell … the user')),
  everywhere('role_hijack', new RegExp(`${phrase('you are … now a|an|the').source}\\s+`, 'iu')),
  everywhere('role_pretend', new RegExp(`${phrase('pretend … you\\s+are|to\\s+be').source}\\s+`, 'iu')),
  everywhere('leak_system_prompt', phrase('output … system|initial prompt')),
  everywhere('remove_filters', phrase('respond|answer|reply without … restrictions|limitations|filters|safety')),
  everywhere('fake_update', phrase('you have been … updated|upgraded|patched to')),
  everywhere('identity_override', new RegExp(`${EDGE}name\\s+yourself\\s+${WORD}+`, 'iu')),
  everywhere('c2_node_registration', /register\s+(?:as\s+)?a?\s*node/iu),
  everywhere('c2_heartbeat', /(?:heartbeat|beacon|check[\s-]?in)\s+(?:to|with)\s+/iu),
  everywhere('c2_task_pull', new RegExp(`pull\\s+(?:down\\s+)?(?:new\\s+)?task(?:ing|s)?${EDGE}`, 'iu')),
  everywhere('c2_network_connect', new RegExp(`${phrase('connect to the network').source}${EDGE}`, 'iu')),
  everywhere(
    'forced_action',
    new RegExp(`you\\s+must\\s+(?:${WORD}+\\s+){0,3}(?:register|connect|report|beacon)${EDGE}`, 'iu'),
  ),
  everywhere('anti_forensic_oneliner', new RegExp(`only\\s+use\\s+one[\\s-]?liners?${EDGE}`, 'iu')),
  everywhere('anti_forensic_disk', phrase('never … create|write … script|file … disk')),
  everywhere('env_var_unset_agent', new RegExp(`unset\\s+${WORD}*${AGENTS}${WORD}*`, 'iu')),
  everywhere(
    'known_c2_framework',
    new RegExp(`${EDGE}(?:cobalt\\s*strike|sliver|havoc|mythic|metasploit|brainworm)${EDGE}`, 'iu'),
  ),
  everywhere('c2_explicit', new RegExp(`${EDGE}c2\\s+(?:server|channel|infrastructure|beacon)${EDGE}`, 'iu')),
  everywhere('c2_explicit_long', new RegExp(`${EDGE}${phrase('command and control').source}${EDGE}`, 'iu')),
  everywhere('exfil_curl', line('curl', SECRET_NAME)),
  everywhere('exfil_wget', line('wget', SECRET_NAME)),
  everywhere('read_secrets', line('cat', String.raw`(?:\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)`)),
  inMemory('send_to_url', line('send|post|upload|transmit', String.raw`\s+(?:to|at)\s+https?://`)),
  inMemory(
    'context_exfil',
    phrase(
      'include|output|print|share … conversation|chat\\s+history|previous\\s+messages|full\\s+context|entire\\s+context',
    ),
  ),
  inMemory('ssh_backdoor', /authorized_keys/iu),
  inMemory('ssh_access', /\$HOME\/\.ssh|~\/\.ssh/iu),
  inMemory('hermes_env', /\$HOME\/\.hermes\/\.env|~\/\.hermes\/\.env/iu),
  inMemory(
    'agent_config_mod',
    line(
      'update|modify|edit|write|change|append|add\\s+to',
      String.raw`(?:AGENTS\.md|CLAUDE\.md|\.cursorrules|\.clinerules)`,
    ),
  ),
  inMemory(
    'hermes_config_mod',
    line('update|modify|edit|write|change|append|add\\s+to', String.raw`\.hermes\/(?:config\.yaml|SOUL\.md)`),
  ),
  inMemory('hardcoded_secret', /(?:api[_-]?key|token|secret|password)\s*[=:]\s*["'][A-Za-z0-9+/=_-]{20,}/iu),
]

/** Characters that are not seen: zero width, joiners, directions of writing. */
const INVISIBLE = /[\u200b-\u200d\u2060\u2062-\u2064\ufeff\u202a-\u202e\u2066-\u2069]/gu

/**
 * Ids of what was found, in the order of the program. Where several invisible characters are in one text, their order depends on the hash
 * seed of the running program; here it is that of their numbers.
 */
export function scan(text: string, scope: Rule['scope']): readonly string[] {
  const looked = text.length > SCANNED ? [...text.slice(0, SCANNED * 2)].slice(0, SCANNED).join('') : text
  const invisible = [...new Set(looked.match(INVISIBLE) ?? [])]
    .map((character) => character.codePointAt(0) ?? 0)
    .sort((a, b) => a - b)
    .map((point) => `invisible_unicode_U+${point.toString(16).toUpperCase().padStart(4, '0')}`)
  // Wide and other compatible forms of letters count as the plain ones.
  const plain = looked.normalize('NFKC')
  const rules = scope === 'memory' ? RULES : RULES.filter((rule) => rule.scope === 'everywhere')
  return [...invisible, ...rules.filter(({ pattern }) => pattern.test(plain)).map(({ id }) => id)]
}

/** What enters instead of a whole context file. */
export const blockedFile = (label: string, ids: readonly string[]): string =>
  `[BLOCKED: ${label} contained potential prompt injection (${ids.join(', ')}). Content not loaded.]`
