import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'

/** A line of JSON per test file that begins or ends, so that one file which never ends cannot take the results of all others with it. */
export default class ProgressReporter {
  file = process.env.REPRISE_TEST_PROGRESS

  onTestModuleStart(module) {
    this.write({ file: relative(process.cwd(), module.moduleId), began: Date.now() })
  }

  onTestModuleEnd(module) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const test of module.children.allTests()) counts[test.result().state] += 1
    if (module.state() === 'failed' && counts.failed === 0) counts.failed = 1
    this.write({ file: relative(process.cwd(), module.moduleId), ended: Date.now(), ...counts })
  }

  write(line) {
    if (this.file) appendFileSync(this.file, `${JSON.stringify(line)}\n`)
  }
}
