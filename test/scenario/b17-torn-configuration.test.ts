import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { resolveClaudeCode } from '../../daemon/runtimes/claude-code/resolve/index.ts'
import { type LaidOddTree, layOddTree, resolveOddTree } from '../kit/claude-code-odd-trees.ts'

let laid: LaidOddTree
afterEach(() => laid.remove())

const servers = { mcpServers: { a: { command: 'a' }, b: { command: 'b' }, c: { command: 'c' } } }
const state = JSON.stringify({ ...servers, filler: 'x'.repeat(20_000) })

it('B17: a file that stays broken is a problem, never a smaller configuration', () => {
  laid = layOddTree({
    files: {
      'home/.claude.json': state.slice(0, 300),
      'ws/.claude/settings.json': '{"model": "x",',
      'ws/.mcp.json': '',
    },
  })
  const { body, problems } = resolveOddTree(laid)
  expect(problems.map(({ path: file, message }) => [path.relative(laid.root, file ?? ''), message])).toEqual([
    ['home/.claude.json', expect.stringMatching(/line 1, column \d+/)],
    ['ws/.claude/settings.json', expect.stringMatching(/line 1, column 15/)],
    ['ws/.mcp.json', 'not valid JSON: the file is empty'],
  ])
  const broken = body.instructions.sources.find((source) => source.path === path.join(laid.home, '.claude.json'))
  expect(broken).toMatchObject({ status: 'unknown', reason: expect.stringContaining('not valid JSON') })
  expect(body.unknown.map(({ field }) => field)).toContain('policy.trust')
  expect(body.policy.trust.trusted).toBeNull()
})

it('B17: writers that rewrite without care never make servers disappear', async () => {
  laid = layOddTree({ files: { 'home/.claude.json': state, 'ws/x': 'x' } })
  const file = path.join(laid.home, '.claude.json')
  // Truncates, waits a moment, writes half, waits, writes the rest: what a careless read-modify-write looks like to a reader.
  const writer = `
    const fs = require('node:fs')
    const [file, text] = [process.argv[1], fs.readFileSync(process.argv[1], 'utf8')]
    const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    process.on('SIGTERM', () => { fs.writeFileSync(file, text); process.exit(0) })
    const once = () => {
      const handle = fs.openSync(file, 'w'); wait(3)
      fs.writeSync(handle, text.slice(0, 500)); wait(3)
      fs.writeSync(handle, text.slice(500)); fs.closeSync(handle)
      setTimeout(once, 10)
    }
    once()`
  const child = spawn(process.execPath, ['-e', writer, file], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  try {
    await new Promise((resolve) => setTimeout(resolve, 150))
    let gaveUp = 0
    for (let n = 0; n < 60; n += 1) {
      const { body, problems } = resolveOddTree(laid)
      const names = body.capabilities.mcp_servers.map((server) => server.name)
      // Either all of them, or an open "could not read": never fewer.
      if (problems.length === 0) expect(names).toEqual(['a', 'b', 'c'])
      else gaveUp += 1
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    // Nearly every second look falls into a rewrite; trying again finds the whole file almost always.
    expect(gaveUp).toBeLessThan(8)
  } finally {
    child.kill('SIGTERM')
    await ended
  }
  writeFileSync(file, state)
  expect(resolveOddTree(laid).body.capabilities.mcp_servers).toHaveLength(3)
})

it('reads and never writes', () => {
  laid = layOddTree({ files: { 'home/.claude.json': state, 'ws/CLAUDE.md': 'x' }, git: ['ws'] })
  const before = readFileSync(path.join(laid.home, '.claude.json'))
  const request = { home: path.join(laid.home, '.claude'), cwd: laid.cwd, flags: [], version: null }
  const surroundings = {
    platform: 'linux' as const,
    userHome: laid.home,
    env: {},
    systemRoot: path.join(laid.root, 'none'),
    now: () => new Date(0),
  }
  resolveClaudeCode({ ...request, surroundings })
  expect(readFileSync(path.join(laid.home, '.claude.json'))).toEqual(before)
})
