import type { Tokens } from '../../../contract/index.ts'
import type { EventChange, RawLine } from '../adapter.ts'
import { asName, asRow, asText, blocksOf, plainText, type Row } from '../shared/fields.ts'
import type { ClaudeReader } from './reader.ts'
import { summaryOf, summaryOfCall, wordsOfInput } from './summaries.ts'
import { looksLikeStartOfStream, readTokens, Usage, writesStartOfStream } from './usage.ts'

/** The reply whose rows are being read. */
interface CurrentReply {
  readonly key: string
  /** Visible characters so far: they decide whether the output count can be true. */
  characters: number
  output: number
  stopReason: unknown
  /** How much the summary says: 3 words, 2 names of calls, 1 only thinking. */
  rank: number
}

/** Requests waited for: a reply follows its request closely, an attempt that failed has none. */
const WAITING_REQUESTS = 64

/** `assistant` rows: one reply of the model stands on several rows, one content block each (runtime page 5.2). */
export class Replies {
  readonly #usage = new Usage()
  readonly #requests = new Map<string, RawLine>()
  #current: CurrentReply | null = null
  #lowerBound = false

  get tokens(): Tokens {
    return this.#usage.total
  }

  get tokensAreLowerBound(): boolean {
    return this.#lowerBound || isLowerBound(this.#current)
  }

  /** Remembers where a request stands: the detail of its reply shows its parameters (R142). */
  addRequest(id: string, line: RawLine): void {
    this.#requests.set(id, line)
    if (this.#requests.size <= WAITING_REQUESTS) return
    for (const oldest of this.#requests.keys()) {
      this.#requests.delete(oldest)
      return
    }
  }

  read(reader: ClaudeReader, row: Row): void {
    const message = asRow(row.message)
    const session = asName(row.sessionId)
    const main = reader.place.lane === 'main'
    if (session !== null && main) reader.tally.answerSessions.add(session)
    const model = asName(message?.model)
    if (row.isApiErrorMessage === true || model === '<synthetic>') {
      readOwnWords(reader, row, message)
      return
    }
    const originSession = asName(row.requestSessionId) ?? asName(asRow(row.forkedFrom)?.sessionId)
    const origin = originSession === session ? null : originSession
    if (main) {
      reader.stretches.reply(origin !== null, reader.nextSeq, reader.sink)
      reader.tally.conversation = true
      reader.tally.failed = false
      if (model !== null) reader.tally.models.add(model)
      noteModel(reader, row, model)
    }
    const blocks = blocksOf(message)
    const seq = this.#merge(reader, row, { message, blocks, model, origin })
    for (const block of blocks) {
      const type = asText(block.type)
      const text = asText(block.text) ?? asText(block.thinking)
      if (type === 'tool_use' || type === 'server_tool_use') readCall(reader, row, block, seq, origin)
      else if (text !== null) reader.words(seq, type === 'thinking' ? 'thinking' : 'answer', text)
    }
  }

  /** Finds or begins the reply of this row; gives its event. */
  #merge(
    reader: ClaudeReader,
    row: Row,
    {
      message,
      blocks,
      model,
      origin,
    }: { message: Row | null; blocks: readonly Row[]; model: string | null; origin: string | null },
  ): number {
    const id = asName(message?.id)
    const request = asName(row.requestRef)
    // A server behind a gateway may give an id out again; the request that was answered tells two such replies apart.
    const key = `${id ?? reader.place.uuid ?? ''}\n${request ?? ''}`
    const said = blocks.filter((block) => block.type !== 'tool_use')
    const content = said.length > 0 ? reader.key('reply', said.map(withoutSignature)) : null
    const tokens = readTokens(message?.usage)
    const { summary, rank } = summarise(blocks)
    const known = this.#usage.seqOf(key)
    const seq =
      known ??
      reader.emit({ kind: 'model', summary, model, tokens, messageId: id, contentKey: content, originSession: origin })
    const changed = this.#usage.set(key, seq, tokens ?? { input: 0, output: 0, cache_read: 0, cache_write: 0 })
    if (tokens !== null && writesStartOfStream(asName(row.version))) this.#lowerBound = true
    const current = this.#follow(key)
    if (known !== null) {
      const change: EventChange = {
        ...(changed && tokens !== null ? { tokens } : {}),
        ...(rank > current.rank ? { summary } : {}),
        ...(content === null ? {} : { addContentKey: content }),
      }
      reader.joinRow(seq, change)
    } else if (request !== null) this.#joinRequest(reader, seq, request)
    current.rank = Math.max(current.rank, rank)
    current.output = tokens?.output ?? current.output
    current.stopReason = message?.stop_reason ?? null
    for (const block of blocks) current.characters += visibleCharacters(block)
    return seq
  }

