import path from 'node:path'
import type { RollbackRecord } from '../../contract/index.ts'
import type { SafetyPath } from '../store/states.ts'
import type { Wanted } from './apply.ts'
import { asBytePath, type BytePath, type Disk, fromText } from './disk.ts'
import { readState } from './path-state.ts'
import { PlanBuilder, type Planned, shownPath } from './planned.ts'

/**
 * What takes a rollback back: each path it changed, to what the safety snapshot holds. A path somebody wrote since is a conflict, and stays
 * unless it is chosen.
 */
export async function planUndo(disk: Disk, record: RollbackRecord, saved: readonly SafetyPath[]): Promise<Planned> {
  const plan = new PlanBuilder()
  const applied = new Map(record.paths.map((one) => [one.path_bytes ?? Buffer.from(one.path).toString('base64'), one]))
  for (const { path: at, was } of saved) {
    const place = asBytePath(at)
    const done = applied.get(Buffer.from(at, 'latin1').toString('base64'))
    if (!done || done.result !== 'done') continue
    const found = await readState(disk, place)
    const { area } = done
    const shown = shownPath(place)
    const side =
      was === null
        ? null
        : { kind: was.kind, digest: was.digest, mode: was.kind === 'link' ? null : was.mode, bytes: was.bytes }
    if (
      (found?.digest ?? null) === (side?.digest ?? null) &&
      (side === null || side.mode === null || side.mode === found?.mode)
    )
      continue
    let after: Wanted | null = null
    if (was !== null && side !== null) {
      if (was.kind === 'link') {
        const target = Buffer.concat(await collect(was.read()))
        after = { side: { ...side, kind: 'link' }, target }
      } else after = { side: { ...side, kind: 'file' }, content: () => was.read() }
    }
    plan.changes.set(shown.path, {
      area,
      key: null,
      change: { path: place, root: rootOf(place, record), before: found, after },
      texts: { disk: null, target: null, why: null },
    })
    const changedSince = (found?.digest ?? null) !== done.after
    if (changedSince)
      plan.conflicts.push({
        ...shown,
        area,
        expected: done.after,
        found: found?.digest ?? null,
        last_writer: { who: 'unknown', run: null, seq: null, at: null },
        why: 'it was changed after the rollback',
        choices: ['disk', 'target'],
        after: side,
      })
    else if (side === null && found !== null)
      plan.deletes.push({ ...shown, area, before: found, why: 'the rollback made it', ticked: true })
    else if (side !== null)
      plan.writes.push({
        ...shown,
        area,
        change:
          found === null ? 'add' : found.kind !== side.kind ? 'type' : found.digest === side.digest ? 'mode' : 'change',
        key: null,
        before: found,
        after: side,
        added_lines: null,
        removed_lines: null,
        keeps: [],
        warnings: [],
        ticked: true,
      })
  }
  return plan.build()
}

/** The folder below which nothing may be a link: that of the home or the workspace, else the one the path lies in. */
function rootOf(at: BytePath, { target }: RollbackRecord): BytePath {
  for (const folder of [target.home, target.workspace]) {
    if (folder === null) continue
    const root = fromText(folder)
    if (at.startsWith(`${root}/`)) return root
  }
  return asBytePath(path.posix.dirname(at))
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}
