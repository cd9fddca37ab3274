import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { manifestBodySchema } from '../../../contract/index.ts'
import { MOST_NAMES } from '../../../daemon/runtimes/claude-code/resolve/nested.ts'
import { type LaidOddTree, layOddTree, resolveOddTree } from '../../kit/claude-code-odd-trees.ts'

let laid: LaidOddTree
afterEach(() => laid.remove())

it('what cannot be read is unknown with a reason, never absent', () => {
  laid = layOddTree({ files: { 'ws/CLAUDE.md': 'WS @pipe.md @circle.md', 'ws/.claude/rules/ok.md': 'OK' } })
  execFileSync('mkfifo', [path.join(laid.cwd, 'pipe.md'), path.join(laid.cwd, '.claude/settings.json')])
  symlinkSync('circle.md', path.join(laid.cwd, 'circle.md'))
  const odd = Buffer.concat([
    Buffer.from(path.join(laid.cwd, '.claude/rules/')),
    Buffer.from([0x6f, 0xff, 0x2e, 0x6d, 0x64]),
  ])
  writeFileSync(odd, 'ODD')
  const { body, problems } = resolveOddTree(laid)
  expect(manifestBodySchema.safeParse(body).error).toBeUndefined()
  const of = (end: string) => body.instructions.sources.find((source) => source.path?.endsWith(end))
  expect(of('/pipe.md')).toMatchObject({ status: 'unknown', reason: 'not a regular file' })
  expect(of('/.claude/settings.json')).toMatchObject({ status: 'unknown', reason: 'not a regular file' })
  expect(problems).toContainEqual({ path: path.join(laid.cwd, '.claude/settings.json'), message: 'not a regular file' })
  expect(of('/circle.md')).toMatchObject({ status: 'unknown', reason: 'its links lead in a circle' })
  const named = body.instructions.sources.find((source) => source.path_bytes !== undefined)
  expect(named).toMatchObject({
    status: 'unknown',
    path_bytes: Buffer.from([0x6f, 0xff, 0x2e, 0x6d, 0x64]).toString('base64'),
  })
  const listed = body.unknown.filter(({ field }) => field.startsWith('instructions.sources file:'))
  expect(listed).toHaveLength(4)
})

it('the search below the start directory says what it left out', () => {
  laid = layOddTree({ files: { 'ws/z/CLAUDE.md': 'NEAR', 'ws/many0/sub/CLAUDE.md': 'FAR' } })
  const each = MOST_NAMES / 10
  for (let n = 0; n < 11; n += 1) {
    mkdirSync(path.join(laid.cwd, `many${n}`), { recursive: true })
    for (let file = 0; file < each; file += 1) writeFileSync(path.join(laid.cwd, `many${n}`, `${file}`), '')
  }
  const { body } = resolveOddTree(laid)
  expect(body.instructions.sources.find((source) => source.path?.endsWith('many0/sub/CLAUDE.md'))).toBeUndefined()
  expect(body.unknown).toContainEqual({
    field: 'instructions.sources',
    why: expect.stringMatching(/below \d+ folders were not searched \(first: .*\)/),
  })
})

it('a start directory that does not exist is a problem', () => {
  laid = layOddTree({ files: { 'home/.claude/CLAUDE.md': 'U' } })
  const { problems, order } = resolveOddTree(laid)
  expect(problems).toEqual([{ path: laid.cwd, message: 'the start directory does not exist' }])
  expect(order).toHaveLength(1)
})

it('an empty machine: every category says why it is empty', () => {
  laid = layOddTree({ files: { 'ws/x': 'x' } })
  mkdirSync(path.join(laid.home, '.claude'))
  const { body } = resolveOddTree(laid)
  expect(body.instructions.effective_digest).toBeNull()
  const categories = body.empty.map(({ category }) => category)
  for (const category of [
    'instructions',
    'memory',
    'settings',
    'skills',
    'commands',
    'agents',
    'hooks',
    'mcp_servers',
    'tools',
    'permissions',
    'managed',
    'repository',
  ]) {
    expect(categories).toContain(category)
  }
  for (const { why } of body.empty) expect(why.length).toBeGreaterThan(10)
})
