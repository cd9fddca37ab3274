import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { manifestBodySchema } from '../../contract/index.ts'
import { effectiveDigest } from '../../daemon/manifest/effective-text.ts'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { layOpenClawHome, type OpenClawHome, resolvedPieces } from '../kit/openclaw-tree.ts'

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../fixtures/openclaw', name), 'utf8'))

let laid: OpenClawHome | null = null
afterEach(() => {
  laid?.remove()
  laid = null
})
/** As long as `/home/dev`: what survives of a file depends on the length of its path. */
const lay = (): OpenClawHome => {
  laid = layOpenClawHome('/home/dev'.length)
  return laid
}
const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

function check({ body, order, texts }: Resolution): void {
  expect(manifestBodySchema.safeParse(body).error).toBeUndefined()
  const entering = body.instructions.sources.filter(({ position }) => position !== null)
  expect(body.instructions.resolved_order).toEqual([...new Set(entering.map(({ scope }) => scope))])
  for (const source of body.instructions.sources) {
    expect(texts.has(source.uri)).toBe(true)
    if (source.status === 'not_loaded' || source.status === 'unknown') expect(source.reason, source.uri).not.toBeNull()
    expect(source.position === null ? -1 : order.indexOf(source.uri)).toBe(source.position ?? -1)
  }
}

const fileSchema = z.union([
  z.object({ text: z.string() }),
  z.object({ symlink: z.string() }),
  z.object({ generate: z.object({ prefix: z.string(), chars: z.number() }), sha256: z.string() }),
])
const contextSchema = z.object({
  cases: z.array(
    z.object({
      name: z.string(),
      workspaceRoot: z.string(),
      workspaceFiles: z.record(z.string(), fileSchema),
      config: z.unknown(),
      sessionKey: z.string(),
      expected: z.object({
        renderedInOrder: z.array(
          z.object({
            path: z.string(),
            chars: z.number(),
            sha256: z.string().optional(),
            content: z.string().optional(),
            vendorTemplate: z.boolean().optional(),
          }),
        ),
        truncationNoticeInPrompt: z.boolean(),
        report: z.object({
          injectedWorkspaceFiles: z.array(
            z.object({
              name: z.string(),
              path: z.string(),
              missing: z.boolean(),
              rawChars: z.number(),
              injectedChars: z.number(),
              truncated: z.boolean(),
            }),
          ),
          bootstrapMaxChars: z.number(),
          bootstrapTotalMaxChars: z.number(),
          workspaceDir: z.string(),
        }),
      }),
    }),
  ),
})

/** As the fixture generates its long files. */
function generate(prefix: string, chars: number): string {
  let text = ''
  for (let line = 0; text.length < chars; line += 1)
    text += `${prefix} line ${String(line).padStart(5, '0')} filler text\n`
  return `${text.slice(0, chars - 1)}Z`
}

describe('what enters the context', () => {
  const { cases } = contextSchema.parse(fixture('effective-context/cases.json'))
  expect(cases).toHaveLength(15)
  for (const one of cases) {
    it(one.name, () => {
      const tree = lay()
      const here = (text: string): string => text.replaceAll('/home/dev', tree.home)
      mkdirSync(here(one.workspaceRoot), { recursive: true })
      for (const [name, file] of Object.entries(one.workspaceFiles)) {
        const place = path.join(here(one.workspaceRoot), name)
        if ('symlink' in file) tree.link(place, here(file.symlink))
        else if ('text' in file) tree.write(place, file.text)
        else {
          const text = generate(file.generate.prefix, file.generate.chars)
          expect(sha256(text)).toBe(file.sha256)
          tree.write(place, text)
        }
      }
      tree.write('.openclaw/openclaw.json', JSON.stringify(one.config))
      const resolution = tree.resolve({
        flags: ['agent', '--local', '--session-key', one.sessionKey, '--message', 'hi'],
      })
      check(resolution)
      const { body } = resolution
      const pieces = resolvedPieces(resolution)
      const { renderedInOrder, report, truncationNoticeInPrompt } = one.expected
      expect(pieces.map((piece) => piece.path)).toEqual(renderedInOrder.map((want) => here(want.path)))
      for (const [index, want] of renderedInOrder.entries()) {
        const text = pieces[index]?.text ?? null
        if (want.vendorTemplate) {
          expect(text).toBeNull()
          continue
        }
        expect(text).toHaveLength(want.chars)
        if (want.content !== undefined) expect(text).toBe(here(want.content))
        else expect(sha256(text ?? '')).toBe(want.sha256)
      }
      if (!renderedInOrder.some((want) => want.vendorTemplate)) {
        expect(body.instructions.truncation_notice).toBe(truncationNoticeInPrompt)
        expect(body.instructions.effective_digest).toBe(
          effectiveDigest(pieces.map((piece) => ({ path: piece.path, label: null, text: piece.text ?? '' }))),
        )
      } else expect(body.unknown.map((each) => each.field)).toContain('instructions.effective_digest')

      const setting = (name: string): unknown => body.settings[`effective.${name}`]?.value
      expect(setting('bootstrapMaxChars')).toBe(report.bootstrapMaxChars)
      expect(setting('bootstrapTotalMaxChars')).toBe(report.bootstrapTotalMaxChars)
      expect(body.execution.agent).toMatchObject({ workspace: here(report.workspaceDir) })
      for (const want of report.injectedWorkspaceFiles) {
        const source = body.instructions.sources.find((each) => each.path === here(want.path))
        if (want.injectedChars === 0) {
          // Absent, or dropped for want of budget; the latter is said.
          expect(source?.status ?? 'not_loaded').toBe('not_loaded')
          if (!want.missing) expect(source?.truncated).toEqual({ at: 0, unit: 'utf16' })
          continue
        }
        if (source?.seeded === true) continue
        expect(source).toMatchObject({ status: 'loaded', raw_chars: want.rawChars, injected_chars: want.injectedChars })
        expect(source?.truncated !== null).toBe(want.truncated)
        expect(source?.digest === null).toBe(
          want.missing ||
            source?.text_digest === null ||
            (want.rawChars === 48 && 'symlink' in (one.workspaceFiles[want.name] ?? {})),
        )
      }
      // Everything that lies there and does not enter has its reason.
      for (const name of Object.keys(one.workspaceFiles)) {
        if (name === 'real_identity.md') continue
        const source = body.instructions.sources.find((each) => each.path === path.join(here(one.workspaceRoot), name))
        const isOfAgent = here(one.workspaceRoot) === here(report.workspaceDir)
        if (isOfAgent) expect([name, source === undefined]).toEqual([name, false])
      }
    })
  }
})

