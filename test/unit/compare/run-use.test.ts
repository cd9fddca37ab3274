import { describe, expect, it } from 'vitest'
import { describeUse } from '../../../daemon/manifest/compare/run-use.ts'
import { looksLikeTest } from '../../../daemon/manifest/compare/test-commands.ts'
import { event } from '../../kit/compare-bodies.ts'
import { capability, digestFor, manifestBody, ROOT, source } from '../../kit/manifest-body.ts'

describe('commands that look like a test run', () => {
  it.each([
    'npm test',
    'npm run test:unit -- --watch=false',
    'CI=1 npx vitest run test/unit',
    'yarn jest src',
    'pnpm -r test',
    'bun test',
    'node --test test/',
    'python -m pytest -q',
    'python3 -m unittest discover',
    'pytest tests/test_a.py',
    'tox -e py312',
    'cargo test --all',
    'cargo nextest run',
    'go test ./...',
    'mvn -q verify',
    './gradlew :app:connectedCheck',
    'make check',
    'ctest --output-on-failure',
    'dotnet test',
    'mix test',
    'bundle exec rspec spec/models',
    './vendor/bin/phpunit',
    'bats test/',
    'cd api && go test ./...',
    'sudo -E timeout 60 ./run_tests.sh',
  ])('%s', (command) => expect(looksLikeTest(command)).toBe(true))
  it.each([
    'ls test',
    'cat test/a.test.ts',
    'git checkout test',
    'rm -r test',
    'npm install',
    'npm install -D vitest',
    'pip install pytest',
    'echo test',
    'node build.mjs',
    'grep -r spec .',
    'cargo build',
    'vim tests/a.py',
    'npm run build',
    'cat package.json | grep test',
    'test -f a',
  ])('not %s', (command) => expect(looksLikeTest(command)).toBe(false))
})

const body = manifestBody((one) => {
  one.instructions.sources.push(
    source(`${ROOT}/.agent/rules/http.md`, 'r', { kind: 'rule', status: 'lazy', position: null }),
  )
  one.capabilities.skills.push(capability('letters', 'l'), capability('off', 'o', { status: 'disabled' }))
  one.capabilities.tools.push({
    name: 'mcp__tickets__list',
    schema_digest: digestFor('list'),
    policy_profile: null,
    removed_by: null,
    used: null,
  })
  one.capabilities.mcp_servers.push(
    ...['tickets', 'weather'].map((name) => ({
      name,
      transport: 'stdio',
      command: 'x',
      url: null,
      package_version: null,
      digest: null,
      source: 's',
      scope: 'project',
      status: 'active' as const,
      reason: null,
      tools: null,
    })),
  )
})
const effect = (path: string, change: 'add' | 'change' | 'delete', after: string | null) => ({
  path,
  change,
  by: 'edit tool' as const,
  before: null,
  after,
  added_lines: 1,
  removed_lines: 0,
})
const events = [
  event(1, { kind: 'prompt', summary: '/ship it' }),
  event(2, { kind: 'instructions', summary: `${ROOT}/CLAUDE.md` }),
  event(3, { kind: 'tool', tool: 'Read', summary: 'a.ts', ok: true, model: 'claude-opus-5-5', cwd: ROOT }),
  event(4, { kind: 'rule', summary: `${ROOT}/.agent/rules/http.md` }),
  event(5, { kind: 'skill', summary: 'release-check', tool: 'Skill' }),
  event(6, { kind: 'tool', tool: 'mcp__tickets__list', summary: '{}', ok: true }),
  event(7, { kind: 'tool', tool: 'Write', summary: 'b.ts', ok: true, effects: [effect('b.ts', 'add', 'sha256:1')] }),
  event(8, { kind: 'tool', tool: 'Edit', summary: 'b.ts', ok: true, effects: [effect('b.ts', 'change', 'sha256:2')] }),
  event(9, { kind: 'tool', tool: 'Bash', summary: 'npm test', ok: false, model: 'other-model-1', cwd: '/elsewhere' }),
  event(10, { kind: 'denied', tool: 'Bash', summary: 'not allowed', ok: false }),
]
const run = {
  id: 'r_1',
  status: 'failed' as const,
  versions: ['2.1.332'],
  events,
  stretches: [{ n: 1, digest: 'sha256:1', body }],
  unfrozen: 0,
}

