import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import type { Program, Surroundings } from '../adapter.ts'
import { asName, asRow } from '../shared/fields.ts'

const PACKAGE = '@openai/codex'
const VERSION = /\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)[.\d]*)?/

/**
 * The program that would run, without running it: what `PATH` leads to, else the copy that the program keeps for its own daemon below
 * `<home>/packages` (0.171.0). The npm package is a small script; the program itself lies in the package of the platform beside it.
 */
export function findProgram(home: string, { env, platform }: Surroundings): Program | null {
  const names = platform === 'win32' ? ['codex.exe', 'codex.cmd', 'codex'] : ['codex']
  for (const directory of (env.PATH ?? env.Path ?? '').split(platform === 'win32' ? ';' : delimiter)) {
    if (directory === '') continue
    for (const name of names) {
      const found = programBehind(join(directory, name))
      if (found !== null) return found
    }
  }
  return daemonCopy(join(home, 'packages'))
}

function programBehind(entry: string): Program | null {
  let real: string
  try {
    real = realpathSync(entry)
    if (!statSync(real).isFile()) return null
  } catch {
    return null
  }
  for (let at = dirname(real); ; at = dirname(at)) {
    const found = packageAt(at) ?? packageAt(join(at, 'node_modules', PACKAGE))
    if (found !== null) return { ...found, path: found.path ?? real }
    if (dirname(at) === at || basename(at) === 'node_modules') break
  }
  // Installations by hand or by a package manager keep the version in the path, if anywhere.
  const version = real.split(/[\\/]/).findLast((step) => VERSION.test(step))
  const cask = /[\\/](Caskroom|Cellar)[\\/]/.test(real)
  return {
    version: version === undefined ? null : (VERSION.exec(version)?.[0] ?? null),
    path: real,
    installedBy: cask ? 'brew' : 'native',
  }
}

/** The package in a directory, with the executable of its platform where it is there. */
function packageAt(directory: string): Program | null {
  const about = readJson(join(directory, 'package.json'))
  if (asName(about?.name) !== PACKAGE) return null
  const version = asName(about?.version)?.match(VERSION)?.[0] ?? null
  return { version, path: executableOf(directory), installedBy: `npm ${PACKAGE}` }
}

/** `vendor/<triple>/bin/codex`, in the package itself or in that of the platform beside or inside it. */
function executableOf(directory: string): string | null {
  const scope = dirname(directory)
  const places = [
    directory,
    ...namesIn(scope)
      .filter((name) => name.startsWith('codex-'))
      .map((name) => join(scope, name)),
    ...namesIn(join(directory, 'node_modules', '@openai')).map((name) =>
      join(directory, 'node_modules', '@openai', name),
    ),
  ]
  for (const place of places) {
    for (const triple of namesIn(join(place, 'vendor'))) {
      for (const name of ['codex', 'codex.exe']) {
        for (const folder of ['bin', 'codex']) {
          const file = join(place, 'vendor', triple, folder, name)
          try {
            if (statSync(file).isFile()) return file
          } catch {
            // Another platform, or an older layout.
          }
        }
      }
    }
  }
  return null
}

function daemonCopy(packages: string): Program | null {
  const found = namesIn(packages)
    .flatMap((name) => [
      join(packages, name),
      ...namesIn(join(packages, name)).map((inner) => join(packages, name, inner)),
    ])
    .map((place) => packageAt(place) ?? packageAt(join(place, 'node_modules', PACKAGE)))
    .filter((program) => program !== null)
  const newest = found.sort((a, b) => compareVersions(b.version, a.version))[0]
  return newest === undefined ? null : { ...newest, installedBy: 'copy for the background daemon' }
}

function compareVersions(a: string | null, b: string | null): number {
  const [left, right] = [a, b].map((version) => (version ?? '0').split(/[.-]/).map(Number))
  for (let at = 0; at < 3; at++) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function readJson(file: string): ReturnType<typeof asRow> {
  try {
    return asRow(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

/** Names in a directory, sorted; empty when it cannot be read. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}
