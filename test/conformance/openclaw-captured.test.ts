import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ManifestBody, manifestBodySchema } from '../../contract/index.ts'
import type { StretchEvidence } from '../../daemon/runtimes/adapter.ts'
import { openclaw } from '../../daemon/runtimes/openclaw/index.ts'
import { addAgentDatabase, changeDatabase, surroundingsOf } from '../kit/openclaw-home.ts'
import { readSession } from '../kit/read-session.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

const MAIN = '46362ce9-bc67-41c7-83a6-68ec89201695'
const GROUP = 'b25ba1ce-07dd-4b58-8ffd-d8c24fdd67e5'

/** A stretch that began under our eyes: its record, and the files as they are a moment later. */
describe('OpenClaw: captured manifests', () => {
  const root = temporaryDirectory('openclaw-captured')

  it('resolves for the agent and the kind of session that the record names', () => {
    const { evidence, captured } = capture(GROUP)
    expect(evidence.flags).toEqual(['--local', '--session-key', 'agent:main:telegram:group:42'])
    const loaded = captured.instructions.sources
      .filter(({ position }) => position !== null)
      .map(({ path }) => path?.split('/').at(-1))
    expect(loaded).toEqual(['AGENTS.md', 'SOUL.md', 'IDENTITY.md', 'USER.md'])
    expect(captured.instructions.sources.find(({ path }) => path?.endsWith('/MEMORY.md'))).toMatchObject({
      status: 'not_loaded',
      reason: 'MEMORY.md of the workspace is withheld from group sessions',
    })
    expect(captured.context).toMatchObject({
      session_ref: GROUP,
      session_scope: { kind: 'group', direct_messages: 'main' },
      channel: { name: 'telegram', peer: '42' },
    })
    expect(captured.execution).toMatchObject({
      flags: null,
      model: 'demo/scripted-1',
      runtime_version: '2026.9.6',
      surface: 'agent --local',
      agent: { id: 'main', session_key: 'agent:main:telegram:group:42' },
    })
  })

  it('has the tools of the session with their schemas, and what the policy took away with its reason', () => {
    const { captured, resolved } = capture(MAIN)
    const foreseen = resolved.capabilities.tools.filter(({ removed_by }) => removed_by === null).map(({ name }) => name)
    const tools = captured.capabilities.tools
    const seen = tools.filter(({ schema_digest }) => schema_digest !== null).map(({ name }) => name)
    expect(seen.length).toBe(39)
    expect([...foreseen].sort()).toEqual([...seen].sort())
    expect(tools.find(({ name }) => name === 'exec')).toMatchObject({ used: true, removed_by: null })
    expect(tools.find(({ name }) => name === 'browser')?.removed_by).toBe('tools.profile coding')
    expect(tools.filter(({ name }) => name === 'read').length).toBe(1)
    expect(captured.unknown.some(({ field }) => field === 'capabilities.tools')).toBe(false)
    expect(captured.instructions.effective_digest).toMatch(/^sha256:/)
  })

  it('says where the report of the session and the files differ', () => {
    const { captured } = capture(MAIN, (workspace) =>
      writeFileSync(join(workspace, 'SOUL.md'), 'Quite another persona, and a longer one.\n'),
    )
    expect(
      captured.unknown.filter(({ field, why }) => field === 'instructions.sources' && why.includes('SOUL.md')),
    ).toEqual([
      {
        field: 'instructions.sources',
        why: `30 characters of ${join(root(), 'home/.openclaw/workspace/SOUL.md')} entered the context, 40 when the files were read a moment later`,
      },
    ])
  })

  function capture(
    session: string,
    change: (workspace: string) => void = () => {},
  ): { evidence: StretchEvidence; captured: ManifestBody; resolved: ManifestBody } {
    const userHome = join(root(), 'home')
    const home = join(userHome, '.openclaw')
    const workspace = join(home, 'workspace')
    mkdirSync(workspace, { recursive: true })
    const texts = {
      'AGENTS.md': 'a'.repeat(41),
      'SOUL.md': 's'.repeat(30),
      'IDENTITY.md': 'i'.repeat(10),
      'USER.md': 'u'.repeat(62),
      'MEMORY.md': 'm'.repeat(34),
    }
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(workspace, name), `${text}\n`)
    change(workspace)
    writeFileSync(
      join(home, 'openclaw.json'),
      JSON.stringify({
        agents: { defaults: { model: { primary: 'demo/scripted-1' }, skipBootstrap: true } },
        tools: { profile: 'coding', deny: ['browser'], toolSearch: false },
      }),
    )
    const file = addAgentDatabase(home, 'main', 'agent-db')
    // The recorded report names the workspace of the machine it was made on.
    changeDatabase(file, (db) => {
      db.prepare("update session_nodes set entry_json = replace(entry_json, '/home/dev/.openclaw/workspace', ?)").run(
        workspace,
      )
    })
    const unit = [...openclaw.listSessions(home, () => {})].find((one) => one.session === session)
    const evidence = unit && readSession(openclaw, unit).summary.stretches[0]
    if (evidence === undefined) throw new Error('no stretch')
    const { body } = openclaw.resolve({
      home,
      cwd: workspace,
      flags: evidence.flags ?? [],
      surroundings: surroundingsOf(userHome),
      version: evidence.version,
    })
    const captured = openclaw.joinManifest(body, openclaw.inferManifest(evidence))
    expect(manifestBodySchema.parse(captured)).toEqual(captured)
    expect(captured.origin).toBe('captured')
    const { sources, resolved_order } = captured.instructions
    const entering = sources.filter(({ position }) => position !== null)
    expect(resolved_order).toEqual([...new Set(entering.map(({ scope }) => scope))])
    return { evidence, captured, resolved: body }
  }
})
