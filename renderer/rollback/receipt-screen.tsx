import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import type { RollbackRecord } from '../../contract/rollback.ts'
import { Button } from '../parts/button.tsx'
import { ChangeMark } from '../parts/change-mark.tsx'
import { CommandHint } from '../parts/command-hint.tsx'
import { Digest, IdText } from '../parts/digest.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { Band, Failure, Loading } from '../parts/feedback.tsx'
import { formatClockSeconds, formatExact, shortDigest, shortId } from '../parts/format.ts'
import { ResultMark, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { useCrumbs, useReference } from '../shell/acts.ts'
import { manifestPath, runPath, useAddress } from '../shell/address.ts'
import { useChange, useRead } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { receiptPath, undoPath } from './address.ts'
import { canUndo, recordTitle, scopeText, touchedPaths } from './record-text.ts'
import { targetText } from './target-text.ts'

const w = words.receipt

/** What a rollback did, how it was checked, and the way to take it back. */
export default function ReceiptScreen({ id }: { readonly id: string }) {
  const read = useRead('rollback.get', { id })
  useCrumbs([w.list, '/rollbacks'], shortId(id))
  useReference(id)
  if (read.data === undefined)
    return read.error === null ? (
      <Loading what={w.one} />
    ) : (
      <Failure what={w.one} failure={read.error} onRetry={() => void read.refetch()} />
    )
  return (
    <>
      {read.error !== null && (
        <Failure
          what={w.one}
          failure={read.error}
          onRetry={() => void read.refetch()}
          lastGood={formatClockSeconds(new Date(read.dataUpdatedAt).toISOString())}
        />
      )}
      <Receipt record={read.data.record} />
    </>
  )
}

function Receipt({ record }: { readonly record: RollbackRecord }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { navigate } = useAddress()
  // The answer to what was just done begins here.
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const { target, verification } = record
  return (
    <ScrollArea className="pb-8">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3 pt-3 pb-2">
        <h1 ref={heading} tabIndex={-1} className="min-w-0 text-title font-semibold break-words">
          {recordTitle(record)}
        </h1>
        <IdText id={record.id} />
        <span className="ml-auto flex flex-wrap items-center gap-2">
          <span className="max-sm:hidden">
            <CommandHint command={`reprise undo ${record.id}`} />
          </span>
          {canUndo(record) && (
            <Button look="primary" onClick={() => navigate(undoPath(record.id))}>
              {w.undo}
            </Button>
          )}
        </span>
      </header>
      <StateBand record={record} />
      <div className="max-w-4xl">
        <Facts>
          <Fact name={w.at}>
            <time dateTime={record.at} className="tabular-nums">
              {formatExact(record.at)}
            </time>
          </Fact>
          <Fact name={w.target}>
            {target.run === null ? (
              targetText(target)
            ) : (
              <Link href={runPath(target.run, target.seq)} className="rounded-chip text-accent hover:underline">
                {targetText(target)}
              </Link>
            )}
          </Fact>
          <Fact name={w.digest}>
            {target.manifest === null ? (
              <Unknown>{record.is_rollback ? words.unknown : w.nothingToVerify}</Unknown>
            ) : (
              <Link
                href={manifestPath(target.manifest)}
                className="rounded-chip font-mono text-[0.75rem] text-accent hover:underline"
                title={target.manifest}
              >
                {shortDigest(target.manifest)}
              </Link>
            )}
          </Fact>
          <Fact name={w.scope}>{scopeText(record.scope)}</Fact>
          <Fact name={w.reason}>{record.reason ?? <span className="text-text-2">{w.noReason}</span>}</Fact>
          <Fact name={w.safety}>
            <IdText id={record.id} /> <span className="text-text-2">{w.safetyHint}</span>
          </Fact>
          {record.undo_of !== null && (
            <Fact name={w.undoOf}>
              <RecordLink id={record.undo_of} />
            </Fact>
          )}
          {record.undone_by !== null && (
            <Fact name={w.undoneBy}>
              <RecordLink id={record.undone_by} />
            </Fact>
          )}
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
            {verification !== null && verification.reached !== null && verification.why !== null && (
              <span className="block text-text-2">{verification.why}</span>
            )}
            {verification !== null && verification.effective_digest !== null && (
              <span className="block text-text-2">
                {w.effective} <Digest digest={verification.effective_digest} />
              </span>
            )}
          </Fact>
        </Facts>
      </div>
      {verification !== null && verification.differences.length > 0 && (
        <Section title={w.differences}>
          <table className="w-full text-dense">
            <TableHead columns={[w.field, w.before, w.after]} />
            <tbody>
              {verification.differences.map((entry) => (
                <tr key={entry.path} className="border-b border-line align-top">
                  <th scope="row" className="py-1 pr-3 text-left font-mono text-[0.75rem] font-normal break-all">
                    {entry.path}
                  </th>
                  <td className="py-1 pr-3 break-all">{entry.before ?? words.rollback.nothingThere}</td>
                  <td className="py-1 break-all">{entry.after ?? words.rollback.nothingThere}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
      )}
      <NotRestored record={record} />
      <Paths record={record} />
    </ScrollArea>
  )
}

const RecordLink = ({ id }: { readonly id: string }) => (
  <Link href={receiptPath(id)} className="rounded-chip font-mono text-[0.75rem] text-accent hover:underline">
    {shortId(id)}
  </Link>
)

/** How it ended: success is said politely, a failure at once; what waits or was interrupted is decided here. */
function StateBand({ record }: { readonly record: RollbackRecord }) {
  const resume = useChange('rollback.resume')
  const { state, id } = record
  const body = resume.error === null ? null : asErrorBody(resume.error)
  const decide = (how: 'finish' | 'take_back', label: string) => (
    <Button small disabled={resume.isPending} onClick={() => resume.mutate({ id, how })}>
      {label}
    </Button>
  )
  const missed = record.verification?.reached === false
  const bad = state === 'failed' || state === 'taken_back' || state === 'interrupted'
  return (
    <>
      <Band
        role={bad ? 'alert' : 'status'}
        tone={bad ? 'danger' : state === 'waiting' || missed ? 'warn' : 'plain'}
        icon={state === 'applied' && !missed ? <ResultMark result="pass">{null}</ResultMark> : undefined}
        acts={
          state === 'interrupted' ? (
            <>
              {decide('finish', w.finish)}
              {decide('take_back', w.takeBack)}
            </>
          ) : state === 'waiting' ? (
            decide('take_back', w.cancel)
          ) : undefined
        }
      >
        {state === 'applied' ? w.said.applied(touchedPaths(record)) : w.said[state]}
        {missed && ` ${w.missed}`}
        {record.error !== null && <span className="block text-text-2">{record.error}</span>}
      </Band>
      {body !== null && (
        <p role="alert" className="px-3 py-1 text-dense text-danger">
          {body.message} {body.hint}
        </p>
      )}
    </>
  )
}

function NotRestored({ record }: { readonly record: RollbackRecord }) {
  const { not_restorable, not_reproducible, target } = record
  if (not_restorable.length === 0 && not_reproducible === null) return null
  return (
    <Section
      title={not_reproducible === null ? w.notRestorable : w.notReproducible}
      hint={not_reproducible ?? undefined}
      acts={
        target.run !== null && (
          <Link
            href={runPath(target.run, target.seq)}
            title={w.reviewHint}
            className="rounded-chip text-dense text-accent hover:underline"
          >
            {w.review}
          </Link>
        )
      }
    >
      <ul className="text-dense">
        {not_restorable.map((entry) => (
          <li key={`${entry.path}\0${entry.what}`} className="border-b border-line py-1">
            {entry.path === null ? (
              <span className="font-medium">{entry.what}</span>
            ) : (
              <>
                <PathText path={entry.path} className="font-medium" /> <span>{entry.what}</span>
              </>
            )}
            <span className="block text-text-2">{entry.why}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const marks = { add: 'add', change: 'change', mode: 'mode', type: 'change', delete: 'delete' } as const

function Paths({ record: { paths } }: { readonly record: RollbackRecord }) {
  const c = w.columns
  if (paths.length === 0) return <p className="px-3 pt-4 text-dense text-text-2">{w.noPaths}</p>
  return (
    <Section title={w.pathsCount(paths.length)}>
      <table className="w-full text-dense">
        <TableHead columns={[c.path, c.change, c.result, c.verified]} />
        <tbody>
          {paths.map((entry) => (
            <tr
              key={`${entry.path}\0${entry.key}`}
              className="border-b border-line align-top [contain-intrinsic-size:auto_28px] [content-visibility:auto]"
            >
              <th scope="row" className="max-w-0 min-w-40 py-1 pr-3 text-left font-normal w-full">
                <PathText path={entry.path} deleted={entry.change === 'delete'} className="w-full" />
                {entry.key !== null && <span className="block text-text-2">{words.rollback.onlyKey(entry.key)}</span>}
                {entry.why !== null && <span className="block text-text-2">{entry.why}</span>}
              </th>
              <td className="py-1 pr-3 whitespace-nowrap">
                <span className="inline-flex items-center gap-1">
                  <ChangeMark change={marks[entry.change]} />
                  <span aria-hidden="true">{w.changes[entry.change]}</span>
                </span>
              </td>
              <td
                className={`py-1 pr-3 ${entry.result === 'failed' ? 'text-danger' : entry.result === 'conflict' ? 'text-warn' : ''}`}
              >
                {w.results[entry.result]}
              </td>
              <td className="py-1 whitespace-nowrap">
                {entry.verified ? (
                  <ResultMark result="pass">{w.verified}</ResultMark>
                ) : (
                  <ResultMark result={entry.result === 'done' ? 'fail' : 'warn'}>{w.unverified}</ResultMark>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}