const configSchema = z.object({
  cases: z.array(
    z.object({
      name: z.string(),
      files: z.record(z.string(), z.string()),
      cwdDotEnv: z.string().optional(),
      processEnv: z.record(z.string(), z.string()).optional(),
      expected: z.looseObject({
        valid: z.boolean(),
        reason: z.string().optional(),
        problems: z.array(z.string()).optional(),
        headers: z.record(z.string(), z.string()).optional(),
        warnings: z.array(z.string()).optional(),
        ignoredFromCwdDotEnv: z.array(z.string()).optional(),
      }),
    }),
  ),
})

describe('the configuration file', () => {
  const { cases } = configSchema.parse(fixture('config/cases.json'))
  expect(cases).toHaveLength(15)
  for (const one of cases) {
    it(one.name, () => {
      const tree = lay()
      const files: Record<string, string> = {}
      const depth = /^include-depth-(\d+)$/.exec(one.name)
      if (depth) {
        const last = Number(depth[1])
        files['openclaw.json'] = '{ $include: "./d1.json5" }'
        for (let n = 1; n < last; n += 1) files[`d${n}.json5`] = `{ $include: "./d${n + 1}.json5" }`
        files[`d${last}.json5`] = '{ models: { mode: "merge" } }'
      } else Object.assign(files, one.files)
      for (const [name, text] of Object.entries(files)) {
        const target = /^symlink -> (.+)$/.exec(text)?.[1]
        const place = path.join(tree.state, name === '.env (state dir)' ? '.env' : name)
        if (target !== undefined) {
          tree.link(place, target)
          tree.write(path.resolve(tree.state, target), '{ models: { mode: "merge" } }')
        } else tree.write(place, text)
      }
      const cwd = path.join(tree.home, 'elsewhere')
      tree.write(path.join(cwd, '.env'), one.cwdDotEnv ?? '')
      const env = Object.fromEntries(
        Object.entries(one.processEnv ?? {}).map(([name, value]) => [name, value.replace('<parent>', tree.home)]),
      )
      const resolution = tree.resolve({ cwd, env, flags: ['--local', '--agent', 'main'] })
      check(resolution)
      const { body, problems } = resolution
      const messages = problems.map((problem) => problem.message)
      expect([one.expected.valid, body.execution.refused]).toEqual([
        body.execution.refused === null,
        body.execution.refused,
      ])
      if (!one.expected.valid) expect(resolution.order).toEqual([])
      if (one.expected.reason !== undefined) {
        const found = messages.find((message) => message.includes(one.expected.reason ?? ''))
        expect(found, messages.join('\n')).toBeDefined()
        // The whole chain is named, from the file it began in.
        expect(found).toContain(path.join(tree.state, 'openclaw.json'))
      }
      for (const want of one.expected.problems ?? [])
        expect(messages.some((message) => message.startsWith(`${want} `))).toBe(true)
      for (const want of one.expected.warnings ?? [])
        expect(messages.some((message) => message.startsWith(want))).toBe(true)
      for (const name of one.expected.ignoredFromCwdDotEnv ?? [])
        expect(messages.some((message) => message.startsWith(`${name} was dropped`))).toBe(true)
      for (const key of [
        'agents.defaults.bootstrapMaxChars',
        'agents.defaults.userTimezone',
        'agents.entries.main.tools.deny',
      ])
        if (one.expected[key] !== undefined) expect(body.settings[key]?.value).toEqual(one.expected[key])
    })
  }

  it('puts the variables into headers and keys, and shows none of them', () => {
    const one = cases.find((each) => each.expected.headers !== undefined)
    const tree = lay()
    for (const [name, text] of Object.entries(one?.files ?? {}))
      tree.write(path.join(tree.state, name === '.env (state dir)' ? '.env' : name), text)
    const cwd = path.join(tree.home, 'elsewhere')
    tree.write(path.join(cwd, '.env'), one?.cwdDotEnv ?? '')
    const choice = { cwd, env: one?.processEnv ?? {}, flags: ['--local'] }
    const { body } = tree.resolve(choice)
    expect(JSON.stringify(body)).not.toContain('state-dotenv')
    // With a digest that gives everything away the values can be compared.
    const { settings } = tree.resolve({ ...choice, keyed: (value) => `[${value}]` }).body
    for (const [name, value] of Object.entries(one?.expected.headers ?? {}))
      expect(settings[`models.providers.lab.headers.${name}`]?.value_ref).toBe(`secret:settings:[${value}]`)
    expect(settings['models.providers.lab.apiKey']?.value_ref).toBe(`secret:settings:[${one?.expected.apiKey}]`)
    expect(body.settings['models.providers.lab.apiKey']?.value_ref).toBe('secret:settings:hidden')
    expect(body.settings['models.providers.lab.baseUrl']?.value).toBe('http://127.0.0.1:1/v1')
  })

  it('gives every value its winner and its losers', () => {
    const one = cases.find((each) => each.name === 'include-merge-and-precedence')
    const tree = lay()
    for (const [name, text] of Object.entries(one?.files ?? {})) tree.write(path.join(tree.state, name), text)
    const { body } = tree.resolve({ flags: ['--local'] })
    const at = (name: string): string => path.join(tree.state, name)
    expect(body.settings['agents.defaults.bootstrapMaxChars']).toMatchObject({
      value: 222,
      source: at('sub/a2.json5'),
      overridden: [
        { value: 111, source: at('sub/a1.json5') },
        { value: 20_000, source: 'default' },
      ],
    })
    expect(body.settings['agents.defaults.userTimezone']).toMatchObject({
      source: at('openclaw.json'),
      overridden: [{ value: 'America/Chicago', source: at('sub/a1.json5') }],
    })
    expect(body.instructions.sources.find((source) => source.path === at('sub/ents.json5'))).toMatchObject({
      status: 'loaded',
      imported_by: [at('sub/a2.json5')],
      include_chain: [at('openclaw.json'), at('sub/a2.json5'), at('sub/ents.json5')],
    })
  })

  it('takes none of the copies that the program keeps of the file', () => {
    const { expected } = z
      .object({ expected: z.record(z.string(), z.number()) })
      .parse(fixture('config/write-ring.json'))
    const tree = lay()
    for (const [name, value] of Object.entries(expected))
      tree.write(path.join(tree.state, name), JSON.stringify({ agents: { defaults: { bootstrapMaxChars: value } } }))
    const { body } = tree.resolve()
    expect(body.settings['agents.defaults.bootstrapMaxChars']?.value).toBe(expected['openclaw.json'])
    expect(JSON.stringify(body)).not.toContain('.bak')
  })
})

