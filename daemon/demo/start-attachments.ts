import { sha256 } from './request-log.ts'
import type { Row } from './steps.ts'

export interface InstructionFile {
  readonly path: string
  readonly type: 'User' | 'Project' | 'AutoMem'
  readonly content: string
}

export interface StartSetup {
  readonly cwd: string
  readonly model: string
  readonly memoryFolder: string
  /** Asked at every start, resume and compaction, as the runtime does. */
  readonly instructions: () => readonly InstructionFile[]
  readonly gitStatus: () => string
  readonly skills: readonly { readonly name: string; readonly description: string }[]
  readonly agents: readonly { readonly name: string; readonly description: string }[]
}

export interface StartAttachment {
  readonly attachment: Row
  readonly rendered: string | null
  readonly role: 'system' | 'user'
}

const labels = {
  User: "user's private global instructions for all projects",
  Project: 'project instructions, checked into the codebase',
  AutoMem: "user's auto-memory, persists across conversations",
} as const

/** What stands at the beginning of a session and after a compaction, in the order of 2.1.332, with placeholders for its words. */
export function startAttachments(setup: StartSetup, day: string): readonly StartAttachment[] {
  const { cwd, model } = setup
  const snapshot = {
    workingDirectory: cwd,
    isWorktree: false,
    isGitRepo: true,
    additionalWorkingDirectories: [],
    platform: 'linux',
    shell: 'bash',
    osVersion: 'Linux 6.1.0',
  }
  const agentLines = setup.agents.map((agent) => `- ${agent.name}: ${agent.description}`)
  const skillLines = setup.skills.map((skill) => `- ${skill.name}: ${skill.description}`)
  const files = setup.instructions()
  const shown = files.map((file) => `Contents of ${file.path} (${labels[file.type]}):\n\n${file.content}`).join('\n\n')
  const status = setup.gitStatus()
  const attachments: StartAttachment[] = [
    {
      attachment: { type: 'environment', snapshot },
      rendered: `# Environment\n<vendor text>\n - Primary working directory: ${cwd}\n - Platform: linux`,
      role: 'system',
    },
    {
      attachment: {
        type: 'model',
        identity: { modelId: model, marketingName: model, knowledgeCutoff: 'June 2026' },
        text: `<model line> ${model}`,
      },
      rendered: `<model line> ${model}`,
      role: 'system',
    },
    {
      attachment: {
        type: 'agent_listing_delta',
        addedTypes: setup.agents.map((agent) => agent.name),
        addedLines: agentLines,
        builtInTypes: [],
        removedTypes: [],
        isInitial: true,
        showConcurrencyNote: true,
      },
      rendered: `<vendor text>\n${agentLines.join('\n')}`,
      role: 'system',
    },
    {
      attachment: {
        type: 'skill_listing',
        content: skillLines.join('\n'),
        skillCount: skillLines.length,
        isInitial: true,
        names: setup.skills.map((skill) => skill.name),
        digests: skillLines.map((line) => sha256(line).slice(0, 16)),
      },
      rendered: `<vendor text>\n${skillLines.join('\n')}`,
      role: 'system',
    },
    {
      attachment: {
        type: 'instructions',
        files: files.map((file) => ({ path: file.path, type: file.type, content: file.content })),
      },
      rendered: `<vendor text>\n\n${shown}`,
      role: 'user',
    },
    {
      attachment: { type: 'session_context', context: { gitStatus: status } },
      rendered: `<vendor text>\n# gitStatus\n${status}`,
      role: 'user',
    },
    { attachment: { type: 'date', date: day }, rendered: `<date line> ${day}`, role: 'system' },
    {
      attachment: {
        type: 'prompt_snapshot',
        systemPrompt: ['<system prompt>', `<system prompt> memory directory: ${setup.memoryFolder}/`],
        reminderFold: false,
        echoWireToolInputs: false,
        contextRendering: 'announced',
      },
      rendered: null,
      role: 'system',
    },
  ]
  return attachments.filter((item) => files.length > 0 || item.attachment.type !== 'instructions')
}

export const reminder = (value: string): string => `<system-reminder>\n${value}\n</system-reminder>`
