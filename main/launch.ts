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
    const session = wantsWindow ? await openBest(record, data, env) : null
    if (values.json) {
      process.stdout.write(
        `${JSON.stringify({ url: session?.url ?? facts.url, pid: record.pid, window: session?.window ?? null })}\n`,
      )
    }
    if (values.once) return 0
    if (session?.shown) return await untilClosed(session.shown, record, session.window === 'browser', demo !== null)
    if (demo !== null) await untilInterrupted('The sample data is served until you press Ctrl-C.')
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
    Date.now,
  )
  const { runs } = await callDaemon(record.socket, 'runs.list', { limit: 5 })
  const summary = summarise(status, runs, env.HOME)
  ;(json ? process.stderr : process.stdout).write(`${summary}\n\n`)
  return { url: status.daemon.url }
}

interface Session {
  readonly window: 'electron' | 'browser' | null
  readonly url: string | null
  readonly shown: Shown | null
}

async function openBest(record: DaemonRecord, data: string, env: NodeJS.ProcessEnv): Promise<Session> {
  const host = chooseHost({ root, env, say })
  if (host.kind === 'electron') return { window: 'electron', url: null, shown: showInElectron(host.program, root, env) }
  const { url, page, port } = await callDaemon(record.socket, 'browser.open', {})
  if (host.kind === 'browser') return { window: 'browser', url, shown: showInBrowser(host.program, page, data, env) }
  say(`No window could be opened: ${host.why}. Open this page in a browser on this machine:`)
  say(`  file://${encodeURI(page)}`)
  say('or, from another machine, forward the port and open the address; it carries a key, so keep it to yourself:')
  say(`  ssh -L ${port}:127.0.0.1:${port} <this machine>`)
  say(`  ${readAddress(page) ?? url}`)
  say('The daemon goes on. To end it: npx reprise stop')
  return { window: null, url, shown: null }
}

/** The address with its key, which only the page's file has. */
function readAddress(page: string): string | null {
  return /http:\/\/127\.0\.0\.1:\d+\/#t=[\w.~-]+/.exec(readFileSync(page, 'utf8'))?.[0] ?? null
}

/** Ctrl-C reaches the window as well; either way the daemon goes on, except for sample data. */
async function untilClosed(shown: Shown, record: DaemonRecord, inBrowser: boolean, isDemo: boolean): Promise<number> {
  let interrupted = false
  const onInterrupt = () => {
    interrupted = true
  }
  process.on('SIGINT', onInterrupt)
  process.on('SIGTERM', onInterrupt)
  const code = await shown.closed
  if (inBrowser) await callDaemon(record.socket, 'browser.close', {}).catch(() => undefined)
  if (!isDemo)
    say(
      `\nThe window is closed; the daemon (pid ${record.pid}) goes on and keeps watching. To end it: npx reprise stop`,
    )
  return interrupted ? 0 : code
}

function untilInterrupted(text: string): Promise<void> {
  say(text)
  return new Promise((done) => {
    const hold = setInterval(() => {}, 60_000)
    const end = () => {
      clearInterval(hold)
      done()
    }
    process.once('SIGINT', end)
    process.once('SIGTERM', end)
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
