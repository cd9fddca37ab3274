import type { RollbackRecord } from '../../contract/rollback.ts'
import { shortId } from '../parts/format.ts'
import { words } from '../words/en.ts'
import { targetText } from './target-text.ts'

const w = words.receipt

export const touchedPaths = ({ paths }: RollbackRecord): number =>
  new Set(paths.filter(({ result }) => result === 'done' || result === 'taken_back').map(({ path }) => path)).size

/** What a rollback did, as its page is titled; what was meant, where it was not done. */
export function recordTitle({ target, is_rollback, undo_of, state }: RollbackRecord): string {
  const said = state === 'applied' || state === 'undone' ? w : words.rollback
  if (undo_of !== null) return said.titleUndo(shortId(undo_of))
  return is_rollback ? said.title(targetText(target)) : said.titleFiles(targetText(target))
}

/** The same as a row of a list, with its count and its fate. */
export function recordRow(record: RollbackRecord): string {
  const { state, undo_of, is_rollback, undone_by, target } = record
  const open = w.rowOpen[state]
  const count = touchedPaths(record)
  const undone = state === 'undone' || undone_by !== null
  const done =
    undo_of !== null
      ? w.rowUndo(shortId(undo_of), count)
      : (is_rollback ? w.rowTitle : w.rowFiles)(targetText(target), count, undone)
  return open === undefined ? done : `${recordTitle(record)}: ${open}`
}

/** Which areas it reached into, in words. */
export function scopeText({ home, project, workspace, only }: RollbackRecord['scope']): string {
  const areas = [
    home === true ? w.areas.home : '',
    project === true ? w.areas.project : '',
    workspace === true ? w.areas.workspace : '',
    only === undefined || only.length === 0 ? '' : w.chosen(only.length),
  ]
  const said = areas.filter((area) => area !== '').join(', ')
  return said === '' ? words.none : said
}

/** What can be taken back: something that was done and still stands. */
export const canUndo = ({ state, undone_by }: RollbackRecord): boolean => state === 'applied' && undone_by === null
