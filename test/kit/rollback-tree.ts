import fs from 'node:fs'
import path from 'node:path'
import type { Change, Wanted } from '../../daemon/rollback/apply.ts'
import { asBytePath, type BytePath, bytesOf, type Disk, realDisk } from '../../daemon/rollback/disk.ts'
import { digestOf, readState } from '../../daemon/rollback/path-state.ts'

/** A tree in short: a file's content, `-> target` for a link, null for an empty folder; `!` before a content: may be run. */
export type Tree = Readonly<Record<string, string | null>>

export function plant(root: string, tree: Tree): void {
  for (const [name, content] of Object.entries(tree)) {
    const at = bytesOf(asBytePath(`${Buffer.from(root).toString('latin1')}/${name}`))
    fs.mkdirSync(content === null ? at : Buffer.from(path.posix.dirname(at.toString('latin1')), 'latin1'), {
      recursive: true,
    })
    if (content === null) continue
    if (content.startsWith('-> ')) fs.symlinkSync(content.slice(3), at)
    else {
      const runs = content.startsWith('!')
      fs.writeFileSync(at, Buffer.from(runs ? content.slice(1) : content, 'latin1'))
      fs.chmodSync(at, runs ? 0o755 : 0o644)
    }
  }
}

/** The tree as it is, everything in it, also what should not be. */
export function look(root: string): Record<string, string | null> {
  const found: Record<string, string | null> = {}
  const visit = (under: string): void => {
    const folder = `${Buffer.from(root).toString('latin1')}${under === '' ? '' : `/${under}`}`
    const names = fs.readdirSync(Buffer.from(folder, 'latin1'), { encoding: 'latin1' }).sort()
    if (names.length === 0 && under !== '') found[under] = null
    for (const name of names) {
      const at = Buffer.from(`${folder}/${name}`, 'latin1')
      const shown = under === '' ? name : `${under}/${name}`
      const stat = fs.lstatSync(at)
      if (stat.isDirectory()) visit(shown)
      else if (stat.isSymbolicLink()) found[shown] = `-> ${fs.readlinkSync(at)}`
      else found[shown] = `${(stat.mode & 0o100) === 0 ? '' : '!'}${fs.readFileSync(at, 'latin1')}`
    }
  }
  visit('')
  return found
}

/** The changes that lead from what is on the disk to `tree`, as far as it names paths; `-` deletes. */
export async function changesTo(
  root: string,
  wanted: Readonly<Record<string, string>>,
  disk: Disk = realDisk(),
): Promise<Change[]> {
  const base = asBytePath(Buffer.from(root).toString('latin1'))
  const changes: Change[] = []
  for (const [name, content] of Object.entries(wanted)) {
    const at = asBytePath(`${base}/${name}`)
    changes.push({
      path: at,
      root: base,
      before: await stateAt(disk, at),
      after: content === '-' ? null : want(content),
    })
  }
  return changes
}

async function stateAt(disk: Disk, at: BytePath) {
  const found = await readState(disk, at)
  return found?.kind === 'directory' ? null : found
}

export function want(content: string): Wanted {
  if (content.startsWith('-> ')) {
    const target = Buffer.from(content.slice(3))
    return { side: { kind: 'link', digest: digestOf(target), mode: null, bytes: target.length }, target }
  }
  const runs = content.startsWith('!')
  const bytes = Buffer.from(runs ? content.slice(1) : content, 'latin1')
  return {
    side: { kind: 'file', digest: digestOf(bytes), mode: runs ? 0o755 : 0o644, bytes: bytes.length },
    async *content() {
      yield bytes
    },
  }
}
