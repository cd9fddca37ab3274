import { useQueryClient } from '@tanstack/react-query'
import { queryKey } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { cx } from './classes.ts'
import { escapeControls, hasControls } from './format.ts'
import { homeFolder, splitPath, withTilde } from './paths.ts'

interface PathTextProps {
  readonly path: string
  readonly className?: string
  /** A deleted file stays in every list, struck through. */
  readonly deleted?: boolean
}

/** A path cut in the middle when there is no room: its last part always stays. */
export function PathText({ path, className, deleted = false }: PathTextProps) {
  const client = useQueryClient()
  const base = homeFolder(client.getQueryData(queryKey('status.get', {})))
  const { head, tail } = splitPath(escapeControls(withTilde(path, base)))
  return (
    <span
      className={cx('inline-flex max-w-full min-w-0 items-baseline align-bottom', deleted && 'line-through', className)}
      title={escapeControls(path)}
    >
      <span className="min-w-0 truncate whitespace-pre">{head}</span>
      <span className="max-w-full shrink-0 truncate whitespace-pre">{tail}</span>
      {hasControls(path) && <span className="ml-1 shrink-0 text-meta text-text-3 no-underline">{words.rawName}</span>}
    </span>
  )
}
