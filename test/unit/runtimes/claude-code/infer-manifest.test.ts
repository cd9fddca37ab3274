import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ManifestBody, manifestBodySchema } from '../../../../contract/index.ts'
import { effectiveDigest, textDigest } from '../../../../daemon/manifest/effective-text.ts'
import { claudeCode } from '../../../../daemon/runtimes/claude-code/index.ts'
import { textsOf } from '../../../../daemon/runtimes/claude-code/infer-instructions.ts'
import { looseUnit, readSession } from '../../../kit/read-session.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures')

function manifests(path: string): readonly ManifestBody[] {
  const { summary } = readSession(claudeCode, looseUnit(join(fixtures, path), 's'))
  return summary.stretches.map((stretch) => manifestBodySchema.parse(claudeCode.inferManifest(stretch)))
}

const label = 'project instructions, checked into the codebase'
const claudeMd = { path: '/home/dev/demo/CLAUDE.md', label, text: '# Demo\n- Run `npm test` after each change.' }

describe('a manifest inferred from a 2.1.332 session', () => {
  const [body] = manifests('claude-code/sessions/projects/-home-dev-demo/10000000-0000-4000-8000-000000000001.jsonl')

  it('holds the instructions in the order of the context, with the digest every resolver computes', () => {
    expect(body?.instructions.effective_digest).toBe(effectiveDigest([claudeMd]))
    expect(body?.instructions.resolved_order).toEqual(['project'])
    expect(body?.instructions.sources).toMatchObject([
      { status: 'loaded', scope: 'project', label, position: 0, used: true, digest: null },
    ])
  })

  it('holds model, surface, version, parameters and permission mode', () => {
    expect(body?.execution).toMatchObject({
      runtime: 'claude-code',
      runtime_version: '2.1.332',
      surface: 'sdk-cli',
      model: 'claude-opus-5-5',
      requested_model: 'claude-opus-5-5',
      reasoning: 'medium',
      cwd: '/home/dev/demo',
      flags: null,
      parameters: { max_tokens: 128000, thinking: { type: 'adaptive', display: 'updates' } },
      repo: { branch: 'main', sha: null },
    })
    expect(body?.policy.permissions.mode).toBe('default')
    expect(body?.created_at).toBe('2026-11-30T15:57:22.211Z')
  })

  it('tells tools that were used from tools that were only declared', () => {
    const tools = new Map(body?.capabilities.tools.map(({ name, used }) => [name, used]))
    expect(
      [...tools]
        .filter(([, used]) => used)
        .map(([name]) => name)
        .sort(),
    ).toEqual(['Bash', 'Edit', 'Read', 'Write'])
    expect(tools.get('Agent')).toBe(false)
    expect(body?.capabilities.tools.find(({ name }) => name === 'Bash')?.schema_digest).toMatch(/^sha256:/)
    expect(body?.capabilities.tools.find(({ name }) => name === 'CronCreate')).toMatchObject({
      schema_digest: null,
      used: false,
    })
  })

  it('says what a record cannot tell', () => {
    const fields = body?.unknown.map(({ field }) => field)
    for (const field of [
      'settings',
      'execution.flags',
      'execution.environment',
      'capabilities.plugins',
      'policy.trust',
      'execution.repo.sha',
      'context.memory',
    ]) {
      expect(fields).toContain(field)
    }
    expect(body?.context.memory_enabled).toBeNull()
  })
})

