import type { Fact } from '../../adapter.ts'
import { VERIFIED_VERSION } from './sources.ts'

const seen = (area: string, fact: string): Fact => ({ area, fact, status: 'verified', versions: [VERIFIED_VERSION] })
const documented = (area: string, fact: string): Fact => ({ area, fact, status: 'documented', versions: [] })
const unsure = (area: string, fact: string): Fact => ({ area, fact, status: 'unknown', versions: [] })

/** What the resolver takes for granted about Codex, each with where it comes from. */
export const codexResolverFacts: readonly Fact[] = [
  seen(
    'settings',
    'managed_config.toml > flags > project layers, the nearest first > profile > user > system; -m and -s beat them all.',
  ),
  seen('settings', 'Tables are merged key by key; lists and single values are replaced whole.'),
  seen(
    'settings',
    '-c splits its key at every dot, quotes or not; a value that is no TOML is taken as text. --enable and --disable come after it.',
  ),
  seen('settings', 'A project may not set its model provider, base addresses, notify, profiles or telemetry.'),
  seen('settings', 'A .codex folder without config.toml is an empty layer; the folder that is the home is none.'),
  seen('settings', 'project_root_markers of a project layer shows as effective and is not used to find the project.'),
  seen('settings', 'A project may set project_doc_max_bytes and project_doc_fallback_filenames.'),
  seen('settings', 'A profile without a file is ignored; profile = in config.toml stops the program.'),
  seen('settings', 'Broken TOML stops the program in a layer that is in force and is ignored in an untrusted one.'),
  seen(
    'trust',
    'Looked up for the directory, the project root and the main checkout of the start directory, canonical path before the path as reached.',
  ),
  seen(
    'trust',
    'Without an entry AGENTS.md loads and project layers do not; with "untrusted" neither does. Skills of the repository load either way.',
  ),
  seen('trust', 'Whether AGENTS.md files load is decided once, by the trust of the start directory.'),
  seen(
    'sandbox',
    'Default: read-only without a trust entry, workspace-write with one of either kind; approvals: on-request, with "untrusted" the policy untrusted, in exec always never.',
  ),
  seen(
    'requirements',
    'An approval policy that is not allowed is replaced by the first allowed one; a sandbox mode by read-only, and with never the program does not start.',
  ),
  seen(
    'instructions',
    'Global AGENTS.override.md or AGENTS.md, the first not blank, trimmed; then one file a directory, not trimmed; a blank override shadows in a project.',
  ),
  seen(
    'instructions',
    'project_doc_max_bytes is shared by the project files; the file that crosses it is cut at that byte, later ones are left out; blank ones take nothing.',
  ),
  seen(
    'instructions',
    'Fallback names with a slash are not used, names are trimmed; named pipes and folders do not count as files.',
  ),
  seen(
    'instructions',
    'model_instructions_file is trimmed, must exist and not be blank; instructions is taken as written; developer_instructions too.',
  ),
  seen(
    'memory',
    'Off by default; memory_summary.md trimmed, above 10,000 bytes only its first and last 5,000, with a note between them.',
  ),
  seen(
    'skills',
    'SKILL.md up to six folders deep, dot folders left out, linked folders followed, a linked SKILL.md not taken; equal names are not merged.',
  ),
  seen(
    'skills',
    'Order in the prompt: bundled, admin, repository, user; by name. agents/openai.yaml may keep one out of it.',
  ),
  seen(
    'skills',
    'skills.config of user, profile and flags add up, the last match wins; those of project and system layers have no effect.',
  ),
  seen(
    'hooks',
    'All layers add up, the lowest first, hooks.json before the configuration file; those of /etc/codex are managed and need no approval.',
  ),
  seen('hooks', 'In a linked work tree hooks come from the main checkout, for layers the work tree itself has.'),
  seen(
    'hooks',
    'The trusted hash covers event, matcher, command, timeout (at least 1), async and status message; hooks.state of a project has no effect.',
  ),
  seen('rules', 'A broken rules file stops exec; positional arguments are taken; a rule without decision allows.'),
  seen(
    'agents',
    'agents/**.toml of system, user and project, the nearest of equal names; [agents.<name>] tables are roles too.',
  ),
  seen('mcp', 'Each layer must hold a server whole; keys of equal names are merged.'),
  seen('model', `Without any setting the model is gpt-6.2-sol with effort low (${VERIFIED_VERSION}).`),
  seen(
    'environment',
    '<home>/.env beats the process environment, its last line of a name counts; names that begin with CODEX_ are ignored.',
  ),
  seen(
    'plugins',
    'The version named local is taken, else the highest; skills stand among those of the user as plugin:skill.',
  ),
  seen(
    'settings',
    'Path values are made absolute within their layer, those of flags from the start directory; ~ is the home.',
  ),
  documented('managed', 'Where Windows keeps the system files.'),
  documented('settings', 'Managed preferences of macOS and layers delivered from a cloud rank where the source says.'),
  unsure('skills', 'How descriptions are shortened when all together exceed 2 % of the context window.'),
  unsure('hooks', 'The trusted hash of hooks of type mcp_tool, and the part of a plugin hook that covers its plugin.'),
  unsure('agents', 'Which keys make the program refuse a role; whether a table or a file of the same layer wins.'),
  unsure('permissions', 'Permission profiles (default_permissions, permissions).'),
  unsure('rules', 'Rules that are computed (loops, functions) are not followed.'),
]
