// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Output } from '../../../contract/endpoints.ts'
import { type Answers, details, event, failure, giveBoxesSize, openApp, run, ticksOf } from './kit.tsx'

beforeAll(() => giveBoxesSize())
afterEach(cleanup)

const giveReason = async (reason: string) => {
  const dialog = await screen.findByRole('dialog')
  fireEvent.change(within(dialog).getByRole('textbox', { name: 'Why it has to be seen' }), {
    target: { value: reason },
  })
  fireEvent.click(within(dialog).getByRole('button', { name: 'Reveal 1 place' }))
}

const edit = {
  path: '/home/dev/shop/src/retry.ts',
  change: 'change',
  by: 'edit tool',
  before: null,
  after: null,
  added_lines: 2,
  removed_lines: 1,
} as const
const events = [
  event(1, { kind: 'prompt', summary: 'fix the test' }),
  event(2, {
    summary: 'asks for 1 tool',
    tokens: { input: 10, output: 5, cache_read: 0, cache_write: 0 },
    model: 'acme-large-2',
  }),
  event(3, {
    kind: 'tool',
    tool: 'Edit',
    summary: '/home/dev/shop/src/retry.ts',
    ok: true,
    effects: [edit],
    effects_state: 'complete',
  }),
  event(4, { kind: 'tool', tool: 'Bash', summary: 'npm test', ok: false, effects_state: 'partial' }),
  event(5, { broken_link: true, summary: 'the budget is spent' }),
  event(6, { kind: 'tool', tool: 'Task', summary: 'find callers', subagent: 'r_000000000009' }),
]
const secret = { ref: 'vault:1', family: 'API key', characters: 51, placeholder: '«secret:1»' }
const text = (value: string): Output<'runs.event'>['parts'][number]['body'] => ({
  text: value,
  total: value.length,
  hidden: [],
})

const detail = (seq: number): Output<'runs.event'> => {
  const found = events.find((entry) => entry.seq === seq)
  if (found === undefined) throw failure('not_found', `no event ${seq}`)
  return {
    event: found,
    parts:
      seq === 1
        ? [
            {
              role: 'prompt',
              label: 'prompt',
              body: { text: 'use «secret:1» please', total: 20, hidden: [secret] },
              format: 'text',
            },
          ]
        : found.tool === 'Bash'
          ? [
              { role: 'input', label: 'Bash', body: text('{"command":"npm test"}'), format: 'json' },
              { role: 'error', label: 'error', body: text('1 failing'), format: 'text' },
            ]
          : found.kind === 'model'
            ? [{ role: 'text', label: 'text', body: text(`words of ${seq}`), format: 'text' }]
            : [],
    changes:
      found.effects.length > 0
        ? [{ path: edit.path, change: 'change', before: null, after: null, why: 'its content was not in the record' }]
        : [],
    source: { path: '/home/dev/.claude/projects/x.jsonl', line: seq * 2, byte: 10, bytes: 5 },
    fed_by: seq > 1 ? [seq - 1] : [],
    feeds: [],
  }
}
const subject = run({ id: 'r_000000000001', events: 6 })
const answers = (change: Answers = {}): Answers => ({
  'runs.get': () => details(subject),
  'runs.ticks': () => ticksOf(events),
  'runs.events': ({ after = 0, limit = 500 }) => ({
    events: events.filter((entry) => entry.seq > after).slice(0, limit),
    total: events.length,
    next: null,
  }),
  'runs.event': ({ seq }) => detail(seq),
  'runs.files': ({ seq }) => ({
    files:
      seq >= 3
        ? [
            { path: edit.path, change: 'change', last_seq: 3, deleted: false },
            { path: '/home/dev/shop/old.ts', change: 'delete', last_seq: 2, deleted: true },
          ]
        : [],
    complete: false,
    why: 'what shell commands changed was not seen',
  }),
  ...change,
})
const slider = () => screen.findByRole('slider', { name: 'Point in the run' })

