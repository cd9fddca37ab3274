import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import canonicalize from 'canonicalize'
import { parse } from 'smol-toml'
import { afterAll, describe, expect, it } from 'vitest'
import { manifestBodySchema } from '../../contract/index.ts'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import {
  agentsBlock,
  agentsPieces,
  type CodexCase,
  cases,
  inClear,
  type LaidCodex,
  labelled,
  layCase,
  resolveLaid,
  TRUST_KEY,
  treeFiles,
} from '../kit/codex-tree.ts'

const laid = new Map<string, { readonly resolution: Resolution; readonly tree: LaidCodex }>()
afterAll(() => {
  for (const { tree } of laid.values()) tree.remove()
})

/** Each case is laid once; nothing here writes into it. */
function resolve(one: CodexCase): { readonly resolution: Resolution; readonly tree: LaidCodex } {
  const known = laid.get(one.name)
  if (known) return known
  const tree = layCase(one)
  const made = { tree, resolution: resolveLaid(tree, { cwd: tree.here(one.cwd), flags: ['exec', ...one.exec_args] }) }
  laid.set(one.name, made)
  return made
}

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
const versionOf = (table: unknown): string => sha256(canonicalize(table) ?? '')

const TYPES: Readonly<Record<string, string>> = {
  flags: 'sessionFlags',
  project: 'project',
  user: 'user',
  system: 'system',
}
const layersOf = ({ body }: Resolution) =>
  body.config_layers as { name: string; source: string; version: string; disabled: string | null }[]

/** What the fixture's own text gives, which must be the version it states; then the same for the text as it lies here. */
function fixtureVersion(file: string, trust: string): string {
  const [folder, name] = file.startsWith('/home/dev/demo/')
    ? (['repo', file.slice('/home/dev/demo/'.length)] as const)
    : file.startsWith('/home/dev/wt/')
      ? (['repo', file.slice('/home/dev/wt/'.length)] as const)
      : file.startsWith('/etc/')
        ? (['etc', file.slice('/etc/'.length)] as const)
        : (['home', file.slice('/home/dev/'.length)] as const)
  const text = treeFiles[folder][name] ?? ''
  const withTrust =
    file === '/home/dev/.codex/config.toml' && trust !== 'no entry'
      ? text + String(treeFiles[TRUST_KEY]).replace('%s', trust)
      : text
  return versionOf(allowedIn(folder, parse(withTrust)))
}

function allowedIn(folder: string, table: Record<string, unknown>): Record<string, unknown> {
  const { model_provider: provider, ...rest } = table
  return folder === 'repo' ? rest : { ...rest, ...(provider === undefined ? {} : { model_provider: provider }) }
}

