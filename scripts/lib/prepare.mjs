/** What every script needs before it can do its own work: a fitting Node, git, the packages of the lock file, a build of the sources. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onPath, root } from './paths.mjs'
import { step, stop } from './say.mjs'

export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  stop(
    `Reprise needs Node 20.19 or newer; this is ${process.versions.node}.`,
    'Install a newer Node and run the same command again.',
    4,
  )
}

export function requireGit() {
  const version = spawnSync('git', ['--version'], { encoding: 'utf8' }).stdout ?? ''
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  if (major > 2 || (major === 2 && minor >= 32)) return
  stop(
    version
      ? `Reprise needs git 2.32 or newer; this is ${version.trim()}.`
      : 'Reprise needs git, and there is none on PATH.',
    'Install git (on Debian: apt-get install git) and run the same command again.',
    4,
  )
}

/** Packages of the lock file that are not installed in the version it names. Optional ones and those of other platforms do not count. */
function missingPackages() {
  const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? {}
  const wanted = read('package-lock.json')
  if (!existsSync(join(root, 'node_modules/.package-lock.json'))) return ['everything']
  const present = read('node_modules/.package-lock.json')
  return Object.entries(wanted)
    .filter(
      ([path, { optional, devOptional, peer, link }]) => path !== '' && !optional && !devOptional && !peer && !link,
    )
    .filter(([path, { version }]) => present[path]?.version !== version)
    .map(([path]) => path.replace(/^.*node_modules\//, ''))
}

export function installPackages() {
  const missing = missingPackages()
  if (missing.length === 0) return
  const folder = join(root, 'node_modules')
  if (existsSync(folder) && lstatSync(folder).isSymbolicLink()) {
    stop(
      `node_modules is a link and does not hold what package-lock.json names: ${missing.slice(0, 5).join(', ')}`,
      'Run npm ci in the folder it points to.',
    )
  }
  step(
    missing[0] === 'everything'
      ? 'installing packages (npm ci, once)'
      : `installing packages that changed: ${missing.slice(0, 5).join(', ')}`,
  )
  npm(
    ['ci', '--no-audit', '--no-fund', '--ignore-scripts=false'],
    'The packages could not be installed. Is the package registry reachable?',
  )
}

function npm(args, failure) {
  // `npm start` names its own program, which may not be the one on PATH.
  const own = process.env.npm_execpath
  const [command, ...first] = own?.endsWith('.js') ? [process.execPath, own] : [onPath('npm', 'npm.cmd') ?? 'npm']
  const env = { ...process.env, REPRISE_NO_BUILD: '1' }
  const { status } = spawnSync(command, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env,
    shell: process.platform === 'win32' && !first.length,
  })
  if (status !== 0) stop(failure, 'Its own words are above.', 4)
}

const sources = [
  'contract',
  'cli',
  'daemon',
  'main',
  'preload',
  'renderer',
  'sdk',
  'electron.vite.config.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.base.json',
]
const outputs = [
  'out/node/main.cjs',
  'out/node/daemon.cjs',
  'out/node/cli.cjs',
  'out/node/launch.cjs',
  'out/preload/index.cjs',
  'out/renderer/index.html',
]

/** One digest over names and contents of everything the build reads. */
function digestSources() {
  const hash = createHash('sha256')
  const add = (path) => {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false })
    if (stat === undefined) return
    if (stat.isDirectory()) for (const name of readdirSync(join(root, path)).sort()) add(`${path}/${name}`)
    else
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(root, path)))
        .update('\0')
  }
  for (const path of sources) add(path)
  return hash.digest('hex')
}

/** Builds when the sources are not those of the last build. Returns whether it did. */
export function buildSources() {
  const stamp = join(root, 'out/.sources')
  const digest = digestSources()
  const built = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (built === digest && outputs.every((path) => existsSync(join(root, path)))) return false
  step(built === '' ? 'building' : 'building again, the sources changed')
  const program = join(root, 'node_modules/electron-vite/bin/electron-vite.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'build'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (status !== 0) {
    process.stderr.write(`${stdout ?? ''}${stderr ?? ''}\n`)
    stop('The build failed.', 'Its own words are above.')
  }
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, digest)
  return true
}
