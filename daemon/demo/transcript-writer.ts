import { RequestLog, sha256 } from './request-log.ts'
import type { Seeded } from './seeded.ts'
import { reminder, type StartSetup, startAttachments } from './start-attachments.ts'
import type { Json, NestedRule, Row, Step, Turn } from './steps.ts'
import { blockOf, perform, type TokenCount, text, usageOf } from './tool-outcomes.ts'
import type { WorkTree } from './work-tree.ts'

export interface TranscriptSetup extends StartSetup {
  readonly random: Seeded
  readonly session: string
  readonly branch: string
  readonly version: string
  readonly startedAt: Date
  readonly interactive?: boolean
  /** Set for the file of a subagent. */
  readonly agentId?: string
  readonly agentType?: string
}

/**
 * Writes the rows of a session as Claude Code 2.1.332 does (runtime page 4.4 and 5.2, fixtures `sessions/`), with texts of our own
 * and placeholders where the vendor's would stand. Hashes and digests are computed as the runtime computes them.
 */
export class TranscriptWriter {
  readonly rows: string[] = []
  clockMs: number
  /** Rows with a `uuid`, for a fork to copy. */
  private readonly conversation: Row[] = []
  private readonly setup: TranscriptSetup
  private readonly tree: WorkTree
  private readonly log: RequestLog
  private leaf: string | null = null
  private promptId = ''
  private prompt = ''
  private turn = 0
  private slug: string | null = null
  private cached = 0
  private snapshotMessage = ''
  private pending: Json[] = []
  private readonly used = new Set<string>()
  private readonly brought = new Set<string>()
  private readonly backedUp = new Set<string>()
  private readonly totals = {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    added: 0,
    removed: 0,
    apiMs: 0,
    toolMs: 0,
    cost: 0,
  }

  constructor(setup: TranscriptSetup, tree: WorkTree) {
    this.setup = setup
    this.tree = tree
    this.clockMs = setup.startedAt.getTime()
    const { model, version, agentId, agentType, memoryFolder } = setup
    const querySource =
      agentType !== undefined ? `agent:builtin:${agentType}` : setup.interactive ? 'repl_main_thread' : 'sdk'
    this.log = new RequestLog({
      model,
      version,
      querySource,
      memoryFolder,
      ...(agentId === undefined ? {} : { agentId }),
    })
  }

  get session(): string {
    return this.setup.session
  }

  get file(): string {
    return this.rows.map((row) => `${row}\n`).join('')
  }

  /** Time that passes before the next row. */
  wait(ms: number): void {
    this.clockMs += ms
  }

  /** A prompt and all the model does about it. */
  ask(prompt: string, turns: readonly Turn[]): void {
    const { agentId, interactive } = this.setup
    this.prompt = prompt
    this.promptId = this.setup.random.uuid()
    this.turn += 1
    if (agentId === undefined) {
      this.note('queue-operation', { operation: 'enqueue', timestamp: this.now(), content: prompt })
      this.note('queue-operation', { operation: 'dequeue', timestamp: this.now() })
    }
    if (interactive) this.snapshot()
    this.addUser(prompt, {
      ...(agentId === undefined
        ? {
            permissionMode: interactive ? 'acceptEdits' : 'default',
            ...(interactive ? { origin: { kind: 'human' } } : {}),
            promptSource: interactive ? 'typed' : 'sdk',
            sentAtMs: this.clockMs - 40,
            rowSource: 'local',
            turnOrigin: interactive ? 'human' : 'sdk',
            turnPosition: { promptIndex: 0, turnIndex: this.turn },
          }
        : { rowSource: 'recorded' }),
    })
    if (this.log.messages.length === 0) this.announce(prompt)
    else this.log.messages.push({ role: 'user', content: [text(prompt)] })
    this.go(turns)
    if (interactive) {
      const durationMs = 4_000 + this.setup.random.int(20_000)
      this.add({
        ...this.chained(),
        type: 'system',
        subtype: 'turn_duration',
        durationMs,
        messageCount: this.conversation.length,
        isMeta: false,
      })
    }
  }

  /** More answers to the same prompt. */
  go(turns: readonly Turn[]): void {
    for (const turn of turns) this.answer(turn)
  }