const toolsSchema = z.object({
  cases: z.array(
    z.object({
      name: z.string(),
      config: z.record(z.string(), z.unknown()),
      expected: z.object({
        tools: z.array(z.string()).optional(),
        configInvalid: z.boolean().optional(),
        runFails: z.boolean().optional(),
      }),
    }),
  ),
})

describe('the tools the model is offered', () => {
  const { cases } = toolsSchema.parse(fixture('tool-policy/cases.json'))
  expect(cases).toHaveLength(13)
  for (const one of cases) {
    it(one.name, () => {
      const tree = lay()
      tree.write('.openclaw/openclaw.json', JSON.stringify(one.config))
      const resolution = tree.resolve({ flags: ['--local', '--model', 'lab/scripted-1'] })
      check(resolution)
      const { tools } = resolution.body.capabilities
      const left = tools.filter((tool) => tool.removed_by === null).map((tool) => tool.name)
      if (one.expected.tools !== undefined) expect([...left].sort()).toEqual(one.expected.tools)
      else expect(resolution.body.execution.refused).not.toBeNull()
      if (one.expected.runFails) expect(left).toEqual([])
      expect(tools.every((tool) => tool.removed_by !== null || tool.presented === 'in the request')).toBe(true)
    })
  }

  it('names the filter that took each tool away', () => {
    const tree = lay()
    const of = (name: string) => {
      tree.write('.openclaw/openclaw.json', JSON.stringify(cases.find((one) => one.name === name)?.config))
      const { tools } = tree.resolve({ flags: ['--local', '--model', 'lab/scripted-1'] }).body.capabilities
      return new Map(tools.map((tool) => [tool.name, tool.removed_by]))
    }
    expect(of('agent').get('exec')).toBe('tools.allow/deny')
    expect(of('agent').get('write')).toBe('tools.profile messaging')
    expect(of('byprov').get('write')).toBe('tools.byProvider allow/deny')
    expect(of('byprov').get('message')).toBe('tools.profile coding')
    expect(of('deny').get('ls')).toBe('tools.allow/deny')
  })
})