describe('a run', () => {
  it('opens at its first failure with the output of the failure, and writes the point into the address', async () => {
    openApp('/runs/last', answers())
    const point = await slider()
    await waitFor(() => expect(location.pathname).toBe('/runs/r_000000000001/at/4'))
    expect(await screen.findByText('1 failing')).toBeTruthy()
    await waitFor(() => expect(point.getAttribute('aria-valuetext')).toBe('event 4 of 6, Bash npm test'))
  })

  it('steps with arrows, by change with Shift, to the ends, and to a typed number', async () => {
    openApp('/runs/r_000000000001/at/4', answers())
    const point = await slider()
    const press = async (key: string, expected: number, shiftKey = false) => {
      fireEvent.keyDown(point, { key, shiftKey })
      await waitFor(() => expect(location.pathname).toBe(`/runs/r_000000000001/at/${expected}`))
    }
    await press('ArrowRight', 5)
    await press('ArrowLeft', 4)
    await press('ArrowLeft', 3, true)
    await press('End', 6)
    await press('Home', 1)
    fireEvent.keyDown(point, { key: '5' })
    await press('Enter', 5)
    expect(history.length).toBeLessThan(20)
  })

  it('says why a change has no content instead of an empty diff', async () => {
    openApp('/runs/r_000000000001/at/3', answers())
    expect(await screen.findByText(/Content was not captured: its content was not in the record/)).toBeTruthy()
  })

  it('lists files at the point, deleted ones struck through, and goes to the event that last changed one', async () => {
    openApp('/runs/r_000000000001/at/4', answers())
    expect(await screen.findByText('May be incomplete: what shell commands changed was not seen')).toBeTruthy()
    const gone = await screen.findByTitle('/home/dev/shop/old.ts')
    expect(gone.className).toContain('line-through')
    fireEvent.click(
      screen
        .getAllByTitle('Go to the event that last changed it')
        .find((button) => button.textContent === '@3') as HTMLElement,
    )
    await waitFor(() => expect(location.pathname).toBe('/runs/r_000000000001/at/3'))
  })

  it('covers a secret until it is revealed, by its reference, and covers it again after leaving', async () => {
    const { transport, view } = openApp(
      '/runs/r_000000000001/at/1',
      answers({ 'sensitive.reveal': () => ({ text: 'sk-planted', why: null }) }),
    )
    expect(await screen.findByText('hidden: API key, 51 characters')).toBeTruthy()
    expect(view.container.innerHTML).not.toContain('«secret:1»')
    fireEvent.click(screen.getByRole('button', { name: 'Reveal' }))
    await giveReason('which key the deploy used')
    const shown = await screen.findByText('sk-planted')
    expect(shown.closest('.select-none')).not.toBeNull()
    expect(transport.called('sensitive.reveal')).toEqual([
      { name: 'sensitive.reveal', input: { ref: 'vault:1', reason: 'which key the deploy used' } },
    ])
    fireEvent.click(screen.getByRole('link', { name: 'Homes' }))
    await waitFor(() => expect(screen.queryByText('sk-planted')).toBeNull())
    history.back()
    expect(await screen.findByText('hidden: API key, 51 characters')).toBeTruthy()
    expect(screen.queryByText('sk-planted')).toBeNull()
  })

  it('says that a secret cannot be revealed, and why', async () => {
    openApp(
      '/runs/r_000000000001/at/1',
      answers({ 'sensitive.reveal': () => ({ text: null, why: 'originals are not kept' }) }),
    )
    fireEvent.click(await screen.findByRole('button', { name: 'Reveal' }))
    await giveReason('a test')
    expect(await screen.findByText('cannot be revealed: originals are not kept')).toBeTruthy()
  })

  it('reveals nothing without a reason', async () => {
    const { transport } = openApp(
      '/runs/r_000000000001/at/1',
      answers({ 'sensitive.reveal': () => ({ text: 'sk-planted', why: null }) }),
    )
    fireEvent.click(await screen.findByRole('button', { name: 'Reveal' }))
    const dialog = await screen.findByRole('dialog')
    const act = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Reveal 1 place' })
    expect(act.disabled).toBe(true)
    fireEvent.change(within(dialog).getByRole('textbox', { name: 'Why it has to be seen' }), {
      target: { value: '  x ' },
    })
    expect(act.disabled).toBe(true)
    fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(transport.called('sensitive.reveal')).toEqual([])
  })

  it('exports a run, asks before it replaces a file, and says what it wrote and covered', async () => {
    const { transport } = openApp(
      '/runs/r_000000000001/at/1',
      answers({
        'folders.complete': () => ({ folders: [] }),
        'export.run': (input) => {
          if (input.replace !== true) throw failure('conflict', 'it is already there')
          return { file: '/home/dev/r.html', bytes: 2048, redactions: 3 }
        },
      }),
    )
    fireEvent.click(await screen.findByRole('button', { name: 'Export…' }))
    const dialog = await screen.findByRole('dialog')
    fireEvent.click(within(dialog).getByRole('radio', { name: /Web page/ }))
    fireEvent.change(within(dialog).getByRole('textbox', { name: 'File name' }), { target: { value: 'r' } })
    fireEvent.click(within(dialog).getByRole('button', { name: 'Write 1 file' }))
    expect(await within(dialog).findByText(/it is already there/)).toBeTruthy()
    expect(transport.called('export.run').at(-1)?.input).toEqual({
      run: 'r_000000000001',
      format: 'html',
      file: '~/r.html',
      replace: false,
    })
    fireEvent.click(within(dialog).getByRole('button', { name: 'Replace 1 file' }))
    expect(await within(dialog).findByText(/Wrote \/home\/dev\/r\.html, .*3 covered places in it/)).toBeTruthy()
    expect(transport.called('export.run').at(-1)?.input).toMatchObject({ replace: true })
  })

  it('filters by failure, and by words over every event', async () => {
    openApp('/runs/r_000000000001/at/4', answers())
    await slider()
    const lines = () =>
      screen.getAllByRole('row', { name: /^\d+, / }).map((row) => row.getAttribute('aria-label')?.split(',')[0])
    await waitFor(() => expect(lines()).toEqual(['1', '2', '3', '4', '5', '6']))
    fireEvent.click(screen.getByRole('checkbox', { name: 'failed only' }))
    await waitFor(() => expect(lines()).toEqual(['4']))
    fireEvent.click(screen.getByRole('checkbox', { name: 'failed only' }))
    fireEvent.change(screen.getByRole('textbox', { name: 'Filter of the events' }), { target: { value: 'budget' } })
    await waitFor(() => expect(lines()).toEqual(['5']))
    expect(screen.getByRole('row', { name: /broken link/ })).toBeTruthy()
  })

  it('shows unreadable lines with their place, in words, never as an empty session (B10)', async () => {
    const torn = {
      path: '/home/dev/.claude/projects/x.jsonl',
      line: 7,
      byte: 120,
      bytes: 33,
      reason: 'cut in the middle of a record',
      repaired: true,
      run: subject.id,
    }
    openApp(
      '/runs/r_000000000001/at/4',
      answers({ 'runs.get': () => details(run({ ...subject, unreadable_lines: 1 }), { unreadable: [torn] }) }),
    )
    expect(await screen.findByText('1 line of this session could not be read')).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Show them' }))
    expect(await screen.findByText(/cut in the middle of a record/)).toBeTruthy()
    expect(screen.getByText(/complete records were recovered from it/)).toBeTruthy()
    expect(screen.getByText('120')).toBeTruthy()
  })

  it('offers the full transcript of a session whose file shrank (B12)', async () => {
    openApp(
      '/runs/r_000000000001/at/4',
      answers({
        'runs.get': () => details(run({ ...subject, source_state: 'shrank' })),
        'runs.recover': () => ({ lines: 500, text: '{"line":1}' }),
      }),
    )
    fireEvent.click(await screen.findByRole('button', { name: 'Recover the full transcript…' }))
    expect(await screen.findByText(/500 lines, with secrets covered/)).toBeTruthy()
  })

  it('names the parent of a fork and that the copied beginning is counted there (B16)', async () => {
    const fork = run({ ...subject, relation: 'fork', parent: 'r_000000000008', forked_at: 3, copied_events: 2 })
    openApp('/runs/r_000000000001/at/4', answers({ 'runs.get': () => details(fork) }))
    expect(
      await screen.findByText('The first 2 events were copied from r_000000; they are counted there.'),
    ).toBeTruthy()
    expect(screen.getByRole('link', { name: 'fork of r_000000@3' }).getAttribute('href')).toBe(
      '/runs/r_000000000008/at/3',
    )
  })

  it('says what an unknown run could have meant', async () => {
    openApp('/runs/r_9', {
      'runs.get': () => {
        throw failure('ambiguous', 'r_9 names 2 runs', null, ['r_91d0aa34bb56', 'r_92c4aa34bb56'])
      },
    })
    expect(await screen.findByText('r_9 names 2 runs')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'r_92c4aa34bb56' }).getAttribute('href')).toBe('/runs/r_92c4aa34bb56')
  })

  it('reads as a transcript whose turns lead to their events', async () => {
    openApp('/runs/r_000000000001/at/1?tab=transcript', answers())
    expect(await screen.findByText('words of 2')).toBeTruthy()
    const feed = screen.getByRole('feed')
    expect(feed.textContent).toContain('npm test')
    fireEvent.click(screen.getAllByRole('button', { name: '@4' })[0] as HTMLElement)
    await waitFor(() => expect(location.pathname).toBe('/runs/r_000000000001/at/4'))
  })

  it('leaves one entry in the history for each press of a tab', async () => {
    openApp('/runs/r_000000000001/at/1', answers())
    await slider()
    const pushed = vi.spyOn(history, 'pushState')
    const press = (name: RegExp) => fireEvent.mouseDown(screen.getByRole('tab', { name }), { button: 0 })
    try {
      press(/^Transcript/)
      await waitFor(() => expect(location.search).toBe('?tab=transcript'))
      expect(pushed).toHaveBeenCalledTimes(1)
      press(/^Transcript/)
      press(/^Events/)
      await waitFor(() => expect(location.search).toBe(''))
      expect(pushed).toHaveBeenCalledTimes(2)
    } finally {
      pushed.mockRestore()
    }
  })

  it('counts usage once per reply and never calls an unknown cost free', async () => {
    openApp('/runs/r_000000000001/at/1?tab=usage', answers())
    expect(await screen.findByText('1 reply')).toBeTruthy()
    expect(screen.getAllByText('cost unknown').length).toBeGreaterThan(0)
  })
})

describe('the manifest of a run', () => {
  it('says that none was captured, with the reason', async () => {
    openApp('/runs/r_000000000001/manifest', {
      'manifest.get': () => {
        throw failure('not_found', 'the session was over before it was first seen')
      },
    })
    expect(await screen.findByText('No manifest was captured for this run')).toBeTruthy()
    expect(screen.getByText(/over before it was first seen/)).toBeTruthy()
  })
})
