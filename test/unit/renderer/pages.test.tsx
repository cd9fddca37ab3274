// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Gap } from '../../../contract/home.ts'
import { GapItem } from '../../../renderer/health/gap-list.tsx'
import { AT, giveBoxesSize, home, openApp, page, run, runItem, settings, status } from './kit.tsx'

beforeAll(() => giveBoxesSize())
afterEach(cleanup)

describe('search', () => {
  const hit = {
    run: 'r_000000000001',
    seq: 12,
    at: AT,
    title: 'fix flaky retry test',
    runtime: 'claude-code',
    kind: 'model',
    snippet: 'the \u{e000}retry\u{e001} budget',
  } as const
  it('asks for what is typed, marks the words and opens the event of a hit', async () => {
    const { transport } = openApp('/search', {
      'search.run': () => ({ hits: [hit], total: 214, next: null, searchable: 0.71 }),
      'runs.get': () => new Promise(() => undefined),
    })
    fireEvent.change(await screen.findByRole('textbox', { name: 'Words in sessions and in configuration' }), {
      target: { value: 'retry' },
    })
    expect((await screen.findByText('retry', { selector: 'mark' })).tagName).toBe('MARK')
    expect(screen.getByRole('tab', { name: /^Sessions/ }).textContent).toContain('214')
    expect(screen.getByText(/71 % of the text is searchable so far/)).toBeTruthy()
    expect(transport.called('search.run').at(-1)?.input).toMatchObject({ text: 'retry' })
    fireEvent.click(screen.getByText('fix flaky retry test'))
    await waitFor(() => expect(location.pathname).toBe('/runs/r_000000000001/at/12'))
  })
  it('tells nothing found from nothing asked', async () => {
    openApp('/search?q=zzzz', { 'search.run': () => ({ hits: [], total: 0, next: null, searchable: 1 }) })
    expect(await screen.findByText('No session contains “zzzz”')).toBeTruthy()
  })
})

describe('homes', () => {
  it('says how well a home is watched and forgets it only after saying what that does', async () => {
    const { transport } = openApp('/homes', {
      'status.get': () =>
        status({
          homes: [
            home({ watching: { watched: 21, wanted: 41, polling: true, why: 'no watches left on this system' } }),
          ],
        }),
      'homes.forget': () => ({ forgotten: [] }),
    })
    expect(await screen.findByText('21 of 41 folders')).toBeTruthy()
    expect(screen.getByText(/no watches left on this system/)).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Forget home…' }))
    const dialog = await screen.findByRole('dialog')
    expect(dialog.textContent).toContain('No file of the agent is touched')
    expect(transport.called('homes.forget')).toHaveLength(0)
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Cancel'))
    fireEvent.click(within(dialog).getByRole('button', { name: 'Forget 1 home' }))
    await waitFor(() => expect(transport.called('homes.forget')[0]?.input).toEqual({ path: '/home/dev/.claude' }))
  })
})

describe('health', () => {
  const gap = {
    id: 'g',
    kind: 'watch_exhausted',
    home: null,
    run: null,
    path: null,
    at: AT,
    count: 3,
    message: '~/.codex is polled',
    hint: 'Raise the limit of the system.',
  } as const
  it('shows each gap with its count and what to do, and says when there is none', async () => {
    openApp('/health', { 'status.get': () => status({ gaps: [gap], gap_count: 1 }) })
    expect(await screen.findByText('~/.codex is polled')).toBeTruthy()
    expect(screen.getByText('Raise the limit of the system.')).toBeTruthy()
    expect(screen.getByText('3×')).toBeTruthy()
    cleanup()
    openApp('/health', {})
    expect(await screen.findByText('No gap is known')).toBeTruthy()
  })
  it('names damaged settings and a damaged store, and shows a kind it does not know by its own name', () => {
    const kinds = ['settings_damaged', 'store_damaged', 'moon_phase']
    for (const kind of kinds) render(<GapItem gap={{ ...gap, kind: kind as Gap['kind'] }} />)
    for (const name of ['Settings damaged', 'Store damaged', 'moon_phase']) expect(screen.getByText(name)).toBeTruthy()
  })
  it('lists unreadable lines with path, line, byte and reason', async () => {
    openApp('/health/unreadable', {
      'health.unreadable': () => ({
        unreadable: [
          {
            path: '/home/dev/.claude/projects/x.jsonl',
            line: 118,
            byte: 88_214,
            bytes: 412,
            reason: 'NUL bytes',
            repaired: false,
            run: 'r_000000000001',
          },
        ],
        total: 9,
      }),
    })
    expect(await screen.findByText('NUL bytes')).toBeTruthy()
    expect(screen.getByText('88,214')).toBeTruthy()
    expect(screen.getByText('1 of 9 shown')).toBeTruthy()
  })
  it('says which rules were verified on which versions, and that yours is not among them', async () => {
    openApp('/health/facts', {
      'health.facts': () => ({
        facts: [
          {
            runtime: 'claude-code',
            area: 'settings',
            fact: 'lists are joined',
            status: 'verified',
            versions: ['2.1.320'],
          },
          { runtime: 'claude-code', area: 'memory', fact: 'where it is cut', status: 'unknown', versions: [] },
        ],
      }),
    })
    expect(await screen.findByText('your version is not among them')).toBeTruthy()
    expect(screen.getByText('verified')).toBeTruthy()
    expect(screen.getByText('unknown')).toBeTruthy()
  })
  it('checks the store when asked', async () => {
    openApp('/health', {
      'store.check': () => ({ ok: false, objects: 9, damaged: ['9f12'], quarantined: [], note: '' }),
    })
    fireEvent.click(await screen.findByRole('button', { name: 'Check store' }))
    expect(await screen.findByText(/1 object is damaged: 9f12/)).toBeTruthy()
  })
})

