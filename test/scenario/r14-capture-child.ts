import { openCapture } from '../kit/capture.ts'
import { createDatabaseRuntime } from '../kit/database-runtime.ts'

/** Captures once, as a process of its own that can be killed. Arguments: data directory, home. */
const [data = '', home = ''] = process.argv.slice(2)
const capture = await openCapture(data, home, createDatabaseRuntime().adapter)
process.stdout.write('open\n')
await capture.sync()
process.stdout.write('done\n')
await capture.close()
