import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as parcel from '@parcel/watcher'
import { expect, it } from 'vitest'
import { watchWorkspace } from '../../../../daemon/capture/workspaces/watch-workspace.ts'
import { temporaryDirectory } from '../../../kit/temporary-directory.ts'
import { testLooks } from '../../../kit/workspace-looks.ts'

const directory = temporaryDirectory('watch')

const until = async <T>(ask: () => T | null | undefined | false): Promise<T> => {
  for (let n = 0; n < 200; n += 1) {
    const found = ask()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('it did not happen')
}

it('tells what changed, so that a look need not go through everything', async () => {
  const kit = testLooks(directory())
  const root = join(kit.home, 'project')
  mkdirSync(join(root, 'src'), { recursive: true })
  for (let n = 0; n < 50; n += 1) writeFileSync(join(root, 'src', `f${n}`), `${n}`)
  const place = kit.looks.identify(root)
  const watch = await watchWorkspace(parcel, place.path, ['ignored'], () => {})
  expect(watch.take()).toBeNull()
  await kit.look(place)
  writeFileSync(join(root, 'src', 'f7'), 'changed')
  const heard = new Set<string>()
  await until(() => {
    for (const path of watch.take() ?? []) heard.add(path)
    return heard.has('src/f7')
  })
  const look = await kit.look(place, [...heard])
  expect(look.changes.map(({ path }) => path)).toEqual(['src/f7'])
  expect(look.walked).toBeLessThan(10)
  await watch.stop()
})

it('says why there are no hints, and ends without a fault when its folder has gone', async () => {
  const logged: string[] = []
  const none = await watchWorkspace(
    { subscribe: () => Promise.reject(new Error('inotify_add_watch on "/x" failed: No space left on device')) },
    '/x',
    [],
    (message) => logged.push(message),
  )
  expect(none.take()).toBeNull()
  expect(none.take()).toBeNull()
  expect(none.why()).toContain('No space left')
  await none.stop()
  const gone = await watchWorkspace(
    { subscribe: async () => ({ unsubscribe: () => Promise.reject(new Error('Unable to remove watcher')) }) },
    directory(),
    [],
    (message) => logged.push(message),
  )
  rmSync(join(directory(), 'x'), { recursive: true, force: true })
  await gone.stop()
  expect(logged).toHaveLength(2)
})
