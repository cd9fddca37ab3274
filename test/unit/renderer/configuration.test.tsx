// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Drift } from '../../../contract/drift.ts'
import type { Output } from '../../../contract/endpoints.ts'
import { drift } from './comparisons.ts'
import { type Answers, AT, digest, giveBoxesSize, home, openApp, page, status } from './kit.tsx'

beforeAll(() => giveBoxesSize())
afterEach(cleanup)

const claude = home()
const agent = home({
  id: 'h_000000000002',
  runtime: 'openclaw',
  path: '/home/dev/.openclaw/agents/coder',
  version: null,
  version_from: 'unknown',
  unreadable: 3,
  watching: { watched: 2, wanted: 5, polling: true, why: 'no watches left on this system' },
})
const seen = drift({ id: 'd_0', at: '2026-11-01T08:00:00.000Z', kind: 'first_seen', title: 'first seen', changes: [] })
const lost = drift({
  id: 'd_2',
  at: '2026-11-30T13:00:00.000Z',
  title: '3 servers are gone',
  alert: 'MCP servers 3 → 0',
})
const changesOf: Readonly<Record<string, readonly Drift[]>> = {
  [claude.id]: [lost, drift(), seen],
  [agent.id]: [drift({ id: 'd_5', kind: 'first_seen', changes: [] })],
}
const gap: Output<'health.gaps'>['gaps'][number] = {
  id: 'g1',
  kind: 'watch_exhausted',
  home: agent.id,
  run: null,
  path: null,
  at: AT,
  count: 2,
  message: 'polled instead',
  hint: null,
}
const answers: Answers = {
  'status.get': () => status({ homes: [claude, agent], gaps: [], gap_count: 1, lag_ms: 40 }),
  'health.gaps': () => ({ gaps: [gap], total: 1 }),
  'drift.list': ({ home: of, after = 0, limit = 200 }) => {
    const all = changesOf[of ?? ''] ?? []
    return { changes: all.slice(after, after + limit), total: all.length }
  },
}

describe('Health', () => {
  it('says of each home of each agent: version, watches, lag, unreadable, gaps, last change and alerts', async () => {
    openApp('/health', answers)
    const list = await screen.findByRole('list', { name: 'Homes' })
    const [first, second] = within(list).getAllByRole('listitem')
    await waitFor(() => expect(first?.textContent).toContain('3 servers are gone'))
    expect(first?.textContent).toContain('2.1.332')
    expect(first?.textContent).toContain('40 ms behind')
    expect(first?.textContent).toContain('every line readable')
    expect(first?.textContent).toContain('no gaps')
    expect(
      within(first as HTMLElement)
        .getByRole('link', { name: 'MCP servers 3 → 0' })
        .getAttribute('href'),
    ).toBe(`/homes?history=${claude.id}&change=d_2`)
    expect(second?.textContent).toContain('agents/coder')
    expect(second?.textContent).toContain('version unknown')
    expect(second?.textContent).toContain('2 of 5 folders, polled: no watches left on this system')
    expect(second?.textContent).toContain('3 unreadable')
    expect(second?.textContent).toContain('1 gap')
    expect(second?.textContent).toContain('none since it was first seen')
  })
})

describe('the history of configuration of a home', () => {
  it('is reached from Homes, lists every state and shows the same peek, with the way to Compare', async () => {
    openApp('/homes', answers)
    const link = await screen.findByRole('link', { name: 'History of configuration, 3 entries' })
    fireEvent.click(link)
    const grid = await screen.findByRole('grid', { name: 'History of configuration' })
    expect(within(grid).getAllByRole('row')).toHaveLength(3)
    grid.focus()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    const pane = screen.getByRole('region', { name: 'Inspector' })
    expect(await within(pane).findByRole('heading', { name: 'http.md changed' })).toBeTruthy()
    expect(within(pane).getByText('paths: src/http')).toBeTruthy()
    expect(location.search).toContain('change=d_1')
    fireEvent.keyDown(grid, { key: 'Enter' })
    await waitFor(() => expect(location.pathname).toBe('/compare'))
    expect(location.search).toBe(`?a=${encodeURIComponent(digest('a'))}&b=${encodeURIComponent(digest('b'))}`)
  })

  it('opens at the change the address names', async () => {
    openApp(`/homes?history=${claude.id}&change=d_2`, answers)
    expect(await screen.findByRole('heading', { name: '3 servers are gone' })).toBeTruthy()
  })

  it('reads on while one goes down, page by page', async () => {
    const many = Array.from({ length: 450 }, (_, n) => drift({ id: `d_${n}`, title: `change ${n}` }))
    const { transport } = openApp(`/homes?history=${claude.id}`, {
      ...answers,
      'drift.list': ({ after = 0, limit = 200 }) => ({ changes: many.slice(after, after + limit), total: 450 }),
    })
    const grid = await screen.findByRole('grid', { name: 'History of configuration' })
    expect(screen.getByText('450 states seen')).toBeTruthy()
    grid.focus()
    fireEvent.keyDown(grid, { key: 'End' })
    await waitFor(() =>
      expect(transport.called('drift.list').map(({ input }) => (input as { after?: number }).after)).toContain(200),
    )
  })

  it('says when the home is not watched', async () => {
    openApp('/homes?history=h_gone', answers)
    expect(await screen.findByText('The home h_gone is not watched.')).toBeTruthy()
  })
})

describe('Search', () => {
  const found: Answers = {
    'search.run': () => ({ hits: [], total: 0, next: null, searchable: 1 }),
    'search.configuration': ({ text }) => ({
      hits:
        text === 'retries'
          ? [
              {
                drift: 'd_1',
                manifest: digest('b'),
                home: claude.id,
                runtime: 'claude-code',
                at: AT,
                path: '/home/dev/shop/.claude/rules/http.md',
                what: 'content',
                snippet: 'set \u{e000}retries\u{e001} to 0',
              },
            ]
          : [],
      total: text === 'retries' ? 1 : 0,
    }),
    'timeline.page': () => page([{ type: 'configuration', at: drift().at, id: 'd_1', drift: drift() }]),
    'drift.get': () => drift(),
  }

  it('looks into the history of configuration and opens the change', async () => {
    openApp('/search?q=retries&in=configuration', found)
    const grid = await screen.findByRole('grid', { name: 'Configuration' })
    expect(screen.getByRole('tab', { name: /^Configuration/ }).textContent).toContain('1')
    const row = within(grid).getByRole('row')
    expect(row.textContent).toContain('set retries to 0')
    grid.focus()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'Enter' })
    expect(await screen.findByRole('heading', { name: 'http.md changed' })).toBeTruthy()
    expect(location.pathname).toBe('/timeline')
  })

  it('says that no configuration held the words', async () => {
    openApp('/search?q=nowhere&in=configuration', found)
    expect(await screen.findByText('“nowhere” was in no configuration that was seen')).toBeTruthy()
  })

  it('offers them in the palette', async () => {
    openApp('/timeline', found)
    await screen.findByRole('treegrid')
    fireEvent.keyDown(window, { key: 'k', ctrlKey: true })
    fireEvent.change(await screen.findByPlaceholderText(/An act, a page/), { target: { value: 'retries' } })
    fireEvent.click(await screen.findByRole('option', { name: /http\.md.*set retries to 0/ }))
    await waitFor(() => expect(location.search).toContain('change=d_1'))
  })
})
