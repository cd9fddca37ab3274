import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { watchHomes } from '../../daemon/watch/watch-homes.ts'
import { countInotifyWatches } from '../../daemon/watch/watch-limits.ts'

/** Runs under a real limit of inotify watches and tells what happened, one JSON line each. */
const home = process.argv[2] ?? ''
const newest = join(home, 'projects', 'p0', 's.jsonl')
const oldest = join(home, 'projects', `p${Number(process.argv[3]) - 1}`, 's.jsonl')
const hints = new Set<string>()
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const watch = watchHomes({
  places: [
    { path: join(home, 'rules'), depth: 2, what: 'configuration' },
    { path: join(home, 'projects'), depth: 3, what: 'sessions' },
  ],
  budget: 1_000,
  pollSeconds: 3_600,
  onHint: (hint) => hints.add(hint.path),
  onFault: (error) => say({ fault: String(error) }),
})
await watch.ready
await sleep(200)
say({ state: watch.state(), inotify: countInotifyWatches() })
appendFileSync(newest, '{}\n')
appendFileSync(oldest, '{}\n')
await sleep(400)
say({ newest: hints.has(newest), oldest: hints.has(oldest) })
await watch.lookNow()
say({ oldestAfterLook: hints.has(oldest) })
await watch.close()