  #follow(key: string): CurrentReply {
    if (this.#current?.key === key) return this.#current
    if (isLowerBound(this.#current)) this.#lowerBound = true
    this.#current = { key, characters: 0, output: 0, stopReason: null, rank: 0 }
    return this.#current
  }

  #joinRequest(reader: ClaudeReader, seq: number, id: string): void {
    const line = this.#requests.get(id)
    if (line === undefined) return
    this.#requests.delete(id)
    reader.amend(seq, { addLine: { line: line.line, byte: line.byte, bytes: line.bytes } })
  }
}

/** Words the program put into the model's mouth: errors of the service, fillers after an interruption. They cost nothing. */
function readOwnWords(reader: ClaudeReader, row: Row, message: Row | null): void {
  const text = plainText(message?.content)
  const failed = row.isApiErrorMessage === true
  const seq = reader.emit({ kind: failed ? 'error' : 'note', summary: summaryOf(text), ok: failed ? false : null })
  reader.words(seq, 'answer', text)
  if (failed) reader.noteOutcome(true)
}

function readCall(reader: ClaudeReader, row: Row, block: Row, replySeq: number, origin: string | null): void {
  const { uuid, at, line } = reader.place
  const name = asName(block.name) ?? '(unnamed)'
  const toolUseId = asName(block.id)
  const input = asRow(block.input)
  const seq = reader.emit({
    id: `${uuid ?? `@${line.byte}`}/${toolUseId ?? name}`,
    parentSeq: replySeq,
    brokenLink: false,
    kind: 'tool',
    summary: summaryOfCall(input),
    tool: name,
    toolUseId,
    effectsState: 'none',
    contentKey: reader.key('call', name, block.input),
    messageId: asName(asRow(row.message)?.id),
    originSession: origin,
    rowIds: [],
  })
  for (const evidence of reader.evidence) evidence.used(name, input)
  reader.words(seq, 'input', wordsOfInput(input))
  if (toolUseId === null) return
  const target = asName(input?.file_path) ?? asName(input?.notebook_path)
  reader.openCalls.set(toolUseId, { seq, name, at, target, skill: asName(input?.skill) })
}

function summarise(blocks: readonly Row[]): { summary: string; rank: number } {
  const text = plainText(blocks.filter((block) => typeof block.text === 'string'))
  if (text.trim() !== '') return { summary: summaryOf(text), rank: 3 }
  const calls = blocks.map((block) => asName(block.name)).filter((name) => name !== null)
  if (calls.length > 0) return { summary: `calls ${calls.join(', ')}`, rank: 2 }
  return blocks.some((block) => block.type === 'thinking') ? { summary: 'thinking', rank: 1 } : { summary: '', rank: 0 }
}

function noteModel(reader: ClaudeReader, row: Row, model: string | null): void {
  const requested = asName(row.requestedModel)
  const effort = asName(row.effort)
  for (const evidence of reader.evidence) {
    if (model !== null) evidence.set('model', model)
    if (requested !== null) evidence.set('requested_model', requested)
    if (effort !== null) evidence.set('effort', effort)
  }
}

function withoutSignature(block: Row): unknown {
  return block.type === 'thinking' ? { type: 'thinking', text: block.thinking } : block
}

function visibleCharacters(block: Row): number {
  const text = asText(block.text) ?? asText(block.thinking)
  if (text !== null) return text.length
  let characters = 0
  for (const value of Object.values(asRow(block.input) ?? {})) if (typeof value === 'string') characters += value.length
  return characters
}

function isLowerBound(reply: CurrentReply | null): boolean {
  return reply !== null && looksLikeStartOfStream(reply.output, reply.characters, reply.stopReason)
}
