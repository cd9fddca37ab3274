import { closeSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Seeded, seeded } from '../../daemon/demo/seeded.ts'

/** Words of the made-up texts; the first ones are frequent, as in any language. */
const syllables = [
  'ta',
  'ro',
  'mi',
  'sen',
  'lu',
  'ka',
  'vor',
  'pel',
  'du',
  'nis',
  'gar',
  'om',
  'fi',
  'xel',
  'bra',
  'tun',
]

export interface TextPool {
  words(count: number): string
  code(lines: number): string
}

/** 50,000 words, Zipf-like, so that a search index meets frequent and rare ones. */
export function textPool(random: Seeded): TextPool {
  const vocabulary = Array.from({ length: 50_000 }, (_, n) => {
    let word = ''
    for (let left = n + 16; left > 0; left = Math.floor(left / 16)) word += syllables[left % 16]
    return word
  })
  const word = (): string => vocabulary[Math.floor(50_000 ** (random.int(1_000_000) / 1_000_000)) - 1] ?? 'ta'
  const words = (count: number): string => {
    let text = ''
    for (let n = 0; n < count; n++) text += n === 0 ? word() : `${n % 12 === 0 ? '. ' : ' '}${word()}`
    return text
  }
  // Lines of code repeat in the real world too: a pool is quicker to draw from and compresses alike.
  const lines = Array.from(
    { length: 4_000 },
    () => `${'  '.repeat(random.int(4))}const ${word()} = ${word()}(${word()}, '${words(1 + random.int(5))}')`,
  )
  return {
    words,
    code(count) {
      let text = ''
      for (let n = 0; n < count; n++) text += `${lines[random.int(lines.length)]}\n`
      return text
    },
  }
}

interface SessionPlace {
  readonly session: string
  readonly cwd: string
  readonly startedAt: number
}

/** Rows in the shape of 2.1.332, one event after another; `lean` leaves out what costs bytes and no reader needs. */
class RowStream {
  rows = 0
  events = 0
  private leaf: string | null = null
  private clock: number
  private readonly random: Seeded
  private readonly pool: TextPool
  private readonly place: SessionPlace
  private readonly lean: boolean
  private file = ''
  private fileText: string

  constructor(random: Seeded, pool: TextPool, place: SessionPlace, lean: boolean) {
    this.random = random
    this.pool = pool
    this.place = place
    this.lean = lean
    this.clock = place.startedAt
    this.fileText = ''
    this.openFile()
  }

  private openFile(): void {
    this.file = `${this.place.cwd}/src/${this.pool.words(1)}.ts`
    this.fileText = this.pool.code(this.lean ? 4 : 20 + this.random.int(180))
  }

  private row(
    type: 'user' | 'assistant' | 'attachment',
    body: Readonly<Record<string, unknown>>,
    parent = this.leaf,
  ): string {
    const { session, cwd } = this.place
    const uuid = this.random.uuid()
    this.clock += 300 + this.random.int(4_000)
    const tail = this.lean ? {} : { userType: 'external', entrypoint: 'cli', gitBranch: 'main' }
    const text = JSON.stringify({
      parentUuid: parent,
      isSidechain: false,
      type,
      ...body,
      uuid,
      timestamp: new Date(this.clock).toISOString(),
      ...tail,
      cwd,
      sessionId: session,
      version: '2.1.332',
    })
    this.leaf = uuid
    this.rows += 1
    return `${text}\n`
  }

