import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { root } from '../../kit/fixture-home.ts'

// The scripts run before anything is built and are plain JavaScript, so their shape is stated here.
const { checkImports } = (await import(pathToFileURL(`${root}/scripts/lib/import-rules.mjs`).href)) as {
  checkImports: (path: string, source: string) => string[]
}

describe('rules about imports', () => {
  const forbidden: [string, string, string][] = [
    ['contract/x.ts', "import { a } from '../daemon/a.ts'", 'contract may import only contract'],
    ['contract/x.ts', "import { a } from 'hono'", 'must not use the package hono'],
    ['contract/x.ts', "import fs from 'node:fs'", "without Node's modules"],
    ['renderer/run/x.tsx', "import { a } from '../../daemon/a.ts'", 'renderer may import only renderer and contract'],
    ['renderer/run/x.tsx', "import type { A } from '../../main/a.ts'", 'renderer may import only'],
    ['renderer/run/x.tsx', "import { z } from '../../contract/endpoints.ts'", 'takes values only from'],
    ['renderer/run/x.tsx', "const a = await import('../../contract/run.ts')", 'takes values only from'],
    ['renderer/x.ts', "import { app } from 'electron'", 'must not use the package electron'],
    ['renderer/x.ts', "import { join } from 'node:path'", "without Node's modules"],
    ['preload/index.ts', "import { z } from 'zod'", 'must not use the package zod'],
    ['main/x.ts', "export * from '../daemon/a.ts'", 'main may import only main and contract'],
    ['main/x.ts', "import '../cli/index.ts'", 'nothing imports the command'],
    ['cli/x.ts', "import { a } from '../daemon/a.ts'", 'cli may import only cli and contract'],
    ['daemon/x.ts', "import { app } from 'electron'", 'must not use the package electron'],
    ['daemon/x.ts', "import { app } from 'electron/main'", 'must not use the package electron'],
    ['daemon/runtimes/codex/x.ts', "import type { S } from '../../store/store.ts'", 'adapters never import'],
    ['daemon/runtimes/codex/x.ts', "import { r } from '../../replay/a.ts'", 'adapters never import'],
    ['daemon/runtimes/codex/x.ts', "export { r } from '../../rollback/a.ts'", 'adapters never import'],
  ]
  it.each(forbidden)('%s: %s', (path, source, why) => {
    const found = checkImports(path, source)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(why)
    expect(found[0]).toContain('ARCHITECTURE.md')
  })

  const allowed: [string, string][] = [
    ['contract/x.ts', "import { z } from 'zod'; import { a } from './a.ts'"],
    [
      'renderer/run/x.tsx',
      "import type { Run } from '../../contract/run.ts'; import { readTags } from '../../contract/tags.ts'; import { a } from '../parts/a.tsx'",
    ],
    [
      'renderer/run/x.tsx',
      "import { type Run } from '../../contract/run.ts'; import './x.css'; import React from 'react'",
    ],
    [
      'main/x.ts',
      "import { app } from 'electron'; import { a } from '../contract/endpoints.ts'; import fs from 'node:fs'",
    ],
    ['daemon/replay/x.ts', "import { s } from '../store/store.ts'"],
    ['daemon/runtimes/codex/x.ts', "import { a } from '../adapter.ts'; import { b } from '../../capture/lines.ts'"],
    ['test/unit/x.test.ts', "import { a } from '../../daemon/a.ts'"],
  ]
  it.each(allowed)('%s may: %s', (path, source) => {
    expect(checkImports(path, source)).toEqual([])
  })

  it('names the line', () => {
    expect(checkImports('main/x.ts', "// one\n// two\nimport '../daemon/a.ts'")[0]).toMatch(/^main\/x\.ts:3 /)
  })
})
