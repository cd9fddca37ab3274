import type { EventKind } from '../../../contract/index.ts'
import { asList, asName, asNames, asRow, asText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import { readAgentsBlock, readMemorySummary, skillsOf } from './evidence.ts'
import type { CodexReader } from './reader.ts'

/** One part of a message that was put in for the model. */
export interface InputPart {
  readonly text: string
  /** What the program says it is (0.171); in older versions, what its first words show. */
  readonly what: string
}

/** Heads of texts that the program puts in, for versions that do not name their kinds. */
const heads: readonly (readonly [RegExp, string])[] = [
  [/^# AGENTS\.md instructions/, 'agents_md.instructions'],
  [/^<user_instructions>/, 'agents_md.instructions'],
  [/^<environment_context>/, 'environments.environment_context'],
  [/^<permissions instructions>/, 'permissions.instructions'],
  [/^<skills_instructions>/, 'host_skills.instructions'],
  [/^<collaboration_mode>/, 'collaboration_mode.instructions'],
  [/^<plugins_instructions>/, 'plugins.instructions'],
  [/^<tools>/, 'tools.deferred_namespaces'],
  [/^<skill>/, 'skills.selected_skill_instructions'],
  [/^<turn_aborted>/, 'generic.turn_aborted'],
  [/^<user_shell_command>/, 'user.shell'],
  [/^<subagent_notification>/, 'multi_agent.notification'],
  [/^<(apps|personality|model_switch|realtime)[\w_ ]*>/, 'generic.instructions'],
]

export function partsOf(message: Row): readonly InputPart[] {
  const kinds = asNames(asRow(message.internal_chat_message_metadata_passthrough)?.content_item_kinds)
  const content =
    typeof message.content === 'string' ? [{ type: 'input_text', text: message.content }] : asList(message.content)
  return content.flatMap((value, at): readonly InputPart[] => {
    const part = asRow(value)
    const text = asText(part?.text)
    if (part === null) return []
    const named = kinds.length === content.length ? kinds[at] : undefined
    const guessed = heads.find(([head]) => head.test((text ?? '').trimStart()))?.[1]
    const otherwise = message.role === 'user' ? 'user.text' : 'generic.developer_instructions'
    return [{ text: text ?? `[${asName(part.type) ?? 'part'}]`, what: named ?? guessed ?? otherwise }]
  })
}

const isTyped = ({ what }: InputPart): boolean => what.startsWith('user.') && what !== 'user.shell'

/** Kind of event for what was put in; everything else is context. */
export function kindOf(what: string): EventKind {
  const [family = ''] = what.split('.')
  if (what === 'skills.selected_skill_instructions') return 'skill'
  if (what === 'generic.turn_aborted') return 'note'
  if (what === 'generic.developer_instructions' || family === 'agents_md' || family === 'model') return 'instructions'
  if (family === 'memories') return 'memory'
  if (family === 'hooks') return 'hook'
  if (family === 'tools') return 'tool_schema'
  if (family === 'plugins') return 'plugin'
  return 'context'
}

/** A message of role user, developer or system: what a person typed, or what the program put in. */
export function readInput(reader: CodexReader, message: Row): void {
  const parts = partsOf(message)
  const id = asName(message.id)
  const typed = parts.filter(isTyped)
  if (typed.length > 0) reader.prompts.read(reader, 'item', typed.map(({ text }) => text).join('\n'), id)
  parts.forEach((part, at) => {
    if (!isTyped(part)) readPart(reader, part, id === null ? `@${reader.place.line.byte}/${at}` : `${id}/${at}`)
  })
}

function readPart(reader: CodexReader, { text, what }: InputPart, id: string): void {
  const kind = kindOf(what)
  noteEvidence(reader, what, text)
  const seq = reader.emit({
    id,
    kind,
    summary: summaryOf(summaryOfPart(what, text)),
    ...(what === 'generic.turn_aborted' ? { ok: false } : {}),
  })
  reader.words(seq, 'context', text)
  if (what === 'generic.turn_aborted') reader.notice = { seq, turn: reader.place.turn }
}

function summaryOfPart(what: string, text: string): string {
  switch (what) {
    case 'agents_md.instructions':
      return /^# (AGENTS\.md instructions[^\n]*)/.exec(text)?.[1] ?? 'AGENTS.md instructions'
    case 'skills.selected_skill_instructions':
      return nameOfSkill(text) ?? text
    case 'model.base_instructions':
      return 'base instructions'
    case 'memories.instructions':
      return 'memory summary'
    case 'host_skills.instructions':
      return `skills: ${skillsOf(text)
        .map(({ name }) => name)
        .join(', ')}`
    default: {
      const tag = /^<([a-z_ ]+)>/.exec(text)?.[1]
      if (tag === undefined) return text
      const words = text
        .replace(/<[^<>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim()
      return /\w/.test(words) ? `${tag}: ${words}` : tag
    }
  }
}

const nameOfSkill = (text: string): string | null => /<name>([^<]+)<\/name>/.exec(text)?.[1] ?? null

function noteEvidence(reader: CodexReader, what: string, text: string): void {
  const { evidence } = reader
  switch (what) {
    case 'agents_md.instructions': {
      const block = readAgentsBlock(text)
      if (block !== null) evidence.set('agents', block)
      return
    }
    case 'generic.developer_instructions':
      evidence.set('developer', text)
      return
    case 'memories.instructions':
      evidence.set('memory', readMemorySummary(text) ?? text)
      return
    case 'host_skills.instructions':
      evidence.set('skills', skillsOf(text))
      return
    case 'skills.selected_skill_instructions': {
      const name = nameOfSkill(text)
      if (name !== null) evidence.usedSkill(name)
      return
    }
    case 'environments.environment_context': {
      const cwd = /<cwd>([^<]+)<\/cwd>/.exec(text)?.[1]
      const shell = /<shell>([^<]+)<\/shell>/.exec(text)?.[1]
      // Bare items name the directory nowhere else.
      if (cwd !== undefined) reader.enterDirectory(cwd, 'words')
      if (shell !== undefined)
        evidence.set('environment', {
          shell,
          timezone: /<timezone>([^<]+)<\/timezone>/.exec(text)?.[1] ?? null,
          date: /<current_date>([^<]+)<\/current_date>/.exec(text)?.[1] ?? null,
        })
    }
  }
}
