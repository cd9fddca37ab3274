import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { hermes } from '../../../../daemon/runtimes/hermes/index.ts'
import { surroundingsFor } from '../../../kit/hermes-home.ts'

const roots: string[] = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true })
})
function lay(files: Readonly<Record<string, string>>): (...steps: readonly string[]) => string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'reprise-hermes-')))
  roots.push(root)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), text)
  }
  return (...steps) => path.join(root, ...steps)
}
const checkout = (folder: string, version: string): Record<string, string> => ({
  [`${folder}/pyproject.toml`]: `[project]\nname = "hermes-agent"\nversion = "${version}"\n`,
  [`${folder}/hermes_cli/__init__.py`]: `__version__ = "${version}"\n`,
  [`${folder}/venv/bin/hermes`]: '#!/usr/bin/env python\n',
})

describe('homes', () => {
  it('are where the variable points, the default, and every profile of them', () => {
    const at = lay({
      'u/.hermes/profiles/work/config.yaml': '',
      'u/.hermes/profiles/.deleted/old': '',
      'u/.hermes/active_profile': 'work\n',
      'srv/hermes/profiles/a/config.yaml': '',
      'srv/hermes/profiles/b/config.yaml': '',
    })
    const found = hermes.findHomes(surroundingsFor(at('u'), { HERMES_HOME: at('srv/hermes/profiles/a') }))
    expect(found).toEqual([
      { path: at('srv/hermes/profiles/a'), foundBy: 'HERMES_HOME', exists: true },
      { path: at('srv/hermes'), foundBy: 'HERMES_HOME', exists: true },
      { path: at('srv/hermes/profiles/b'), foundBy: 'profile b', exists: true },
      { path: at('u/.hermes'), foundBy: 'default', exists: true },
      { path: at('u/.hermes/profiles/work'), foundBy: 'profile work, the active one', exists: true },
    ])
    expect(hermes.findHomes(surroundingsFor(at('nobody')))).toEqual([
      { path: at('nobody/.hermes'), foundBy: 'default', exists: false },
    ])
    const windows = { ...surroundingsFor(at('u'), { LOCALAPPDATA: at('local') }), platform: 'win32' as const }
    expect(hermes.findHomes(windows)[0]?.path).toBe(at('local/hermes'))
  })

  it('say when there is nothing, and what keeps how long', () => {
    const at = lay({
      'u/.hermes/config.yaml': 'sessions: {auto_prune: true, retention_days: 90}\n',
      'u/.hermes/sessions/20251205_174433_abcdef.jsonl': '{"role":"user"}\n',
    })
    const around = surroundingsFor(at('u'), {}, at())
    expect(hermes.describeHome(at('u/.hermes'), around)).toMatchObject({
      state: 'ok',
      reason: null,
      retention: { days: 90, from: at('u/.hermes/config.yaml') },
    })
    expect(hermes.describeHome(at('u/none'), around)).toMatchObject({ state: 'missing', retention: null })
    expect(hermes.describeHome(at('u/.hermes/config.yaml'), around)).toMatchObject({ state: 'unreadable' })
  })

  it('are watched without their caches, each profile by itself', () => {
    const at = lay({ 'u/.hermes/profiles/work/config.yaml': '' })
    const places = hermes.watchPlaces(at('u/.hermes/profiles/work'), surroundingsFor(at('u'), {}, ''))
    expect(places).toContainEqual({ path: at('u/.hermes/profiles/work/memories'), depth: 0, what: 'configuration' })
    expect(places).toContainEqual({ path: at('u/.hermes/active_profile'), depth: 0, what: 'configuration' })
    expect(places).toContainEqual({ path: '/etc/hermes', depth: 0, what: 'configuration' })
    expect(places.some(({ path: place }) => /cache|logs|checkpoints/.test(place))).toBe(false)
  })
})

describe('the program', () => {
  it('is the checkout behind the command, found without running it', () => {
    const at = lay(checkout('u/.hermes/hermes-agent', '0.20.0'))
    mkdirSync(at('u/.local/bin'), { recursive: true })
    symlinkSync(at('u/.hermes/hermes-agent/venv/bin/hermes'), at('u/.local/bin/hermes'))
    const around = surroundingsFor(at('u'), { PATH: at('u/.local/bin') }, at())
    const program = { version: '0.20.0', path: at('u/.hermes/hermes-agent/venv/bin/hermes'), installedBy: 'checkout' }
    expect(hermes.findProgram(at('u/.hermes'), around)).toEqual(program)
    // Without the command, from the home; from a profile as well.
    expect(hermes.findProgram(at('u/.hermes/profiles/work'), surroundingsFor(at('u'), {}, at()))).toEqual(program)
  })

  it('is not the npm package of the same name, only the checkout that makes', () => {
    const at = lay({
      'g/node_modules/hermes-agent/package.json': '{"name":"hermes-agent","version":"0.21.5"}',
      'g/node_modules/hermes-agent/bin/hermes.js': '#!/usr/bin/env node\n',
    })
    mkdirSync(at('bin'))
    symlinkSync(at('g/node_modules/hermes-agent/bin/hermes.js'), at('bin/hermes'))
    const around = surroundingsFor(at('u'), { PATH: at('bin') }, at())
    expect(hermes.findProgram(at('u/.hermes'), around)).toBeNull()
    const made = checkout('vendor', '0.21.5')
    for (const [name, text] of Object.entries(made)) {
      const file = at('g/node_modules/hermes-agent', name)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
    expect(hermes.findProgram(at('u/.hermes'), around)).toMatchObject({
      version: '0.21.5',
      installedBy: expect.stringContaining('npm'),
    })
  })

  it('is no other program called hermes', () => {
    const at = lay({ 'bin/hermes': 'a compiler for something else' })
    expect(hermes.findProgram(at('u/.hermes'), surroundingsFor(at('u'), { PATH: at('bin') }, at()))).toBeNull()
  })
})

describe('helper files', () => {
  it.each([
    ['config.yaml.corrupt.20261130-161500.bak', true],
    ['backups/2026-11-30.zip', true],
    ['state-snapshots/20261130-161500/config.yaml', true],
    ['cache/models.json', true],
    ['.skills_prompt_snapshot.json', true],
    ['skills/.bundled_manifest', true],
    ['memories/MEMORY.md.bak.1796055326', true],
    ['memories/MEMORY.md.lock', true],
    ['auth.lock', true],
    ['config.yaml', false],
    ['SOUL.md', false],
    ['memories/MEMORY.md', false],
    ['skills/ops/deploy/SKILL.md', false],
    ['shell-hooks-allowlist.json', false],
  ])('%s', (file, isHelper) => {
    expect(hermes.helperFile('/h', path.join('/h', file)) !== null).toBe(isHelper)
  })
})
