import { useCallback, useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../contract/endpoints.ts'
import { LinkButton } from '../parts/button.tsx'
import { ChangeMark } from '../parts/change-mark.tsx'
import { cx } from '../parts/classes.ts'
import { PaneHeading } from '../parts/facts.tsx'
import { Failure, Loading } from '../parts/feedback.tsx'
import { escapeControls, formatClock, shortDigest, shortId } from '../parts/format.ts'
import { StatusMark, Unknown } from '../parts/marks.tsx'
import { splitPath } from '../parts/paths.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { manifestPath, runPath } from '../shell/address.ts'
import { useRowHeight } from '../shell/view-state.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { relativeTo } from './relative.ts'
import { ResolvedAgain } from './resolved-again.tsx'
import type { RunDetails } from './run-screen.tsx'

const w = words.run
type FileEntry = Output<'runs.files'>['files'][number]
type Row =
  | { readonly type: 'folder'; readonly name: string }
  | { readonly type: 'file'; readonly file: FileEntry; readonly name: string }

interface PointPaneProps {
  readonly details: RunDetails
  readonly at: number
  readonly onMoveSeq: (seq: number) => void
}

/** What the point means: the files as far as they were changed, which event last changed each, and the stretches of the run. */
export function PointPane({ details, at, onMoveSeq }: PointPaneProps) {
  const { run, branches } = details
  const files = useRead(
    'runs.files',
    { run: run.id, seq: at },
    { enabled: at > 0, placeholderData: (before) => before },
  )
  return (
    <div className="flex min-h-full flex-col">
      {files.data === undefined && files.error === null && <Loading what={w.files} rows={5} />}
      {files.error !== null && <Failure what={w.files} failure={files.error} onRetry={() => void files.refetch()} />}
      {files.data !== undefined && (
        <>
          {!files.data.complete && <p className="px-3 pt-2 text-meta text-warn">{w.filesPartial(files.data.why)}</p>}
          {files.data.files.length === 0 ? (
            <p className="px-3 py-3 text-dense text-text-2">
              {w.filesNone}. {files.data.complete ? '' : w.filesNoneHint}
            </p>
          ) : (
            <FileList files={files.data.files} workspace={run.workspace} at={at} onMoveSeq={onMoveSeq} />
          )}
        </>
      )}
      {run.stretches.length > 0 && (
        <>
          <PaneHeading>{w.stretches}</PaneHeading>
          <ul className="px-3 pb-2 text-dense">
            {run.stretches.map((stretch) => (
              <li key={stretch.n} className="flex flex-wrap items-baseline gap-x-2 py-0.5">
                <LinkButton onClick={() => onMoveSeq(stretch.first_seq)}>@{stretch.first_seq}</LinkButton>
                <span>{w.stretch(stretch.cause)}</span>
                {stretch.started_at !== null && (
                  <span className="text-text-3 tabular-nums">{formatClock(stretch.started_at)}</span>
                )}
                <span className="ml-auto inline-flex gap-x-2">
                  <ResolvedAgain stretches={run.stretches} n={stretch.n} />
                  {stretch.manifest === null ? (
                    <Unknown>{w.noManifest}</Unknown>
                  ) : (
                    <Link
                      href={manifestPath(stretch.manifest)}
                      className="rounded-chip font-mono text-[0.75rem] text-accent hover:underline"
                    >
                      {shortDigest(stretch.manifest)}
                    </Link>
                  )}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {branches.length > 0 && (
        <>
          <PaneHeading>{w.forks}</PaneHeading>
          <ul className="px-3 pb-3 text-dense">
            {branches.map((branch) => (
              <li key={branch.id} className="flex items-center gap-2 py-0.5">
                {branch.forked_at !== null && (
                  <LinkButton onClick={() => onMoveSeq(branch.forked_at ?? 0)}>@{branch.forked_at}</LinkButton>
                )}
                <Link
                  href={runPath(branch.id)}
                  className="min-w-0 flex-1 truncate rounded-chip text-accent hover:underline"
                  title={branch.title}
                >
                  {branch.title === '' ? shortId(branch.id) : branch.title}
                </Link>
                <span className="text-text-3">
                  {branch.relation === null ? '' : words.relation[branch.relation].split(' ')[0]}
                </span>
                <StatusMark status={branch.status} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

interface FileListProps {
  readonly files: readonly FileEntry[]
  readonly workspace: string | null
  readonly at: number
  readonly onMoveSeq: (seq: number) => void
}

/** Files under their folders; deleted ones stay, struck through. `l` or Enter goes to the event that last changed one. */
function FileList({ files, workspace, at, onMoveSeq }: FileListProps) {
  const [active, setActive] = useState<string | null>(null)
  const height = useRowHeight('event')
  const rows = useMemo<readonly Row[]>(() => {
    const list: Row[] = []
    let folder: string | null = null
    const sorted = files
      .map((file) => ({ file, ...splitPath(relativeTo(workspace, file.path)) }))
      .sort((one, other) =>
        one.head === other.head ? (one.tail < other.tail ? -1 : 1) : one.head < other.head ? -1 : 1,
      )
    for (const { file, head, tail } of sorted) {
      if (head !== folder && head !== '') list.push({ type: 'folder', name: head })
      folder = head
      list.push({ type: 'file', file, name: tail.replace(/^[/\\]/, '') })
    }
    return list
  }, [files, workspace])
  const keyOf = useCallback(
    (index: number) => {
      const entry = rows[index]
      return entry?.type === 'file' ? entry.file.path : `folder:${entry?.name ?? index}`
    },
    [rows],
  )
  const row = useCallback(
    (index: number): GridRow => {
      const entry = rows[index]
      if (entry === undefined || entry.type === 'folder')
        return { key: `folder:${entry?.name ?? index}`, heading: true }
      return {
        key: entry.file.path,
        label: `${entry.name}, ${entry.file.deleted ? w.deletedFile : words.effects.change}, ${w.lastChanged(entry.file.last_seq)}`,
      }
    },
    [rows],
  )
  const go = (index: number) => {
    const entry = rows[index]
    if (entry?.type === 'file') onMoveSeq(entry.file.last_seq)
  }
  return (
    <div className="flex flex-col" style={{ height: Math.min(rows.length * height + 8, 420) }}>
      <VirtualGrid
        label={w.files}
        count={rows.length}
        row={row}
        keyOf={keyOf}
        rowHeight={() => height}
        active={active}
        onActive={setActive}
        onOpen={go}
        onKey={(event, index) => {
          if (event.key !== 'l') return false
          go(index)
          return true
        }}
        region="files"
        render={(index) => {
          const entry = rows[index]
          if (entry === undefined) return null
          if (entry.type === 'folder')
            return (
              <div className="flex h-full items-center px-3 text-meta text-text-3">
                <Cell className="truncate font-mono">{escapeControls(entry.name)}/</Cell>
              </div>
            )
          const { file } = entry
          const now = file.last_seq === at
          return (
            <div className="flex h-full items-center gap-2 pr-3 pl-6 text-dense">
              <Cell className="flex-1 truncate font-mono text-[0.75rem]">
                <span className={cx(file.deleted && 'line-through')} title={escapeControls(file.path)}>
                  {escapeControls(entry.name)}
                </span>
              </Cell>
              <Cell className="flex">
                <ChangeMark change={file.deleted ? 'delete' : isChange(file.change) ? file.change : 'unknown'} />
              </Cell>
              <Cell className="w-12 text-right">
                <button
                  type="button"
                  tabIndex={-1}
                  data-own-click
                  title={w.goLastChange}
                  onClick={() => onMoveSeq(file.last_seq)}
                  className={cx(
                    'rounded-chip font-mono text-[0.75rem] hover:underline',
                    now ? 'font-semibold text-text' : 'text-accent',
                  )}
                >
                  @{file.last_seq}
                </button>
              </Cell>
            </div>
          )
        }}
      />
    </div>
  )
}

const isChange = (text: string): text is 'add' | 'change' | 'delete' | 'mode' =>
  ['add', 'change', 'delete', 'mode'].includes(text)
