import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Command } from 'commander'
import { RepriseError, type Status } from '../../contract/index.ts'
import { connect, findDaemon } from '../connection.ts'
import { formatBytes, plain, printJson, printTable, type Terminal } from '../output.ts'
import type { Session } from '../session.ts'

export const addDaemonCommands = (program: Command, session: Session): void => {
  program
    .command('start')
    .description('start the daemon if needed and open the window, or say where it can be opened')
    .option('--no-window', 'only start the daemon')
    .action((options: { window: boolean }) =>
      session.run(async (terminal) => {
        const { env, programs } = session
        if (env.REPRISE_NO_DAEMON === '1')
          throw new RepriseError('wrong_usage', 'start: REPRISE_NO_DAEMON=1 asks for no daemon')
        const launcher = path.join(programs, 'launch.cjs')
        const args = [launcher, ...(options.window ? [] : ['--no-window']), ...(terminal.json ? ['--json'] : [])]
        return terminal.json ? startForScript(args, env, terminal) : startForPerson(args, env)
      }),
    )

  program
    .command('status')
    .description('daemon, homes, watches, lag, gaps, size of the store')
    .action(() =>
      session.withConnection({ start: false }, async (connection, terminal) => {
        const status = await connection.call('status.get', {})
        if (terminal.json) printJson(terminal, status)
        else printStatus(status, terminal)
      }),
    )

  program
    .command('stop')
    .description('finish what is under way and end the daemon')
    .action(() =>
      session.run(async (terminal) => {
        const info = await findDaemon(session.env)
        if (!info) {
          if (terminal.json) printJson(terminal, { stopped: false, pid: null })
          else terminal.out('the daemon was not running')
          return
        }
        const connection = await connect({ env: session.env, programs: session.programs, start: false })
        await connection.call('daemon.stop', {})
        for (let waited = 0; waited < 60_000 && isAlive(info.pid); waited += 50)
          await new Promise((resolve) => setTimeout(resolve, 50))
        if (isAlive(info.pid))
          throw new RepriseError(
            'store_busy',
            `the daemon (pid ${info.pid}) is still finishing after 60 s`,
            'look at its log',
          )
        if (terminal.json) printJson(terminal, { stopped: true, pid: info.pid })
        else terminal.out('stopped')
      }),
    )

  program
    .command('demo')
    .description('open a complete story on sample data in a throw-away directory')
    .option('--prepare <dir>', 'only write the sample data there')
    .action((options: { prepare?: string }) =>
      session.run(async (terminal) => {
        const dir = options.prepare ?? fs.mkdtempSync(path.join(os.tmpdir(), 'reprise-demo-'))
        const sample = await writeSample(session, dir)
        if (options.prepare !== undefined) {
          if (terminal.json) printJson(terminal, sample)
          else terminal.out(`sample data written: HOME=${sample.home} REPRISE_HOME=${sample.data}`)
          return
        }
        const env = {
          ...session.env,
          HOME: sample.home,
          REPRISE_HOME: sample.data,
          REPRISE_DEMO: '1',
          CLAUDE_CONFIG_DIR: undefined,
          REPRISE_NO_DAEMON: undefined,
        }
        const connection = await connect({ env, programs: session.programs, start: true })
        const synced = await connection.call('sync.now', {})
        const opened = await connection.call('browser.open', {})
        if (terminal.json)
          printJson(terminal, {
            home: sample.home,
            data: sample.data,
            url: opened.url,
            page: opened.page,
            runs: synced.sessions,
            replay: null,
            bisect: null,
            case: null,
          })
        else {
          terminal.out(`${synced.sessions} sample runs in ${plain(sample.home)}`)
          terminal.out(`open this in a browser: file://${plain(opened.page)}`)
          terminal.out(`end it with: REPRISE_HOME=${plain(sample.data)} reprise stop`)
        }
      }),
    )
}

const writeSample = (session: Session, dir: string): Promise<{ home: string; data: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [path.join(session.programs, 'daemon.cjs'), '--write-sample', path.resolve(dir)],
      { stdio: ['ignore', 'pipe', 'pipe'], env: session.env },
    )
    let out = ''
    let failed = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      failed += chunk.toString()
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(out) as { home: string; data: string })
      else reject(new RepriseError('refused', `the sample could not be written: ${failed.trim().slice(-300)}`))
    })
  })

/** The launcher shows what was found and stays while its window is open. */
const startForPerson = (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> =>
  new Promise((resolve, reject) => {
    const launcher = spawn(process.execPath, args, { stdio: 'inherit', env })
    launcher.once('error', reject)
    launcher.once('exit', (code) => resolve(code ?? 1))
  })

/** A script gets its one document as soon as it is known; the window, if there is one, stays open by itself. */
const startForScript = (args: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<number> =>
  new Promise((resolve, reject) => {
    const launcher = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], env, detached: true })
    let text = ''
    launcher.once('error', reject)
    launcher.once('exit', (code) =>
      reject(
        new RepriseError(
          'daemon_unreachable',
          `the daemon did not start (exit code ${code})`,
          'start it without --json to see why',
        ),
      ),
    )
    launcher.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.endsWith('\n')) return
      launcher.removeAllListeners('exit')
      launcher.stdout.destroy()
      launcher.unref()
      printJson(terminal, JSON.parse(text))
      resolve(0)
    })
  })

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const printStatus = (status: Status, terminal: Terminal): void => {
  const { daemon, homes, store, watches, gap_count } = status
  terminal.out(`daemon ${daemon.version} (pid ${daemon.pid}), ${daemon.state} since ${daemon.started_at}`)
  terminal.out(
    `store: ${store.runs} runs, ${store.events} events, ${store.manifests} manifests, ${formatBytes(store.bytes)} in ${plain(daemon.data_dir)}`,
  )
  terminal.out(
    `watching ${watches.count} places${watches.polling > 0 ? `, polling ${watches.polling}` : ''}, ${Math.round(status.lag_ms)} ms behind`,
  )
  if (homes.length === 0) {
    terminal.out('no agent was found; looked in:')
    for (const looked of status.looked)
      for (const place of looked.places) terminal.out(`  ${looked.runtime}: ${plain(place)}`)
  } else
    printTable(
      terminal,
      ['RUNTIME', 'VERSION', 'SESSIONS', 'UNREADABLE', 'STATE', 'HOME'],
      homes.map((home) => [
        home.runtime,
        home.version ?? 'unknown',
        String(home.sessions),
        String(home.unreadable),
        home.state,
        plain(home.path),
      ]),
    )
  if (gap_count > 0) {
    terminal.out(`${gap_count} ${gap_count === 1 ? 'gap' : 'gaps'}:`)
    for (const gap of status.gaps) terminal.out(`  ${plain(gap.message)}${gap.hint ? ` (${plain(gap.hint)})` : ''}`)
    if (status.gaps.length < gap_count)
      terminal.out(`  … and ${gap_count - status.gaps.length} more: reprise status --json`)
  }
}
