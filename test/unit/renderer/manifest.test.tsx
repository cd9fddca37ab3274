// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Answers, digest, giveBoxesSize, manifest, openApp, source } from './kit.tsx'

beforeAll(() => giveBoxesSize())
afterEach(cleanup)

const whole = manifest({
  instructions: {
    effective_digest: digest('d'),
    resolved_order: ['user', 'project'],
    sources: [
      source(),
      source({
        path: '/home/dev/.claude/style.md',
        uri: 'file:///home/dev/.claude/style.md',
        kind: 'import',
        position: 1,
        imported_by: ['/home/dev/.claude/CLAUDE.md'],
      }),
      source({
        path: '/home/dev/shop/AGENTS.md',
        uri: 'file:///home/dev/shop/AGENTS.md',
        position: null,
        status: 'not_loaded',
        reason: 'a CLAUDE.md counts first',
        used: false,
      }),
      source({
        path: '/home/dev/shop/.claude/rules/http.md',
        uri: 'file:///r',
        kind: 'rule',
        scope: 'path',
        position: null,
        status: 'lazy',
        trigger: 'a read of src/retry.ts',
        used: null,
      }),
      source({
        path: '/home/dev/.claude/managed.json',
        uri: 'file:///managed',
        kind: 'settings',
        position: null,
        used: null,
      }),
      source({
        path: '/m/MEMORY.md',
        uri: 'file:///m',
        kind: 'memory',
        scope: 'memory',
        position: 2,
        truncated: { at: 8192, unit: 'bytes' },
        scan: { result: 'flagged', rules: ['instruction-like text'] },
      }),
    ],
  },
  settings: {
    model: {
      value: 'opus',
      source: '/home/dev/shop/.claude/settings.json',
      merged_from: ['/home/dev/.claude/settings.json'],
      overridden: [{ value: 'sonnet', source: '/home/dev/.claude/settings.json' }],
      rule: 'replace',
    },
    'env.TOKEN': {
      value_ref: 'secret:api-key:9f',
      source: '/home/dev/.claude/settings.json',
      merged_from: [],
      overridden: [],
      rule: 'replace',
    },
  },
  policy: {
    revision: null,
    permissions: {
      mode: 'default',
      allow: [
        { rule: 'WebFetch', source: '/home/dev/shop/.claude/settings.json', ignored: 'the workspace is not trusted' },
      ],
      ask: [],
      deny: [{ rule: 'Bash(rm:*)', source: '/home/dev/.claude/settings.json' }],
    },
    trust: { trusted: false, source: '/home/dev/.claude.json' },
    managed: [],
  },
  capabilities: {
    skills: [],
    commands: [],
    agents: [],
    plugins: [],
    hooks: [],
    mcp_servers: [],
    tools: [
      { name: 'Bash', schema_digest: digest('e'), policy_profile: null, removed_by: null, used: true },
      { name: 'Grep', schema_digest: digest('e'), policy_profile: null, removed_by: null, used: false },
      { name: 'Write', schema_digest: digest('e'), policy_profile: null, removed_by: 'permissions.deny', used: false },
    ],
  },
  empty: [{ category: 'plugins', why: 'none is enabled in any layer' }],
  unknown: [{ field: 'execution.model', why: 'the session does not name it' }],
})
const open = (tab: string, answers: Answers = {}) =>
  openApp(`/manifests/${digest('a')}${tab === '' ? '' : `?tab=${tab}`}`, {
    'manifest.get': () => ({ manifest: whole, intact: true, damage: [] }),
    ...answers,
  })

