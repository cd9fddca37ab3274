import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type GitContext, isolateGit } from '../../../daemon/git/core.ts'
import { listFilterSettings } from '../../../daemon/git/list-filters.ts'

let root: string
let gitDir: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reprise-filters-'))
  gitDir = join(root, '.git')
  execFileSync('git', ['init', '-q', root], { env: { PATH: process.env.PATH, HOME: root } })
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(root, { recursive: true, force: true })
})

/** Lets the settings be old enough to be remembered. */
const later = (): void => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
const context = (): GitContext => isolateGit({ PATH: process.env.PATH, HOME: root })
/** No git can be started with it: an answer comes from memory. */
const breakGit = (good: GitContext): void => void Object.assign(good, { program: join(root, 'no-such-git') })

describe('names of filter settings', () => {
  it('are remembered while no file they could stand in changes', async () => {
    const git = context()
    later()
    expect(await listFilterSettings(git, gitDir)).toEqual([])
    breakGit(git)
    expect(await listFilterSettings(git, gitDir)).toEqual([])
    appendFileSync(join(gitDir, 'config'), '[filter "x"]\n\tclean = cat\n')
    await expect(listFilterSettings(git, gitDir)).rejects.toThrow()
    Object.assign(git, { program: 'git' })
    expect(await listFilterSettings(git, gitDir)).toEqual(['filter.x.clean'])
  })

  it('are asked for again when a work tree gets settings of its own', async () => {
    const git = context()
    later()
    await listFilterSettings(git, gitDir)
    breakGit(git)
    writeFileSync(join(gitDir, 'config.worktree'), '[filter "x"]\n\tclean = cat\n')
    await expect(listFilterSettings(git, gitDir)).rejects.toThrow()
  })

  it('are not remembered just after a change: another one may not move the time', async () => {
    const git = context()
    vi.useFakeTimers({ toFake: ['Date'], now: statSync(join(gitDir, 'config')).ctimeMs + 500 })
    await listFilterSettings(git, gitDir)
    breakGit(git)
    await expect(listFilterSettings(git, gitDir)).rejects.toThrow()
  })

  it('are not remembered when further files are included', async () => {
    const git = context()
    writeFileSync(join(root, 'more'), '')
    appendFileSync(join(gitDir, 'config'), '[core] [Include] path = ../more\n')
    later()
    expect(await listFilterSettings(git, gitDir)).toEqual([])
    writeFileSync(join(root, 'more'), '[filter "y"]\n\tprocess = cat\n')
    expect(await listFilterSettings(git, gitDir)).toEqual(['filter.y.process'])
  })
})
