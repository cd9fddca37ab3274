import { Link } from 'wouter'
import type { Drift } from '../../contract/drift.ts'
import { Fact, Facts, PaneHeading } from '../parts/facts.tsx'
import { formatExact, shortDigest, shortId } from '../parts/format.ts'
import { RuntimeTile } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { rollbackPath } from '../rollback/address.ts'
import { driftDoor } from '../rollback/doors.ts'
import { comparePath, manifestPath, runPath } from '../shell/address.ts'
import { words } from '../words/en.ts'
import { driftTitle, writerWords } from './drift-row.tsx'

const w = words.drift

/** What changed, by file and key, who could have made it and what that rests on. */
export function DriftPeek({ drift }: { readonly drift: Drift }) {
  const { changes, writer, helpers, before, after } = drift
  const door = driftDoor(drift)
  return (
    <div className="pb-4">
      <div className="px-3 pt-3">
        <h3 className="text-ui font-semibold break-words">{driftTitle(drift)}</h3>
        {drift.alert !== null && <p className="mt-1 font-medium text-danger">{drift.alert}</p>}
        <div className="mt-1 inline-flex items-center gap-1.5 text-dense text-text-2">
          <RuntimeTile runtime={drift.runtime} />
          <PathText path={drift.workspace ?? drift.home_path} className="max-w-72" />
        </div>
      </div>
      <Facts>
        <Fact name={words.peek.when}>
          <time dateTime={drift.at} className="tabular-nums">
            {formatExact(drift.at)}
          </time>
        </Fact>
        <Fact name={w.writer}>
          {writer.run === null ? (
            writerWords(drift)
          ) : (
            <Link href={runPath(writer.run, writer.seq)} className="rounded-chip text-accent hover:underline">
              {writer.who === 'run' ? writerWords(drift) : `${writerWords(drift)}, ${w.during(shortId(writer.run))}`}
            </Link>
          )}
          <span className="block text-text-2">{writer.why}</span>
        </Fact>
        <Fact name={w.manifests}>
          {before === null ? (
            w.none
          ) : (
            <Link
              href={manifestPath(before)}
              className="rounded-chip font-mono text-[0.75rem] text-accent hover:underline"
            >
              {shortDigest(before)}
            </Link>
          )}{' '}
          →{' '}
          <Link
            href={manifestPath(after)}
            className="rounded-chip font-mono text-[0.75rem] text-accent hover:underline"
          >
            {shortDigest(after)}
          </Link>
          {before !== null && (
            <Link href={comparePath(before, after)} className="ml-3 rounded-chip text-accent hover:underline">
              {w.compare}
            </Link>
          )}
        </Fact>
        <Fact name={words.rollback.crumb}>
          {door === null ? (
            <span className="text-text-2">{words.rollback.noBefore}</span>
          ) : (
            <Link href={rollbackPath(door)} className="rounded-chip text-accent hover:underline">
              {words.rollback.beforeThis}
            </Link>
          )}
        </Fact>
      </Facts>
      <PaneHeading>{w.changes(changes.length)}</PaneHeading>
      <ul className="px-3 text-dense">
        {changes.map((change) => (
          <li key={`${change.path}\0${change.what}`} className="border-b border-line py-1.5">
            <div className="flex min-w-0 items-baseline gap-2">
              <span className="shrink-0 font-medium">{w.whats[change.what] ?? change.what}</span>
              {change.path !== null && <PathText path={change.path} className="min-w-0 flex-1 text-text-2" />}
            </div>
            <div className="mt-0.5 grid grid-cols-[auto_1fr] gap-x-2 font-mono text-[0.75rem]">
              <span className="text-text-3">{w.before}</span>
              <span className="break-words">{change.before ?? w.nothing}</span>
              <span className="text-text-3">{w.after}</span>
              <span className="break-words">{change.after ?? w.nothing}</span>
            </div>
            {change.same_as !== null && (
              <p className="mt-0.5 text-warn">{w.sameAs(formatExact(change.same_as).slice(0, 19))}</p>
            )}
          </li>
        ))}
      </ul>
      {helpers.length > 0 && (
        <details className="px-3 pt-2 text-dense text-text-2">
          <summary className="cursor-pointer rounded-chip">{w.helpers(helpers.length)}</summary>
          <ul className="mt-1">
            {helpers.map((helper) => (
              <li key={helper.path} className="py-0.5">
                <PathText path={helper.path} className="w-full" />
                <span className="text-text-3">{helper.why}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
