import type { RollbackTarget } from '../../contract/rollback.ts'
import { formatStamp, shortDigest, shortId } from '../parts/format.ts'
import { words } from '../words/en.ts'

const w = words.rollback

/** What is gone back to, by its name: `r_8f2c@41`, `manifest 2be41d07`, `pin release`. */
export function targetName(target: RollbackTarget): string {
  const { kind, text, run, seq, manifest } = target
  switch (kind) {
    case 'run':
      return run === null ? text : shortId(run)
    case 'point':
    case 'stretch':
      return run === null || seq === null ? text : `${shortId(run)}@${seq}`
    case 'manifest':
      return `${w.kinds.manifest} ${shortDigest(manifest ?? text)}`
    case 'pin':
      return `${w.kinds.pin} ${text}`
    case 'version':
      return `${w.kinds.version} ${text}`
    case 'safety':
      return `${w.kinds.safety} ${shortId(text.replace(/^before /, ''))}`
    case 'now_minus':
      return target.at === null ? text : formatStamp(target.at)
    default:
      return kind satisfies never
  }
}

/** Name and moment, as a title says them. */
export const targetText = (target: RollbackTarget): string =>
  target.at === null || target.kind === 'now_minus'
    ? targetName(target)
    : `${targetName(target)}, ${formatStamp(target.at)}`
