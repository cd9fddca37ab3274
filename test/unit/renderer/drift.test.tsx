// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Drift } from '../../../contract/drift.ts'
import { drift, GOOD } from './comparisons.ts'
import { digest, failure, giveBoxesSize, openApp, page, run, runItem } from './kit.tsx'

beforeAll(() => giveBoxesSize())
afterEach(cleanup)

const item = (of: Drift) => ({ type: 'configuration' as const, at: of.at, id: of.id, drift: of })
const lost = drift({
  id: 'd_2',
  at: '2026-11-30T11:00:00.000Z',
  kind: 'update',
  title: '2.1.329 → 2.1.332',
  alert: 'MCP servers 3 → 0',
  workspace: null,
  writer: { who: 'agent update', run: null, seq: null, why: 'the program changed at the same time' },
  before: null,
  helpers: [],
  changes: [{ path: null, what: 'gone', before: 'tickets', after: null, same_as: null }],
})
const timeline = (...drifts: readonly Drift[]) =>
  openApp('/timeline', {
    'timeline.page': () => page([runItem(run()), ...drifts.map(item)]),
    'runs.get': () => {
      throw failure('not_found', 'x')
    },
  })
const rowOf = (text: string) => screen.getByText(text).closest('[role=row]') as HTMLElement

describe('changes of configuration on the timeline', () => {
  it('are rows that say what changed, by whom, and what was lost', async () => {
    timeline(drift(), lost)
    expect(await screen.findByText('http.md changed')).toBeTruthy()
    expect(rowOf('http.md changed').getAttribute('aria-label')).toContain('configuration changed, http.md changed')
    expect(rowOf('http.md changed').textContent).toContain('changed by run r_0000')
    expect(rowOf('Claude Code 2.1.329 → 2.1.332').textContent).toContain('the agent updated itself')
    expect(rowOf('Claude Code 2.1.329 → 2.1.332').getAttribute('aria-label')).toContain('MCP servers 3 → 0')
    expect(screen.getByText(/2 configuration changes/)).toBeTruthy()
  })

  it('shows in the inspector every file and key, the writer, and an older state that came back (B18)', async () => {
    timeline(drift(), lost)
    const grid = await screen.findByRole('treegrid')
    grid.focus()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    const pane = await screen.findByRole('region', { name: 'Inspector' })
    expect(await within(pane).findByRole('heading', { name: 'http.md changed' })).toBeTruthy()
    expect(within(pane).getByText('2 changes')).toBeTruthy()
    expect(within(pane).getByText('paths: src/http')).toBeTruthy()
    expect(within(pane).getByText('model')).toBeTruthy()
    expect(within(pane).getByText(/this is how it was on 2026-11-20/)).toBeTruthy()
    expect(
      within(pane)
        .getByRole('link', { name: /changed by run/ })
        .getAttribute('href'),
    ).toBe(`/runs/${GOOD}/at/9`)
    expect(within(pane).getByText('its edit tool wrote the file at @9')).toBeTruthy()
    expect(within(pane).getByText('and 1 helper file of the agent')).toBeTruthy()
    expect(within(pane).getByRole('link', { name: 'Compare' }).getAttribute('href')).toBe(
      `/compare?a=${encodeURIComponent(digest('a'))}&b=${encodeURIComponent(digest('b'))}`,
    )
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    expect(await within(pane).findByText('MCP servers 3 → 0')).toBeTruthy()
    expect(pane.textContent).toContain('none before')
    expect(within(pane).queryByRole('link', { name: 'Compare' })).toBeNull()
  })

  it('opens the comparison of the two states, or the manifest where there was none before', async () => {
    const { transport } = timeline(drift(), lost)
    const grid = await screen.findByRole('treegrid')
    grid.focus()
    for (let i = 0; i < 3; i += 1) fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'Enter' })
    await waitFor(() => expect(location.pathname).toBe(`/manifests/${encodeURIComponent(digest('b'))}`))
    await waitFor(() => expect(transport.called('manifest.get').at(-1)?.input).toEqual({ target: digest('b') }))
  })

  it('opens the one the address names, even when its row is not among those loaded', async () => {
    openApp('/timeline?change=d_2', {
      'timeline.page': () => page([item(drift())]),
      'drift.get': ({ id }) => {
        if (id !== 'd_2') throw failure('not_found', id)
        return lost
      },
    })
    expect(await screen.findByRole('heading', { name: 'Claude Code 2.1.329 → 2.1.332' })).toBeTruthy()
  })

  it('says when the one the address names is not known', async () => {
    openApp('/timeline?change=d_9', {
      'timeline.page': () => page([item(drift())]),
      'drift.get': () => {
        throw failure('not_found', 'there is no change of configuration d_9')
      },
    })
    expect(await screen.findByText(/there is no change of configuration d_9/)).toBeTruthy()
  })
})