  private announce(prompt: string): void {
    const day = new Date(this.clockMs).toISOString().slice(0, 10)
    const user: string[] = []
    const system: string[] = []
    for (const { attachment, rendered, role } of startAttachments(this.setup, day)) {
      const shown = rendered === null ? {} : { rendered: [{ content: reminder(rendered) }], renderedRole: role }
      this.add({ ...this.chained(), attachment, type: 'attachment', ...shown })
      if (rendered !== null) (role === 'user' ? user : system).push(rendered)
      if (attachment.type === 'skill_listing' && this.setup.agentId === undefined) this.note('atis-latch', { atis: '' })
    }
    const before = this.pending
    this.pending = []
    this.log.messages.push({
      role: 'user',
      content: [...before, ...user.map((part) => text(reminder(part))), text(prompt)],
    })
    this.log.messages.push({ role: 'system', content: [text(system.join('\n\n'))] })
  }

  private answer(turn: Turn): void {
    const { random, model } = this.setup
    this.clockMs += 900 + random.int(2_600)
    const requestRef = this.request()
    const size = this.log.size()
    const tokens: TokenCount = {
      input: 3 + random.int(6),
      output: 12 + Math.ceil(turn.reduce((sum, step) => sum + JSON.stringify(step).length, 0) / 4),
      cacheRead: this.cached,
      cacheWrite: Math.max(0, size - this.cached),
    }
    this.cached = size
    this.count(tokens)
    const id = `msg_01${random.hex(22)}`
    const requestId = `req_01${random.hex(20)}`
    const blocks = turn.map((step) => blockOf(step, random, this.tree))
    const stop = blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
    const calls: { step: Step; id: string; uuid: string }[] = []
    blocks.forEach((block, apiBlockIndex) => {
      this.clockMs += 150 + random.int(500)
      if (typeof block.name === 'string' && !this.used.has(block.name)) {
        this.used.add(block.name)
        this.note('tools-used', { tools: [...this.used] })
      }
      const uuid = this.add({
        ...this.chained(),
        message: {
          id,
          type: 'message',
          role: 'assistant',
          model,
          content: [block],
          stop_reason: stop,
          stop_sequence: null,
          usage: usageOf(tokens),
          stop_details: null,
        },
        ...(block.name === undefined ? {} : { toolInputStreamMs: 1 + random.int(40) }),
        apiBlockIndex,
        requestId,
        requestRef,
        requestedModel: model,
        promptCacheRequested: '5m',
        type: 'assistant',
        effort: 'medium',
        perTurnEffort: 'medium',
        madeBy: 'model',
      })
      const step = turn[apiBlockIndex]
      if (step !== undefined && typeof block.id === 'string') calls.push({ step, id: block.id, uuid })
    })
    this.log.messages.push({ role: 'assistant', content: blocks })
    const results: Json[] = []
    const context: Json[] = []
    for (const call of calls) {
      if ('bash' in call.step && call.step.open) continue
      results.push(this.result(call.step, call.id, call.uuid))
      const rule = 'rule' in call.step ? call.step.rule : undefined
      if (rule !== undefined && !this.brought.has(rule.path)) context.push(this.bring(rule))
    }
    if (results.length > 0) this.log.messages.push({ role: 'user', content: [...results, ...context] })
  }

  private result(step: Step, id: string, callUuid: string): Json {
    const outcome = perform(step, this.tree, this.setup.random, this.setup.model)
    this.clockMs += outcome.ms
    this.totals.toolMs += outcome.ms
    this.totals.added += outcome.added
    this.totals.removed += outcome.removed
    if (this.setup.interactive && outcome.touched !== null) this.backUp(callUuid, outcome.touched)
    const block: Row = outcome.failed
      ? { type: 'tool_result', content: outcome.shown, is_error: true, tool_use_id: id }
      : { tool_use_id: id, type: 'tool_result', content: outcome.shown, ...('bash' in step ? { is_error: false } : {}) }
    this.add({
      ...this.chained(callUuid),
      promptId: this.promptId,
      type: 'user',
      message: { role: 'user', content: [block] },
      ...(this.setup.agentId === undefined ? { toolUseResult: outcome.result } : {}),
      ...('bash' in step ? { sandboxed: false } : {}),
      sourceToolAssistantUUID: callUuid,
      permissionDecision: {
        decision: 'accept',
        source: 'config',
        reasonType: 'rule',
        ruleSource: this.setup.interactive ? 'session' : 'cliArg',
      },
    })
    return block
  }

