import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { joinAgents } from '../../daemon/runtimes/codex/effective-pieces.ts'
import { resolveCodex } from '../../daemon/runtimes/codex/resolve/index.ts'
import { fixedNow, git } from './claude-code-tree.ts'

const fixture = path.resolve(import.meta.dirname, '../fixtures/codex/config-tree')
const filesSchema = z.record(z.string(), z.string())

export const treeFiles = z
  .looseObject({ home: filesSchema, repo: filesSchema, etc: filesSchema })
  .parse(JSON.parse(readFileSync(path.join(fixture, 'tree.json'), 'utf8')))
export const TRUST_KEY = 'trust_snippet_appended_to_home/.codex/config.toml'

const caseSchema = z.looseObject({
  name: z.string(),
  cwd: z.string(),
  'trust_of_/home/dev/demo': z.enum(['no entry', 'trusted', 'untrusted']),
  exec_args: z.array(z.string()),
  system_layer_present: z.boolean(),
  linked_worktree: z.string().nullable(),
  layers_high_to_low: z.array(
    z.object({
      source: z.looseObject({ type: z.string(), file: z.string().optional(), dotCodexFolder: z.string().optional() }),
      version: z.string(),
      disabled: z.boolean(),
    }),
  ),
  effective_config_subset: z.record(z.string(), z.json()),
  origins_subset: z.record(z.string(), z.string()),
  instruction_sources_from_thread_start: z.array(z.string()),
  request: z.looseObject({
    model: z.string(),
    reasoning: z.looseObject({ effort: z.string() }),
    context: z.array(
      z.looseObject({ parts: z.array(z.looseObject({ label: z.string(), text: z.string().optional() })) }),
    ),
  }),
  exec_warnings: z.array(z.string()),
  skills: z.array(z.object({ name: z.string(), scope: z.string(), enabled: z.boolean(), path: z.string() })),
  skill_errors: z.array(z.object({ path: z.string(), message: z.string() })),
  skills_listed_in_prompt: z.array(z.string()),
  hooks: z.array(
    z.object({
      event: z.string(),
      key: z.string(),
      source: z.string(),
      matcher: z.string().nullable(),
      trust: z.string(),
      hash: z.string(),
      command: z.string(),
    }),
  ),
  hook_warnings: z.array(z.string()),
  rules_in_force: z.array(z.string()),
  agent_roles_offered: z.array(z.string()),
})
export type CodexCase = z.infer<typeof caseSchema>

export const cases = z
  .looseObject({ cases: z.array(caseSchema) })
  .parse(JSON.parse(readFileSync(path.join(fixture, 'expected.json'), 'utf8'))).cases

/** A file of a tree: its text, its bytes, or where it links to. */
export type TreeFile = string | Uint8Array | { readonly link: string }

export interface LaidCodex {
  /** Stands for `/` of the fixture; the real path of a fresh folder. */
  readonly root: string
  /** `/home/dev` below it. */
  readonly home: string
  readonly codexHome: string
  /** A fixture path on this machine, and back. Those below `/etc` stay. */
  readonly here: (fixturePath: string) => string
  readonly there: (text: string) => string
  readonly remove: () => void
}

/** Lays files given by fixture path. `/home/dev` in a text becomes the path it has here. */
export function layCodex(files: Readonly<Record<string, TreeFile>>): LaidCodex {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'reprise-codex-')))
  const home = path.join(root, 'home/dev')
  const inHere = (text: string): string => text.replaceAll('/home/dev', home)
  mkdirSync(path.join(home, '.codex'), { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, name)
    mkdirSync(path.dirname(file), { recursive: true })
    if (typeof content === 'string') writeFileSync(file, inHere(content))
    else if (content instanceof Uint8Array) writeFileSync(file, content)
    else symlinkSync(inHere(content.link), file)
  }
  return {
    root,
    home,
    codexHome: path.join(home, '.codex'),
    here: (fixturePath) => (fixturePath.startsWith('/etc/') ? fixturePath : path.join(root, fixturePath)),
    there: (text) => text.replaceAll(root, ''),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** The tree of the fixture as one case wants it. */
export function layCase(one: CodexCase): LaidCodex {
  const trust = one['trust_of_/home/dev/demo']
  const under = (folder: string, files: Readonly<Record<string, string>>) =>
    Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text] as const)
  const files = Object.fromEntries([
    ...under('/home/dev', treeFiles.home),
    ...under('/home/dev/demo', treeFiles.repo),
    ...(one.system_layer_present ? under('/etc', treeFiles.etc) : []),
  ])
  if (trust !== 'no entry') {
    const snippet = String(treeFiles[TRUST_KEY]).replace('%s', trust)
    files['/home/dev/.codex/config.toml'] = `${files['/home/dev/.codex/config.toml'] ?? ''}${snippet}`
  }
  const laid = layCodex(files)
  const repo = laid.here('/home/dev/demo')
  git(repo, 'init', '-q', '-b', 'main', '.')
  git(repo, 'add', '-A')
  git(repo, 'commit', '-qm', 'init')
  if (one.linked_worktree !== null) git(repo, 'worktree', 'add', '-q', '--detach', laid.here(one.linked_worktree))
  return laid
}

/** `keyed` shows what is a secret by nature in clear, so that tests can compare it. */
export const inClear = (value: string): string => `clear(${value})`

export function resolveLaid(
  laid: LaidCodex,
  start: {
    readonly cwd: string
    readonly flags: readonly string[]
    readonly env?: Readonly<Record<string, string>>
    readonly version?: string | null
  },
): Resolution {
  return resolveCodex({
    home: laid.codexHome,
    cwd: start.cwd,
    flags: start.flags,
    version: start.version === undefined ? '0.171.0' : start.version,
    keyed: inClear,
    surroundings: {
      platform: 'linux',
      userHome: laid.home,
      env: { PATH: '/usr/bin:/bin', HOME: laid.home, ...start.env },
      systemRoot: laid.root,
      now: fixedNow,
    },
  })
}

/** The AGENTS files that enter the context, in order. */
export const agentsPieces = ({ body, order, texts }: Resolution) =>
  order.flatMap((uri) => {
    const source = body.instructions.sources.find((one) => one.uri === uri)
    const text = texts.get(uri)?.text ?? null
    if (source === undefined || source.kind !== 'instructions' || source.label !== null || text === null) return []
    return [{ path: source.path ?? '', scope: source.scope, text }]
  })

/** The block in which those files stand in the first request; null when there are none (0.171.0). */
export function agentsBlock(resolution: Resolution): string | null {
  const pieces = agentsPieces(resolution)
  const heading = pieces.some((piece) => piece.scope === 'project') ? ` for ${resolution.body.execution.cwd}` : ''
  const text = joinAgents(pieces)
  return text === null ? null : `# AGENTS.md instructions${heading}\n\n<INSTRUCTIONS>\n${text}\n</INSTRUCTIONS>`
}

/** The text under a label: `developer instructions`, `base instructions`, `memory summary`. */
export function labelled({ body, texts }: Resolution, label: string): string | null {
  const source = body.instructions.sources.find((one) => one.label === label && one.status === 'loaded')
  return source === undefined ? null : (texts.get(source.uri)?.text ?? null)
}
