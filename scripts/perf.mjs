/** `npm run perf`: builds if needed, then measures the built daemon (`test/perf/main.ts`). `npm run perf -- --help` lists the items. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './lib/paths.mjs'
import { buildSources, requireNode } from './lib/prepare.mjs'

requireNode()
if (!process.argv.includes('--help')) buildSources()
const { status } = spawnSync(
  process.execPath,
  ['--import', 'tsx', join(root, 'test/perf/main.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit', cwd: root },
)
process.exit(status ?? 1)
