// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RollbackPlan } from '../../../contract/rollback.ts'
import { rollbackPath } from '../../../renderer/rollback/address.ts'
import { type Answers, digest, failure, giveBoxesSize, openApp } from './kit.tsx'
import {
  CLAUDE_MD,
  conflict,
  nothingAsked,
  plan,
  planPath,
  RULE,
  record,
  SETTINGS,
  target,
  write,
} from './rollbacks.ts'

beforeAll(() => giveBoxesSize())
afterEach(cleanup)

/** A daemon that plans what is given for any scope, and nothing where none is named. */
const daemon = (given: RollbackPlan, more: Answers = {}): Answers => ({
  'rollback.plan': ({ scope }) => ({
    plan: Object.keys(scope).length === 0 ? nothingAsked({ target: given.target }) : { ...given, scope },
  }),
  'rollback.path': ({ path }) => planPath(path),
  'rollback.apply': () => ({ plan: given, record: record() }),
  'rollback.get': () => ({ record: record() }),
  ...more,
})
const button = () => document.querySelector('[data-rollback-act]') as HTMLButtonElement
const open = (given: RollbackPlan, path = '/rollback?target=r_00000000000a&scope=home', more: Answers = {}) =>
  openApp(path, daemon(given, more))

describe('the plan of a rollback', () => {
  it('opened from a run nothing is ticked, and nothing can be done', async () => {
    const { transport } = open(plan(), rollbackPath({ target: 'r_00000000000a' }))
    expect(await screen.findByRole('heading', { name: /^Roll back to r_000000, 2026-11-29/ })).toBeTruthy()
    for (const name of [/^Home/, /^Project files/, /^Workspace/])
      expect((screen.getByRole('checkbox', { name }) as HTMLInputElement).checked).toBe(false)
    expect(button().textContent).toBe('Choose what to roll back')
    expect(button().disabled).toBe(true)
    fireEvent.click(screen.getByRole('checkbox', { name: /^Home/ }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 2 paths'))
    expect(location.search).toContain('scope=home')
    expect(transport.called('rollback.apply')).toEqual([])
  })

  it('opened from one file that file is ticked; the button names it and sends exactly it, with the plan seen', async () => {
    const one = plan({ writes: [write(RULE)], id: 'p_seen' })
    const { transport } = open(one, rollbackPath({ target: 'r_00000000000a', only: [{ path: RULE }] }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 1 path'))
    fireEvent.change(screen.getByLabelText('Reason'), { target: { value: ' rule widened ' } })
    fireEvent.click(button())
    await waitFor(() => expect(location.pathname).toBe('/rollbacks/b_0123456789ab'))
    expect(transport.called('rollback.apply')[0]?.input).toEqual({
      target: 'r_00000000000a',
      scope: { only: [{ path: RULE }] },
      plan: 'p_seen',
      paths: [RULE],
      reason: 'rule widened',
    })
    const heading = await screen.findByRole('heading', { name: /^Rolled back to/ })
    await waitFor(() => expect(document.activeElement).toBe(heading))
  })

  it('unticked paths are not sent, kept ones are deleted one by one only', async () => {
    const kept = '/home/dev/.claude/notes.md'
    const { transport } = open(
      plan({ kept: [{ path: kept, area: 'home', why: 'not part of that state', deletable: true }] }),
    )
    fireEvent.click(await screen.findByRole('checkbox', { name: `Roll back ${SETTINGS}` }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 1 path'))
    // Kept is folded, and has no box for all of it.
    expect(screen.queryByRole('checkbox', { name: /Kept/ })).toBeNull()
    fireEvent.click(within(rowNamed(/^Kept 1/)).getByRole('button'))
    fireEvent.click(await screen.findByRole('checkbox', { name: `Delete ${kept} as well` }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 2 paths'))
    fireEvent.click(button())
    await waitFor(() => expect(transport.called('rollback.apply').length).toBe(1))
    expect(transport.called('rollback.apply')[0]?.input).toMatchObject({ paths: [RULE], delete_kept: [kept] })
  })

  it('a conflict keeps the disk unless something is chosen, and by hunk needs one', async () => {
    const { transport } = open(plan({ writes: [], conflicts: [conflict()] }))
    const group = (await screen.findAllByRole('radiogroup', { name: 'What to do with CLAUDE.md' }))[0] as HTMLElement
    expect((within(group).getByLabelText('keep the disk') as HTMLInputElement).checked).toBe(true)
    expect(button().textContent).toBe('Choose what to roll back')
    fireEvent.click(within(group).getByLabelText('by hunk'))
    await waitFor(() => expect(button().textContent).toBe('Choose changes of CLAUDE.md'))
    fireEvent.click(await screen.findByRole('button', { name: 'Take change 1' }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 1 path'))
    fireEvent.click(button())
    await waitFor(() => expect(transport.called('rollback.apply').length).toBe(1))
    expect(transport.called('rollback.apply')[0]?.input).toMatchObject({
      paths: [],
      choices: [{ path: CLAUDE_MD, choice: 'hunks', hunks: [1] }],
    })
  })

  it('waits for a running agent unless told to go on', async () => {
    const { transport } = open(
      plan({
        running: [
          { runtime: 'claude-code', pid: 4121, session: null, cwd: '/home/dev/shop', why: 'works in this folder' },
        ],
      }),
    )
    expect(await screen.findByText('Claude Code is running here, pid 4121')).toBeTruthy()
    expect(button().textContent).toBe('Roll back 2 paths when it ends')
    fireEvent.click(screen.getByLabelText(/^go on/))
    await waitFor(() => expect(button().textContent).toBe('Roll back 2 paths'))
    fireEvent.click(button())
    await waitFor(() => expect(transport.called('rollback.apply')[0]?.input).toMatchObject({ while_running: 'go_on' }))
  })

  it('what cannot be kept safe needs a word, path by path', async () => {
    const { transport } = open(
      plan({ safety: { paths: 1, bytes: 120, complete: false, cannot: [{ path: RULE, why: 'it cannot be read' }] } }),
    )
    await waitFor(() => expect(button().textContent).toBe('Cannot protect 1 path'))
    expect(button().disabled).toBe(true)
    fireEvent.click(screen.getByRole('checkbox', { name: /all the same/ }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 2 paths'))
    fireEvent.click(button())
    await waitFor(() => expect(transport.called('rollback.apply')[0]?.input).toMatchObject({ unprotected: [RULE] }))
  })

  it('a disk that changed since makes the plan anew, marks its rows and does nothing', async () => {
    let id = 1
    const { transport } = openApp(
      '/rollback?target=r_00000000000a&scope=home',
      daemon(plan(), {
        'rollback.plan': () => ({
          plan: plan(
            id === 1
              ? { id: 'p_1' }
              : {
                  id: 'p_2',
                  writes: [
                    write(RULE, { before: { kind: 'file', digest: digest('9'), mode: 0o644, bytes: 1 } }),
                    write(SETTINGS),
                  ],
                },
          ),
        }),
        'rollback.apply': () => {
          id = 2
          throw failure('conflict', 'the disk is not what the plan saw')
        },
      }),
    )
    await waitFor(() => expect(button().textContent).toBe('Roll back 2 paths'))
    fireEvent.click(button())
    expect(await screen.findByText(/Nothing was done; 1 row is marked/)).toBeTruthy()
    expect(rowNamed(/http\.md/).textContent).toContain('changed just now')
    expect(rowNamed(/settings\.json/).textContent).not.toContain('changed just now')
    expect(location.pathname).toBe('/rollback')
    expect(transport.called('rollback.apply').length).toBe(1)
  })

  it('only a press of the button itself acts: neither Mod+Enter nor Enter elsewhere does', async () => {
    const { transport } = open(plan())
    await waitFor(() => expect(button().disabled).toBe(false))
    for (const at of [document.body, screen.getByLabelText('Reason'), screen.getByRole('treegrid'), button()])
      fireEvent.keyDown(at, { key: 'Enter', ctrlKey: true, metaKey: true })
    fireEvent.keyDown(screen.getByLabelText('Reason'), { key: 'Enter' })
    fireEvent.keyDown(screen.getByRole('treegrid'), { key: 'Enter' })
    await new Promise((done) => setTimeout(done, 30))
    expect(transport.called('rollback.apply')).toEqual([])
  })

  it('files alone are restored, and that is not called a rollback', async () => {
    open(
      plan({ is_rollback: false, writes: [write('/home/dev/shop/a.ts', { area: 'workspace' })] }),
      '/rollback?target=r_00000000000a&scope=workspace',
    )
    expect(await screen.findByRole('heading', { name: /^Restore files as of/ })).toBeTruthy()
    await waitFor(() => expect(button().textContent).toBe('Restore 1 file'))
    expect(screen.getByText(/That is no rollback/)).toBeTruthy()
  })

  it('one key of a structured file: the plan is asked for just that, and the address says so', async () => {
    const { transport } = open(plan(), '/rollback?target=r_00000000000a&scope=home', {
      'rollback.path': ({ path }) =>
        planPath(path, { keys: path === SETTINGS ? [{ key: 'model', disk: 'opus', target: 'sonnet' }] : [] }),
    })
    await waitFor(() => expect(button().textContent).toBe('Roll back 2 paths'))
    fireEvent.click(rowNamed(/settings\.json/))
    fireEvent.click(await screen.findByLabelText('only key “model”'))
    await waitFor(() =>
      expect(transport.called('rollback.plan').at(-1)?.input).toEqual({
        target: 'r_00000000000a',
        scope: { only: [{ path: RULE }, { path: SETTINGS, key: 'model' }] },
      }),
    )
    expect(new URLSearchParams(location.search).getAll('part')).toEqual([`${SETTINGS}#key:model`])
    expect(location.search).toContain('scope=home')
  })

  it('ten thousand paths fold by folder, and a group is ticked at once', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) =>
      write(`/home/dev/shop/src/${n % 50}/${n}.ts`, { area: 'workspace' }),
    )
    open(plan({ writes: many }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 10,000 paths'))
    expect(screen.getAllByRole('row').length).toBeLessThan(100)
    fireEvent.click(screen.getByRole('checkbox', { name: 'All in /home/dev/shop/src/0' }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 9,800 paths'))
    fireEvent.click(screen.getByRole('checkbox', { name: 'All of: Write' }))
    await waitFor(() => expect(button().textContent).toBe('Roll back 10,000 paths'))
    fireEvent.click(screen.getByRole('checkbox', { name: 'All of: Write' }))
    await waitFor(() => expect(button().textContent).toBe('Choose what to roll back'))
  })

  it('lists what cannot be restored, what would not be fully reproducible, and equal as equal', async () => {
    open(
      plan({
        writes: [],
        not_restorable: [{ path: null, area: null, what: 'MCP server "tickets"', why: 'that version is gone' }],
        not_reproducible: 'not fully reproducible: the server cannot be obtained any more',
      }),
    )
    expect((await screen.findAllByText('MCP server "tickets"')).length).toBeGreaterThan(0)
    expect(screen.getByText(/not fully reproducible: the server cannot/)).toBeTruthy()
    expect(button().textContent).toBe('Nothing to roll back')
  })

  it('asks which home is meant, and says what failed', async () => {
    const { transport } = open(plan(), '/rollback?target=release&scope=home', {
      'rollback.plan': ({ of }) => {
        if (of === undefined) throw failure('ambiguous', 'two homes fit', null, ['/home/dev/.claude', '/home/dev/b'])
        throw failure('internal', 'the disk is full', 'Make room.')
      },
    })
    fireEvent.click(await screen.findByRole('button', { name: '/home/dev/b' }))
    expect(await screen.findByText('the disk is full')).toBeTruthy()
    expect(transport.called('rollback.plan').at(-1)?.input).toMatchObject({ of: '/home/dev/b' })
  })
})

describe('taking a rollback back', () => {
  const undo = plan({ target: target({ kind: 'safety', text: 'b_0123456789ab', run: null, manifest: null }) })

  it('opens the reverse plan first, whole', async () => {
    const { transport } = openApp('/rollback?undo=last', {
      'rollback.undo_plan': () => ({ of: 'b_0123456789ab', plan: undo }),
      'rollback.path': ({ path }) => planPath(path),
      'rollback.undo': () => ({ plan: undo, record: record({ id: 'b_00000000000f', undo_of: 'b_0123456789ab' }) }),
      'rollback.get': () => ({ record: record({ id: 'b_00000000000f', undo_of: 'b_0123456789ab' }) }),
    })
    expect(await screen.findByRole('heading', { name: 'Undo rollback b_012345' })).toBeTruthy()
    expect(screen.queryByLabelText('Reason')).toBeNull()
    expect(screen.queryByRole('checkbox', { name: /^Roll back/ })).toBeNull()
    expect(button().textContent).toBe('Put back 2 paths')
    fireEvent.click(button())
    await waitFor(() =>
      expect(transport.called('rollback.undo')[0]?.input).toEqual({ id: 'b_0123456789ab', plan: 'p_1' }),
    )
    expect(await screen.findByRole('heading', { name: 'Undid rollback b_012345' })).toBeTruthy()
  })

  it('says when there is none', async () => {
    openApp('/rollback?undo=last', {
      'rollback.undo_plan': () => {
        throw failure('not_found', 'No rollback is left to take back.')
      },
    })
    expect(await screen.findByText('There is no rollback to undo')).toBeTruthy()
  })
})

describe('the receipt', () => {
  const receipt = (of: ReturnType<typeof record>, more: Answers = {}) =>
    openApp(`/rollbacks/${of.id}`, { 'rollback.get': () => ({ record: of }), ...more })

  it('names target, reason, each path as it was read back, and what the check found', async () => {
    receipt(record())
    expect(await screen.findByText('rule widened by mistake')).toBeTruthy()
    expect(screen.getByText(/the target’s configuration is in force/)).toBeTruthy()
    expect(screen.getByText('as wanted')).toBeTruthy()
    expect(screen.getByText('1 path is back, each read again and compared.')).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Undo…' }))
    await waitFor(() => expect(location.search).toBe('?undo=b_0123456789ab'))
  })

  it('shows the difference where the target was not reached, and the way to the trace', async () => {
    receipt(
      record({
        verification: {
          reached: false,
          target_digest: digest('a'),
          effective_digest: digest('b'),
          differences: [{ path: 'settings.model', before: 'opus', after: 'sonnet' }],
          why: null,
        },
        not_reproducible: 'the server is gone',
        not_restorable: [{ path: null, area: null, what: 'server tickets', why: 'gone' }],
      }),
    )
    expect(await screen.findByText(/is not reached; 1 difference/)).toBeTruthy()
    expect(screen.getByText('settings.model')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Review from trace' }).getAttribute('href')).toBe('/runs/r_00000000000a')
  })

  it('an interrupted one is an alarm with both ways out; a waiting one can be cancelled', async () => {
    const { transport } = receipt(record({ state: 'interrupted', verification: null }), {
      'rollback.resume': () => ({ record: record() }),
    })
    expect((await screen.findByRole('alert')).textContent).toContain('interrupted')
    expect(screen.queryByRole('button', { name: 'Undo…' })).toBeNull()
    fireEvent.click(screen.getByRole('button', { name: 'Take back' }))
    await waitFor(() =>
      expect(transport.called('rollback.resume')[0]?.input).toEqual({ id: 'b_0123456789ab', how: 'take_back' }),
    )
    cleanup()
    receipt(record({ state: 'waiting', paths: [], verification: null }))
    expect(await screen.findByRole('button', { name: 'Cancel it' })).toBeTruthy()
    expect(screen.getByRole('heading', { level: 1 }).textContent).toMatch(/^Roll back to/)
  })
})

function rowNamed(name: RegExp): HTMLElement {
  const row = screen.getAllByRole('row').find((each) => name.test(each.getAttribute('aria-label') ?? ''))
  if (row === undefined) throw new Error(`no row ${name}`)
  return row
}
