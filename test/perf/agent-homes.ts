import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { git, layConfigTree } from '../kit/claude-code-tree.ts'
import { cases, layCase } from '../kit/codex-tree.ts'
import { realTrees } from '../kit/openclaw-real-trees.ts'
import { layOpenClawHome } from '../kit/openclaw-tree.ts'
import { type AgentRuntime, writeHistory } from './agent-histories.ts'

export interface ConfiguredTree {
  /** To be used as the user's home. */
  readonly userHome: string
  readonly home: string
  readonly workspace: string
  readonly remove: () => void
}

const hermesTree = join(import.meta.dirname, '../fixtures/hermes/home-tree/hermes-home')

const put = (file: string, text: string): void => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** The richest tree of each runtime among the fixtures: every layer, skills, servers, hooks, and a repository to start in. */
export function layConfigured(runtime: AgentRuntime, fresh: () => string): ConfiguredTree {
  if (runtime === 'claude-code') {
    const laid = layConfigTree()
    const [userHome, home] = [laid.home, join(laid.home, '.claude')]
    return { userHome, home, workspace: laid.here('/home/dev/ws/demo'), remove: laid.remove }
  }
  if (runtime === 'codex') {
    const one = cases.find((each) => each['trust_of_/home/dev/demo'] === 'trusted') ?? cases[0]
    if (one === undefined) throw new Error('no case for a tree of Codex')
    const laid = layCase(one)
    return { userHome: laid.home, home: laid.codexHome, workspace: laid.here(one.cwd), remove: laid.remove }
  }
  if (runtime === 'openclaw') {
    const laid = layOpenClawHome()
    const tree = realTrees['skills from every place, and a folder for the tools']
    tree?.lay(laid)
    const defaults = { model: 'lab/scripted-1', skipBootstrap: true, ...tree?.defaults?.(laid) }
    laid.write('.openclaw/openclaw.json', JSON.stringify({ ...tree?.config?.(laid), agents: { defaults } }))
    return { userHome: laid.home, home: laid.state, workspace: join(laid.home, 'repo'), remove: laid.remove }
  }
  const userHome = realpathSync(fresh())
  const home = join(userHome, '.hermes')
  cpSync(hermesTree, home, { recursive: true })
  const workspace = join(userHome, 'work')
  layWorkspace(workspace)
  return { userHome, home, workspace, remove: () => undefined }
}

/** A repository with the instruction files of every runtime. */
export function layWorkspace(workspace: string): void {
  for (const name of ['AGENTS.md', 'CLAUDE.md', 'pkg/AGENTS.md', '.claude/rules/style.md', 'README.md'])
    put(join(workspace, name), `# ${name}\n\nKeep prices in cents.\n`)
  put(join(workspace, '.claude/settings.json'), JSON.stringify({ permissions: { deny: ['Read(./.env)'] } }))
  git(workspace, 'init', '-q', '-b', 'main', '.')
  git(workspace, 'add', '-A')
  git(workspace, 'commit', '-qm', 'init')
}

/** A small home with a few sessions in the given workspaces. */
export function laySmallHome(runtime: AgentRuntime, home: string, workspaces: readonly string[], seed: number) {
  const skill = (folder: string): void =>
    put(join(home, folder, 'check/SKILL.md'), '---\nname: check\ndescription: checks twice\n---\n\nCheck twice.\n')
  skill('skills')
  if (runtime === 'claude-code') {
    put(join(home, 'CLAUDE.md'), 'Answer shortly.\n')
    put(join(home, 'settings.json'), JSON.stringify({ model: 'opus', permissions: { allow: ['Bash(ls:*)'] } }))
  } else if (runtime === 'codex') {
    put(join(home, 'AGENTS.md'), 'Answer shortly.\n')
    put(join(home, 'config.toml'), 'model = "gpt-5.5"\n')
  } else if (runtime === 'openclaw')
    put(join(home, 'openclaw.json'), JSON.stringify({ agents: { defaults: { model: 'lab/scripted-1' } } }))
  else cpSync(hermesTree, home, { recursive: true })
  const plan = { home, sessions: workspaces.length === 1 ? 4 : 1, bytesPerSession: 1, seed }
  return workspaces.map((workspace) => writeHistory[runtime]({ ...plan, workspace }))
}