describe('a manifest of a later stretch', () => {
  it('takes over what a resume does not read again, and says so', () => {
    const [first, second] = manifests(
      'claude-code/sessions/projects/-home-dev-demo/30000000-0000-4000-8000-000000000001.jsonl',
    )
    expect(second?.instructions.effective_digest).toBe(first?.instructions.effective_digest)
    expect(first?.instructions.sources[0]?.rule).not.toContain('taken over')
    expect(second?.instructions.sources[0]?.rule).toContain('taken over')
    expect(second?.capabilities.tools.filter(({ used }) => used).map(({ name }) => name)).toEqual(['Bash'])
    expect(first?.capabilities.tools.filter(({ used }) => used)).toEqual([])
    expect(second?.stretch).toBe(2)
  })

  it('lists what came in lazily with what brought it in', () => {
    const [first, second] = manifests(
      'claude-code/actual-use/projects/-home-dev-ws-demo/90000000-0000-4000-8000-000000000001.jsonl',
    )
    const lazy = first?.instructions.sources.filter(({ status }) => status === 'lazy') ?? []
    expect(lazy.length).toBe(8)
    expect(first?.instructions.resolved_order).toEqual(['user', 'parent folder', 'local', 'project'])
    expect(first?.instructions.sources.find(({ path }) => path?.endsWith('/d1.md'))).toMatchObject({
      kind: 'import',
      status: 'loaded',
    })
    expect(lazy.map(({ scope }) => scope)).toEqual([
      'project',
      'path',
      'path',
      'path',
      'path',
      'path',
      'path',
      'project',
    ])
    expect(lazy[1]?.text_digest).toBe(textDigest('TOK-SUB-CLAUDEMD @sub-imp.md'))
    expect(lazy[0]).toMatchObject({ kind: 'rule', position: null, trigger: '/home/dev/ws/demo/src/app.ts was touched' })
    expect(lazy[2]).toMatchObject({ kind: 'import', imported_by: ['file:///home/dev/ws/demo/pkg/CLAUDE.md'] })
    expect(first?.capabilities.mcp_servers).toMatchObject([
      { name: 'parentmcp', status: 'disabled' },
      { name: 'projmcp', status: 'active', tools: [{ name: 'mcp__projmcp__echo' }] },
      { name: 'usermcp', status: 'disabled' },
    ])
    expect(first?.capabilities.skills.filter(({ used }) => used).map(({ name }) => name)).toEqual(['p-skill'])
    expect(first?.capabilities.agents.filter(({ used }) => used).map(({ name }) => name)).toEqual(['general-purpose'])
    expect(first?.capabilities.hooks.map(({ name }) => name)).toEqual(['SessionStart:startup', 'PostToolUse:Write'])
    expect(second?.instructions.sources.filter(({ status }) => status === 'lazy')).toEqual([])
  })
})

describe('a manifest of a version that writes no configuration', () => {
  it.each([
    'wild/claude-1.0-mcp-call.jsonl',
    'wild/claude-2.0-sidechain-in-main-file.jsonl',
    'wild/claude-2.1-two-session-ids.jsonl',
  ])('of %s is mostly unknown and never "none"', (path) => {
    const [body] = manifests(path)
    const fields = body?.unknown.map(({ field }) => field)
    for (const field of [
      'instructions.effective_digest',
      'instructions.sources',
      'capabilities.skills',
      'capabilities.agents',
      'capabilities.tools',
      'execution.surface',
      'execution.reasoning',
    ]) {
      expect(fields).toContain(field)
    }
    expect(body?.empty).toEqual([])
    expect(body?.instructions.effective_digest).toBeNull()
    expect(body?.execution.runtime_version).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it('lists a called tool all the same', () => {
    const [body] = manifests('wild/claude-1.0-mcp-call.jsonl')
    expect(body?.capabilities.tools).toEqual([
      {
        name: 'mcp__lagabas-gudidis__vusisak_vagizafu',
        schema_digest: null,
        policy_profile: null,
        removed_by: null,
        used: true,
      },
    ])
    expect(body?.capabilities.mcp_servers).toMatchObject([{ name: 'lagabas-gudidis', tools: null }])
  })
})

it('hands out the texts that the record shows', () => {
  const { summary } = readSession(
    claudeCode,
    looseUnit(
      join(fixtures, 'claude-code/sessions/projects/-home-dev-demo/10000000-0000-4000-8000-000000000001.jsonl'),
      's',
    ),
  )
  const [stretch] = summary.stretches
  if (stretch === undefined) throw new Error('a stretch is missing')
  expect([...textsOf(stretch)]).toEqual([['file:///home/dev/demo/CLAUDE.md', claudeMd.text]])
})
