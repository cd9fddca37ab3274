import { type Comparison, compareCategories } from '../../../contract/compare.ts'
import type { Drift } from '../../../contract/drift.ts'
import { AT, digest } from './kit.tsx'

export const GOOD = 'r_00000000000a'
export const BAD = 'r_00000000000b'

type Side = Comparison['a']
type Cause = Comparison['causes'][number]

export const side = (change: Partial<Side> = {}): Side => ({
  target: GOOD,
  run: GOOD,
  stretch: 1,
  manifest: digest('a'),
  runtime: 'claude-code',
  runtime_version: '2.1.332',
  workspace: '/home/dev/shop',
  at: '2026-11-29T18:04:00.000Z',
  title: 'fix flaky retry test',
  status: 'done',
  origin: 'captured',
  task: 'task_0123456789ab',
  ...change,
})

export const cause = (rank: number, change: Partial<Cause> = {}): Cause => ({
  rank,
  kind: 'rule',
  class: 'configuration',
  category: 'instructions',
  title: `difference number ${rank}`,
  before: null,
  after: null,
  entered: true,
  used: null,
  first_seq: { a: null, b: null },
  why: `stands at ${rank}`,
  evidence: [],
  fields: [],
  text: null,
  ...change,
})

const rule = cause(1, {
  title: 'Rule http.md now matches src/retry.ts',
  before: 'not loaded',
  after: digest('9'),
  used: true,
  first_seq: { a: null, b: 4 },
  why: 'it entered the context of B at @4, before the runs part',
  evidence: [
    { side: 'a', text: 'no path matched', ref: { type: 'source', manifest: digest('a'), uri: 'file:///r/http.md' } },
    { side: 'b', text: 'matched at @4', ref: { type: 'event', run: BAD, seq: 4 } },
    { side: 'b', text: 'changed at 12:30', ref: { type: 'drift', id: 'd_1' } },
    {
      side: 'b',
      text: 'permission mode',
      ref: { type: 'field', manifest: digest('b'), path: 'policy.permissions.mode' },
    },
    { side: 'both', text: 'both end with a test', ref: null },
  ],
  fields: ['instructions.sources[http.md].digest'],
  text: { a: 'paths: src/http', b: 'paths: src', why: null },
})

export const comparison = (change: Partial<Comparison> = {}): Comparison => ({
  a: side(),
  b: side({ target: BAD, run: BAD, manifest: digest('b'), at: AT, status: 'failed' }),
  identical: false,
  verdict: '3 differences can explain it; the likeliest is a rule.',
  causes: [
    rule,
    cause(2, { title: 'Claude Code 2.1.329 → 2.1.332', kind: 'program', category: 'program' }),
    cause(3, {
      title: 'Server tickets lists 1 new tool',
      class: 'external state',
      entered: null,
      used: false,
      text: { a: null, b: null, why: 'only its digest was kept' },
    }),
  ],
  fields: [
    {
      path: 'execution.runtime_version',
      category: 'program',
      before: '2.1.329',
      after: '2.1.332',
      unknown_on: null,
    },
    {
      path: 'execution.sandbox.mode',
      category: 'permissions, trust and sandbox',
      before: null,
      after: 'workspace',
      unknown_on: 'a',
    },
    {
      path: 'instructions.sources[http.md].digest',
      category: 'instructions',
      before: null,
      after: digest('9'),
      unknown_on: null,
    },
  ],
  categories: compareCategories.map((category) => ({
    category,
    state: category === 'instructions' || category === 'program' ? 'different' : 'equal',
    a: digest('1'),
    b: digest('1'),
    how: `${category} by digest`,
    not_known:
      category === 'external state' ? [{ field: 'database', why: 'was not captured', side: 'both' as const }] : [],
  })),
  use: [
    { kind: 'rule', name: 'http.md', a: 0, b: 2, first: { a: null, b: 4 } },
    { kind: 'skill', name: 'release-notes', a: 1, b: 0, first: { a: 7, b: null } },
    { kind: 'tool', name: 'Bash', a: 3, b: 5, first: { a: 2, b: 2 } },
  ],
  text: {
    a_digest: digest('3'),
    b_digest: digest('4'),
    equal: false,
    pieces: [
      { state: 'equal', path: '/home/dev/.claude/CLAUDE.md', uri: 'file:///c', a: 'same', b: 'same', why: null },
      { state: 'only_b', path: '/home/dev/shop/http.md', uri: 'file:///r', a: null, b: 'retries 0', why: null },
      { state: 'changed', path: '/home/dev/shop/x.md', uri: 'file:///x', a: null, b: null, why: 'only digests kept' },
    ],
  },
  steps: {
    aligned: [
      {
        state: 'equal',
        a: { seq: 1, kind: 'prompt', tool: null, summary: 'fix it', ok: null, effects: [] },
        b: { seq: 1, kind: 'prompt', tool: null, summary: 'fix it', ok: null, effects: [] },
      },
      {
        state: 'changed',
        a: { seq: 3, kind: 'tool', tool: 'Edit', summary: 'src/retry.ts', ok: true, effects: [] },
        b: { seq: 6, kind: 'tool', tool: 'Edit', summary: 'src/config.ts', ok: true, effects: [] },
      },
      {
        state: 'only_a',
        a: { seq: 5, kind: 'tool', tool: 'Bash', summary: 'npm test', ok: true, effects: [] },
        b: null,
      },
    ],
    first_difference: 1,
    cut: false,
  },
  notes: [],
  ...change,
})

export const same = (): Comparison =>
  comparison({
    identical: true,
    verdict: 'Nothing that was compared differs; what remains is model behaviour.',
    causes: [],
    fields: [],
    use: [],
    categories: comparison().categories.map((entry) => ({ ...entry, state: 'equal' as const })),
    text: { a_digest: digest('3'), b_digest: digest('3'), equal: true, pieces: [] },
  })

export const drift = (change: Partial<Drift> = {}): Drift => ({
  id: 'd_1',
  at: '2026-11-30T12:30:00.000Z',
  home: 'h_000000000001',
  home_path: '/home/dev/.claude',
  runtime: 'claude-code',
  workspace: '/home/dev/shop',
  kind: 'configuration',
  title: 'http.md changed',
  changes: [
    {
      path: '/home/dev/shop/.claude/rules/http.md',
      what: 'content',
      before: 'paths: src/http',
      after: 'paths: src',
      same_as: '2026-11-20T09:00:00.000Z',
    },
    { path: '/home/dev/.claude/settings.json', what: 'model', before: null, after: 'opus', same_as: null },
  ],
  writer: { who: 'run', run: GOOD, seq: 9, why: 'its edit tool wrote the file at @9' },
  alert: null,
  helpers: [{ path: '/home/dev/.claude/history.jsonl', why: 'prompts typed' }],
  before: digest('a'),
  after: digest('b'),
  ...change,
})
