// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Comparison } from '../../../contract/compare.ts'
import { setSlots, useSlots } from '../../../renderer/shell/compare-slots.ts'
import { BAD, comparison, drift, GOOD, same, side } from './comparisons.ts'
import { type Answers, digest, failure, giveBoxesSize, openApp, page, run, runItem } from './kit.tsx'

beforeAll(() => giveBoxesSize())
beforeEach(() => setSlots(null, null))
afterEach(cleanup)

const both = `/compare?a=${GOOD}&b=${BAD}`
const good = run({ id: GOOD, title: 'fix flaky retry test' })
const bad = run({ id: BAD, title: 'fix flaky retry test', status: 'failed' })
const partners = { partners: [{ run: good, rule: 'the last run in this directory that ended well' }], task: null }

const openCompared = (found: Comparison = comparison(), path = both, answers: Answers = {}) =>
  openApp(path, { 'compare.run': () => found, 'compare.partners': () => partners, ...answers })
const causes = () => screen.findByRole('listbox', { name: 'Causes, the likeliest first' })
const chosen = (list: HTMLElement) =>
  document.getElementById(list.getAttribute('aria-activedescendant') ?? '')?.textContent ?? ''
const openTab = (name: RegExp) => {
  const tab = screen.getByRole('tab', { name })
  fireEvent.mouseDown(tab, { button: 0 })
}

describe('causes', () => {
  it('opens on the likeliest, with the focus in the list, and is walked with the keyboard', async () => {
    openCompared()
    expect(await screen.findByRole('heading', { level: 1 })).toHaveProperty(
      'textContent',
      '3 differences can explain it; the likeliest is a rule.',
    )
    const list = await causes()
    expect(document.activeElement).toBe(list)
    expect(chosen(list)).toContain('Rule http.md now matches src/retry.ts')
    expect(chosen(list)).toContain('was used')
    expect(screen.getByRole('region', { name: 'Evidence for 1' })).toBeTruthy()

    fireEvent.keyDown(list, { key: 'ArrowDown' })
    await waitFor(() => expect(chosen(list)).toContain('2.1.329 → 2.1.332'))
    expect(location.search).toContain('cause=2')
    fireEvent.keyDown(list, { key: 'End' })
    await waitFor(() => expect(chosen(list)).toContain('Server tickets'))
    expect(chosen(list)).toContain('whether it was in force is unknown')
    expect(screen.getByText('only its digest was kept')).toBeTruthy()
    fireEvent.keyDown(list, { key: 'ArrowDown' })
    expect(chosen(list)).toContain('Server tickets')
    fireEvent.keyDown(list, { key: 'Home' })
    await waitFor(() => expect(chosen(list)).toContain('Rule http.md'))
    expect(location.search).not.toContain('cause=')

    fireEvent.keyDown(list, { key: 'Enter' })
    expect(document.activeElement).toBe(screen.getByRole('region', { name: 'Evidence for 1' }))
    expect(screen.getAllByRole('option').filter((row) => row.getAttribute('aria-selected') === 'true')).toHaveLength(1)
  })

  it('keeps the chosen cause in the address', async () => {
    openCompared(comparison(), `${both}&cause=2`)
    expect(chosen(await causes())).toContain('2.1.329 → 2.1.332')
  })

  it('links each evidence to what it rests on, and none to nothing', async () => {
    openCompared()
    const pane = await screen.findByRole('region', { name: 'Evidence for 1' })
    const href = (name: string) => within(pane).getByRole('link', { name }).getAttribute('href')
    expect(href('matched at @4')).toBe(`/runs/${BAD}/at/4`)
    expect(href('no path matched')).toBe(
      `/manifests/${encodeURIComponent(digest('a'))}?${new URLSearchParams({ source: 'file:///r/http.md' })}`,
    )
    expect(href('permission mode')).toContain('tab=policy')
    expect(href('changed at 12:30')).toContain('change=d_1')
    expect(within(pane).queryByRole('link', { name: 'both end with a test' })).toBeNull()
    expect(within(pane).getByText('both end with a test')).toBeTruthy()
  })

  it('opens the manifest an evidence rests on, by its digest as it is written', async () => {
    const { transport } = openCompared()
    const pane = await screen.findByRole('region', { name: 'Evidence for 1' })
    fireEvent.click(within(pane).getByRole('link', { name: 'no path matched' }))
    await waitFor(() => expect(transport.called('manifest.get').at(-1)?.input).toEqual({ target: digest('a') }))
  })

  it('opens the change of configuration an evidence names', async () => {
    openApp('/timeline?q=kind%3Aconfiguration&change=d_1', {
      'timeline.page': () => page([{ type: 'configuration', at: drift().at, id: 'd_1', drift: drift() }]),
      'drift.get': () => drift(),
    })
    expect(await screen.findByRole('heading', { name: 'http.md changed', level: 3 })).toBeTruthy()
  })

  it('says what is equal and what could not be compared, with the way it was compared', async () => {
    openCompared()
    await causes()
    expect(screen.getByText('Equal: 10 of 12 categories')).toBeTruthy()
    fireEvent.click(screen.getByText('Could not be compared: 1 field'))
    expect(screen.getByText('database')).toBeTruthy()
    expect(screen.getByText('was not captured')).toBeTruthy()
  })

  it('shows a table of equal digests when nothing changed, never an empty list', async () => {
    openCompared(same())
    expect(await screen.findByText('Equal: 12 of 12 categories')).toBeTruthy()
    const table = screen.getAllByRole('table')[0] as HTMLElement
    expect(within(table).getAllByRole('row')).toHaveLength(13)
    expect(within(table).getAllByText('equal')).toHaveLength(12)
    expect(within(table).getByText('instructions by digest')).toBeTruthy()
    expect(screen.queryByRole('listbox')).toBeNull()
    expect(screen.getByRole('heading', { level: 1 }).textContent).toContain('what remains is model behaviour')
  })
})

