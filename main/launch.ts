import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { callDaemon } from './daemon/call.ts'
import { type DaemonRecord, findDataFolder } from './daemon/find.ts'
import { ensureDaemon, stopDaemon } from './daemon/start.ts'
import { prepareDemo } from './launch/demo.ts'
import { chooseHost, type Shown, showInBrowser, showInElectron } from './launch/hosts.ts'
import { followImport } from './launch/progress.ts'
import { summarise } from './launch/summary.ts'

/**
 * What `npm start` does once everything is built, on plain Node: the daemon first (never a child of Electron), then what it found in
 * a few lines, then the best window this machine has. Runs when loaded; `reprise start` runs it too.
 */
const root = resolve(__dirname, '../..')
/** With a window the timeline fills while one looks at it, so nobody waits longer than this for it. */
const importLimit = { window: 8000, noWindow: 24 * 3_600_000 }

/** The first signal ends what is shown here, in good order; the second one everything at once. */
const stopper = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (stopper.signal.aborted) process.exit(130)
    stopper.abort()
  })
}

const say = (text: string) => process.stderr.write(`${text}\n`)

async function launch(): Promise<number> {
  const { values } = parseArgs({
    options: {
      demo: { type: 'boolean', default: false },
      'no-window': { type: 'boolean', default: false },
      once: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const { signal } = stopper
  const demo = values.demo ? prepareDemo(resolve(__dirname, 'cli.cjs'), process.env) : null
  if (demo !== null && 'problem' in demo) return fail(demo.problem)
  const env = demo?.env ?? process.env
  const data = findDataFolder(env)
  const started = await ensureDaemon({
    data,
    program: resolve(__dirname, 'daemon.cjs'),
    node: process.execPath,
    env,
    closeDescriptors: false,
    replaceOlderBuild: true,
  })
  if (!started.ok) {
    demo?.remove()
    return fail(started.message)
  }
  if (started.how === 'replaced') say('an older daemon was running; it was replaced')
  const { record } = started
  try {
    const wantsWindow = !values['no-window'] && !values.once
    const facts = await tellWhatIsThere(record, wantsWindow, values.json, env)
    let session = wantsWindow && !signal.aborted ? await openBest(record, data, env) : null
    if (values.json) {
      process.stdout.write(
        `${JSON.stringify({ url: session?.url ?? facts.url, pid: record.pid, window: session?.window ?? null })}\n`,
      )
    }
    if (values.once) return 0
    if (session?.shown && !(await untilClosed(session.shown, record, session.window === 'browser'))) {
      say('the desktop window could not start (REPRISE_WINDOW_LOG=1 shows why); trying a browser')
      session = await openBest(record, data, env, false)
      if (session.shown) await untilClosed(session.shown, record, true)
    }
    if (demo !== null && !session?.shown) await untilStopped()
    if (demo === null && (signal.aborted || session !== null)) {
      say(`\nThe daemon (pid ${record.pid}) goes on and keeps watching. To end it: npx reprise stop`)
    }
    return 0
  } finally {
    if (values.once || demo !== null) await stopDaemon({ record })
    demo?.remove()
  }
}

/** Progress and summary; the numbers go to standard output unless that is kept for JSON. */
async function tellWhatIsThere(
  record: DaemonRecord,
  wantsWindow: boolean,
  json: boolean,
  env: NodeJS.ProcessEnv,
): Promise<{ url: string | null }> {
  const terminal = { interactive: process.stderr.isTTY === true, write: (text: string) => process.stderr.write(text) }
  const status = await followImport(
    record.socket,
    terminal,
    wantsWindow ? importLimit.window : importLimit.noWindow,
    stopper.signal,
  )
  const { runs } = await callDaemon(record.socket, 'runs.list', { limit: 5 })
  const summary = summarise(status, runs, env.HOME)
  ;(json ? process.stderr : process.stdout).write(`${summary}\n\n`)
  // An address without its key would open a page that may ask nothing.
  return { url: status.daemon.url === null ? null : readAddress(resolve(status.daemon.data_dir, 'open.html')) }
}

interface Session {
  readonly window: 'electron' | 'browser' | null
  readonly url: string | null
  readonly shown: Shown | null
}

async function openBest(
  record: DaemonRecord,
  data: string,
  env: NodeJS.ProcessEnv,
  withElectron = true,
): Promise<Session> {
  const host = chooseHost({ root, env, say }, withElectron)
  if (host.kind === 'electron') return { window: 'electron', url: null, shown: showInElectron(host.program, root, env) }
  const { url, page, port } = await callDaemon(record.socket, 'browser.open', {})
  if (host.kind === 'browser') {
    return { window: 'browser', url: readAddress(page) ?? url, shown: showInBrowser(host.program, page, data, env) }
  }
  say(`No window could be opened: ${host.why}. Open this page in a browser on this machine:`)
  say(`  file://${encodeURI(page)}`)
  say('or, from another machine, forward the port and open the address; it carries a key, so keep it to yourself:')
  say(`  ssh -L ${port}:127.0.0.1:${port} <this machine>`)
  say(`  ${readAddress(page) ?? url}`)
  return { window: null, url: readAddress(page) ?? url, shown: null }
}

/** The address with its key, which only the page's file has. */
function readAddress(page: string): string | null {
  return /http:\/\/127\.0\.0\.1:\d+\/#t=[\w.~-]+/.exec(readFileSync(page, 'utf8'))?.[0] ?? null
}

/**
 * Ctrl-C in a terminal reaches the window by itself; a signal to this process alone is passed on. False when the window never came up,
 * for example because a library of the system is missing.
 */
async function untilClosed(shown: Shown, record: DaemonRecord, inBrowser: boolean): Promise<boolean> {
  const began = Date.now()
  stopper.signal.addEventListener('abort', shown.close)
  const code = await shown.closed.catch(() => 1)
  if (inBrowser) await callDaemon(record.socket, 'browser.close', {}).catch(() => undefined)
  return inBrowser || code === 0 || stopper.signal.aborted || Date.now() - began > 5000
}

function untilStopped(): Promise<void> {
  say('The sample data is served until you press Ctrl-C.')
  return new Promise((done) => {
    const hold = setInterval(() => {}, 60_000)
    const end = () => {
      clearInterval(hold)
      done()
    }
    if (stopper.signal.aborted) end()
    else stopper.signal.addEventListener('abort', end)
  })
}

function fail(message: string): number {
  say(message)
  return 5
}

launch().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.exitCode = fail(error instanceof Error ? error.message : String(error))
  },
)
