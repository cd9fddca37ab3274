import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeKey, mergeShared } from '../../../daemon/rollback/merge-shared.ts'
import { hunksBetween, takeHunks } from '../../../daemon/rollback/merge-text.ts'

describe('hunks of a text', () => {
  it('all of them make the target, none the disk, each only its own place', () => {
    const line = fc.constantFrom('a\n', 'b\n', 'c\r\n', '\n', 'd')
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(''))
    fc.assert(
      fc.property(text, text, (disk, target) => {
        const all = hunksBetween(disk, target).map(({ n }) => n)
        expect(takeHunks(disk, target, all)).toBe(target)
        expect(takeHunks(disk, target, [])).toBe(disk)
      }),
    )
    const memory = '# Notes\n- uses tabs\n- likes tests\n\n## Later\n- wrong thing\n'
    const before = '# Notes\n- uses spaces\n- likes tests\n\n## Later\n'
    expect(takeHunks(memory, before, [2])).toBe('# Notes\n- uses tabs\n- likes tests\n\n## Later\n')
    expect(takeHunks(memory, before, [1])).toBe('# Notes\n- uses spaces\n- likes tests\n\n## Later\n- wrong thing\n')
  })
})

describe('shared files', () => {
  const now =
    '{\n  "numStartups": 9,\n  "oauth": {"token": "t2"},\n  "mcpServers": {},\n  "projects": {"/a": {"mcp": [], "cost": 2}, "/b": {"cost": 1}}\n}\n'
  const target =
    '{\n  "numStartups": 3,\n  "oauth": {"token": "t1"},\n  "mcpServers": {"x": {"command": "x"}},\n  "projects": {"/a": {"mcp": ["y"], "cost": 1}}\n}\n'

  it('take only what is configuration from the target, in the present text', () => {
    const merged = mergeShared({ now, target }, 'json', { configuration: [['mcpServers'], ['projects', '/a', 'mcp']] })
    if ('refused' in merged) throw new Error(merged.refused)
    expect(JSON.parse(merged.text)).toEqual({
      numStartups: 9,
      oauth: { token: 't2' },
      mcpServers: { x: { command: 'x' } },
      projects: { '/a': { mcp: ['y'], cost: 2 }, '/b': { cost: 1 } },
    })
    expect([...merged.keeps].sort()).toEqual(['numStartups', 'oauth.token', 'projects."/a".cost', 'projects."/b"'])
    expect(merged.text.startsWith('{\n  "numStartups": 9,\n  "oauth": {"token": "t2"},\n')).toBe(true)
  })

  it('take everything but the state, in the bytes of the target', () => {
    const toml = (model: string, trusted: string) =>
      `# mine\nmodel = "${model}" # the good one\n\n[projects."/w"]\ntrust_level = "${trusted}"\n`
    const merged = mergeShared({ now: toml('b', 'trusted'), target: toml('a', 'untrusted') }, 'toml', {
      state: [['projects']],
    })
    expect(merged).toEqual({ text: toml('a', 'trusted'), keeps: ['projects."/w".trust_level'] })
  })

  it('one key goes back alone, also to not being there', () => {
    expect(mergeKey(now, target, 'json', ['mcpServers'])).toMatchObject({
      text: now.replace('"mcpServers": {}', '"mcpServers": {\n    "x": {\n      "command": "x"\n    }\n  }'),
    })
    const one = mergeKey(now, '{}', 'json', ['oauth'])
    if ('refused' in one) throw new Error(one.refused)
    expect(Object.keys(JSON.parse(one.text))).toEqual(['numStartups', 'mcpServers', 'projects'])
  })
})