describe('the other tabs', () => {
  it('filters the fields by path and by value, and says what one side could not know', async () => {
    openCompared()
    await causes()
    openTab(/^Fields/)
    const grid = await screen.findByRole('grid', { name: 'Fields' })
    expect(screen.getByText('3 fields differ')).toBeTruthy()
    expect(within(grid).getByText('execution.sandbox.mode').closest('[role=row]')?.textContent).toContain('unknown')
    const filter = screen.getByRole('searchbox', { name: 'Filter fields' })
    fireEvent.change(filter, { target: { value: '2.1.329' } })
    await waitFor(() => expect(screen.getByText('1 field differs')).toBeTruthy())
    fireEvent.change(filter, { target: { value: 'nothing such' } })
    expect(await screen.findByText('No field matches this filter')).toBeTruthy()
    fireEvent.keyDown(filter, { key: 'Escape' })
    expect(await screen.findByText('3 fields differ')).toBeTruthy()
  })

  it('shows the text of both sides piece by piece, or why it is not kept', async () => {
    openCompared(comparison(), `${both}&view=text`)
    expect(await screen.findByText('Different text entered the contexts')).toBeTruthy()
    expect(within(screen.getByRole('region', { name: '/home/dev/shop/http.md' })).getByText('only in B')).toBeTruthy()
    expect(screen.getByText('only digests kept')).toBeTruthy()
    expect(screen.getByText('1 piece is equal')).toBeTruthy()
  })

  it('tells newly used from no longer used, and links the first use', async () => {
    openCompared(comparison(), `${both}&view=use`)
    const newly = await screen.findByRole('region', { name: 'Newly used in B' })
    expect(within(newly).getByText('never')).toBeTruthy()
    expect(within(newly).getByRole('link', { name: '2 times' }).getAttribute('href')).toBe(`/runs/${BAD}/at/4`)
    const gone = screen.getByRole('region', { name: 'No longer used in B' })
    expect(within(gone).getByRole('link', { name: '1 time' }).getAttribute('href')).toBe(`/runs/${GOOD}/at/7`)
    expect(within(screen.getByRole('region', { name: /Used in both/ })).getByText('Bash')).toBeTruthy()
  })

  it('says why there is no use when a side is no run', async () => {
    openCompared(comparison({ a: side({ run: null, title: null }), use: [], steps: null }), `${both}&view=use`)
    expect(await screen.findByText('Only runs use something; one side is a configuration.')).toBeTruthy()
  })

  it('starts the steps at the first difference and opens one in its run', async () => {
    openCompared(comparison(), `${both}&view=steps`)
    const grid = await screen.findByRole('grid', { name: 'Steps' })
    expect(screen.getByText('The runs part at step 2')).toBeTruthy()
    expect(chosen(grid)).toContain('src/config.ts')
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    expect(chosen(grid)).toContain('npm test')
    fireEvent.keyDown(grid, { key: 'Enter' })
    await waitFor(() => expect(location.pathname).toBe(`/runs/${GOOD}/at/5`))
  })
})

