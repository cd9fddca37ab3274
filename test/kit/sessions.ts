import fs from 'node:fs'
import path from 'node:path'

/** Small sessions in the form of the real program, written by tests that need a shape no recording has. */
export interface Talk {
  readonly session: string
  readonly cwd: string
  readonly startedAt: string
}

export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** A prompt and an answer per turn, `n` counts turns of the whole test so that ids differ. */
export const turn = (
  talk: Talk,
  n: number,
  prompt: string,
  answer: string,
  options: {
    readonly at?: string | undefined
    readonly parent?: string | null | undefined
    readonly message?: string
    readonly base?: number
  } = {},
): string[] => {
  const base = options.base ?? n * 10
  const at = options.at ?? new Date(Date.parse(talk.startedAt) + n * 60_000).toISOString()
  const common = {
    isSidechain: false,
    userType: 'external',
    cwd: talk.cwd,
    sessionId: talk.session,
    version: '2.1.100',
    gitBranch: 'main',
  }
  const user = {
    ...common,
    parentUuid: options.parent === undefined ? (n === 0 ? null : uuid(base - 9)) : options.parent,
    type: 'user',
    message: { role: 'user', content: prompt },
    uuid: uuid(base),
    timestamp: at,
  }
  const reply = {
    ...common,
    parentUuid: uuid(base),
    type: 'assistant',
    uuid: uuid(base + 1),
    timestamp: new Date(Date.parse(at) + 5000).toISOString(),
    message: {
      id: options.message ?? `msg_${talk.session}_${n}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: answer }],
      usage: { input_tokens: 10, output_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 3 },
    },
  }
  return [JSON.stringify(user), JSON.stringify(reply)]
}

export const sessionFile = (home: string, talk: Talk): string =>
  path.join(home, '.claude/projects', talk.cwd.replaceAll(/[^A-Za-z0-9]/g, '-'), `${talk.session}.jsonl`)

export const writeSession = (home: string, talk: Talk, lines: readonly string[]): string => {
  const file = sessionFile(home, talk)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
  return file
}
