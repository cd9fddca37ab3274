import { Link } from 'wouter'
import type { RollbackRecord } from '../../contract/rollback.ts'
import { ChangeMark } from '../parts/change-mark.tsx'
import { IdText } from '../parts/digest.tsx'
import { Fact, Facts, PaneHeading } from '../parts/facts.tsx'
import { ResultMark, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { receiptPath, undoPath } from '../rollback/address.ts'
import { canUndo, recordTitle, scopeText } from '../rollback/record-text.ts'
import { words } from '../words/en.ts'
import { Moment } from './peek.tsx'

const w = words.receipt
const SHOWN = 50
const marks = { add: 'add', change: 'change', mode: 'mode', type: 'change', delete: 'delete' } as const

/** A rollback at a glance: what it touched, whether that was verified, and the way back. */
export function RollbackPeek({ record }: { readonly record: RollbackRecord }) {
  const { paths, verification } = record
  return (
    <div className="pb-4">
      <div className="px-3 pt-3">
        <h3 className="text-ui font-semibold break-words">
          <Link href={receiptPath(record.id)} className="rounded-chip hover:text-accent hover:underline">
            {recordTitle(record)}
          </Link>
        </h3>
        <div className="mt-1 flex flex-wrap items-center gap-x-3 text-dense">
          <span className={record.state === 'interrupted' || record.state === 'failed' ? 'text-danger' : 'text-text-2'}>
            {w.states[record.state]}
          </span>
          {canUndo(record) && (
            <Link href={undoPath(record.id)} className="rounded-chip text-accent hover:underline">
              {w.undo}
            </Link>
          )}
        </div>
      </div>
      <Facts>
        <Fact name={w.at}>
          <Moment at={record.at} />
        </Fact>
        <Fact name={w.scope}>{scopeText(record.scope)}</Fact>
        <Fact name={w.reason}>{record.reason ?? <span className="text-text-2">{w.noReason}</span>}</Fact>
        <Fact name={w.verification}>
          {verification === null ? (
            <Unknown>{w.notVerified}</Unknown>
          ) : verification.reached === null ? (
            (verification.why ?? w.nothingToVerify)
          ) : verification.reached ? (
            <ResultMark result="pass">{w.reached}</ResultMark>
          ) : (
            <ResultMark result="fail">{w.notReached(verification.differences.length)}</ResultMark>
          )}
        </Fact>
        <Fact name={words.peek.id}>
          <IdText id={record.id} />
        </Fact>
      </Facts>
      <PaneHeading>{w.pathsCount(paths.length)}</PaneHeading>
      <ul className="px-3 text-dense">
        {paths.slice(0, SHOWN).map((entry) => (
          <li
            key={`${entry.path}\0${entry.key}`}
            className="flex min-w-0 items-baseline gap-2 border-b border-line py-1"
          >
            <span className="self-center">
              <ChangeMark change={marks[entry.change]} />
            </span>
            <PathText path={entry.path} deleted={entry.change === 'delete'} className="min-w-0 flex-1" />
            {entry.result !== 'done' && <span className="shrink-0 text-warn">{w.results[entry.result]}</span>}
          </li>
        ))}
      </ul>
      {paths.length > SHOWN && (
        <p className="px-3 pt-1 text-dense">
          <Link href={receiptPath(record.id)} className="rounded-chip text-accent hover:underline">
            {w.allPaths(paths.length)}
          </Link>
        </p>
      )}
    </div>
  )
}
