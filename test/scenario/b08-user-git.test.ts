import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asRunId } from '../../contract/index.ts'
import { manifestBody, openTestStore, sliceOf, temporaryDirectory } from '../kit/store.ts'

/** B08: nothing of the user's Git configuration or environment takes part, and no hook, editor or signing program is started. */
let dir: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  dir = temporaryDirectory()
})
afterEach(() => dir.remove())

describe('B08', () => {
  it('stores, checks and repacks under a hostile configuration and environment', async () => {
    const home = join(dir.path, 'home')
    const hooks = join(dir.path, 'hooks')
    const trace = join(dir.path, 'started')
    mkdirSync(home)
    mkdirSync(hooks)
    const evil = join(dir.path, 'evil.sh')
    writeFileSync(evil, `#!/bin/sh\necho "$0 $@" >> ${trace}\nexit 1\n`)
    chmodSync(evil, 0o755)
    for (const hook of [
      'pre-commit',
      'post-commit',
      'reference-transaction',
      'post-index-change',
      'update',
      'post-update',
      'pre-auto-gc',
    ]) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\necho ${hook} >> ${trace}\nexit 1\n`)
      chmodSync(join(hooks, hook), 0o755)
    }
    const config = `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${evil}\n[core]\n\thooksPath = ${hooks}\n\teditor = ${evil}\n\tfsmonitor = ${evil}\n[gc]\n\tauto = 1\n[credential]\n\thelper = ${evil}\n[init]\n\ttemplateDir = ${hooks}\n[transfer]\n\tfsckObjects = true\n`
    writeFileSync(join(home, '.gitconfig'), config)
    const elsewhere = join(dir.path, 'elsewhere.git')
    const env = {
      ...process.env,
      HOME: home,
      XDG_CONFIG_HOME: home,
      GIT_DIR: elsewhere,
      GIT_INDEX_FILE: join(dir.path, 'index'),
      GIT_OBJECT_DIRECTORY: join(dir.path, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(dir.path, 'alternates'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: hooks,
      GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
      GIT_EDITOR: evil,
      GIT_TRACE: trace,
      GIT_COMMITTER_NAME: '',
      LANG: 'de_DE.UTF-8',
    }
    const { store } = await openTestStore(join(dir.path, 'data'), { env })
    await store.manifests.put(manifestBody())
    await store.sessions.append(asRunId('r_1'), {}, [sliceOf('s', 'x\n')], false)
    await store.maintain()
    expect((await store.check()).damaged).toEqual([])
    await store.close()
    expect(existsSync(trace)).toBe(false)
    expect(readdirSync(dir.path).sort()).toEqual(['data', 'evil.sh', 'home', 'hooks'])
    expect(readdirSync(home)).toEqual(['.gitconfig'])
    expect(readdirSync(join(dir.path, 'data', 'store.git'))).not.toContain('hooks')
  })

  it('says what to do when git is missing', async () => {
    await expect(openTestStore(join(dir.path, 'data'), { env: { PATH: dir.path } })).rejects.toMatchObject({
      code: 'refused',
      hint: expect.stringContaining('Install Git'),
    })
  })
})
