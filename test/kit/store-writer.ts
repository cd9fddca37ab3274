import { createHash } from 'node:crypto'
import { asDigest, asRunId } from '../../contract/index.ts'
import { manifestBody, openTestStore, sliceOf } from './store.ts'

/**
 * A process that writes until it is killed and says what was acknowledged: `manifest <digest>`, `text <digest>`,
 * `append <run> <lines>`. Arguments: data directory, a number that makes its content its own.
 */
const [dir = '', seed = '0'] = process.argv.slice(2)
const { store } = await openTestStore(dir, { packsBeforeMaintenance: 12 })
const say = (line: string) => process.stdout.write(`${line}\n`)
say('open')

const manifests = async () => {
  for (let n = 0; ; n += 1) {
    const { integrity } = await store.manifests.put(manifestBody({ stretch: n, run_id: `r_${seed}` }))
    say(`manifest ${integrity.manifest_digest}`)
  }
}
const texts = async () => {
  for (let n = 0; ; n += 1) {
    const text = `text ${seed} ${n} ${'words '.repeat(n % 300)}`
    const digest = asDigest(`sha256:${createHash('sha256').update(text).digest('hex')}`)
    await store.texts.put([{ digest, text }])
    say(`text ${digest}`)
  }
}
const session = async (run: string) => {
  const state = (await store.sessions.state(asRunId(run)))[0]
  let before = { lines: state?.lines ?? 0, bytes: state?.bytes ?? 0 }
  for (;;) {
    const line = `${JSON.stringify({ n: before.lines, fill: 'x'.repeat((before.lines * 37) % 3000) })}\n`
    await store.sessions.append(asRunId(run), { lines: before.lines + 1 }, [sliceOf('s.jsonl', line, before)], false)
    before = { lines: before.lines + 1, bytes: before.bytes + line.length }
    say(`append ${run} ${before.lines}`)
  }
}
await Promise.all([manifests(), texts(), session('r_a'), session('r_b'), session('r_c')])
