import { mkdtempSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareItem } from './compare-item.ts'
import { DataSets } from './data-sets.ts'
import { basicItems } from './items.ts'
import { importRuntimesItem, lookItem, manyHomesItem, resolveItem } from './runtime-items.ts'
import { type Measured, printTable } from './table.ts'

const items = [...basicItems, resolveItem, compareItem, importRuntimesItem, lookItem, manyHomesItem]

const usage = `npm run perf -- [--only ITEM[,ITEM…]] [--runs N] [--events N] [--big MB] [--ordinary MB] [--folders N] [--keep]

Measures the built daemon, one item after the other, and prints a table. It asserts nothing.

${items.map((item) => `  ${item.name.padEnd(10)} ${item.about}`).join('\n')}

  --keep     leaves the generated homes and stores in place and says where they are
`

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string', default: '10000' },
    events: { type: 'string', default: '1000000' },
    big: { type: 'string', default: '600' },
    ordinary: { type: 'string', default: '150' },
    folders: { type: 'string', default: '10000' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

function number(name: 'runs' | 'events' | 'big' | 'ordinary' | 'folders'): number {
  const value = Number(values[name])
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} must be a whole number above 0, not "${values[name]}"`)
  return value
}

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const wanted = values.only?.split(',')
  const unknown = wanted?.filter((name) => !items.some((item) => item.name === name)) ?? []
  if (unknown.length > 0) {
    process.stderr.write(`no item is called ${unknown.join(', ')}\n\n${usage}`)
    return 2
  }
  const tell = (text: string): void => void process.stderr.write(`› ${text}\n`)
  const big = number('big')
  const sizes = {
    ordinaryMb: number('ordinary'),
    bigMb: big,
    longLineMb: Math.min(30, Math.ceil(big / 4)),
    runs: number('runs'),
    events: number('events'),
    folders: number('folders'),
  }
  const sets = new DataSets(mkdtempSync(join(tmpdir(), 'reprise-perf-')), sizes, tell)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      if (!values.keep) sets.remove()
      process.exit(1)
    })
  const rows: Measured[] = []
  let failed = false
  try {
    for (const item of items) {
      if (wanted !== undefined && !wanted.includes(item.name)) continue
      tell(`${item.name}: ${item.about}`)
      try {
        const measured = await item.run(sets)
        rows.push(...measured)
        for (const row of measured) tell(`  ${row.what}: ${row.measured}`)
      } catch (error) {
        failed = true
        const why = error instanceof Error ? error.message : String(error)
        tell(`  ${why}`)
        rows.push({
          what: `${item.name}: could not be measured: ${why.split('\n')[0]?.slice(0, 160)}`,
          measured: '-',
          baseline: '-',
          ratio: '-',
          aim: '-',
          met: null,
        })
      }
    }
  } finally {
    if (values.keep) tell(`kept in ${sets.dir}`)
    else sets.remove()
  }
  process.stdout.write(
    `\nNode ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'})\n\n${printTable(rows)}\n`,
  )
  return failed ? 1 : 0
}

process.exitCode = await main()
