import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

export interface Action {
  readonly tool: 'Bash' | 'Edit' | 'Write'
  readonly input: Readonly<Record<string, unknown>>
  /** What it really does to the files. */
  readonly work: () => void
}

/**
 * An agent that acts: it writes its session as Claude Code does, line by line, and changes files in between. Each call has the times it
 * really took.
 */
export class ActingAgent {
  readonly session: string
  private readonly file: string
  private last: string | null = null
  private calls = 0

  constructor(
    home: string,
    private readonly cwd: string,
    session: string = randomUUID(),
  ) {
    this.session = session
    const folder = path.join(home, '.claude/projects', cwd.replace(/[^A-Za-z0-9]/g, '-'))
    fs.mkdirSync(folder, { recursive: true })
    this.file = path.join(folder, `${session}.jsonl`)
  }

  says(text: string): this {
    this.row('user', { role: 'user', content: text })
    return this
  }

  /** One call, done. */
  does({ tool, input, work }: Action): this {
    const id = this.begins(tool, input)
    work()
    return this.ends(id)
  }

  bash(command: string, work: () => void): this {
    return this.does({ tool: 'Bash', input: { command }, work })
  }

  /** An edit with the tool for it, recorded as such. */
  writes(file: string, content: string): this {
    const id = this.begins('Write', { file_path: file, content })
    const before = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, content)
    return this.ends(id, {
      type: before === null ? 'create' : 'update',
      filePath: file,
      content,
      originalFile: before,
      structuredPatch: [],
    })
  }

  begins(tool: string, input: Readonly<Record<string, unknown>>): string {
    this.calls += 1
    const id = `toolu_${this.calls}_${this.session.slice(0, 8)}`
    this.row('assistant', {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content: [{ type: 'tool_use', id, name: tool, input }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 10, output_tokens: 5 },
    })
    return id
  }

  ends(id: string, result?: unknown): this {
    const content = [{ type: 'tool_result', tool_use_id: id, content: 'done' }]
    this.row('user', { role: 'user', content }, result === undefined ? {} : { toolUseResult: result })
    return this
  }

  private row(type: string, message: unknown, more: Readonly<Record<string, unknown>> = {}): void {
    const uuid = randomUUID()
    const row = {
      type,
      uuid,
      parentUuid: this.last,
      sessionId: this.session,
      cwd: this.cwd,
      version: '2.1.332',
      timestamp: new Date().toISOString(),
      isSidechain: false,
      userType: 'external',
      message,
      ...more,
    }
    this.last = uuid
    fs.appendFileSync(this.file, `${JSON.stringify(row)}\n`)
  }
}
