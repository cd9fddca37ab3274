import { patchOf } from './patch.ts'
import type { Seeded } from './seeded.ts'
import type { Json, Row, Step } from './steps.ts'
import type { WorkTree } from './work-tree.ts'

export interface Outcome {
  /** `content` of the result block: what the model sees. */
  readonly shown: Json
  /** `toolUseResult` of the row; a failure stands there as `Error: …` (runtime page 5.2). */
  readonly result: Json
  readonly failed: boolean
  readonly ms: number
  /** File an edit tool changed. */
  readonly touched: string | null
  readonly added: number
  readonly removed: number
}

/** Does to the tree what the step says, and tells what the runtime would record of it. */
export function perform(step: Step, tree: WorkTree, random: Seeded, model: string): Outcome {
  const good = (shown: Json, result: Json, ms: number): Outcome => ({
    shown,
    result,
    failed: false,
    ms,
    touched: null,
    added: 0,
    removed: 0,
  })
  const bad = (shown: string, ms: number): Outcome => ({
    ...good(shown, `Error: ${shown.replaceAll(/<\/?tool_use_error>/g, '')}`, ms),
    failed: true,
  })
  if ('bash' in step) {
    for (const [path, content] of Object.entries(step.writes ?? {})) tree.write(path, content)
    const output = step.output ?? ''
    const ms = step.ms ?? 40 + random.int(400)
    const exit = step.exit ?? 0
    if (exit !== 0) return bad(`Exit code ${exit}${output === '' ? '' : `\n${output}`}`, ms)
    return good(
      output === '' ? '<no output>' : output,
      { stdout: output, stderr: '', interrupted: false, isImage: false, noOutputExpected: false },
      ms,
    )
  }
  if ('read' in step) {
    const content = tree.read(step.read)
    const filePath = tree.absolute(step.read)
    if (content === null) return bad(`File does not exist: ${filePath}`, 4)
    const lines = content.split('\n')
    const shown = lines.map((line, at) => `${at + 1}\t${line}`).join('\n')
    const file = { filePath, content, numLines: lines.length, startLine: 1, totalLines: lines.length }
    return good(shown, { type: 'text', file }, 6 + random.int(20))
  }
  if ('edit' in step) {
    const before = tree.read(step.edit)
    if (before === null || !before.includes(step.from))
      return bad(`<tool_use_error>Text to replace was not found in the file.\n${step.from}</tool_use_error>`, 5)
    const after = before.replace(step.from, () => step.to)
    tree.write(step.edit, after)
    const filePath = tree.absolute(step.edit)
    const structuredPatch = hunks(before, after)
    const result = {
      filePath,
      oldString: step.from,
      newString: step.to,
      originalFile: before,
      structuredPatch,
      userModified: false,
      replaceAll: false,
    }
    return {
      ...good(`Updated ${filePath}`, result, 12 + random.int(40)),
      touched: step.edit,
      ...linesOf(before, after),
    }
  }
  if ('write' in step) {
    const before = tree.read(step.write)
    tree.write(step.write, step.content)
    const filePath = tree.absolute(step.write)
    const type = before === null ? 'create' : 'update'
    const structuredPatch = before === null ? [] : hunks(before, step.content)
    const result = { type, filePath, content: step.content, structuredPatch, originalFile: before, userModified: false }
    return {
      ...good(`Wrote ${filePath}`, result, 12 + random.int(40)),
      touched: step.write,
      ...linesOf(before ?? '', step.content),
    }
  }
  if ('agent' in step) {
    const content = [text(step.answer)]
    return good(
      content,
      {
        status: 'completed',
        prompt: step.prompt,
        agentId: step.agentId,
        agentType: step.agent,
        toolsUsed: step.tools,
        content,
        resolvedModel: model,
        totalDurationMs: step.ms,
        totalTokens: 2_000 + random.int(3_000),
        totalToolUseCount: step.tools.length,
        usage: usageOf({ input: 4, output: 180, cacheRead: 2_100, cacheWrite: 900 }),
        canContinueAgent: true,
      },
      step.ms,
    )
  }
  if ('tool' in step) return bad(step.fails, 8)
  throw new TypeError('words have no result')
}

/** The content block of an answer. */
export function blockOf(step: Step, random: Seeded, tree: WorkTree): Row {
  if ('text' in step) return text(step.text)
  if ('thinking' in step) return { type: 'thinking', thinking: step.thinking, signature: random.hex(64) }
  const call = (name: string, input: Row): Row => ({ type: 'tool_use', id: `toolu_01${random.hex(22)}`, name, input })
  if ('bash' in step) return call('Bash', { command: step.bash, description: step.why })
  if ('read' in step) return call('Read', { file_path: tree.absolute(step.read) })
  if ('edit' in step)
    return call('Edit', {
      replace_all: false,
      file_path: tree.absolute(step.edit),
      old_string: step.from,
      new_string: step.to,
    })
  if ('write' in step) return call('Write', { file_path: tree.absolute(step.write), content: step.content })
  if ('agent' in step)
    return call('Agent', {
      description: step.prompt.slice(0, 32),
      prompt: step.prompt,
      subagent_type: step.agent,
      run_in_background: false,
    })
  return call(step.tool, step.input)
}

export interface TokenCount {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export function usageOf(tokens: TokenCount): Json {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_read_input_tokens: tokens.cacheRead,
    output_tokens: tokens.output,
    output_tokens_details: { thinking_tokens: 0 },
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: 'standard',
    cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: tokens.cacheWrite },
    speed: 'standard',
  }
}

const tool = (name: string, properties: readonly string[]): Json => ({
  name,
  description: `<description of ${name}>`,
  input_schema: {
    type: 'object',
    properties: Object.fromEntries(properties.map((key) => [key, { description: '<description>', type: 'string' }])),
    required: properties.slice(0, 1),
  },
})

/** Tool definitions as they stand in `api-request-shape`, with placeholders for the vendor's texts. */
export const toolShapes: readonly Json[] = [
  tool('Agent', ['prompt', 'description', 'subagent_type']),
  tool('Bash', ['command', 'description', 'timeout']),
  tool('Edit', ['file_path', 'old_string', 'new_string']),
  tool('Read', ['file_path']),
  tool('Write', ['file_path', 'content']),
]

export const text = (value: string): { readonly type: 'text'; readonly text: string } => ({ type: 'text', text: value })

function hunks(before: string, after: string): Json {
  return patchOf(before, after).map((hunk) => ({ ...hunk }))
}

function linesOf(before: string, after: string): { added: number; removed: number } {
  const lines = patchOf(before, after).flatMap((hunk) => hunk.lines)
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  }
}
