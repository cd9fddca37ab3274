/**
 * Who may import whom: the table of ARCHITECTURE.md ("Layout"), checked on the resolved path of every import, type import, re-export and
 * dynamic import. Read with Vite's own parser: the ready-made checkers need TypeScript's old programming interface, which TypeScript 7
 * no longer has, and find "no violations" in zero files.
 */
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, normalize, relative } from 'node:path'
import { parseSync } from 'vite'
import { root } from './paths.mjs'

const layout = 'ARCHITECTURE.md, "Layout"'

/** Own folders a part may import from besides itself, packages it must not touch, and whether it may use Node's modules. */
const parts = {
  contract: { own: [], onlyPackages: ['zod'], node: false },
  renderer: { own: ['contract'], never: ['electron', 'zod'], node: false },
  preload: { own: ['contract'], onlyPackages: ['electron'], node: false },
  main: { own: ['contract'], node: true },
  cli: { own: ['contract'], never: ['electron'], node: true },
  daemon: { own: ['contract'], never: ['electron'], node: true },
  sdk: { own: ['contract'], never: ['electron'], node: true },
}

/** The page gets values only from contract files that do not load the schema library; types it may take from all of them. */
const valuesForPage = ['contract/tags.ts', 'contract/desktop.ts', 'contract/version.ts']
/** Adapters read and resolve; what is stored, replayed or rolled back is decided above them. */
const closedToRuntimes = ['daemon/store/', 'daemon/replay/', 'daemon/rollback/']
/** The adapter's programs that run outside the daemon import nothing of it. */
const packageOf = (name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')

/** Violations of one file, as sentences. `path` is relative to the root, with forward slashes. */
export function checkImports(path, source = readFileSync(join(root, path), 'utf8')) {
  const part = path.split('/')[0]
  const rule = parts[part]
  if (rule === undefined) return []
  const problems = []
  for (const { to, isType, line } of importsOf(path, source)) {
    const say = (what) => problems.push(`${path}:${line} imports ${to}: ${what} (${layout})`)
    if (to.startsWith('.')) {
      const target = relative('.', normalize(join(dirname(path), to))).replaceAll('\\', '/')
      const owner = target.split('/')[0]
      if (owner === 'cli' && part !== 'cli') say('nothing imports the command')
      else if (owner !== part && !rule.own.includes(owner))
        say(`${part} may import only ${[part, ...rule.own].join(' and ')}`)
      if (part === 'renderer' && owner === 'contract' && !isType && !valuesForPage.includes(target)) {
        say(`the page takes values only from ${valuesForPage.join(', ')}; import it as a type`)
      }
      if (path.startsWith('daemon/runtimes/') && closedToRuntimes.some((folder) => target.startsWith(folder))) {
        say('adapters never import store, replay or rollback')
      }
    } else if (isBuiltin(to)) {
      if (!rule.node) say(`${part} runs without Node's modules`)
    } else if (!to.startsWith('virtual:')) {
      const name = packageOf(to)
      if (rule.never?.includes(name) || (rule.onlyPackages && !rule.onlyPackages.includes(name)))
        say(`${part} must not use the package ${name}`)
    }
  }
  return problems
}

function importsOf(path, source) {
  const { module, errors } = parseSync(path, source)
  const failure = errors.find(({ severity }) => severity === 'Error')
  if (failure) throw new Error(`${path} cannot be parsed: ${failure.message}`)
  const lineAt = (offset) => source.slice(0, offset).split('\n').length
  const found = []
  for (const { start, moduleRequest, entries } of module.staticImports) {
    const isType =
      source.startsWith('import type', start) || (entries.length > 0 && entries.every((entry) => entry.isType))
    found.push({ to: moduleRequest.value, isType, line: lineAt(start) })
  }
  for (const { start, entries } of module.staticExports) {
    const from = entries.filter(({ moduleRequest }) => moduleRequest)
    if (from.length > 0)
      found.push({ to: from[0].moduleRequest.value, isType: from.every(({ isType }) => isType), line: lineAt(start) })
  }
  for (const { start, moduleRequest } of module.dynamicImports) {
    const text = source.slice(moduleRequest.start, moduleRequest.end)
    const literal = /^(['"`])([^$]*)\1$/s.exec(text)
    if (literal) found.push({ to: literal[2], isType: false, line: lineAt(start) })
  }
  return found
}
