import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ManifestBody } from '../../contract/index.ts'
import type { StretchEvidence } from '../../daemon/runtimes/adapter.ts'
import { codex } from '../../daemon/runtimes/codex/index.ts'
import { type CodexRollout, codexThread, codexUnit, makeCodexHome } from '../kit/codex-home.ts'
import { cases, layCase, resolveLaid, treeFiles } from '../kit/codex-tree.ts'
import { looseUnit, readSession } from '../kit/read-session.ts'

const fixtures = join(import.meta.dirname, '../fixtures')
const root = mkdtempSync(join(tmpdir(), 'reprise-codex-manifests-'))
let home = ''
beforeAll(() => {
  home = makeCodexHome(root).home
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const stretches = (name: CodexRollout): readonly StretchEvidence[] =>
  readSession(codex, codexUnit(home, codexThread(name))).summary.stretches
const infer = (name: CodexRollout, n = 0): ManifestBody => {
  const stretch = stretches(name)[n]
  if (stretch === undefined) throw new Error(`${name} has no stretch ${n}`)
  return codex.inferManifest(stretch)
}
const whyUnknown = (body: ManifestBody, field: string): string | undefined =>
  body.unknown.find((entry) => entry.field === field)?.why
const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

describe('manifests inferred from sessions of Codex', () => {
  it('holds version, model, provider, sandbox, approvals, commit and surface', () => {
    const body = infer('direct-edit-test-fix')
    expect(body.execution).toMatchObject({
      runtime: 'codex',
      runtime_version: '0.171.0',
      surface: 'exec',
      client: 'codex_exec',
      model: 'gpt-5.5',
      endpoint_profile: 'lab',
      reasoning: null,
      cwd: '/home/dev/demo',
      sandbox: { mode: 'workspace-write', network_policy: 'refused' },
      repo: { sha: 'd02119c23c3ac8c8afabc37c6273d8ed32b9a1f1', branch: 'main', root_known: false },
      history_mode: 'paginated',
    })
    expect(body.policy.permissions.mode).toBe('never')
    expect(body.task.input_digest).toBe(sha256('make calc and test it'))
    expect(body.context).toMatchObject({ session_ref: codexThread('direct-edit-test-fix') })
    expect(body.instructions.effective_digest).toBeNull()
    expect(body.empty).toContainEqual({ category: 'instructions', why: 'no AGENTS.md entered the context' })
    expect(whyUnknown(body, 'execution.reasoning')).toContain('default of the model')
    expect(whyUnknown(body, 'capabilities.tools')).toContain('not written down')
    expect(body.capabilities.skills.map(({ name, source }) => [name, source])).toContainEqual([
      'imagegen',
      '/home/dev/.codex/skills/.system/imagegen/SKILL.md',
    ])
  })

  it('holds the schemas of tools where a model is given them as an item', () => {
    const { tools } = infer('code-mode-edit-test-fix').capabilities
    expect(tools).toHaveLength(14)
    const exec = tools.find(({ name }) => name === 'functions.exec')
    expect(exec).toMatchObject({ used: true, schema_digest: expect.stringMatching(/^sha256:/) })
    expect(tools.find(({ name }) => name === 'functions.wait')?.used).toBe(false)
    // Called inside of scripts: their definitions stand in the text of another tool.
    expect(tools.filter(({ schema_digest }) => schema_digest === null).map(({ name }) => name)).toEqual([
      'apply_patch',
      'exec_command',
    ])
  })

  it('tells surfaces and sandboxes of one harness apart', () => {
    expect(infer('approved-interrupted-compacted').execution).toMatchObject({ surface: 'app-server (lab)' })
    expect(infer('approved-interrupted-compacted').policy.permissions.mode).toBe('on-request')
    expect(infer('forked').execution.sandbox).toMatchObject({ mode: 'read-only', permission_profile: ':read-only' })
    expect(infer('mcp-tool-call').execution.sandbox).toMatchObject({ mode: 'danger-full-access' })
    expect(infer('mcp-tool-call').capabilities.mcp_servers.map(({ name }) => name)).toEqual(['labmcp'])
  })

  it('keeps the lineage of a fork, a resume and a subagent', () => {
    expect(infer('forked').context.lineage).toMatchObject({ forked_from: codexThread('resumed'), forked_at: 34 })
    expect(infer('subagent-child').context.lineage).toMatchObject({
      parent_thread: codexThread('subagent-parent'),
      root_session: codexThread('subagent-parent'),
      agent_path: '/root/worker',
    })
    const resumed = infer('resumed', 1)
    // A resume writes no head: which version it was is not known, what it was given before stays.
    expect(resumed.execution.runtime_version).toBeNull()
    expect(whyUnknown(resumed, 'execution.runtime_version')).toContain('head of the file only')
    expect(resumed.execution).toMatchObject({ model: 'gpt-5.5', surface: 'exec', cwd: '/home/dev/demo' })
    expect(resumed.task.input_digest).toBe(sha256('second prompt'))
    expect(resumed.capabilities.skills.length).toBeGreaterThan(0)
  })

  it('does not know what older formats do not say', () => {
    const wild = (name: string): ManifestBody => {
      const [stretch] = readSession(codex, looseUnit(join(fixtures, 'wild', name), 'x', '/home/dev/.codex')).summary
        .stretches
      if (stretch === undefined) throw new Error(`${name} has no stretch`)
      return codex.inferManifest(stretch)
    }
    const bare = wild('codex-2025-bare-items-crlf.jsonl')
    expect(bare.execution).toMatchObject({ runtime_version: null, model: null, surface: null })
    expect(bare.instructions.effective_digest).toMatch(/^sha256:/)
    for (const field of ['execution.runtime_version', 'execution.model', 'execution.surface', 'execution.sandbox'])
      expect(whyUnknown(bare, field), field).toBeDefined()
    const early = wild('codex-0.41-first-envelope.jsonl')
    expect(early.execution).toMatchObject({
      runtime_version: '0.41.0',
      model: 'gpt-5-codex',
      sandbox: { mode: 'workspace-write', network_policy: 'refused' },
    })
    expect(whyUnknown(early, 'instructions.effective_digest')).toContain('0.41.0')
  })
})

describe('a resolver and a record give instructions of Codex one digest', () => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', (name, one) => {
    const tree = layCase(one)
    try {
      const { body } = resolveLaid(tree, { cwd: tree.here(one.cwd), flags: ['exec', ...one.exec_args] })
      // The fixture leaves the text of this part out: it is the program's, with the user's summary between markers.
      const summary = treeFiles.home['.codex/memories/memory_summary.md'] ?? ''
      const memoryPart = `## Memory\n\n========= MEMORY_SUMMARY BEGINS =========\n${summary.trim()}\n========= MEMORY_SUMMARY ENDS =========\n\nmore`
      // A session whose first messages hold what the program really sent for this tree.
      const label: Readonly<Record<string, string>> = {
        agents_md: 'agents_md.instructions',
        developer_instructions: 'generic.developer_instructions',
        memory_summary_block: 'memories.instructions',
      }
      const parts = one.request.context
        .flatMap(({ parts: all }) => all)
        .filter((part) => label[part.label] !== undefined)
      const message = {
        type: 'message',
        role: 'developer',
        content: parts.map(({ text }) => ({ type: 'input_text', text: text ?? memoryPart })),
        internal_chat_message_metadata_passthrough: { content_item_kinds: parts.map((part) => label[part.label]) },
      }
      const file = join(root, `${name}.jsonl`)
      const lines = [
        {
          type: 'session_meta',
          payload: {
            id: name,
            cli_version: '0.171.0',
            base_instructions: { text: 'b', provenance: { type: 'model' } },
          },
        },
        { type: 'response_item', payload: message },
      ]
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      const [stretch] = readSession(codex, looseUnit(file, name)).summary.stretches
      if (stretch === undefined) throw new Error('no stretch')
      const inferred = codex.inferManifest(stretch)
      expect(inferred.instructions.effective_digest).toMatch(/^sha256:/)
      expect(inferred.instructions.effective_digest).toBe(body.instructions.effective_digest)
      const joined = codex.joinManifest(body, inferred)
      expect(joined.origin).toBe('captured')
      expect(joined.instructions).toEqual(body.instructions)
      const other = codex.joinManifest(
        { ...body, instructions: { ...body.instructions, effective_digest: null } },
        inferred,
      )
      expect(other.instructions.effective_digest).toBe(inferred.instructions.effective_digest)
      expect(whyUnknown(other, 'instructions.sources')).toContain('the session shows other')
    } finally {
      tree.remove()
    }
  })

  it('keeps the texts of a record beside its manifest', () => {
    const block = readFileSync(join(fixtures, 'wild/codex-2025-bare-items-crlf.jsonl'), 'utf8').split('\n')[0] ?? ''
    const { instructions } = JSON.parse(block) as { instructions: string }
    const [stretch] = readSession(
      codex,
      looseUnit(join(fixtures, 'wild/codex-2025-bare-items-crlf.jsonl'), 'x', '/home/dev/.codex'),
    ).summary.stretches
    expect(stretch && codex.recordedTexts(stretch)).toEqual([{ digest: sha256(instructions), text: instructions }])
  })
})