  private reply(content: unknown, stop: string): string {
    const { random } = this
    const usage = {
      input_tokens: random.int(9),
      cache_creation_input_tokens: random.int(3_000),
      cache_read_input_tokens: random.int(150_000),
      output_tokens: 10 + random.int(900),
    }
    const message = {
      id: `msg_01${random.hex(22)}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5-5',
      content: [content],
      stop_reason: stop,
      usage,
    }
    return this.row('assistant', { message, requestId: `req_01${random.hex(20)}` })
  }

  prompt(): string {
    this.events += 1
    return this.row('user', {
      message: { role: 'user', content: this.pool.words(this.lean ? 8 : 6 + this.random.int(80)) },
      permissionMode: 'default',
      promptSource: 'typed',
      origin: { kind: 'human' },
    })
  }

  say(): string {
    this.events += 1
    return this.reply({ type: 'text', text: this.pool.words(this.lean ? 8 : 20 + this.random.int(200)) }, 'end_turn')
  }

  call(): string {
    this.events += 2 // the reply that calls, and the call
    const { random, pool } = this
    const kind = this.lean
      ? random.int(10) < 7
        ? 'bash'
        : 'edit'
      : random.pick(['bash', 'bash', 'bash', 'read', 'read', 'edit', 'write'] as const)
    const id = `toolu_01${random.hex(22)}`
    const use = (name: string, input: unknown): string => this.reply({ type: 'tool_use', id, name, input }, 'tool_use')
    const result = (content: string, toolUseResult: unknown, failed = false): string =>
      this.row('user', {
        message: {
          role: 'user',
          content: [{ tool_use_id: id, type: 'tool_result', content, ...(failed ? { is_error: true } : {}) }],
        },
        toolUseResult,
        sourceToolAssistantUUID: this.leaf,
      })
    if (random.int(40) === 0) this.openFile()
    if (kind === 'bash') {
      const output = this.lean ? pool.words(6) : pool.code(2 + random.int(60))
      const failed = random.int(12) === 0
      const call = use('Bash', { command: `npm test -- ${pool.words(2)}`, description: pool.words(3) })
      if (failed) return call + result(`Exit code 1\n${output}`, `Error: Exit code 1\n${output}`, true)
      return (
        call +
        result(output, { stdout: output, stderr: '', interrupted: false, isImage: false, noOutputExpected: false })
      )
    }
    if (kind === 'read') {
      const lines = this.fileText.split('\n')
      const call = use('Read', { file_path: this.file })
      const shown = lines.map((line, n) => `${n + 1}\t${line}`).join('\n')
      return (
        call +
        result(shown, {
          type: 'text',
          file: {
            filePath: this.file,
            content: this.fileText,
            numLines: lines.length,
            startLine: 1,
            totalLines: lines.length,
          },
        })
      )
    }
    const before = this.fileText
    if (kind === 'write') {
      this.openFile()
      const call = use('Write', { file_path: this.file, content: this.fileText })
      return (
        call +
        result(`Wrote ${this.file}`, {
          type: 'create',
          filePath: this.file,
          content: this.fileText,
          structuredPatch: [],
          originalFile: null,
          userModified: false,
        })
      )
    }
    const oldString = before.slice(0, before.indexOf('\n'))
    const newString = pool.code(1).trimEnd()
    this.fileText = newString + before.slice(oldString.length)
    const call = use('Edit', { replace_all: false, file_path: this.file, old_string: oldString, new_string: newString })
    const structuredPatch = [
      { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: [`-${oldString}`, `+${newString}`] },
    ]
    return (
      call +
      result(`Updated ${this.file}`, {
        filePath: this.file,
        oldString,
        newString,
        originalFile: before,
        structuredPatch,
        userModified: false,
        replaceAll: false,
      })
    )
  }

  /** A result that holds a picture: one very long line. */
  picture(bytes: number): string {
    this.events += 2
    const id = `toolu_01${this.random.hex(22)}`
    const call = this.reply(
      { type: 'tool_use', id, name: 'Read', input: { file_path: `${this.place.cwd}/big.png` } },
      'tool_use',
    )
    const base64 = this.random
      .hex(4_096)
      .repeat(Math.ceil(bytes / 4_096))
      .slice(0, bytes)
    const content = [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '<kept beside>' } }]
    return (
      call +
      this.row('user', {
        message: { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content }] },
        toolUseResult: { type: 'image', file: { base64, type: 'image/png', originalSize: Math.floor(bytes * 0.75) } },
        sourceToolAssistantUUID: this.leaf,
      })
    )
  }
}

export interface Generated {
  readonly files: number
  readonly rows: number
  readonly events: number
  readonly bytes: number
}

const folderOf = (claudeHome: string, cwd: string): string =>
  join(claudeHome, 'projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-'))

/** One session of about `bytes`, with one line of `longLine` bytes in its middle, streamed to disk. */
export function writeBigTranscript(claudeHome: string, bytes: number, longLine: number, seed = 1): Generated {
  const random = seeded(seed)
  const cwd = '/home/sample/work/big'
  const session = random.uuid()
  const stream = new RowStream(random, textPool(random), { session, cwd, startedAt: Date.UTC(2026, 9, 1, 8) }, false)
  const path = join(folderOf(claudeHome, cwd), `${session}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'w', 0o600)
  let written = 0
  let pictured = false
  let buffer = ''
  const put = (text: string): void => {
    buffer += text
    if (buffer.length < 4_000_000) return
    written += writeSync(file, buffer)
    buffer = ''
  }
  put(stream.prompt())
  while (written + buffer.length < bytes) {
    const dice = random.int(20)
    put(dice === 0 ? stream.prompt() : dice < 6 ? stream.say() : stream.call())
    if (!pictured && written > bytes / 2) {
      pictured = true
      put(stream.picture(longLine))
    }
  }
  written += writeSync(file, buffer)
  closeSync(file)
  return { files: 1, rows: stream.rows, events: stream.events, bytes: written }
}

/** Ordinary sessions of about 1.5 MB each until there are `bytes`. */
export function writeOrdinarySessions(claudeHome: string, bytes: number, seed = 2): Generated {
  const random = seeded(seed)
  const pool = textPool(random)
  const total = { files: 0, rows: 0, events: 0, bytes: 0 }
  while (total.bytes < bytes) {
    const cwd = `/home/sample/work/project-${total.files % 12}`
    const session = random.uuid()
    const startedAt = Date.UTC(2026, 9, 1, 8) + total.files * 3_600_000
    const stream = new RowStream(random, pool, { session, cwd, startedAt }, false)
    let text = stream.prompt()
    const size = 200_000 + random.int(2_600_000)
    while (text.length < size) {
      const dice = random.int(20)
      text += dice === 0 ? stream.prompt() : dice < 6 ? stream.say() : stream.call()
    }
    total.bytes += putSession(folderOf(claudeHome, cwd), session, text, startedAt)
    total.files += 1
    total.rows += stream.rows
    total.events += stream.events
  }
  return total
}

/** `runs` sessions with `events / runs` small events each, over `projects` folders, one an hour backwards from `now`. */
export function writeManyRuns(
  claudeHome: string,
  options: {
    readonly runs: number
    readonly events: number
    readonly projects: number
    readonly now: Date
    readonly seed?: number
  },
): Generated {
  const random = seeded(options.seed ?? 3)
  const pool = textPool(random)
  const total = { files: 0, rows: 0, events: 0, bytes: 0 }
  const perRun = Math.max(2, Math.round(options.events / options.runs))
  for (let n = 0; n < options.runs; n++) {
    const cwd = `/home/sample/work/p${n % options.projects}`
    const session = random.uuid()
    const startedAt = options.now.getTime() - (n + 1) * 3_600_000
    const stream = new RowStream(random, pool, { session, cwd, startedAt }, true)
    let text = stream.prompt()
    while (stream.events < perRun) {
      const dice = random.int(20)
      text += dice === 0 ? stream.prompt() : dice < 10 ? stream.say() : stream.call()
    }
    total.bytes += putSession(folderOf(claudeHome, cwd), session, text, startedAt)
    total.files += 1
    total.rows += stream.rows
    total.events += stream.events
  }
  return total
}

function putSession(folder: string, session: string, text: string, startedAt: number): number {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${session}.jsonl`)
  writeFileSync(path, text, { mode: 0o600 })
  const at = new Date(startedAt + 600_000)
  utimesSync(path, at, at)
  return Buffer.byteLength(text)
}
