// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Output } from '../../../contract/endpoints.ts'
import { comparison } from './comparisons.ts'
import {
  type Answers,
  AT,
  details,
  digest,
  event,
  failure,
  giveBoxesSize,
  manifest,
  openApp,
  run,
  source,
  ticksOf,
} from './kit.tsx'

beforeAll(() => giveBoxesSize())
afterEach(cleanup)

type Use = Output<'runs.use'>
const rule = '/home/dev/shop/.claude/rules/http.md'
const use = (change: Partial<Use> = {}): Use => ({
  run: 'r_000000000001',
  manifests: [digest('a')],
  used: [
    { kind: 'rule', name: rule, declared: true, times: 2, first_seq: 3, version: null },
    { kind: 'tool', name: 'Deploy', declared: false, times: 1, first_seq: 5, version: digest('7') },
    { kind: 'skill', name: 'release-notes', declared: null, times: 1, first_seq: 4, version: '1.4.0' },
  ],
  unused: [
    { kind: 'skill', name: 'stock-report' },
    { kind: 'mcp server', name: 'tickets' },
  ],
  mismatches: [
    {
      what: 'model',
      declared: 'acme-large-2',
      actual: 'acme-small-1',
      seq: 4,
      message: 'the manifest names acme-large-2, acme-small-1 answered',
    },
  ],
  reconciled: {
    state: 'failed',
    final: [
      { path: '/home/dev/shop/src/retry.ts', change: 'change', after: digest('8'), seq: 5 },
      { path: '/home/dev/shop/old.ts', change: 'delete', after: null, seq: 6 },
    ],
    tests: [{ seq: 6, command: 'npm test', ok: false }],
    effects: [],
    models: ['acme-small-1'],
    tools: [{ name: 'Deploy', schema_digest: digest('7') }],
    policy_revision: digest('6'),
  },
  steps: [
    { step: 'discover', state: 'done', why: null },
    { step: 'resolve', state: 'done', why: null },
    { step: 'validate', state: 'failed', why: 'an import is a cycle' },
    { step: 'freeze', state: 'done', why: null },
    { step: 'execute', state: 'failed', why: 'it ended with an error' },
    { step: 'use', state: 'partial', why: 'subagents were not seen' },
    { step: 'reconcile', state: 'not_possible', why: 'the directory is gone' },
  ],
  unknown: [{ field: 'capabilities.hooks', why: 'only hooks that ran leave a trace' }],
  ...change,
})

const events = [1, 2, 3, 4, 5, 6].map((seq) => event(seq))
const answers = (of = run(), more: Answers = {}): Answers => ({
  'runs.get': () => details(of),
  'runs.ticks': () => ticksOf(events),
  'runs.events': () => ({ events: [...events], total: events.length, next: null }),
  'runs.files': () => ({ files: [], complete: true, why: null }),
  'runs.event': () => {
    throw failure('not_found', 'x')
  },
  'runs.use': () => use(),
  ...more,
})
const open = (more: Answers = {}, of = run()) => openApp(`/runs/${of.id}/at/2?tab=use`, answers(of, more))

