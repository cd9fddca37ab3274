import type { PlanPath, RollbackPlan, RollbackRecord, RollbackTarget } from '../../../contract/rollback.ts'
import { AT, digest } from './kit.tsx'

export const RULE = '/home/dev/shop/.claude/rules/http.md'
export const SETTINGS = '/home/dev/.claude/settings.json'
export const CLAUDE_MD = '/home/dev/shop/CLAUDE.md'

export const target = (change: Partial<RollbackTarget> = {}): RollbackTarget => ({
  text: 'r_00000000000a',
  kind: 'run',
  run: 'r_00000000000a',
  seq: null,
  manifest: digest('a'),
  state: null,
  at: '2026-11-29T18:04:00.000Z',
  runtime: 'claude-code',
  home: '/home/dev/.claude',
  workspace: '/home/dev/shop',
  ...change,
})

type Write = RollbackPlan['writes'][number]
type Conflict = RollbackPlan['conflicts'][number]

const side = (digit: string, bytes = 120): NonNullable<Write['before']> => ({
  kind: 'file',
  digest: digest(digit),
  mode: 0o644,
  bytes,
})

export const write = (path: string, change: Partial<Write> = {}): Write => ({
  path,
  area: path.startsWith('/home/dev/shop') ? 'project' : 'home',
  change: 'change',
  key: null,
  before: side('1'),
  after: side('2'),
  added_lines: 1,
  removed_lines: 1,
  keeps: [],
  warnings: [],
  ticked: true,
  ...change,
})

export const conflict = (path = CLAUDE_MD, change: Partial<Conflict> = {}): Conflict => ({
  path,
  area: 'project',
  expected: digest('3'),
  found: digest('4'),
  last_writer: { who: 'another run', run: 'r_0000000090aa', seq: 12, at: AT },
  why: 'it was changed after the target',
  choices: ['disk', 'target', 'hunks'],
  after: side('5'),
  ...change,
})

export const plan = (change: Partial<RollbackPlan> = {}): RollbackPlan => ({
  id: 'p_1',
  target: target(),
  scope: { home: true },
  is_rollback: true,
  writes: [write(RULE), write(SETTINGS)],
  deletes: [],
  kept: [],
  kept_more: 0,
  conflicts: [],
  not_restorable: [],
  safety: { paths: 2, bytes: 240, complete: true, cannot: [] },
  running: [],
  not_reproducible: null,
  ...change,
})

/** What the daemon answers where no scope was chosen yet. */
export const nothingAsked = (change: Partial<RollbackPlan> = {}): RollbackPlan =>
  plan({
    scope: {},
    is_rollback: false,
    writes: [],
    safety: { paths: 0, bytes: 0, complete: true, cannot: [] },
    ...change,
  })

export const planPath = (path: string, change: Partial<PlanPath> = {}): PlanPath => ({
  path,
  disk: 'one\nnow\n',
  target: 'one\nthen\n',
  why: null,
  hunks: [{ n: 1, disk_line: 2, target_line: 2, removed: ['now'], added: ['then'] }],
  keys: [],
  ...change,
})

export const record = (change: Partial<RollbackRecord> = {}): RollbackRecord => ({
  v: 1,
  id: 'b_0123456789ab',
  at: AT,
  target: target(),
  scope: { home: true },
  is_rollback: true,
  reason: 'rule widened by mistake',
  state: 'applied',
  paths: [
    {
      path: RULE,
      area: 'project',
      key: null,
      change: 'change',
      before: digest('1'),
      after: digest('2'),
      verified: true,
      result: 'done',
      why: null,
    },
  ],
  not_restorable: [],
  undo_of: null,
  undone_by: null,
  verification: {
    reached: true,
    target_digest: digest('a'),
    effective_digest: digest('a'),
    differences: [],
    why: null,
  },
  not_reproducible: null,
  error: null,
  ...change,
})