describe('what a run used', () => {
  const use = describeUse(run)

  it('stands with how often, since when, and whether it was declared', () => {
    const found = (kind: string, name: string) => use.used.find((one) => one.kind === kind && one.name === name)
    expect(found('rule', `${ROOT}/.agent/rules/http.md`)).toMatchObject({ declared: true, times: 1, first_seq: 4 })
    expect(found('skill', 'release-check')).toMatchObject({ declared: true, version: digestFor('twice') })
    expect(found('mcp tool', 'mcp__tickets__list')).toMatchObject({ declared: true, version: digestFor('list') })
    expect(found('tool', 'Write')).toMatchObject({ declared: false, version: null })
    expect(found('command', 'ship')).toMatchObject({ first_seq: 1 })
    expect(found('denied', 'Bash')).toMatchObject({ first_seq: 10 })
  })

  it('is told from what was declared and never used', () => {
    expect(use.unused).toEqual(
      expect.arrayContaining([
        { kind: 'skill', name: 'letters' },
        { kind: 'mcp server', name: 'weather' },
      ]),
    )
    expect(use.unused).not.toContainEqual({ kind: 'skill', name: 'release-check' })
    expect(use.unused).not.toContainEqual({ kind: 'skill', name: 'off' })
    expect(use.unused).not.toContainEqual({ kind: 'mcp server', name: 'tickets' })
  })

  it('is held against the manifest', () => {
    expect(use.mismatches.map(({ what, declared, actual, seq }) => [what, declared, actual, seq])).toEqual([
      ['model', 'claude-opus-5-5', 'other-model-1', 9],
      ['working directory', ROOT, '/elsewhere', 9],
      ['tool', null, 'Write', 7],
      ['tool', null, 'Edit', 8],
      ['tool', null, 'Bash', 9],
    ])
    const other = describeUse({ ...run, versions: ['2.1.400'] })
    expect(other.mismatches).toContainEqual(
      expect.objectContaining({ what: 'program version', declared: '2.1.332', actual: '2.1.400' }),
    )
    // An alias is no mismatch, and a list of tools that is not known declares nothing.
    const alias = manifestBody((one) => {
      one.execution.model = 'opus'
      one.unknown.push({ field: 'capabilities.tools', why: 'not shown' })
    })
    const quiet = describeUse({
      ...run,
      events: events.slice(0, 7),
      stretches: [{ n: 1, digest: 'sha256:2', body: alias }],
    })
    expect(quiet.mismatches).toEqual([])
    expect(quiet.used.find(({ name }) => name === 'Write')?.declared).toBeNull()
  })

  it('is reconciled with how it ended, though it failed', () => {
    expect(use.reconciled).toMatchObject({
      state: 'failed',
      final: [{ path: 'b.ts', change: 'add', after: 'sha256:2', seq: 8 }],
      tests: [{ seq: 9, command: 'npm test', ok: false }],
      effects: [
        { seq: 7, id: 'e7', kind: 'tool' },
        { seq: 8, id: 'e8', kind: 'tool' },
      ],
      models: ['claude-opus-5-5', 'other-model-1'],
      policy_revision: digestFor('policy'),
    })
    expect(use.steps.map(({ step, state }) => [step, state])).toEqual([
      ['discover', 'done'],
      ['resolve', 'done'],
      ['validate', 'done'],
      ['freeze', 'done'],
      ['execute', 'failed'],
      ['use', 'done'],
      ['reconcile', 'partial'],
    ])
  })

  it('is open while it goes on, and says when there is no manifest', () => {
    expect(describeUse({ ...run, status: 'running' }).reconciled.state).toBe('open')
    const bare = describeUse({ ...run, stretches: [], unfrozen: 1 })
    expect(bare.steps.slice(0, 4).map(({ state }) => state)).toEqual([
      'not_possible',
      'not_possible',
      'not_possible',
      'failed',
    ])
    expect(bare.unknown).toEqual([{ field: 'manifests', why: 'no manifest was made for this run' }])
    expect(bare.used.find(({ name }) => name === 'release-check')?.declared).toBeNull()
    expect(bare.reconciled.tests.length).toBe(1)
  })
})
