import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { CONTRACT_VERSION, type DaemonInfo, PRODUCT_VERSION, RepriseError } from '../contract/index.ts'
import { listenOnSocket } from './api/listeners.ts'
import { openApp } from './app.ts'
import { changeSampleHome } from './demo/change-sample.ts'
import { writeSampleHome } from './demo/sample-home.ts'
import { createRedactor } from './secrets/create-redactor.ts'
import { createEgress } from './secrets/egress.ts'

/** The daemon: `node daemon.cjs`. Ends with 0 at once when another daemon already serves the data directory. */
const serve = async (): Promise<void> => {
  let stop: () => void = () => undefined
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  const app = await openApp({ env: process.env, programs: __dirname, watch: true, onStop: stop })
  process.on('unhandledRejection', (reason) => {
    // A watch or a listener that failed late must not take the daemon with it (field reports on unhandled watcher errors).
    app.log('error', 'unhandled rejection', { message: String((reason as Error)?.message ?? reason).slice(0, 300) })
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)

  const { dispatch, hub, pages, paths } = app
  const listener = await listenOnSocket(paths.socket, { dispatch, hub, pages })
  const info: DaemonInfo = {
    pid: process.pid,
    version: PRODUCT_VERSION,
    contract: CONTRACT_VERSION,
    nonce: app.nonce,
    socket: paths.socket,
    startedAt: new Date().toISOString(),
  }
  const temporary = `${paths.info}.${process.pid}.tmp`
  fs.writeFileSync(temporary, JSON.stringify(info), { mode: 0o600 })
  fs.renameSync(temporary, paths.info)
  app.log('info', 'listening', { pid: process.pid })

  app
    .begin()
    .then(() => afterSample(process.env))
    .catch((error: Error) => app.log('error', 'first look failed', { message: error.message }))
  await stopped
  app.log('info', 'stopping')
  // A step that never ends must not keep the daemon for ever; whatever it was, the next start goes on from the last safe state.
  const giveUp = setTimeout(() => process.exit(1), 30_000)
  await app.close()
  clearTimeout(giveUp)
  fs.rmSync(paths.info, { force: true })
  await listener.close()
}

/** The sample's configuration changes once it was looked at, as it would under somebody's hands. */
const afterSample = ({ REPRISE_DEMO, HOME }: NodeJS.ProcessEnv): void => {
  if (REPRISE_DEMO === '1' && HOME !== undefined) changeSampleHome(HOME)
}

const writeSample = (dir: string): void => {
  fs.mkdirSync(dir, { recursive: true })
  const sample = writeSampleHome({ dir, now: new Date() })
  process.stdout.write(JSON.stringify({ home: sample.home, data: path.join(dir, 'data') }))
}

/** The keys of the data directory may be what failed: the gate here covers with a key of its own. */
const complain = (text: string): void => {
  process.stderr.write(`${createEgress(createRedactor(randomBytes(32))).text(text)}\n`)
}

const main = async (): Promise<number> => {
  const [flag, value] = process.argv.slice(2)
  if (flag === '--write-sample' && value !== undefined) {
    writeSample(path.resolve(value))
    return 0
  }
  try {
    await serve()
    return 0
  } catch (error) {
    if (error instanceof RepriseError) complain(`${error.message}${error.hint ? `: ${error.hint}` : ''}`)
    else complain((error as Error).stack ?? String(error))
    return error instanceof RepriseError && error.code === 'store_busy' ? 0 : 1
  }
}

void main().then((code) => process.exit(code))
