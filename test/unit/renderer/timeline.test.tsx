// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { failure, giveBoxesSize, home, openApp, page, run, runItem, settings, status } from './kit.tsx'

beforeAll(() => giveBoxesSize())
afterEach(cleanup)

const first = run()
const second = run({
  id: 'r_000000000002',
  title: 'add retry to client',
  status: 'failed',
  started_at: '2026-11-30T13:02:00.000Z',
})
const rows = () => screen.getAllByRole('row').map((row) => row.getAttribute('aria-label') ?? row.textContent)

describe('timeline', () => {
  it('reads each run as a sentence and points at rows while the list keeps the focus', async () => {
    openApp('/timeline', {
      'timeline.page': () => page([runItem(first), runItem(second)]),
      'runs.get': () => {
        throw failure('not_found', 'x')
      },
    })
    const grid = await screen.findByRole('treegrid')
    expect(rows()[1]).toContain('Claude Code run, fix flaky retry test')
    expect(rows()[1]).toContain('1 path added, 4 paths changed, 1 path deleted, 2 calls whose effect is unknown')
    expect(rows()[1]).toContain('partly captured')
    grid.focus()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    const active = document.getElementById(grid.getAttribute('aria-activedescendant') ?? '')
    expect(active?.getAttribute('aria-label')).toContain('add retry to client')
    expect(document.activeElement).toBe(grid)
    fireEvent.keyDown(grid, { key: 'Enter' })
    expect(location.pathname).toBe('/runs/r_000000000002')
  })

  it('asks for what the filter says and offers other times when nothing matches', async () => {
    const { transport } = openApp('/timeline?q=agent%3Acodex%20since%3A2d', {
      'timeline.page': () => page([], { total_any_time: 14 }),
    })
    expect(await screen.findByText('None in this time; 14 at other times')).toBeTruthy()
    expect(transport.called('timeline.page')[0]?.input).toMatchObject({
      filter: { runtime: ['codex'], since: expect.stringMatching(/Z$/) },
    })
    fireEvent.click(within(screen.getByRole('main')).getAllByRole('button', { name: 'All time' })[0] as HTMLElement)
    await waitFor(() => expect(location.search).not.toContain('since'))
  })

  it('shows what happened outside of runs in words (B12)', async () => {
    openApp('/timeline', {
      'timeline.page': () =>
        page([
          {
            type: 'source',
            at: '2026-11-30T12:00:00.000Z',
            id: 's1',
            change: 'shrank',
            run: first.id,
            path: '/home/dev/x.jsonl',
            message: 'from 500 to 3 lines',
          },
          {
            type: 'gap',
            at: '2026-11-30T11:00:00.000Z',
            id: 'g1',
            until: '2026-11-30T11:08:00.000Z',
            message: 'machine asleep',
          },
        ]),
    })
    expect(await screen.findByText('source shrank')).toBeTruthy()
    expect(screen.getByText('from 500 to 3 lines')).toBeTruthy()
    expect(screen.getByText('not watched')).toBeTruthy()
    expect(screen.getByText('8 min 00 s')).toBeTruthy()
  })

  it('patches a running run in place, and holds new rows back while the list has the focus', async () => {
    let items = [runItem(first)]
    const { transport } = openApp('/timeline', {
      'timeline.page': () => page(items),
      'runs.get': () => {
        throw failure('not_found', 'x')
      },
    })
    const grid = await screen.findByRole('treegrid')
    grid.focus()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    items = [runItem(second), runItem(run({ ...first, status: 'failed' }))]
    act(() => transport.push({ type: 'changed', tags: ['timeline'] }))
    const pill = await screen.findByRole('button', { name: '1 new' }, { timeout: 3000 })
    expect(rows().filter((row) => row?.includes('run,'))).toEqual([expect.stringContaining('fix flaky retry test')])
    expect(rows()[1]).toContain('failed')
    fireEvent.click(pill)
    await waitFor(() => expect(rows()[1]).toContain('add retry to client'))
    expect(rows()).toHaveLength(3)
  })

  it('adds new rows by itself at the top when nobody works in the list', async () => {
    let items = [runItem(second)]
    const { transport } = openApp('/timeline', { 'timeline.page': () => page(items) })
    await screen.findByRole('treegrid')
    items = [runItem(first), runItem(second)]
    act(() => transport.push({ type: 'changed', tags: ['runs'] }))
    await waitFor(() => expect(rows()).toHaveLength(3), { timeout: 3000 })
    expect(screen.queryByRole('button', { name: /new$/ })).toBeNull()
  })

  it('unfolds subagents under their parent', async () => {
    const child = run({ id: 'r_000000000009', title: 'find callers', relation: 'subagent', parent: first.id })
    openApp('/timeline', {
      'timeline.page': () => page([runItem(first, [child.id])]),
      'runs.get': () => ({
        run: first,
        at: null,
        stretch: null,
        coverage: { mode: 'observed', state: 'partial', items: [] },
        branches: [child],
        files: [],
        unreadable: [],
      }),
    })
    const grid = await screen.findByRole('treegrid')
    grid.focus()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'ArrowRight' })
    await waitFor(() => expect(rows()[2]).toContain('subagent of r_000000, find callers'))
    expect(screen.getAllByRole('row')[2]?.getAttribute('aria-level')).toBe('2')
  })

  it('says what failed with hint and code, and can be tried again', async () => {
    let broken = true
    openApp('/timeline', {
      'timeline.page': () => {
        if (broken) throw failure('internal', 'The index could not be read', 'Run “reprise reindex”.')
        return page([runItem(first)])
      },
    })
    expect(await screen.findByText('The index could not be read')).toBeTruthy()
    expect(screen.getByText('Run “reprise reindex”.')).toBeTruthy()
    expect(screen.getByText('internal')).toBeTruthy()
    broken = false
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }))
    await screen.findByRole('treegrid')
    expect(screen.queryByText('The index could not be read')).toBeNull()
  })
})