describe('every case of the fixture', () => {
  expect(cases).toHaveLength(12)
  for (const one of cases) {
    describe(one.name, () => {
      it('is a manifest', () => {
        const { body } = resolve(one).resolution
        expect(manifestBodySchema.safeParse(body).error).toBeUndefined()
      })

      it('layers', () => {
        const { resolution, tree } = resolve(one)
        // The app server, which told the layers, knows no profiles.
        const ours = layersOf(resolution).filter(({ name }) => name !== 'profile')
        expect(
          ours.map(({ name, source, disabled }) => ({
            type: TYPES[name],
            file: tree.there(name === 'project' ? path.dirname(source) : source),
            disabled: disabled !== null,
          })),
        ).toEqual(
          one.layers_high_to_low.map(({ source, disabled }) => ({
            type: source.type,
            file: source.dotCodexFolder ?? source.file ?? 'flag:--config',
            disabled,
          })),
        )
        for (const [n, { version, source, name }] of ours.entries()) {
          const want = one.layers_high_to_low[n]?.version
          const place = tree.there(source)
          if (name === 'flags') {
            expect(version).toBe(want)
            continue
          }
          const exists = resolution.body.instructions.sources.some((file) => file.path === source)
          expect(exists ? fixtureVersion(place, one['trust_of_/home/dev/demo']) : versionOf({})).toBe(want)
          if (exists && !source.startsWith('/etc/')) {
            const table = allowedIn(name === 'project' ? 'repo' : 'home', parse(readFileSync(source, 'utf8')))
            expect(version).toBe(versionOf(table))
          } else expect(version).toBe(want)
        }
      })

      it('effective settings', () => {
        const { resolution, tree } = resolve(one)
        const { settings } = resolution.body
        const clear = (ref: string | undefined): string => /^secret:settings:clear\((.*)\)$/s.exec(ref ?? '')?.[1] ?? ''
        const under = (prefix: string): Record<string, unknown> => {
          const found: Record<string, unknown> = {}
          for (const [key, setting] of Object.entries(settings)) {
            if (!key.startsWith(`${prefix}.`)) continue
            const rest = key.slice(prefix.length + 1).split('.')
            const value = setting.value_ref === undefined ? setting.value : clear(setting.value_ref)
            if (rest.length === 1) found[rest[0] ?? ''] = value
            else found[rest[0] ?? ''] = { ...(found[rest[0] ?? ''] as object), [rest[1] ?? '']: value }
          }
          return JSON.parse(tree.there(JSON.stringify(found))) as Record<string, unknown>
        }
        const defaults: Readonly<Record<string, unknown>> = {
          hide_agent_reasoning: false,
          project_root_markers: ['.git'],
        }
        for (const [key, want] of Object.entries(one.effective_config_subset)) {
          const value = key.includes('.') ? under(key) : (settings[key]?.value ?? defaults[key])
          const { FROM_PROFILE: _profile, ...rest } = (value ?? {}) as Record<string, unknown>
          expect([key, key.includes('.') ? rest : value]).toEqual([key, want])
        }
      })

      it('origins', () => {
        const { resolution, tree } = resolve(one)
        const { settings } = resolution.body
        for (const [key, want] of Object.entries(one.origins_subset)) {
          const list = /^(.*)\.(\d+)$/.exec(key)
          const setting = settings[list?.[1] ?? key]
          // The program keeps naming the layer of an index that the shorter list in force no longer has.
          if (list && Array.isArray(setting?.value) && setting.value.length <= Number(list[2])) {
            expect(key).toBe('mcp_servers.userdocs.args.2')
            continue
          }
          const place = tree.there(setting?.source ?? 'nowhere').replace(/\/\.codex\/config\.toml$/, '/.codex')
          const wanted = want.replace(/\/\.codex\/config\.toml$/, '/.codex')
          expect([key, place === 'flag:--config' ? 'session flags' : place]).toEqual([
            key,
            /session/i.test(wanted) ? 'session flags' : wanted,
          ])
        }
      })

      it('instructions: files, order, text', () => {
        const { resolution, tree } = resolve(one)
        expect(agentsPieces(resolution).map((piece) => tree.there(piece.path))).toEqual(
          one.instruction_sources_from_thread_start,
        )
        const part = (label: string): string | undefined =>
          one.request.context.flatMap((message) => message.parts).find((each) => each.label === label)?.text
        expect(tree.there(agentsBlock(resolution) ?? '')).toBe(part('agents_md'))
        expect(labelled(resolution, 'developer instructions')).toBe(part('developer_instructions'))
        const labels = one.request.context.flatMap((message) => message.parts.map((each) => each.label))
        expect(labelled(resolution, 'memory summary')).toBe(
          labels.includes('memory_summary_block') ? 'v1\nMEMORY-SUMMARY: prefers tabs.' : null,
        )
        const cut = one.exec_warnings
          .map((text) => /^Loaded only (\d+) of (\d+) bytes from `([^`]+)`/.exec(text))
          .find(Boolean)
        const truncated = resolution.body.instructions.sources.filter((source) => source.truncated !== null)
        expect(truncated.map((source) => [tree.there(source.path ?? ''), source.truncated?.at, source.bytes])).toEqual(
          cut ? [[cut[3], Number(cut[1]), Number(cut[2])]] : [],
        )
      })

      it('model and reasoning', () => {
        const { execution } = resolve(one).resolution.body
        expect([execution.model, execution.reasoning]).toEqual([one.request.model, one.request.reasoning.effort])
        expect([execution.endpoint_profile, execution.base_url]).toEqual(['lab', 'http://127.0.0.1:18080/v1'])
      })

      it('skills', () => {
        const { resolution, tree } = resolve(one)
        const { skills } = resolution.body.capabilities
        const sources = resolution.body.instructions.sources
        const errors = one.skill_errors.map(({ path: file }) => file)
        const ours = skills
          .map((skill) => ({
            name: skill.name,
            scope: skill.source,
            enabled: skill.status === 'active',
            path: tree.there(String(skill.path)),
          }))
          .filter((skill) => !errors.includes(skill.path))
        const order = ['repo', 'user', 'admin']
        expect(ours.sort((a, b) => order.indexOf(a.scope) - order.indexOf(b.scope))).toEqual(one.skills)
        for (const { path: file, message } of one.skill_errors) {
          const source = sources.find((each) => each.path === tree.here(file))
          expect([source?.status, source?.reason]).toEqual(['not_loaded', message])
        }
        const listed = skills.filter((skill) => skill.status === 'active' && skill.model_invocable !== false)
        const bundled = new Set(['imagegen', 'openai-docs', 'skill-creator', 'skill-installer'])
        expect(listed.map((skill) => skill.name)).toEqual(
          one.skills_listed_in_prompt.map((text) => text.split(' ')[0]).filter((name) => !bundled.has(name ?? '')),
        )
      })

      it('hooks', () => {
        const { resolution, tree } = resolve(one)
        const ours = resolution.body.capabilities.hooks.filter((hook) => hook.trust !== null)
        expect(
          ours.map((hook) => ({
            event: hook.name.split(' ')[0]?.replace(/^./, (first) => first.toLowerCase()),
            key: tree.there(String(hook.key)),
            source: hook.scope,
            matcher: hook.matcher,
            trust: hook.trust,
            command: tree.there(hook.description ?? ''),
          })),
        ).toEqual(one.hooks.map(({ hash: _hash, ...hook }) => hook))
        for (const [n, hook] of ours.entries()) {
          const want = one.hooks[n]
          const hashOf = (command: string): string =>
            versionOf({
              event_name: want?.key.split(':').at(-3),
              hooks: [{ async: false, command, timeout: hook.timeout, type: 'command' }],
              ...(want?.matcher ? { matcher: want.matcher } : {}),
            })
          expect(hashOf(want?.command ?? '')).toBe(want?.hash)
          expect(hook.digest).toBe(hashOf(hook.description ?? ''))
          expect(hook.status).toBe('disabled')
        }
      })

      it('rules, agent roles, and what the program warns of', () => {
        const { resolution, tree } = resolve(one)
        const { policy, capabilities } = resolution.body
        const inForce = policy.permissions.deny.map((rule) => String(rule.justification).split(':')[0])
        expect(inForce.sort()).toEqual([...one.rules_in_force].sort())
        const offered = capabilities.agents.filter((role) => role.status === 'active').map((role) => role.description)
        expect(offered.sort()).toEqual(one.agent_roles_offered)
        const messages = resolution.problems.map(({ path: file, message }) => `${file}: ${message}`).map(tree.there)
        const about = (pattern: RegExp): boolean => messages.some((text) => pattern.test(text))
        const warned = (pattern: RegExp): boolean => one.exec_warnings.some((text) => pattern.test(text))
        expect(about(/hooks stand here and in/)).toBe(warned(/^loading hooks from both/))
        expect(about(/a project may not set model_provider/)).toBe(
          warned(/^Ignored unsupported project-local config keys/),
        )
        expect(messages).toHaveLength([/hooks stand here/, /may not set/].filter(about).length)
      })

      it('sandbox, approvals and trust', () => {
        const { policy, execution } = resolve(one).resolution.body
        const trust = one['trust_of_/home/dev/demo']
        expect(policy.trust.level).toBe(trust)
        expect(policy.permissions.mode).toBe('never')
        expect(execution.sandbox.mode).toBe(trust === 'no entry' ? 'read-only' : 'workspace-write')
      })
    })
  }
})

it('keeps what is a secret out of everything but its keyed digest', () => {
  const one = cases.find(({ name }) => name === 'root-trusted')
  if (!one) throw new Error('no such case')
  const { resolution } = resolve(one)
  const text = JSON.stringify(resolution.body).replaceAll(inClear('from-dotenv'), '')
  expect(text).not.toContain('from-dotenv')
  expect(JSON.stringify(resolution.body)).toContain('DOTENV_VAR')
})

it('gives the same answer twice, to the byte', () => {
  const one = cases.find(({ name }) => name === 'deep-trusted')
  if (!one) throw new Error('no such case')
  const { resolution, tree } = resolve(one)
  const again = resolveLaid(tree, { cwd: tree.here(one.cwd), flags: ['exec', ...one.exec_args] })
  expect(JSON.stringify(again.body)).toBe(JSON.stringify(resolution.body))
})
