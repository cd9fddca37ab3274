import type { Fact } from '../../adapter.ts'
import { VERIFIED_VERSION } from './sources.ts'

const seen = (area: string, fact: string): Fact => ({ area, fact, status: 'verified', versions: [VERIFIED_VERSION] })
const documented = (area: string, fact: string): Fact => ({ area, fact, status: 'documented', versions: [] })
const unsure = (area: string, fact: string): Fact => ({ area, fact, status: 'unknown', versions: [] })

/** What the resolver takes for granted about Claude Code, each with where it comes from. */
export const claudeCodeResolverFacts: readonly Fact[] = [
  seen(
    'instructions',
    'Order at start: managed, user, every ancestor directory from the root down to the start directory, added directories, automatic memory.',
  ),
  seen(
    'instructions',
    'Per directory: CLAUDE.md, .claude/CLAUDE.md, .claude/rules, then CLAUDE.local.md; imports follow their importer, depth first.',
  ),
  seen('instructions', 'Files of one rules directory enter in raw directory order, not sorted.'),
  seen(
    'instructions',
    'Byte order mark and front matter are removed, block-level HTML comments too; line ends become LF only when a block comment was removed.',
  ),
  seen('instructions', 'The managed claudeMd string of the last managed file that sets it is used alone.'),
  seen(
    'instructions',
    'Added directories count only with CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1; their imports are external ones and their path rules never match.',
  ),
  seen('instructions', 'claudeMdExcludes does not apply to managed files.'),
  seen(
    'instructions',
    '--restricted keeps managed instructions and drops all others with the automatic memory; --safe-mode and --bare drop all. With --bare --add-dir a session record lists instruction files that no request carries.',
  ),
  seen('imports', 'Paths are relative to the real place of the importing file; the file and four hops are followed.'),
  seen(
    'imports',
    'Outside the start directory an import needs approval, judged by the real path of the target; user files need none; what comes in later is judged as not approved.',
  ),
  seen(
    'imports',
    'Code spans, code blocks, HTML blocks, comments and link targets hold no imports, except in the running text of a list item, which is read as written.',
  ),
  seen(
    'imports',
    'Files are imported by an allow list of extensions; names without extension, .env among them, are imported.',
  ),
  seen(
    'rules',
    'paths may be a list or a text with commas; braces are expanded; matching is gitignore-like, ignoring case, relative to the folder that holds .claude, for user and managed rules relative to the start directory.',
  ),
  seen(
    'rules',
    'Front matter that is no YAML is tried again with the values in quotes; if that fails too the rule is loaded at start as if it had none.',
  ),
  seen(
    'rules',
    'What a path rule imports is loaded at start; an import of a rule that has paths itself waits for them.',
  ),
  seen(
    'rules',
    'Linked rules count by their real path and need approval when it lies outside the start directory; under the user configuration they do not.',
  ),
  seen(
    'lazy loading',
    'Read, Write, Edit and @file mentions trigger: first path rules of managed and user scope, then the folders between start directory and file, then path rules of the start directory and its ancestors.',
  ),
  seen(
    'AGENTS.md',
    'Read only while no CLAUDE.md, .claude/CLAUDE.md or CLAUDE.local.md with text stands in the walk; a CLAUDE.local.md suppresses it even when local settings are left out. Files of the start directory come after those of added directories.',
  ),
  seen(
    'memory',
    'MEMORY.md is cut at 200 lines or 25,000 characters; it belongs to the main work tree and to this machine.',
  ),
  seen(
    'settings',
    'managed (drop-ins last) > --settings (the last one) > local of the main work tree > local of the start directory > project > user.',
  ),
  seen(
    'settings',
    'Strict JSON with or without byte order mark; an empty file counts as {}; a file with a syntax error or a wrong type in a known key is refused whole, with a message on standard error.',
  ),
  seen('settings', 'env overrides the process environment; lists are joined; objects are merged by key.'),
  seen(
    'trust',
    'Trust and import approval are keyed to the main work tree, outside git to the start directory; no parent folder passes them on.',
  ),
  seen(
    'mcp',
    'local > project (nearest) > user by name; a managed file is exclusive; project servers start without approval in print mode.',
  ),
  seen(
    'skills',
    'User skills and commands beat project ones of the same name; project agents beat user agents; a skill beats a command. Without a description the first line stands for it.',
  ),
  seen('plugins', 'A plugin of a directory marketplace loads live from that directory.'),
  seen('hooks', 'All sources run together, equal ones once; managed hooks stand apart.'),
  seen(
    'model',
    '--model > ANTHROPIC_MODEL, also when settings set it > the model setting; a managed model does not beat the flag.',
  ),
  documented('settings', 'fallbackModel is replaced whole.'),
  documented('policy', 'allowManagedPermissionRulesOnly and deniedMcpServers in managed settings.'),
  documented('managed', 'Managed directories on macOS and Windows.'),
  unsure('settings', 'Which further keys make the runtime refuse a whole file when their type is wrong.'),
  unsure('memory', 'Project keys longer than 200 characters end in a hash that is not computed here.'),
  unsure('settings', 'autoMemoryDirectory: where memory lies when it is set.'),
]
