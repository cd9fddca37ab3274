import fs from 'node:fs'
import { applyChanges, resume } from '../../../daemon/rollback/apply.ts'
import { realDisk } from '../../../daemon/rollback/disk.ts'
import { openJournals } from '../../../daemon/rollback/journal.ts'
import { type Fault, failingDisk, failingJournals } from '../../kit/failing-disk.ts'
import { changesTo } from '../../kit/rollback-tree.ts'

/**
 * Applies changes, or goes on with what an earlier life left, in a process of its own, and lets a fault happen at the nth step that changes
 * something. Prints the outcome and how many steps there were.
 */
const [root = '', journals = '', what = '{}', fault = 'none', at = '0'] = process.argv.slice(2)
let steps = 0
const count = (): number => (steps += 1)
const disk = failingDisk(realDisk(), fault as Fault, Number(at), count)
const parts = { disk, journals: failingJournals(openJournals(journals), fault as Fault, Number(at), count) }
const open = parts.journals.list().journals
let outcome = 'nothing'
if (open.length > 0) {
  for (const journal of open) outcome = (await resume(parts, journal, 'finish')).outcome
} else if (what !== '{}') outcome = (await applyChanges(parts, 'b_1', await changesTo(root, JSON.parse(what)))).outcome
fs.writeSync(1, `${JSON.stringify({ outcome, steps })}\n`)
