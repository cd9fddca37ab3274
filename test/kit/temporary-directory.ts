import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** A directory of its own for each test of the file. */
export function temporaryDirectory(name: string): () => string {
  let directory = ''
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), `reprise-${name}-`))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))
  return () => directory
}
