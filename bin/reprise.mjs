#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const program = join(root, 'out/node/cli.cjs')
if (existsSync(program)) createRequire(import.meta.url)(program)
else {
  process.stderr.write(`Reprise is not built yet. Run the install command first, in ${root}:\n  npm ci\n`)
  process.exitCode = 2
}