  private bring(rule: NestedRule): Json {
    this.brought.add(rule.path)
    const shown = reminder(`Contents of ${rule.path}:\n\n${rule.content}`)
    const content = {
      path: rule.path,
      type: 'Project',
      content: rule.content,
      contentDiffersFromDisk: rule.content !== rule.rawContent,
      rawContent: rule.rawContent,
    }
    this.add({
      ...this.chained(),
      attachment: { type: 'nested_memory', path: rule.path, content, displayPath: this.tree.relative(rule.path) },
      type: 'attachment',
      rendered: [{ content: shown }],
      renderedRole: 'user',
    })
    return text(shown)
  }

  /** One attempt to reach the model that failed; the same request follows (runtime page 4.3). */
  apiError(status: number, kind: string, message: string, attempt: number, retryInMs: number): void {
    this.request()
    this.clockMs += 200
    const requestId = `req_01${this.setup.random.hex(20)}`
    const wire = JSON.stringify({ type: 'error', error: { type: kind, message } })
    this.add({
      ...this.chained(),
      type: 'system',
      subtype: 'api_error',
      level: 'error',
      error: {
        message: `${status} ${wire}`,
        status,
        requestId,
        formatted: `${status} ${message}`,
        connection: null,
        isNetworkDown: false,
        rateLimits: null,
        noResponse: null,
      },
      retryInMs,
      retryAttempt: attempt,
      maxRetries: 10,
      source: 'request_retry',
    })
    this.clockMs += retryInMs
  }

  /** `/compact`: the old rows stay, the conversation goes on from a summary (runtime page 5.3). */
  compact(summary: string): void {
    const { random } = this.setup
    const last = this.leaf
    this.slug = `${random.pick(['quiet', 'round', 'amber', 'brisk'])}-${random.pick(['sorting', 'counting', 'walking'])}-${random.pick(['teapot', 'ladder', 'harbor'])}`
    this.promptId = random.uuid()
    this.note('queue-operation', { operation: 'enqueue', timestamp: this.now(), content: '/compact' })
    this.note('queue-operation', { operation: 'dequeue', timestamp: this.now() })
    this.clockMs += 6_400
    const preserved = { anchorUuid: last, uuids: [], allUuids: [] }
    this.add({
      ...this.chained(null),
      logicalParentUuid: last,
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      isMeta: false,
      level: 'info',
      compactMetadata: {
        trigger: 'manual',
        preTokens: this.cached,
        durationMs: 6_300,
        postTokens: 2_400,
        cumulativeDroppedTokens: 0,
        preservedMessages: preserved,
      },
    })
    const shown = `<vendor text>\n\nSummary:\n${summary}`
    this.addUser(shown, {
      isVisibleInTranscriptOnly: true,
      isCompactSummary: true,
      sentAtMs: this.clockMs - 90,
      rowSource: 'local',
    })
    this.addUser(
      '<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args></command-args>',
      { rowSource: 'local' },
    )
    this.addUser('<local-command-stdout>Compacted</local-command-stdout>', { rowSource: 'local' })
    this.log.clear()
    this.cached = 0
    this.brought.clear()
    this.pending = [text(shown)]
    this.stop()
  }

  /** The process ends; a later `ask` is a resume. */
  stop(): void {
    if (this.setup.agentId !== undefined) return
    const { totals } = this
    const { model, startedAt } = this.setup
    this.note('last-prompt', { lastPrompt: this.prompt, leafUuid: this.leaf })
    const usage = {
      inputTokens: totals.input,
      outputTokens: totals.output,
      thinkingTokens: 0,
      cacheReadInputTokens: totals.cacheRead,
      cacheCreationInputTokens: totals.cacheWrite,
      webSearchRequests: 0,
      costUSD: totals.cost,
    }
    this.note('cost-state', {
      totalCostUSD: totals.cost,
      totalAPIDuration: totals.apiMs,
      totalAPIDurationWithoutRetries: totals.apiMs,
      totalToolDuration: totals.toolMs,
      totalLinesAdded: totals.added,
      totalLinesRemoved: totals.removed,
      totalDuration: this.clockMs - startedAt.getTime(),
      startTime: startedAt.getTime(),
      modelUsage: { [model]: usage },
      hasUnknownModelCost: false,
    })
  }