describe('first run', () => {
  it('shows what was found over the timeline, the agents’ own clean-up (B13), and closes with one key', async () => {
    const { transport } = openApp('/', {
      'settings.get': () => settings({ welcome_closed: false }),
      'settings.set': () => settings({ welcome_closed: true }),
      'status.get': () =>
        status({ looked: [{ runtime: 'hermes', places: ['$HERMES_HOME', '~/.hermes'], found: 0, supported: true }] }),
      'timeline.page': () => page([runItem(first)]),
    })
    const open = await screen.findByRole('button', { name: 'Open the timeline' })
    expect(document.activeElement).toBe(open)
    expect(
      screen.getByText(
        'Claude Code deletes its sessions after 30 days: 2 sessions within 2 days. What was read is kept here.',
      ),
    ).toBeTruthy()
    expect(screen.getByText('not found, looked in $HERMES_HOME, ~/.hermes')).toBeTruthy()
    fireEvent.click(open)
    await waitFor(() => expect(transport.called('settings.set')[0]?.input).toEqual({ welcome_closed: true }))
  })

  it('says where was looked when nothing was found, and takes a folder', async () => {
    const { transport } = openApp('/', {
      'status.get': () =>
        status({
          homes: [],
          store: { bytes: 0, runs: 0, events: 0, manifests: 0 },
          looked: [{ runtime: 'claude-code', places: ['/home/dev/.claude'], found: 0, supported: true }],
        }),
      'timeline.page': () => page([]),
      'folders.complete': () => ({ folders: ['/srv/agents/.claude'] }),
      'homes.watch': () => ({ home: home({ path: '/srv/agents/.claude' }) }),
    })
    expect(await screen.findByRole('heading', { name: 'No agent was found on this machine' })).toBeTruthy()
    expect(screen.getByText('/home/dev/.claude')).toBeTruthy()
    const field = screen.getByRole('combobox', { name: 'Folder' })
    field.focus()
    fireEvent.change(field, { target: { value: '/srv' } })
    fireEvent.click(await screen.findByText('/srv/agents/.claude'))
    fireEvent.click(screen.getByRole('button', { name: 'Watch this folder' }))
    await waitFor(() =>
      expect(transport.called('homes.watch')[0]?.input).toEqual({
        runtime: 'claude-code',
        path: '/srv/agents/.claude',
      }),
    )
  })
})

