/**
 * `npm start`: installs and builds what is missing, then hands over to the launcher of the build (`main/launch.ts`), which starts the
 * daemon, tells what it found and opens the window. Options: --demo, --no-window, --once, --json.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './lib/paths.mjs'
import { buildSources, installPackages, requireGit, requireNode } from './lib/prepare.mjs'

requireNode()
requireGit()
installPackages()
buildSources()
createRequire(import.meta.url)(join(root, 'out/node/launch.cjs'))