  /** Copies another session, as `--resume ID --fork-session` does: same `uuid`s and times, new session id (runtime page 5.3). */
  copyFrom(origin: TranscriptWriter): void {
    this.promptId = this.setup.random.uuid()
    this.note('mode', { mode: 'normal' })
    this.note('atis-latch', { atis: '' })
    this.note('tools-used', { tools: [...origin.used] })
    for (const row of origin.conversation) {
      const copy: Row = { ...row, sessionId: this.setup.session }
      if (row.promptId !== undefined) copy.promptId = this.promptId
      if (row.type === 'assistant') copy.requestSessionId = origin.setup.session
      this.rows.push(JSON.stringify(copy))
      this.conversation.push(copy)
    }
    for (const tool of origin.used) this.used.add(tool)
    for (const path of origin.brought) this.brought.add(path)
    this.leaf = origin.leaf
    this.turn = origin.turn
    this.cached = origin.cached
    this.log.messages.push(...origin.log.messages)
  }

  private snapshot(): void {
    this.snapshotMessage = this.setup.random.uuid()
    const messageId = this.snapshotMessage
    const trackedFileBackups = Object.fromEntries([...this.backedUp].map((path) => [path, this.backupOf(path)]))
    this.note('file-history-snapshot', {
      messageId,
      snapshot: { messageId, trackedFileBackups, timestamp: this.now() },
      isSnapshotUpdate: false,
      sessionId: undefined,
    })
  }

  private backUp(messageId: string, path: string): void {
    if (this.backedUp.has(path)) return
    this.backedUp.add(path)
    this.note('file-history-delta', {
      messageId,
      snapshotMessageId: this.snapshotMessage,
      trackingPath: path,
      backup: this.backupOf(path),
      timestamp: this.now(),
      sessionId: undefined,
    })
  }

  private backupOf(path: string): Json {
    const absolute = this.tree.absolute(path)
    const realParentDir = absolute.slice(0, absolute.lastIndexOf('/'))
    return { backupFileName: `${sha256(absolute).slice(0, 16)}@v1`, version: 1, backupTime: this.now(), realParentDir }
  }

  private request(): string {
    const id = this.setup.random.uuid()
    for (const { type, row } of this.log.send(id, this.now())) this.note(type, row)
    return id
  }

  private chained(parent: string | null = this.leaf): Row {
    const { agentId } = this.setup
    return { parentUuid: parent, isSidechain: agentId !== undefined, ...(agentId === undefined ? {} : { agentId }) }
  }

  private addUser(content: string, more: Row): void {
    this.add({ ...this.chained(), promptId: this.promptId, type: 'user', message: { role: 'user', content }, ...more })
  }

  private add(row: Row): string {
    const { random, interactive, cwd, session, version, branch } = this.setup
    const uuid = random.uuid()
    const whole: Row = {
      ...row,
      uuid,
      timestamp: this.now(),
      userType: 'external',
      entrypoint: interactive ? 'cli' : 'sdk-cli',
      cwd,
      sessionId: session,
      version,
      gitBranch: branch,
      ...(this.slug === null ? {} : { slug: this.slug }),
    }
    this.clockMs += 2 + random.int(12)
    this.rows.push(JSON.stringify(whole))
    this.conversation.push(whole)
    this.leaf = uuid
    return uuid
  }

  private note(type: string, row: Row): void {
    this.rows.push(JSON.stringify({ type, sessionId: this.setup.session, ...row }))
  }

  private now(): string {
    return new Date(this.clockMs).toISOString()
  }

  private count(tokens: TokenCount): void {
    const { totals } = this
    totals.input += tokens.input
    totals.output += tokens.output
    totals.cacheRead += tokens.cacheRead
    totals.cacheWrite += tokens.cacheWrite
    totals.apiMs += 1_800
    totals.cost =
      (totals.input * 5 + totals.output * 25 + totals.cacheRead * 0.5 + totals.cacheWrite * 6.25) / 1_000_000
  }
}
