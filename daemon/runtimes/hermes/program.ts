import fs from 'node:fs'
import path from 'node:path'
import type { Program, Surroundings } from '../adapter.ts'
import { rootOf } from './homes.ts'

/**
 * The installed program, without running it: a git checkout with a Python environment (runtime page 2, documented). The npm package
 * `hermes-agent` is not the agent but a bridge that makes such a checkout inside itself; only that checkout counts.
 */
export function findProgram(home: string, { env, platform, systemRoot, userHome }: Surroundings): Program | null {
  const names = platform === 'win32' ? ['hermes.exe', 'hermes.cmd', 'hermes'] : ['hermes']
  for (const directory of (env.PATH ?? env.Path ?? '').split(platform === 'win32' ? ';' : ':')) {
    if (directory === '') continue
    for (const name of names) {
      const found = programBehind(path.join(directory, name))
      if (found !== null) return found
    }
  }
  const checkouts = [
    path.join(home, 'hermes-agent'),
    path.join(rootOf(home), 'hermes-agent'),
    path.join(userHome, '.hermes', 'hermes-agent'),
    `${systemRoot}/usr/local/lib/hermes-agent`,
  ]
  for (const checkout of checkouts) {
    const version = versionOf(checkout)
    if (version !== null) return { version, path: commandIn(checkout), installedBy: 'checkout' }
  }
  return null
}

function programBehind(entry: string): Program | null {
  let real: string
  try {
    real = fs.realpathSync.native(entry)
    if (!fs.statSync(real).isFile()) return null
  } catch {
    return null
  }
  const bridge = /^(.*[\\/]node_modules[\\/]hermes-agent)[\\/]/.exec(real)?.[1]
  if (bridge !== undefined) {
    const checkout = checkoutBelow(bridge)
    return checkout === null
      ? null
      : {
          version: versionOf(checkout),
          path: commandIn(checkout) ?? real,
          installedBy: 'npm hermes-agent (a bridge with a checkout of its own)',
        }
  }
  for (let folder = path.dirname(real), step = 0; step < 6; folder = path.dirname(folder), step++) {
    const version = versionOf(folder)
    if (version !== null) return { version, path: real, installedBy: 'checkout' }
    const installed = installedVersion(folder)
    if (installed !== null) return { version: installed, path: real, installedBy: 'python package' }
  }
  // A launcher of a profile, or a script of the user's: the program it starts is named in it.
  return fromLauncher(real)
}

/** Null when the folder is no checkout of the program. */
function versionOf(checkout: string): string | null {
  const project = textOf(path.join(checkout, 'pyproject.toml'))
  if (project === null || !/^name\s*=\s*["']hermes-agent["']/m.test(project)) return null
  const own = /^__version__\s*=\s*["']([^"']+)["']/m.exec(
    textOf(path.join(checkout, 'hermes_cli', '__init__.py')) ?? '',
  )?.[1]
  return own ?? /^version\s*=\s*["']([^"']+)["']/m.exec(project)?.[1] ?? null
}

/** `hermes_agent-<version>.dist-info` of a Python environment. */
function installedVersion(folder: string): string | null {
  const libraries = [path.join(folder, 'lib'), path.join(folder, 'Lib', 'site-packages')]
  for (const library of libraries) {
    for (const name of namesIn(library)) {
      const packages = name.startsWith('python') ? path.join(library, name, 'site-packages') : library
      for (const inner of namesIn(packages)) {
        const found = /^hermes_agent-(.+)\.dist-info$/.exec(inner)?.[1]
        if (found !== undefined) return found
      }
    }
  }
  return null
}

function checkoutBelow(bridge: string): string | null {
  for (const name of ['', ...namesIn(bridge)]) {
    const folder = path.join(bridge, name)
    if (versionOf(folder) !== null) return folder
    for (const inner of name === '' ? [] : namesIn(folder))
      if (versionOf(path.join(folder, inner)) !== null) return path.join(folder, inner)
  }
  return null
}

const HEAD = 8192

function fromLauncher(file: string): Program | null {
  const text = textOf(file)?.slice(0, HEAD)
  if (text === undefined || !text.startsWith('#!')) return null
  for (const found of text.matchAll(/["'\s=](\/[^"'\s]*hermes[^"'\s]*)/g)) {
    for (let folder = path.dirname(found[1] ?? '/'), step = 0; step < 5; folder = path.dirname(folder), step++) {
      const version = versionOf(folder)
      if (version !== null) return { version, path: file, installedBy: 'checkout' }
    }
  }
  return null
}

function commandIn(checkout: string): string | null {
  for (const name of ['venv/bin/hermes', '.venv/bin/hermes', 'venv/Scripts/hermes.exe', 'hermes']) {
    const file = path.join(checkout, name)
    if (fs.existsSync(file)) return file
  }
  return null
}

function textOf(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).sort()
  } catch {
    return []
  }
}
