import { describe, expect, it } from 'vitest'
import { openFileWatches } from '../../../daemon/watch/file-watches.ts'

/** Catches what chokidar would be asked; nothing is watched. */
function open(budget: number) {
  let ignored: (path: string) => boolean = () => false
  let fail: (error: unknown) => void = () => undefined
  let failures = 0
  const watches = openFileWatches(
    (_path, _depth, isIgnored, _onEvent, onError) => {
      ignored = isIgnored
      fail = onError
      return { ready: Promise.resolve(), close: () => Promise.reject(new Error('gone')) }
    },
    { path: '/home/dev/.claude/rules', depth: 2 },
    () => budget - watches.held,
    () => undefined,
    () => {
      failures += 1
    },
  )
  return {
    watches,
    ignored: (path: string) => ignored(path),
    fail: (code: string) => fail(Object.assign(new Error(code), { code })),
    failures: () => failures,
  }
}

describe('openFileWatches', () => {
  it('never lets chokidar leave the place, upwards or beside it', () => {
    const { ignored } = open(10)
    expect(ignored('/home/dev')).toBe(true)
    expect(ignored('/home/dev/.claude')).toBe(true)
    expect(ignored('/home/dev/.claude/rules-old/a.md')).toBe(true)
    expect(ignored('/home/dev/.claude/rules')).toBe(false)
    expect(ignored('/home/dev/.claude/rules/a.md')).toBe(false)
    expect(ignored('/home/dev/.claude/rules/x/node_modules/y/z.md')).toBe(true)
  })

  it('admits paths until the budget ends, and again when some are gone', () => {
    const { watches, ignored } = open(3)
    const paths = ['/a.md', '/b.md', '/c.md', '/d.md'].map((name) => `/home/dev/.claude/rules${name}`)
    expect(paths.map(ignored)).toEqual([false, false, false, true])
    expect(watches).toMatchObject({ held: 3, incomplete: true, failure: null })
    watches.prune((path) => path.endsWith('a.md'))
    expect(watches.held).toBe(1)
    expect(ignored(paths[3] ?? '')).toBe(false)
  })

  it('takes no more after the system refused, and survives closing', async () => {
    const { watches, ignored, fail, failures } = open(100)
    ignored('/home/dev/.claude/rules/a.md')
    ignored('/home/dev/.claude/rules/b.md')
    fail('EACCES')
    fail('ENOSPC')
    fail('ENOSPC')
    expect(failures()).toBe(3)
    expect(watches.failure).toMatchObject({ code: 'ENOSPC' })
    expect(ignored('/home/dev/.claude/rules/c.md')).toBe(true)
    expect(watches.held).toBe(0)
    watches.close()
    await new Promise((resolve) => setTimeout(resolve, 10))
  })
})
