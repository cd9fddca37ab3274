import type { Output } from '../../contract/index.ts'
import { looksLikeTest } from '../manifest/compare/test-commands.ts'
import type { Parts } from '../parts.ts'
import { RUN_COLUMNS, RUN_TABLES, type RunRow } from '../store/index/run-row.ts'
import { parsePoint } from './references.ts'
import { readFacts } from './run-evidence.ts'

type Partners = Output<'compare.partners'>

/** Runs looked through for a rule before it is given up: newest first, so that what is found is the nearest. */
const LOOKED_AT = 200

/** Runs worth comparing one with, each by the rule that chose it, the most telling first (R100). */
export const findPartners = (parts: Parts, reference: string): Partners => {
  const index = parts.index()
  const row = index.findRun(parsePoint(reference).run)
  const { task } = index.toRun(row)
  const partners: { run: Partners['partners'][number]['run']; rule: string }[] = []
  const add = (found: RunRow | undefined, rule: string): void => {
    if (found && found.key !== row.key && !partners.some(({ run }) => run.id === found.id))
      partners.push({ run: index.toRun(found), rule })
  }
  const before = (where: string, ...values: (string | number)[]): RunRow[] =>
    index
      .sql(
        `select ${RUN_COLUMNS} from ${RUN_TABLES}
         where runs.key <> ? and runs.relation is not 'subagent' and runs.status <> 'no_conversation' and runs.sort_at <= ? and ${where}
         order by runs.sort_at desc, runs.key desc limit ${LOOKED_AT}`,
      )
      .all(row.key, row.sort_at, ...values) as RunRow[]

  const ofRuntime = before('runs.runtime = ?', row.runtime)
  const inWorkspace = row.workspace === null ? [] : before('runs.workspace = ?', row.workspace)
  if (task !== null)
    for (const found of before('runs.task = ?', task)) add(found, 'the run before it that was given the same task')
  add(
    inWorkspace.filter(({ runtime }) => runtime === row.runtime).find((found) => isGood(parts, found)),
    'the last run in this directory that ended well',
  )
  add(inWorkspace[0], 'the run before it in this directory')
  add(ofRuntime[0], 'the run before it of this agent')
  if (row.parent !== null)
    add(
      index.sql(`select ${RUN_COLUMNS} from ${RUN_TABLES} where runs.id = ?`).get(row.parent) as RunRow | undefined,
      'the run it branched off',
    )
  return { partners, task }
}

/** Ended, and every command that looks like a test ended well the last time it ran. */
const isGood = (parts: Parts, row: RunRow): boolean => {
  if (parts.index().toRun(row).status !== 'done') return false
  const outcomes = new Map<string, boolean>()
  for (const { kind, tool, summary, ok } of readFacts(parts.index(), row.key, { seq: null, stretch: null }))
    if (kind === 'tool' && tool !== null && ok !== null && looksLikeTest(summary)) outcomes.set(summary, ok)
  return ![...outcomes.values()].includes(false)
}
