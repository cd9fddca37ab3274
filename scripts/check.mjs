/**
 * `npm run check`: everything that can be known without running the product. Types of each part, style and likely mistakes, who imports
 * whom, exports nobody uses, and what must not stand in a tracked file. Each complaint says which rule and where it is explained.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './lib/paths.mjs'
import { bad, good } from './lib/say.mjs'

const program = (...path) => [process.execPath, join(root, 'node_modules', ...path)]
const parts = ['contract', 'daemon', 'cli', 'main', 'preload', 'renderer', 'sdk', 'test'].filter((part) =>
  existsSync(join(root, part, 'tsconfig.json')),
)

/** Name, where the rule is explained, and how it is checked; a check gives its complaints as text, '' when there are none. */
const checks = [
  ...parts.map((part) => ({
    name: `types: ${part}`,
    where: `${part}/tsconfig.json and tsconfig.base.json`,
    run: () => command([...program('typescript', 'bin', 'tsc'), '--noEmit', '--pretty', 'false', '-p', part]),
  })),
  {
    name: 'style and likely mistakes',
    where: 'biome.json; most are mended by: npx biome check --write',
    run: () =>
      command([
        ...program('@biomejs', 'biome', 'bin', 'biome'),
        'check',
        '--error-on-warnings',
        '--max-diagnostics=60',
      ]),
  },
  {
    name: 'exports nobody uses',
    where: 'knip.json',
    run: () => command([...program('knip', 'bin', 'knip.js'), '--no-progress']),
  },
  { name: 'imports between the parts', where: 'ARCHITECTURE.md, "Layout"', run: checkAllImports },
  { name: 'contents of tracked files', where: 'README.md, "Working on it"', run: checkAllContents },
]

function command([file, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    })
    const chunks = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.stderr.on('data', (chunk) => chunks.push(chunk))
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code) =>
      resolve(code === 0 ? '' : Buffer.concat(chunks).toString('utf8').trim() || `exit code ${code}`),
    )
  })
}

async function checkAllImports() {
  const { checkImports } = await import('./lib/import-rules.mjs')
  const { listFiles } = await import('./lib/tracked-files.mjs')
  const files = listFiles().filter((path) => /^[^/]+\/.*\.[cm]?tsx?$/.test(path))
  if (files.length === 0) return 'no source file was found: the check itself is broken'
  return files.flatMap((path) => checkImports(path)).join('\n')
}

async function checkAllContents() {
  const { listFiles, checkContents } = await import('./lib/tracked-files.mjs')
  return listFiles().flatMap(checkContents).join('\n')
}

/** Runs all, as many at once as there are processors. */
export async function runChecks() {
  const waiting = [...checks]
  let passed = 0
  let failed = 0
  const worker = async () => {
    for (let each = waiting.shift(); each; each = waiting.shift()) {
      const began = Date.now()
      const complaints = await each.run().catch((error) => String(error?.stack ?? error))
      const seconds = ((Date.now() - began) / 1000).toFixed(1)
      if (complaints === '') {
        passed += 1
        good(`${each.name} (${seconds} s)`)
      } else {
        failed += 1
        bad(`${each.name} (${seconds} s), explained in ${each.where}`)
        process.stderr.write(`${complaints.replace(/^/gm, '  ')}\n`)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  return { passed, failed, skipped: 0 }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { passed, failed } = await runChecks()
  process.stdout.write(`check: ${passed} passed, ${failed} failed\n`)
  process.exitCode = failed > 0 ? 1 : 0
}
