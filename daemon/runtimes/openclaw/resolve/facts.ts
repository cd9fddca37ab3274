import type { Fact } from '../../adapter.ts'
import { VERIFIED_VERSION } from './sources.ts'

const seen = (area: string, fact: string): Fact => ({ area, fact, status: 'verified', versions: [VERIFIED_VERSION] })
const documented = (area: string, fact: string): Fact => ({
  area,
  fact,
  status: 'documented',
  versions: [VERIFIED_VERSION],
})
const unsure = (area: string, fact: string): Fact => ({ area, fact, status: 'unknown', versions: [] })

/** What the resolver takes for granted about OpenClaw, each with where it comes from. */
export const openClawResolverFacts: readonly Fact[] = [
  seen(
    'settings',
    'JSON5; an empty file is invalid; one unknown key makes the whole configuration invalid and every run fails.',
  ),
  seen(
    'settings',
    '$include: relative to the including file, inside the directory of openclaw.json or OPENCLAW_INCLUDE_ROOTS, links judged after resolution, ten files deep; keys beside it win; a list is merged in order.',
  ),
  seen(
    'settings',
    'A variable reference in any string, upper-case names only; an unset or empty one stays literal; a doubled dollar sign escapes.',
  ),
  seen(
    'settings',
    'agents.list is read as agents.entries and the file is left alone; every other older form makes it invalid until doctor migrates it.',
  ),
  seen(
    'settings',
    'allow and alsoAllow in one scope make the configuration invalid, also for sandboxes and subagents.',
  ),
  seen(
    'environment',
    'process > .env of the working directory (low trust) > .env of the state directory > env.vars; nothing overrides what is there.',
  ),
  seen(
    'agent',
    'One agent keeps <state>/workspace; with several, each without a workspace of its own gets workspace-<id>, main too.',
  ),
  seen(
    'agent',
    'agent exec makes its directory the workspace and skips seeding; agents.defaults.cwd moves the tools only.',
  ),
  seen(
    'instructions',
    'Load order AGENTS, SOUL, IDENTITY, USER, BOOTSTRAP, MEMORY under one budget; shown by rank of the base name, then by path.',
  ),
  seen(
    'instructions',
    'Limits 20000 a file, 60000 in all, USER.md 4000, in UTF-16 units after trimming the end; fewer than 64 left ends it.',
  ),
  seen(
    'instructions',
    'A cut file keeps 75 % head and 25 % tail; AGENTS.md 45 % head, a digest of rule-like lines up to 35 %, 15 % tail.',
  ),
  seen(
    'instructions',
    'A missing AGENTS, SOUL or IDENTITY gets a marker; a missing BOOTSTRAP.md costs budget without being shown.',
  ),
  seen(
    'instructions',
    'Links, folders, hard links and files over 2 MiB get a marker; USER.md or MEMORY.md that is a link is left out without one.',
  ),
  seen(
    'instructions',
    'Three or more line ends in a row become two, then CRLF becomes LF; a byte order mark stays; a file of blanks is left out.',
  ),
  seen(
    'instructions',
    'Group and channel sessions get no MEMORY.md, cron sessions four files, subagents AGENTS.md only, by the session key.',
  ),
  seen('instructions', 'contextInjection never: no file enters.'),
  seen('instructions', 'TOOLS.md, HEARTBEAT.md, BOOT.md, CLAUDE.md and memory/*.md never enter.'),
  seen(
    'instructions',
    'With seeding on an empty workspace gets five files from templates; BOOTSTRAP.md of a workspace already in use is deleted.',
  ),
  seen('hooks', 'bootstrap-extra-files works through the gateway and had no effect with --local.'),
  seen(
    'skills',
    'workspace > workspace .agents > personal > managed > workshop > bundled > extra by name; six folders deep; an execution folder comes after the catalogue and loses.',
  ),
  seen(
    'skills',
    'Personal skills count only with the default state directory; a skill without a description is skipped.',
  ),
  seen('skills', 'An allow list of the agent replaces the one of all agents; an empty one means none.'),
  seen(
    'tools',
    'Profile (the agent’s replaces the general one), provider profile, tools, provider, agent, agent’s provider: each narrows, deny wins.',
  ),
  seen(
    'tools',
    'allow write also allows apply_patch; deny write does not take it away; an allow list that leaves nothing ends the run.',
  ),
  seen(
    'tools',
    'Tool search is on by default: nine tools and the three of the search stay in the request, as far as they are allowed.',
  ),
  seen('skills', 'Without the tool read the whole catalogue is left out.'),
  seen('tools', 'Cron sessions have no sessions_yield.'),
  seen(
    'agent',
    'agent exec keeps its .env, configuration, managed skills and links to plugin skills from the state directory it was started with.',
  ),
  seen(
    'agent',
    'Several agents need ownership explicit or exactly one older default mark, and bindings may only name agents that are there; otherwise the configuration is invalid.',
  ),
  seen('mcp', '<server>__<tool>, unsafe characters as -, case kept.'),
  documented(
    'agent',
    'systemAgent.agentId owns what names no agent in an explicit fleet; the first entry is nobody’s default.',
  ),
  documented(
    'bindings',
    'peer > parent peer > peer wildcard > guild with roles > guild > team > account > channel > fallback owner.',
  ),
  documented('tools', 'Subagents lose a fixed list of tools; groups other than fs are as the package names them.'),
  documented(
    'instructions',
    'continuation-skip, users/<id>/USER.md, and the AGENTS.md of a folder a session is bound to.',
  ),
  documented('hooks', 'Hooks of a workspace run only when their entry enables them.'),
  unsure(
    'settings',
    'Types of values, the objects of channels and plugins, and all older forms that are migrated in memory.',
  ),
  unsure('tools', 'The layers of channels, senders, owners, sandboxes and nodes; the tools of plugins.'),
  unsure('instructions', 'Which memory the index marks as not to be injected by itself.'),
  unsure(
    'platform',
    'Windows and macOS were not run; there, names of AGENTS, SOUL and IDENTITY may match without regard to case.',
  ),
]