describe('both sides', () => {
  it('finds the partner by its rule and says so; another one is two steps away', async () => {
    const other = run({ id: 'r_00000000000c', title: 'an older one' })
    const found = { ...partners, partners: [...partners.partners, { run: other, rule: 'the run before it' }] }
    const { transport } = openCompared(comparison(), `/compare?b=${BAD}`, { 'compare.partners': () => found })
    expect(await screen.findByText(/the last run in this directory that ended well/)).toBeTruthy()
    expect(transport.called('compare.run')[0]?.input).toEqual({ a: GOOD, b: BAD })
    const button = screen.getByRole('button', { name: 'Compare with…' })
    button.focus()
    fireEvent.keyDown(button, { key: 'Enter' })
    fireEvent.click(await screen.findByRole('menuitem', { name: /an older one/ }))
    await waitFor(() => expect(transport.called('compare.run').at(-1)?.input).toEqual({ a: other.id, b: BAD }))
  })

  it('says when nothing can be compared with it', async () => {
    openCompared(comparison(), `/compare?b=${BAD}`, { 'compare.partners': () => ({ partners: [], task: null }) })
    expect(await screen.findByText('There is no other run to compare it with')).toBeTruthy()
  })

  it('swaps with s and with the button', async () => {
    const { transport } = openCompared(comparison(), `${both}&cause=2`)
    fireEvent.keyDown(await causes(), { key: 's' })
    await waitFor(() => expect(location.search).toContain(`a=${BAD}`))
    expect(location.search).not.toContain('cause=')
    await waitFor(() => expect(transport.called('compare.run').at(-1)?.input).toEqual({ a: BAD, b: GOOD }))
    fireEvent.click(await screen.findByRole('button', { name: 'Swap sides' }))
    await waitFor(() => expect(location.search).toContain(`a=${GOOD}`))
  })

  it('says that both sides are the same', async () => {
    const { transport } = openCompared(comparison(), `/compare?a=${GOOD}&b=${GOOD}`)
    expect(await screen.findByText('Both sides are the same')).toBeTruthy()
    expect(transport.called('compare.run')).toEqual([])
  })

  it('asks for two, and offers what waits in the slots', async () => {
    setSlots({ target: GOOD, label: 'good' }, { target: BAD, label: 'bad' })
    openCompared(comparison(), '/compare')
    fireEvent.click(await screen.findByRole('button', { name: 'Compare good with bad' }))
    await causes()
    expect(location.search).toContain(`a=${GOOD}`)
  })

  it('says what must be known of the sides', async () => {
    openCompared(comparison({ notes: ['the run goes on', '2 lines could not be read'] }))
    fireEvent.click(await screen.findByText('2 things to know about these two sides'))
    expect(screen.getByText('2 lines could not be read')).toBeTruthy()
  })

  it('shows a failure in the place of the content, and tries again', async () => {
    let fails = true
    openApp(both, {
      'compare.partners': () => partners,
      'compare.run': () => {
        if (fails) throw failure('not_found', 'there is no run r_00000000000a', 'reprise runs lists them')
        return comparison()
      },
    })
    expect(await screen.findByText(/there is no run r_00000000000a/)).toBeTruthy()
    fails = false
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }))
    expect(chosen(await causes())).toContain('Rule http.md')
  })
})

describe('the way there', () => {
  const rows = {
    'timeline.page': () => page([runItem(bad), runItem(good)]),
    'runs.get': () => {
      throw failure('not_found', 'x')
    },
  } satisfies Answers

  it('takes two keys from the timeline: down, then w', async () => {
    const { transport } = openCompared(comparison(), '/timeline', rows)
    const grid = await screen.findByRole('treegrid')
    grid.focus()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'w' })
    expect(chosen(await causes())).toContain('Rule http.md')
    expect(transport.called('compare.partners')[0]?.input).toEqual({ run: BAD })
  })

  it('fills the slots with c and compares them with =', async () => {
    const { transport } = openCompared(comparison(), '/timeline', rows)
    const grid = await screen.findByRole('treegrid')
    grid.focus()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'c' })
    const slots = await screen.findByRole('group', { name: 'Slots for comparing' })
    expect(within(slots).queryByRole('link')).toBeNull()
    fireEvent.keyDown(grid, { key: 'ArrowDown' })
    fireEvent.keyDown(grid, { key: 'c' })
    expect(within(slots).getByRole('link', { name: 'Compare' })).toBeTruthy()
    fireEvent.keyDown(grid, { key: '=' })
    await causes()
    expect(transport.called('compare.run')[0]?.input).toEqual({ a: BAD, b: GOOD })
    expect(useSlots.getState().a?.target).toBe(BAD)
  })

  it('takes a slot out again', async () => {
    setSlots({ target: GOOD, label: 'good' }, null)
    openCompared(comparison(), '/timeline', rows)
    fireEvent.click(await screen.findByRole('button', { name: 'Take A out' }))
    await waitFor(() => expect(screen.queryByRole('group', { name: 'Slots for comparing' })).toBeNull())
  })
})
