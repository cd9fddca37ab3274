import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type LaidOddTree, layOddTree, oddTrees, resolveOddTree } from '../kit/claude-code-odd-trees.ts'

let laid: LaidOddTree
afterEach(() => laid.remove())

const start = () => {
  laid = layOddTree(oddTrees['shared rules of a team'] ?? { files: {} })
  return resolveOddTree(laid)
}
const inTree = (file: string) => path.join(laid.root, file)

it('B20: linked rules load under the home and not in the project, and each says so', () => {
  const { body } = start()
  const of = (file: string) => body.instructions.sources.find((source) => source.path === inTree(file))
  expect(of('shared2/u.md')).toMatchObject({ status: 'loaded', kind: 'rule', scope: 'user' })
  expect(of('shared/one.md')).toMatchObject({ status: 'not_loaded', reason: expect.stringContaining('link') })
  expect(of('ws/.claude/rules/gone.md')).toMatchObject({
    status: 'not_loaded',
    reason: expect.stringContaining('nowhere'),
  })
  expect(of('ws/h4.md')).toMatchObject({
    status: 'loaded',
    imported_by: ['ws/CLAUDE.md', 'ws/h1.md', 'ws/h2.md', 'ws/h3.md'].map(inTree),
  })
  expect(of('ws/h5.md')).toMatchObject({ status: 'not_loaded', reason: expect.stringContaining('fifth hop') })
  expect(of('ws/missing.md')).toMatchObject({ status: 'not_loaded', reason: expect.stringContaining('does not exist') })
  expect(of('ws/fence.md')).toMatchObject({ status: 'not_loaded', reason: expect.stringContaining('code block') })
  for (const source of body.instructions.sources.filter((one) => one.status === 'loaded' && one.label))
    expect(source.rule).toContain('2.1.332')
})

it('B20: a change in the shared folder shows, loaded or not', () => {
  const before = start()
  writeFileSync(inTree('shared2/u.md'), 'UTEAM changed')
  writeFileSync(inTree('shared/one.md'), 'ONE changed')
  const after = resolveOddTree(laid)
  const digest = ({ body }: typeof before, file: string) =>
    body.instructions.sources.find((source) => source.path === inTree(file))?.digest
  expect(digest(after, 'shared2/u.md')).not.toBe(digest(before, 'shared2/u.md'))
  expect(digest(after, 'shared/one.md')).not.toBe(digest(before, 'shared/one.md'))
  expect(after.body.instructions.effective_digest).not.toBe(before.body.instructions.effective_digest)
})

it('R12: the effective digest follows the text and nothing else', () => {
  const before = start()
  writeFileSync(inTree('shared/one.md'), 'what does not load does not count')
  writeFileSync(
    inTree('ws/CLAUDE.md'),
    '\uFEFF---\nnote: x\n---\nC @h1.md @missing.md\n\n```\n@fence.md\n```\n\n<!-- a comment -->\n',
  )
  const after = resolveOddTree(laid)
  expect(after.body.instructions.effective_digest).toBe(before.body.instructions.effective_digest)
  expect(after.body.instructions.sources).not.toEqual(before.body.instructions.sources)
})
