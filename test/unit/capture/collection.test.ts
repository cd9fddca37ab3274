import { expect, it } from 'vitest'
import { collectionBy } from '../../../daemon/capture/collection.ts'

const at = (home: string, ...workspaces: string[]) => ({ home, workspaces })

it('takes the longest path, the directory before the home, and the general level for the rest', () => {
  const level = collectionBy({
    collection: 'redacted',
    collection_overrides: [
      { of: 'home', path: '/home/dev/.claude', level: 'originals' },
      { of: 'workspace', path: '/work', level: 'digests' },
      { of: 'workspace', path: '/work/open', level: 'originals' },
    ],
  })
  expect(level(at('/home/dev/.codex', '/home/dev/x'))).toBe('redacted')
  expect(level(at('/home/dev/.claude', '/home/dev/x'))).toBe('originals')
  expect(level(at('/home/dev/.claude'))).toBe('originals')
  expect(level(at('/home/dev/.claude', '/work/client'))).toBe('digests')
  expect(level(at('/home/dev/.codex', '/work/open/a'))).toBe('originals')
  expect(level(at('/home/dev/.codex', '/work'))).toBe('digests')
  // A name that only begins alike is another place.
  expect(level(at('/home/dev/.codex', '/workshop'))).toBe('redacted')
  expect(level(at('/home/dev/.claude-old', '/x'))).toBe('redacted')
})

it('gives what belongs to several directories the least of their levels', () => {
  const level = collectionBy({
    collection: 'originals',
    collection_overrides: [{ of: 'workspace', path: '/secret', level: 'digests' }],
  })
  expect(level(at('/h', '/open', '/secret/x'))).toBe('digests')
  expect(level(at('/h', '/open', '/other'))).toBe('originals')
})

it('is the general level without any rule', () => {
  for (const collection of ['digests', 'redacted', 'originals'] as const)
    expect(collectionBy({ collection })(at('/h', '/w'))).toBe(collection)
})