describe('actual use of a run', () => {
  it('is loud about what was not as declared, and leads to the event', async () => {
    open()
    const band = await screen.findByRole('region', { name: '1 thing was not as declared' })
    expect(band.textContent).toContain('acme-large-2 → acme-small-1')
    fireEvent.click(within(band).getByRole('button', { name: '@4' }))
    await waitFor(() => expect(location.pathname).toBe('/runs/r_000000000001/at/4'))
    expect(location.search).toBe('')
  })

  it('is quiet when all was as declared', async () => {
    open({ 'runs.use': () => use({ mismatches: [] }) })
    await screen.findByText('Used: 3')
    expect(screen.queryByText(/not as declared/)).toBeNull()
  })

  it('tells used, declared and never used apart, unknown in words', async () => {
    open()
    const used = await screen.findByRole('region', { name: 'Used: 3' })
    const row = (text: string) => within(used).getByText(text).closest('tr')?.textContent
    expect(row('Deploy')).toContain('not declared')
    expect(row('release-notes')).toContain('unknown')
    expect(row('release-notes')).toContain('1.4.0')
    const never = screen.getByRole('region', { name: 'Declared, never used: 2' })
    expect(never.textContent).toContain('stock-report')
    expect(never.textContent).toContain('tickets')
    expect(screen.getByRole('region', { name: 'Cannot be told: 1 field' }).textContent).toContain('only hooks that ran')
  })

  it('shows the seven steps in order, each with its state and its reason (R23)', async () => {
    open()
    const steps = within(await screen.findByRole('region', { name: 'From discovery to the last look' }))
    expect(steps.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      expect.stringContaining('Discoverdone'),
      expect.stringContaining('Resolvedone'),
      expect.stringContaining('Validatefailedan import is a cycle'),
      expect.stringContaining('Freezedone'),
      expect.stringContaining('Executefailed'),
      expect.stringContaining('partly'),
      expect.stringContaining('Reconcilenot possiblethe directory is gone'),
    ])
  })

  it('says how it ended, for a failed run as well: tests, files with digests, models, tools, policy', async () => {
    open()
    const ended = within(await screen.findByRole('region', { name: 'How it ended' }))
    expect(ended.getByText('The run failed; this is what came of it all the same.')).toBeTruthy()
    expect(ended.getByText('npm test').closest('tr')?.textContent).toContain('failed')
    expect(ended.getByRole('button', { name: `Copy ${digest('8')}` })).toBeTruthy()
    expect(ended.getByTitle('/home/dev/shop/old.ts').closest('tr')?.textContent).toContain('unknown')
    expect(ended.getByText('acme-small-1')).toBeTruthy()
    expect(ended.getByRole('button', { name: `Copy ${digest('7')}` })).toBeTruthy()
    expect(ended.getByRole('button', { name: `Copy ${digest('6')}` })).toBeTruthy()
  })
})

describe('the head of a run', () => {
  it('links its task to the runs that were given the same', async () => {
    open({}, run({ task: 'task_0123456789ab' }))
    const link = await screen.findByRole('link', { name: 'task_0123456789ab' })
    expect(link.getAttribute('href')).toBe('/timeline?q=task%3Atask_0123456789ab')
  })
})

describe('a resumed run', () => {
  const stretches = [
    { n: 1, started_at: AT, cause: 'start' as const, manifest: digest('a'), first_seq: 1 },
    { n: 2, started_at: AT, cause: 'resume' as const, manifest: digest('b'), first_seq: 3 },
    { n: 3, started_at: AT, cause: 'resume' as const, manifest: digest('b'), first_seq: 5 },
  ]
  it('says what each new resolution found changed, with the way to the comparison', async () => {
    const of = run({ stretches })
    const { transport } = openApp(`/runs/${of.id}/at/2`, answers(of, { 'compare.run': () => comparison() }))
    const links = await screen.findAllByRole('link', { name: '3 differences' })
    expect(links[0]?.getAttribute('href')).toBe(
      `/compare?a=${encodeURIComponent(digest('a'))}&b=${encodeURIComponent(digest('b'))}`,
    )
    expect(screen.getAllByText('nothing differs').length).toBeGreaterThan(0)
    // Equal digests need no question.
    expect(transport.called('compare.run').map(({ input }) => input)).toEqual([{ a: digest('a'), b: digest('b') }])
  })
})

describe('the manifest of a run', () => {
  it('takes what was used from the run, where it cannot tell itself', async () => {
    const of = manifest({
      instructions: {
        effective_digest: digest('d'),
        resolved_order: ['project'],
        sources: [
          source({ path: rule, uri: `file://${rule}`, kind: 'rule', status: 'lazy', position: null, used: null }),
          source({ path: '/x/late.md', uri: 'file:///x/late.md', kind: 'rule', status: 'lazy', used: null }),
        ],
      },
    })
    openApp('/runs/r_000000000001/manifest', {
      'manifest.get': () => ({ manifest: of, intact: true, damage: [] }),
      'runs.use': () => use({ unused: [{ kind: 'rule', name: '/x/late.md' }] }),
    })
    const grid = await screen.findByRole('treegrid')
    const row = (name: RegExp) => within(grid).getByRole('row', { name })
    await waitFor(() => expect(row(/http\.md/).textContent).toMatch(/yes$/))
    fireEvent.click(screen.getByRole('checkbox', { name: 'declared, never used' }))
    await waitFor(() => expect(within(grid).queryByRole('row', { name: /http\.md/ })).toBeNull())
    expect(row(/late\.md/)).toBeTruthy()
  })
})
