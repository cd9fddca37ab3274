// Brings the real agent programs that test/agents compares with into .cache/agents, as ordinary npm packages of a pinned version.
// Nothing here runs install scripts. Safe to repeat: a program that is there in the right version is left alone.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const checkout = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')

/**
 * Each agent: its package and the version our tables are verified on, and either how its native executable names itself or the script
 * that is the program, with the Node it is run by (a package too: what is installed here may be older than it asks for).
 */
export const agents = {
  'claude-code': { package: '@anthropic-ai/claude-code', version: '2.1.332', executable: /^claude(\.exe)?$/ },
  codex: { package: '@openai/codex', version: '0.171.0', executable: /^codex(\.exe)?$/ },
  openclaw: { package: 'openclaw', version: '2026.9.6', script: 'openclaw.mjs', node: '24.22.3' },
}

/** Where the program of one agent lives; the test kit computes the same folder. */
export const agentFolder = (name) => path.join(checkout, '.cache', 'agents', name)

/** What starts the agent: a program and its first arguments; null when it is not there in the right version. */
export function findCommand(name) {
  const { package: pkg, version, script, node } = agents[name]
  if (!script) {
    const file = findExecutable(name)
    return file && [file]
  }
  const modules = path.join(agentFolder(name), 'node_modules')
  const program = path.join(modules, pkg, script)
  const runner = path.join(modules, nodePackage(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  const isThere =
    readVersion(path.join(modules, pkg)) === version && readVersion(path.join(modules, nodePackage())) === node
  return isThere && fs.existsSync(program) && fs.existsSync(runner) ? [runner, program] : null
}

/** The package that brings a Node for this platform, as `npm i node` would choose it. */
const nodePackage = () => `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** The native executable of the platform package (the wrapper's own file is only a stub of a few kilobytes). */
function findExecutable(name) {
  const { package: pkg, version, executable } = agents[name]
  const [owner, base] = pkg.split('/')
  const scopeFolder = path.join(agentFolder(name), 'node_modules', owner)
  if (!fs.existsSync(scopeFolder)) return null
  for (const folder of fs.readdirSync(scopeFolder).sort()) {
    if (!folder.startsWith(`${base}-`)) continue
    const root = path.join(scopeFolder, folder)
    // One package may carry its platforms as versions of itself, under other names (`0.171.0-linux-x64` as `codex-linux-x64`).
    if (readVersion(root)?.replace(`-${folder.slice(base.length + 1)}`, '') !== version) continue
    const file = fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .find((entry) => entry.isFile() && executable.test(entry.name))
    if (!file) continue
    const full = path.join(file.parentPath ?? file.path, file.name)
    if (fs.statSync(full).size > 10_000_000) return full
  }
  return null
}

function readVersion(folder) {
  try {
    return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version
  } catch {
    return null
  }
}

function setUp(name) {
  const { package: pkg, version, node } = agents[name]
  const found = findCommand(name)
  if (found) return found
  const prefix = agentFolder(name)
  fs.mkdirSync(prefix, { recursive: true })
  // A package.json of its own keeps npm from climbing into the checkout.
  fs.writeFileSync(path.join(prefix, 'package.json'), '{ "private": true }\n')
  execFileSync(
    process.platform === 'win32' ? 'npm.cmd' : 'npm',
    [
      'install',
      '--prefix',
      prefix,
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--include=optional',
      // An agent with a Node of its own asks for that Node, not for the one that installs it.
      ...(node ? ['--force', `${nodePackage()}@${node}`] : []),
      `${pkg}@${version}`,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'], cwd: prefix },
  )
  const installed = findCommand(name)
  if (!installed)
    throw new Error(`the package ${pkg}@${version} brought no executable for ${process.platform}-${process.arch}`)
  fs.chmodSync(installed[0], 0o755)
  return installed
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  let failed = 0
  for (const name of Object.keys(agents)) {
    try {
      const [file, ...first] = setUp(name)
      const says = execFileSync(file, [...first, '--version'], { encoding: 'utf8', timeout: 60_000 }).trim()
      console.log(`${name}: ${says}  ${path.relative(checkout, first[0] ?? file)}`)
    } catch (error) {
      failed += 1
      console.error(`\n*** ${name} could not be set up: ${error instanceof Error ? error.message : error}`)
      console.error('*** Tests in test/agents will fail. To leave them out on purpose set REPRISE_WITHOUT_AGENTS=1.\n')
    }
  }
  process.exitCode = failed > 0 ? 1 : 0
}
