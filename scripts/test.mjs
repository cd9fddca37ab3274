/**
 * `npm test`: brings what is missing, builds, and runs every suite; the last line is the sum, for example `412 passed, 0 failed`.
 * `npm test -- check unit browser desktop` runs only the suites named.
 *
 * A suite that cannot run because a part is missing counts as failed. To leave it out on purpose set REPRISE_WITHOUT_<PART>=1, where the
 * part is AGENTS (real agent programs), CHROMIUM (browser suite) or ELECTRON (desktop suite).
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBrowser, onPath, root } from './lib/paths.mjs'
import { buildSources, installPackages, requireGit, requireNode } from './lib/prepare.mjs'
import { bad, good, step, warn } from './lib/say.mjs'
import { setupElectron } from './setup-electron.mjs'
import { setupSystem } from './setup-system.mjs'

const minutes = 60_000
const began = Date.now()
const reports = mkdtempSync(join(tmpdir(), 'reprise-reports-'))
const leftOut = (part) => process.env[`REPRISE_WITHOUT_${part}`] === '1'
const bin = (...path) => join(root, 'node_modules', ...path)

/** Runs a program with its output on ours; ends it and all below it when it takes too long. */
function run(command, args, { env = {}, limit = 10 * minutes } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 2, 2],
      env: { ...process.env, ...env },
      detached: process.platform !== 'win32',
    })
    const timer = setTimeout(() => {
      bad(`${args[0]} took more than ${limit / minutes} minutes and was ended`)
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        child.kill('SIGKILL')
      }
    }, limit)
    const interrupt = () => process.kill(-child.pid, 'SIGTERM')
    if (process.platform !== 'win32') process.once('SIGINT', interrupt)
    child.on('error', (error) => {
      clearTimeout(timer)
      bad(error.message)
      resolve(1)
    })
    child.on('exit', (code) => {
      clearTimeout(timer)
      process.off('SIGINT', interrupt)
      resolve(code ?? 1)
    })
  })
}

/** Reads a report; a suite that wrote none, or failed without a failed test (a file that does not load), has one failure. */
function tally(file, code, read) {
  let counts = { passed: 0, failed: 0, skipped: 0 }
  try {
    counts = read(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    bad(`no report: ${error.message}`)
  }
  if (code !== 0 && counts.failed === 0) counts.failed = 1
  if (counts.passed + counts.failed + counts.skipped === 0) counts.failed = 1 // nothing ran, which is no success
  return counts
}

const missing = (why) => {
  bad(`${why}: counted as failed`)
  return { passed: 0, failed: 1, skipped: 0 }
}
const skipped = (part) => {
  warn(`left out on purpose: REPRISE_WITHOUT_${part}=1`)
  return { passed: 0, failed: 0, skipped: 1 }
}

async function runUnit() {
  const file = join(reports, 'vitest.jsonl')
  const exclude = leftOut('AGENTS') ? ['--exclude', 'test/agents/**'] : []
  if (leftOut('AGENTS')) warn('tests with real agent programs are left out: REPRISE_WITHOUT_AGENTS=1')
  const args = [
    bin('vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    `--reporter=${join(root, 'scripts/lib/progress-reporter.mjs')}`,
    ...exclude,
  ]
  const code = await run(process.execPath, args, { env: { REPRISE_TEST_PROGRESS: file }, limit: 14 * minutes })
  return tallyFiles(file, code)
}

/** Sums up the files that ended; each that began and did not end is named, and is a failure. */
function tallyFiles(file, code) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(JSON.parse) : []
  const ended = lines.filter((line) => line.ended !== undefined)
  const sum = (what) => ended.reduce((all, line) => all + line[what], 0)
  const counts = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
  for (const { file: name, began } of lines) {
    if (began === undefined || ended.some((line) => line.file === name)) continue
    bad(`${name} began and did not end`)
    counts.failed += 1
  }
  if (code !== 0 && counts.failed === 0) counts.failed = 1
  if (ended.length === 0) counts.failed = 1 // nothing ran, which is no success
  return counts
}

async function runPlaywright(project, before) {
  const file = join(reports, `${project}.json`)
  const [command, ...first] = [...before, process.execPath]
  const code = await run(
    command,
    [...first, bin('@playwright/test/cli.js'), 'test', `--project=${project}`, '--reporter=list,json'],
    {
      env: { PLAYWRIGHT_JSON_OUTPUT_FILE: file, PLAYWRIGHT_JSON_OUTPUT_NAME: file },
    },
  )
  return tally(file, code, ({ stats }) => ({
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected,
    skipped: stats.skipped,
  }))
}

function runBrowser() {
  if (leftOut('CHROMIUM')) return skipped('CHROMIUM')
  return findBrowser() ? runPlaywright('browser', []) : missing('no Chromium is here')
}

async function runDesktop() {
  if (leftOut('ELECTRON')) return skipped('ELECTRON')
  try {
    await setupElectron()
  } catch (error) {
    return missing(`no Electron is here (${error.message})`)
  }
  if (process.platform !== 'linux') return runPlaywright('desktop', [])
  const xvfb = onPath('xvfb-run')
  return xvfb ? runPlaywright('desktop', [xvfb, '-a', '-s', '-screen 0 1600x1000x24']) : missing('no xvfb-run is here')
}

async function runAgentsSetup() {
  const script = join(root, 'scripts/setup-agents.mjs')
  if (leftOut('AGENTS') || !existsSync(script)) return
  step('real agent programs')
  // What could not be had fails in the tests that need it, which say so each by name.
  if ((await run(process.execPath, [script], { limit: 5 * minutes })) !== 0)
    bad('some real agent programs could not be had')
}

const suites = {
  check: async () => (await import('./check.mjs')).runChecks(),
  unit: runUnit,
  browser: runBrowser,
  desktop: runDesktop,
}

requireNode()
requireGit()
const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !(name in suites))
if (unknown.length > 0) {
  bad(`no such suite: ${unknown.join(', ')}. There are: ${Object.keys(suites).join(', ')}`)
  process.exit(2)
}
const wants = (name) => chosen.length === 0 || chosen.includes(name)
const missingSystem = wants('browser') || wants('desktop') ? setupSystem() : []
for (const { what, packages } of missingSystem)
  bad(`missing: ${what} (on Debian: apt-get install ${packages.join(' ')})`)
installPackages()
buildSources()
if (wants('unit')) await runAgentsSetup()

const total = { passed: 0, failed: 0, skipped: 0 }
const lines = []
for (const [name, suite] of Object.entries(suites)) {
  if (!wants(name)) continue
  step(`suite: ${name}`)
  const start = Date.now()
  const counts = await suite()
  for (const key of Object.keys(total)) total[key] += counts[key]
  lines.push([name, counts, Math.round((Date.now() - start) / 1000)])
}
rmSync(reports, { recursive: true, force: true })

process.stderr.write('\n')
for (const [name, { passed, failed, skipped: left }, seconds] of lines) {
  const say = failed > 0 ? bad : good
  say(`${name.padEnd(8)} ${passed} passed, ${failed} failed, ${left} skipped in ${seconds} s`)
}
step(`${Math.round((Date.now() - began) / 1000)} s in all`)
process.stdout.write(
  `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}\n`,
)
process.exitCode = total.failed > 0 ? 1 : 0
