import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Seeded } from './seeded.ts'
import { homeFiles } from './shop-files.ts'
import type { InstructionFile } from './start-attachments.ts'
import type { NestedRule } from './steps.ts'
import { type TranscriptSetup, TranscriptWriter } from './transcript-writer.ts'
import { type WorkTree, writeSampleFile } from './work-tree.ts'

export interface SessionPlan {
  readonly tree: WorkTree
  readonly startedAt: Date
  readonly version?: string
  readonly interactive?: boolean
}

/** The home, and what every session of the sample has in common. */
export class SampleStage {
  readonly home: string
  readonly claudeHome: string
  readonly random: Seeded
  readonly now: Date
  private readonly typed: string[] = []

  constructor(home: string, random: Seeded, now: Date) {
    this.home = home
    this.claudeHome = join(home, '.claude')
    this.random = random
    this.now = now
  }

  /** `days` ago, moved by some minutes; never in the future. */
  ago(days: number, minutes: number): Date {
    return new Date(this.now.getTime() - days * 86_400_000 - minutes * 60_000)
  }

  begin(plan: SessionPlan): TranscriptWriter {
    return new TranscriptWriter(this.setup(plan), plan.tree)
  }

  subagent(of: TranscriptWriter, plan: SessionPlan, agentId: string, agentType: string): TranscriptWriter {
    return new TranscriptWriter({ ...this.setup(plan), session: of.session, agentId, agentType }, plan.tree)
  }

  private setup(plan: SessionPlan): TranscriptSetup {
    const { tree } = plan
    return {
      random: this.random,
      session: this.random.uuid(),
      cwd: tree.root,
      branch: 'main',
      version: plan.version ?? '2.1.332',
      model: 'claude-opus-5-5',
      startedAt: plan.startedAt,
      ...(plan.interactive ? { interactive: true } : {}),
      memoryFolder: join(this.projectFolder(tree), 'memory'),
      instructions: () => this.instructions(tree),
      gitStatus: () => tree.status(),
      skills: [
        { name: 'release-notes', description: 'Writes release notes from the commits since the last tag' },
        { name: 'stock-report', description: 'Turns stock levels into an order list' },
      ],
      agents: [
        { name: 'general-purpose', description: '<description>' },
        { name: 'test-reader', description: 'Reads failing tests and says what they expect' },
      ],
    }
  }

  /** In the order they enter the prompt (runtime page 2.2); path-scoped rules stay out. */
  private instructions(tree: WorkTree): readonly InstructionFile[] {
    const files: InstructionFile[] = [
      { path: join(this.claudeHome, 'CLAUDE.md'), type: 'User', content: homeFiles.claudeMd.trimEnd() },
      { path: join(this.claudeHome, 'rules', 'style.md'), type: 'User', content: homeFiles.styleRule.trimEnd() },
    ]
    for (const path of ['CLAUDE.md', '.claude/rules/testing.md']) {
      const content = tree.read(path)
      if (content !== null) files.push({ path: tree.absolute(path), type: 'Project', content: content.trimEnd() })
    }
    if (tree.root.endsWith('shop-client'))
      files.push({
        path: join(this.projectFolder(tree), 'memory', 'MEMORY.md'),
        type: 'AutoMem',
        content: homeFiles.memory.trimEnd(),
      })
    return files
  }

  /** A path-scoped rule as it is in the tree now. */
  rule(tree: WorkTree, path: string): NestedRule {
    const rawContent = tree.read(path) ?? ''
    const content = rawContent.replace(/^---\n[\s\S]*?\n---\n+/, '').trimEnd()
    return { path: tree.absolute(path), content, rawContent }
  }

  /** Writes the session file with the time of its last row, as if it had been written then. */
  finish(session: TranscriptWriter, tree: WorkTree, change: (text: string) => string = (text) => text): string {
    const path = join(this.projectFolder(tree), `${session.session}.jsonl`)
    this.put(path, change(session.file), new Date(session.clockMs))
    return path
  }

  finishOld(old: { readonly session: string; readonly file: string; readonly endedAt: Date }, tree: WorkTree): void {
    this.put(join(this.projectFolder(tree), `${old.session}.jsonl`), old.file, old.endedAt)
  }

  finishSubagent(
    agent: TranscriptWriter,
    of: TranscriptWriter,
    tree: WorkTree,
    agentId: string,
    meta: Readonly<Record<string, unknown>>,
  ): void {
    const folder = join(this.projectFolder(tree), of.session, 'subagents')
    this.put(join(folder, `agent-${agentId}.jsonl`), agent.file, new Date(agent.clockMs))
    this.put(join(folder, `agent-${agentId}.meta.json`), JSON.stringify(meta), new Date(agent.clockMs))
  }

  /** A prompt typed in the interactive program (`history.jsonl`, runtime page 5.1). */
  type(display: string, session: TranscriptWriter, tree: WorkTree): void {
    this.typed.push(
      JSON.stringify({
        display,
        pastedContents: {},
        timestamp: session.clockMs,
        project: tree.root,
        sessionId: session.session,
      }),
    )
  }

  writeHome(trees: readonly WorkTree[], lastSessions: readonly string[]): void {
    const at = (path: string) => join(this.claudeHome, path)
    writeSampleFile(at('CLAUDE.md'), homeFiles.claudeMd)
    writeSampleFile(at('rules/style.md'), homeFiles.styleRule)
    writeSampleFile(at('settings.json'), homeFiles.settings)
    writeSampleFile(at('skills/release-notes/SKILL.md'), homeFiles.releaseSkill)
    writeSampleFile(at('skills/stock-report/SKILL.md'), homeFiles.stockSkill)
    writeSampleFile(at('agents/test-reader.md'), homeFiles.testReader)
    writeSampleFile(at('history.jsonl'), this.typed.map((line) => `${line}\n`).join(''), true)
    const projects = trees.map((tree, n) => [
      tree.root,
      {
        allowedTools: [],
        hasTrustDialogAccepted: true,
        lastVersionBase: '2.1.332',
        lastSessionId: lastSessions[n] ?? null,
        ...(n === 0 ? {} : { mcpServers: { 'stock-db': { command: 'node', args: ['tools/stock-db.mjs'] } } }),
      },
    ])
    const state = {
      numStartups: 41,
      hasCompletedOnboarding: true,
      firstStartTime: this.ago(90, 0).toISOString(),
      userID: '<device id>',
      machineID: '<machine id>',
      migrationVersion: 15,
      theme: 'dark',
      mcpServers: { notes: { command: 'node', args: [join(this.home, 'tools', 'notes-server.mjs')] } },
      projects: Object.fromEntries(projects),
    }
    writeSampleFile(join(this.home, '.claude.json'), `${JSON.stringify(state, null, 2)}\n`, true)
    for (const tree of trees) {
      if (tree.root.endsWith('shop-client'))
        writeSampleFile(join(this.projectFolder(tree), 'memory', 'MEMORY.md'), homeFiles.memory)
    }
  }

  /** Every character outside letters and digits becomes a dash (runtime page 5.1). */
  private projectFolder(tree: WorkTree): string {
    return join(this.claudeHome, 'projects', tree.root.replaceAll(/[^A-Za-z0-9]/g, '-'))
  }

  private put(path: string, content: string, at: Date): void {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode: 0o600 })
    utimesSync(path, at, at)
  }
}