describe('the frame', () => {
  it('names only sections that exist, and shows gaps and lag', async () => {
    openApp('/timeline', {
      'timeline.page': () => page([runItem(first)]),
      'status.get': () => status({ gap_count: 2, lag_ms: 3200 }),
    })
    await screen.findByText('watching 1 home, 3.2 s behind')
    expect(
      within(screen.getByRole('navigation'))
        .getAllByRole('link')
        .map((link) => link.getAttribute('href')),
    ).toEqual(['/timeline', '/compare', '/search', '/homes', '/health', '/settings'])
    expect(screen.getByText('2 gaps')).toBeTruthy()
  })
  it('says when the daemon is away and keeps what was loaded', async () => {
    const { transport } = openApp('/timeline', { 'timeline.page': () => page([runItem(first)]) })
    await screen.findByRole('treegrid')
    act(() => transport.link('away'))
    expect(await screen.findByText(/The daemon is not reachable since/)).toBeTruthy()
    expect(rows()[1]).toContain('fix flaky retry test')
    fireEvent.click(screen.getByRole('button', { name: 'Retry now' }))
    await waitFor(() => expect(screen.queryByText(/not reachable/)).toBeNull())
  })
  it('reads everything again when the daemon is back, also what failed while it was away', async () => {
    let up = false
    const { transport, client } = openApp('/timeline', {
      'timeline.page': () => {
        if (!up) throw failure('daemon_unreachable', 'nothing answers')
        return page([runItem(first)])
      },
    })
    expect((await screen.findAllByText(/nothing answers/)).length).toBeGreaterThan(0)
    client.setQueryData(['homes.list', {}], [])
    act(() => transport.link('away'))
    up = true
    const before = transport.called('status.get').length
    act(() => transport.link('open'))
    await waitFor(() => expect(rows()[1]).toContain('fix flaky retry test'))
    expect(screen.queryByText(/nothing answers/)).toBeNull()
    expect(transport.called('status.get').length).toBeGreaterThan(before)
    expect(client.getQueryState(['homes.list', {}])?.isInvalidated).toBe(true)
  })
  it('never calls the machine empty while the homes are still being looked for', async () => {
    const starting = status({ homes: [], store: { bytes: 0, runs: 0, events: 0, manifests: 0 } })
    openApp('/', {
      'status.get': () => ({ ...starting, daemon: { ...starting.daemon, state: 'starting' } }),
      'timeline.page': () => page([]),
    })
    await screen.findByText('no home watched')
    await screen.findByText(/History is being read/)
    expect(screen.queryByText('No agent was found on this machine')).toBeNull()
    expect(screen.queryByText('No runs yet')).toBeNull()
  })
  it('says on every screen that it shows sample data', async () => {
    const sample = status()
    openApp('/homes', { 'status.get': () => ({ ...sample, daemon: { ...sample.daemon, sample: true } }) })
    expect(await screen.findByText(/Sample data: none of this happened/)).toBeTruthy()
  })
  it('asks for the key when the daemon refuses the page', async () => {
    openApp('/timeline', {
      'status.get': () => {
        throw failure('unauthorized', 'no token')
      },
      'timeline.page': () => page([]),
    })
    expect(await screen.findByText('This page needs its key')).toBeTruthy()
  })
  it('shows no page of its own for an unknown address', async () => {
    openApp('/replays', {})
    expect(await screen.findByText('There is no such page')).toBeTruthy()
  })
})