const skillsSchema = z.object({
  tree: z.record(z.string(), z.string()),
  cases: z.array(
    z.object({
      name: z.string(),
      config: z.record(z.string(), z.unknown()).optional(),
      expectedInOrder: z.array(z.object({ name: z.string(), description: z.string(), location: z.string() })),
      absent: z.array(z.string()).optional(),
    }),
  ),
})

describe('the skills of the catalogue', () => {
  const { tree: skillTree, cases } = skillsSchema.parse(fixture('skills/cases.json'))
  expect(cases).toHaveLength(3)

  function laySkills(tree: OpenClawHome, state: string): void {
    const roots: Readonly<Record<string, string>> = {
      '<workspace>': path.join(state, 'workspace'),
      '<state>': state,
      '<extraDir>': path.join(tree.home, 'extra'),
      '<execWorkspace>': path.join(tree.home, 'repo'),
      '~': tree.home,
    }
    for (const [place, what] of Object.entries(skillTree)) {
      const [root = '', ...rest] = place.split('/')
      const name = rest.at(-1) ?? ''
      const origin: Readonly<Record<string, string>> = {
        '<workspace>': 'workspace',
        '<extraDir>': 'extra',
        '<state>': 'managed',
        '~': 'personal',
      }
      const from =
        root === '<workspace>' && rest[0] === '.agents'
          ? 'project-agents'
          : root === '<execWorkspace>'
            ? rest[0] === '.agents'
              ? 'exec-workspace-agents'
              : 'exec-workspace'
            : (origin[root] ?? '')
      const head =
        name === 'noname'
          ? ['description: named by dir']
          : [
              `name: ${name}`,
              `description: from ${from}`,
              ...(what.startsWith('requires')
                ? ['metadata: {"openclaw":{"requires":{"bins":["no-such-program-anywhere"]}}}']
                : []),
              ...(what.startsWith('disable-model-invocation') ? ['disable-model-invocation: true'] : []),
            ]
      const text = what.includes('without front matter') ? 'just text\n' : `---\n${head.join('\n')}\n---\nbody\n`
      tree.write(path.join(roots[root] ?? root, ...rest, 'SKILL.md'), text)
    }
  }

  for (const one of cases) {
    it(one.name, () => {
      const tree = lay()
      const state = one.name.startsWith('non-default') ? path.join(tree.home, 'skx') : tree.state
      laySkills(tree, state)
      const agents = z
        .looseObject({ defaults: z.record(z.string(), z.unknown()).optional() })
        .parse(one.config?.agents ?? {})
      tree.write(
        path.join(state, 'openclaw.json'),
        JSON.stringify({
          skills: { load: { extraDirs: ['~/extra'] } },
          agents: { defaults: { cwd: path.join(tree.home, 'repo'), skipBootstrap: true, ...agents.defaults } },
        }),
      )
      const resolution = tree.resolve({ state, cwd: path.join(state, 'workspace') })
      check(resolution)
      const { skills } = resolution.body.capabilities
      expect(
        skills
          .filter((skill) => skill.status === 'active')
          .map(({ name, description, location }) => ({ name, description, location })),
      ).toEqual(one.expectedInOrder)
      for (const name of one.absent ?? []) {
        const found = skills.find((skill) => skill.name === name)
        // Too deep, or in the home of another program: not even looked at.
        if (name === 'deep7' || name === 'cl') expect(found).toBeUndefined()
        else expect(found?.reason).toEqual(expect.any(String))
      }
      const beaten = skills.filter((skill) => skill.name === 'dup' && skill.status === 'shadowed')
      if (one.name === 'default-state-dir') expect(beaten.map((skill) => skill.source).sort()).toHaveLength(5)
    })
  }
})