describe('manifest', () => {
  it('lists sources in order with import depth, reasons, cuts and scan results (R363)', async () => {
    open('')
    const rows = await screen.findAllByRole('row')
    expect(
      rows.map((row) => `${row.getAttribute('aria-level')} ${row.getAttribute('aria-label')?.split(',')[0]}`),
    ).toEqual([
      '1 /home/dev/.claude/CLAUDE.md',
      '2 /home/dev/.claude/style.md',
      '1 /m/MEMORY.md',
      '1 /home/dev/.claude/managed.json',
      '1 /home/dev/shop/.claude/rules/http.md',
      '1 /home/dev/shop/AGENTS.md',
    ])
    expect(rows[5]?.textContent).toContain('NOT LOADED: a CLAUDE.md counts first')
    expect(rows[4]?.textContent).toContain('lazily: a read of src/retry.ts')
    expect(rows[4]?.textContent).toContain('unknown')
    expect(rows[2]?.textContent).toContain('at 8,192 bytes')
    expect(rows[2]?.textContent).toContain('flagged')
  })

  it('says of a source that it only tells the model something, of a setting that it is enforced (R34)', async () => {
    open('')
    fireEvent.click((await screen.findAllByRole('row'))[0]?.querySelector('[role=gridcell]') as Element)
    expect(await screen.findByText(/Text the model was told. It steers, it does not enforce./)).toBeTruthy()
    fireEvent.mouseDown(screen.getByRole('tab', { name: /Values/ }), { button: 0 })
    const setting = await screen.findByRole('row', { name: /^model/ })
    fireEvent.click(setting.querySelector('[role=gridcell]') as Element)
    expect(await screen.findByText(/The agent program itself enforces this/)).toBeTruthy()
    expect(screen.getByText('"sonnet"')).toBeTruthy()
  })

  it('shows a secret setting by reference only', async () => {
    const { view } = open('values')
    expect(await screen.findByText('a secret')).toBeTruthy()
    expect(view.container.textContent).not.toContain('secret:api-key:9f')
  })

  it('keeps what is enforced apart from what is only told, and marks rules that were not applied', async () => {
    open('policy')
    const enforced = await screen.findByRole('region', { name: 'Enforced by the agent' })
    const told = screen.getByRole('region', { name: 'Only told to the model' })
    expect(enforced.textContent).toContain('Bash(rm:*)')
    expect(enforced.textContent).toContain('NOT APPLIED: the workspace is not trusted')
    expect(enforced.textContent).not.toContain('CLAUDE.md')
    expect(told.textContent).toContain('CLAUDE.md')
    expect(told.textContent).not.toContain('Bash(rm:*)')
    expect(told.textContent).not.toContain('managed.json')
  })

  it('tells declared from used, and names the filter that removed a tool (R93, R45)', async () => {
    open('capabilities')
    expect(await screen.findByText('removed by permissions.deny')).toBeTruthy()
    fireEvent.click(screen.getByRole('checkbox', { name: 'declared, never used' }))
    await waitFor(() => expect(screen.queryByRole('rowheader', { name: 'Bash' })).toBeNull())
    expect(screen.getByRole('rowheader', { name: 'Grep' })).toBeTruthy()
    expect(screen.getByText('none: none is enabled in any layer')).toBeTruthy()
  })

  it('shows the text as sent in order, what was left out folded with its reason', async () => {
    open('sent', {
      'manifest.instructions': () => ({
        effective_digest: digest('d'),
        pieces: [
          {
            path: '/a.md',
            uri: 'file:///a.md',
            scope: 'user',
            label: 'user instructions',
            status: 'loaded',
            reason: null,
            text_digest: digest('1'),
            text: 'first words',
            redactions: 2,
          },
          {
            path: '/b.md',
            uri: 'file:///b.md',
            scope: 'project',
            label: null,
            status: 'not_loaded',
            reason: 'a CLAUDE.md counts first',
            text_digest: digest('2'),
            text: 'never sent',
            redactions: 0,
          },
        ],
      }),
    })
    const region = await screen.findByRole('region', { name: 'Text in the order it entered the context' })
    expect(region.textContent).toContain('first words')
    expect(region.textContent).toContain('2 secrets covered')
    const folded = within(region).getByRole('group')
    expect(folded.hasAttribute('open')).toBe(false)
    expect(folded.textContent).toContain('a CLAUDE.md counts first')
  })

  it('gives the reason of everything empty and unknown (R72)', async () => {
    open('checks')
    expect(await screen.findByText('the session does not name it')).toBeTruthy()
    expect(screen.getByText('none is enabled in any layer')).toBeTruthy()
    expect(screen.getAllByText('signed, intact').length).toBeGreaterThan(0)
  })

  it('warns of a damaged manifest over everything else', async () => {
    open('', { 'manifest.get': () => ({ manifest: whole, intact: false, damage: ['the digest differs'] }) })
    expect((await screen.findByText(/do not rely on it/)).textContent).toContain('the digest differs')
    expect(screen.queryByText('signed, intact')).toBeNull()
  })

  it('resolves a configuration now and opens the result', async () => {
    const { transport } = openApp('/homes?resolve=1', {
      'manifest.resolve': () => ({ manifest: whole }),
      'manifest.get': () => ({ manifest: whole, intact: true, damage: [] }),
      'folders.complete': () => ({ folders: [] }),
    })
    const field = await screen.findByRole('combobox', { name: 'Workspace' })
    fireEvent.change(field, { target: { value: '/home/dev/shop/' } })
    fireEvent.change(screen.getByLabelText('Start flags'), { target: { value: '--model opus' } })
    fireEvent.click(screen.getByRole('button', { name: 'Resolve' }))
    await waitFor(() => expect(location.pathname).toBe(`/manifests/${encodeURIComponent(digest('a'))}`))
    expect(transport.called('manifest.resolve')[0]?.input).toEqual({
      runtime: 'claude-code',
      workspace: '/home/dev/shop',
      flags: ['--model', 'opus'],
    })
  })
})
