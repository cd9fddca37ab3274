/**
 * System packages that the window and the tests need: `node scripts/setup-system.mjs`. On Debian and its kin as root it installs what
 * is missing; everywhere else it says what is missing and ends with 1. Safe to run again.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { findBrowser, onPath } from './lib/paths.mjs'
import { good, step, warn } from './lib/say.mjs'

/** What is needed, how to see that it is there, and the Debian package that brings it. */
const wanted = [
  { what: 'git', part: 'GIT', packages: ['git'], present: () => onPath('git') },
  { what: 'bash', part: 'BASH', packages: ['bash'], present: () => onPath('bash') },
  {
    what: 'a Chromium browser',
    part: 'CHROMIUM',
    packages: ['chromium', 'chromium-sandbox'],
    present: () => findBrowser(),
  },
  {
    what: 'a virtual display (xvfb-run)',
    part: 'XVFB',
    packages: ['xvfb', 'xauth'],
    present: () => onPath('xvfb-run') && onPath('xauth'),
  },
  {
    what: 'the libraries of the desktop window',
    part: 'LIBRARIES',
    packages: ['libgtk-3-0', 'libnss3', 'libasound2', 'libgbm1', 'libxss1', 'libatk-bridge2.0-0', 'libdrm2'],
    present: () =>
      ['libgtk-3.so.0', 'libnss3.so', 'libasound.so.2', 'libgbm.so.1', 'libatk-bridge-2.0.so.0', 'libdrm.so.2'].every(
        hasLibrary,
      ),
  },
  {
    what: 'strace (the tests watch connections with it)',
    part: 'STRACE',
    packages: ['strace'],
    present: () => onPath('strace'),
  },
]

let libraries
/** Asks the loader's cache, and looks in the usual folders where there is none. */
function hasLibrary(name) {
  libraries ??= spawnSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' }).stdout ?? ''
  return (
    libraries.includes(`${name} `) ||
    ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib'].some((dir) =>
      existsSync(`${dir}/${name}`),
    )
  )
}

export const missingParts = () => wanted.filter(({ present }) => !present())

function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return (
    spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', '-q', ...args], { stdio: ['ignore', 2, 2], env }).status ===
    0
  )
}

/** Installs what is missing where that can be done; returns what is still missing. */
export function setupSystem() {
  if (process.platform !== 'linux') return missingParts().filter(({ part }) => part === 'GIT')
  let missing = missingParts()
  if (missing.length === 0) return missing
  if (process.getuid?.() === 0 && onPath('apt-get')) {
    const packages = missing.flatMap((each) => each.packages)
    step(`installing system packages: ${packages.join(' ')}`)
    const install = () => apt(['install', '-y', '--no-install-recommends', ...packages])
    // Stale lists name files that are gone; lists may also be absent altogether. So: fetch lists, then install, and once more.
    if (!(apt(['update']) && install())) {
      apt(['update'])
      install()
    }
    libraries = undefined
    missing = missingParts()
  }
  return missing
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const missing = setupSystem()
  for (const { what, packages } of missing) warn(`missing: ${what}. On Debian: apt-get install ${packages.join(' ')}`)
  if (missing.length === 0) good('all system packages are there')
  process.exitCode = missing.length > 0 ? 1 : 0
}
