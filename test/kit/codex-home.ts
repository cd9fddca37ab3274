import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionUnit, Surroundings } from '../../daemon/runtimes/adapter.ts'
import { codex } from '../../daemon/runtimes/codex/index.ts'

const fixtures = join(import.meta.dirname, '../fixtures')

/** Names that the sessions of the fixtures have in a home; the folder follows from the date in the name. */
export const codexRollouts = {
  'direct-edit-test-fix': 'rollout-2026-11-30T15-56-06-01a22d2b-ab68-7b53-b1dd-1edef54f91f7.jsonl',
  'code-mode-edit-test-fix': 'rollout-2026-11-30T15-56-07-01a22d2b-b0d0-7fc1-af99-ca59507ee957.jsonl',
  'failing-tools': 'rollout-2026-11-30T15-56-09-01a22d2b-b77e-7571-9a7a-c7a1bbac8802.jsonl',
  'mcp-tool-call': 'rollout-2026-11-30T15-56-11-01a22d2b-beff-7882-b8af-bca5dde5ba25.jsonl',
  resumed: 'rollout-2026-11-30T15-56-12-01a22d2b-c21d-7ed0-88ee-b23310622022.jsonl',
  'resumed-after-revert':
    'rollout-2026-11-30T15-56-13-01a22d2b-c21d-7ed0-88ee-b23310622022_01a22d2b-c853-7290-b91a-9e86423bd562.jsonl',
  forked: 'rollout-2026-11-30T15-56-13-01a22d2b-c69c-75f3-94e1-ab0964bbdf7a.jsonl',
  'approved-interrupted-compacted': 'rollout-2026-11-30T15-56-14-01a22d2b-cad9-7002-9109-a971e99b91a8.jsonl',
  'subagent-parent': 'rollout-2026-11-30T15-56-16-01a22d2b-d494-76c0-9e24-d264a72c0b92.jsonl',
  'subagent-child': 'rollout-2026-11-30T15-56-17-01a22d2b-d524-7032-a030-9ee95d00350f.jsonl',
  'legacy-history-mode': 'rollout-2026-11-30T16-02-40-01a22d31-af80-7343-9859-52dc1fe8df97.jsonl',
} as const
export type CodexRollout = keyof typeof codexRollouts

/** Thread of a fixture. */
export const codexThread = (name: CodexRollout): string =>
  /([0-9a-f]{8}-[0-9a-f-]{27})/.exec(codexRollouts[name])?.[1] ?? ''

const wild = {
  'codex-0.41-first-envelope.jsonl': 'rollout-2025-05-27T07-37-08-019710ac-79bf-72b9-8b6e-fe27dcccac7a.jsonl',
  'codex-2025-bare-items-crlf.jsonl': 'rollout-2025-05-19T18-58-38-b9d79aba-7fc0-4993-a545-9a7d16240455.jsonl',
} as const
export const codexDocument = '3ec28387-e021-48cf-aa0a-825ef0d0103b'
export const codexCompressed = '01a22d2c-beff-7882-b8af-bca5dde5ba25'

/** Where a session of this name lies: below its date. */
export function codexPlace(home: string, name: string): string {
  const [, year = '', month = '', day = ''] = /^rollout-(\d{4})-(\d\d)-(\d\d)/.exec(name) ?? []
  return join(home, 'sessions', year, month, day, name)
}

/** A home with every session there is among the fixtures: all formats, one of them archived. */
export function makeCodexHome(root: string): { readonly home: string; readonly surroundings: Surroundings } {
  const userHome = join(root, 'home')
  const home = join(userHome, '.codex')
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(to), { recursive: true })
    cpSync(join(fixtures, from), to)
  }
  for (const [name, file] of Object.entries(codexRollouts)) {
    const to = name === 'legacy-history-mode' ? join(home, 'archived_sessions', file) : codexPlace(home, file)
    put(`codex/rollouts/${name}.jsonl`, to)
  }
  for (const [name, file] of Object.entries(wild)) put(`wild/${name}`, codexPlace(home, file))
  put('wild/codex-2025-single-document.json', join(home, 'sessions', `rollout-2025-03-29-${codexDocument}.json`))
  put(
    'codex/rollouts/compressed.jsonl.zst',
    codexPlace(home, `rollout-2026-11-30T15-56-18-${codexCompressed}.jsonl.zst`),
  )
  for (const name of ['history.jsonl', 'session_index.jsonl']) put(`codex/${name}`, join(home, name))
  return { home, surroundings: { platform: 'linux', userHome, env: {}, systemRoot: root, now: () => new Date(0) } }
}

/** The unit of one session of a home. */
export function codexUnit(home: string, session: string): SessionUnit {
  const unit = [...codex.listSessions(home, () => {})].find((each) => each.session === session)
  if (unit === undefined) throw new Error(`no session ${session} in ${home}`)
  return unit
}
