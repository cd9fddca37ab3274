import type { Seeded } from './seeded.ts'
import type { Row, Turn } from './steps.ts'
import { blockOf, perform } from './tool-outcomes.ts'
import type { WorkTree } from './work-tree.ts'

/**
 * A session as version 2.0.21 wrote it (fixture `wild/claude-2.0-sidechain-in-main-file.jsonl`): only prompts, answers and results, no
 * attachments, no requests, and output counts from the start of the stream.
 */
export function writeOldSession(
  random: Seeded,
  tree: WorkTree,
  startedAt: Date,
  prompt: string,
  turns: readonly Turn[],
): { readonly session: string; readonly file: string; readonly endedAt: Date } {
  const session = random.uuid()
  const rows: string[] = []
  let clockMs = startedAt.getTime()
  let parentUuid: string | null = null
  const add = (row: Row, parent: string | null = parentUuid): string => {
    const uuid = random.uuid()
    const head = {
      parentUuid: parent,
      isSidechain: false,
      userType: 'external',
      cwd: tree.root,
      sessionId: session,
      version: '2.0.21',
      gitBranch: 'main',
    }
    rows.push(JSON.stringify({ ...head, ...row, uuid, timestamp: new Date(clockMs).toISOString() }))
    clockMs += 20 + random.int(60)
    parentUuid = uuid
    return uuid
  }
  add({ type: 'user', message: { role: 'user', content: prompt } })
  for (const turn of turns) {
    clockMs += 1_500 + random.int(3_000)
    const id = `msg_01${random.hex(22)}`
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 400,
      cache_read_input_tokens: 12_000,
      output_tokens: 2,
      service_tier: 'standard',
    }
    const calls: { block: Row; uuid: string; n: number }[] = []
    turn.forEach((step, n) => {
      const block = blockOf(step, random, tree)
      const message = {
        model: 'claude-sonnet-4-5-20250929',
        id,
        type: 'message',
        role: 'assistant',
        content: [block],
        stop_reason: null,
        stop_sequence: null,
        usage,
      }
      const uuid = add({ message, requestId: `req_01${random.hex(20)}`, type: 'assistant' })
      if (block.type === 'tool_use') calls.push({ block, uuid, n })
    })
    for (const call of calls) {
      const step = turn[call.n]
      if (step === undefined) continue
      const outcome = perform(step, tree, random, 'claude-sonnet-4-5-20250929')
      clockMs += outcome.ms
      const content = [
        {
          tool_use_id: call.block.id,
          type: 'tool_result',
          content: outcome.shown,
          ...(outcome.failed ? { is_error: true } : {}),
        },
      ]
      add({ type: 'user', message: { role: 'user', content }, toolUseResult: outcome.result }, call.uuid)
    }
  }
  return { session, file: rows.map((row) => `${row}\n`).join(''), endedAt: new Date(clockMs) }
}