describe('settings', () => {
  it('applies a theme at once, to the root and the daemon, and takes it back', async () => {
    let theme: 'light' | 'dark' | 'system' = 'light'
    const { transport } = openApp('/settings', {
      'settings.get': () => settings({ theme }),
      'settings.set': (input) => {
        theme = input.theme ?? theme
        return settings({ theme })
      },
    })
    fireEvent.click(await screen.findByRole('radio', { name: 'Dark' }))
    await waitFor(() => expect(document.documentElement.dataset.theme).toBe('dark'))
    fireEvent.click(await screen.findByRole('button', { name: 'Undo' }))
    await waitFor(() => expect(document.documentElement.dataset.theme).toBe('light'))
    expect(transport.called('settings.set').map((call) => call.input)).toEqual([{ theme: 'dark' }, { theme: 'light' }])
  })
  it('explains the levels of collection and refuses a bad interval beside its field', async () => {
    openApp('/settings/collection', {})
    expect(await screen.findByText('Texts are kept with secrets replaced by stable placeholders.')).toBeTruthy()
    cleanup()
    const { transport } = openApp('/settings/watching', {})
    const field = await screen.findByRole('textbox')
    fireEvent.change(field, { target: { value: '2' } })
    fireEvent.blur(field)
    expect(screen.getByText('A whole number from 5 to 3,600')).toBeTruthy()
    expect(transport.called('settings.set')).toHaveLength(0)
  })
})

describe('collection and vault', () => {
  it('sets the level of single places, and takes the first one back with Undo', async () => {
    let kept = settings()
    const { transport } = openApp('/settings/collection', {
      'settings.get': () => kept,
      'settings.set': (input) => {
        kept = { ...kept, ...(input as Partial<typeof kept>) }
        return kept
      },
      'folders.complete': () => ({ folders: [] }),
    })
    fireEvent.click(await screen.findByRole('radio', { name: /With originals/ }))
    await waitFor(() => expect(kept.collection).toBe('originals'))
    const form = screen.getByRole('form', { name: 'Add 1 place' })
    const add = within(form).getByRole<HTMLButtonElement>('button', { name: 'Add 1 place' })
    fireEvent.change(within(form).getByRole('combobox', { name: 'Path' }), { target: { value: 'client' } })
    expect(add.disabled).toBe(true)
    fireEvent.change(within(form).getByRole('combobox', { name: 'Path' }), { target: { value: '/home/dev/client/' } })
    fireEvent.click(add)
    expect(await screen.findByRole('combobox', { name: 'Level of /home/dev/client' })).toBeTruthy()
    expect(transport.called('settings.set').at(-1)?.input).toEqual({
      collection_overrides: [{ of: 'workspace', path: '/home/dev/client', level: 'digests' }],
    })
    fireEvent.click(await screen.findByRole('button', { name: 'Undo' }))
    await waitFor(() => expect(kept.collection_overrides).toEqual([]))
  })

  it('shows where the key is, how many originals there are, and who opened one and why', async () => {
    const read = {
      at: AT,
      ref: 'e:1',
      family: 'npm',
      where: 'r_1@3',
      by: 'socket',
      who: 'dev',
      reason: 'the leak of May',
    }
    openApp('/settings/vault', {
      'status.get': () => status({ vault: { key_store: 'file', note: 'only your account can read it', objects: 7 } }),
      'sensitive.reads': () => ({
        reads: [read, { ...read, at: '2026-11-29T12:00:00.000Z', who: null, reason: null }],
        total: 2,
        unreadable: 1,
      }),
    })
    expect(await screen.findByText('the leak of May')).toBeTruthy()
    expect(screen.getByText('7 originals')).toBeTruthy()
    expect(screen.getByText('only your account can read it')).toBeTruthy()
    expect(screen.getByText('not asked for then')).toBeTruthy()
    expect(screen.getByText('1 line of the record cannot be read any more')).toBeTruthy()
  })
})

describe('palette and keys', () => {
  const answers = {
    'timeline.page': () => page([runItem(run())]),
    'search.run': () => ({ hits: [], total: 0, next: null, searchable: 1 }),
    'health.gaps': () => ({ gaps: [], total: 0 }),
  }
  it('opens with Mod+K, reaches a page by its name and a run by its id', async () => {
    openApp('/timeline', answers)
    await screen.findByRole('treegrid')
    fireEvent.keyDown(window, { key: 'k', ctrlKey: true })
    const box = await screen.findByPlaceholderText(/An act, a page/)
    fireEvent.change(box, { target: { value: 'r_91d0@41' } })
    fireEvent.click(await screen.findByText('Open r_91d0@41'))
    await waitFor(() => expect(location.pathname).toBe('/runs/r_91d0/at/41'))
  })
  it('takes letters only while a list has the focus, and not at all when they are switched off', async () => {
    openApp('/timeline', answers)
    const grid = await screen.findByRole('treegrid')
    const go = (target: Element) => {
      fireEvent.keyDown(target, { key: 'g' })
      fireEvent.keyDown(target, { key: 'i' })
    }
    go(document.body)
    expect(location.pathname).toBe('/timeline')
    go(grid)
    await waitFor(() => expect(location.pathname).toBe('/health'))
    cleanup()
    openApp('/timeline', { ...answers, 'settings.get': () => settings({ single_key_shortcuts: false }) })
    const other = await screen.findByRole('treegrid')
    await new Promise((done) => setTimeout(done, 50))
    go(other)
    expect(location.pathname).toBe('/timeline')
  })
})
