import fs from 'node:fs'
import path from 'node:path'
import { type BytePath, bytesOf } from './disk.ts'

/** Programs other than `own` that hold one of these files open, as far as the system tells (Linux; elsewhere nothing is known and nothing said). */
export function findOpenFiles(
  paths: readonly BytePath[],
  own: number,
  proc = '/proc',
): readonly { readonly path: BytePath; readonly pid: number }[] {
  const wanted = new Map(
    paths.flatMap((at) => {
      const stat = fs.lstatSync(bytesOf(at), { throwIfNoEntry: false })
      return stat?.isFile() ? [[`${stat.dev}:${stat.ino}`, at] as const] : []
    }),
  )
  if (wanted.size === 0) return []
  const found: { path: BytePath; pid: number }[] = []
  for (const pid of list(proc)) {
    if (!/^\d+$/.test(pid) || Number(pid) === own) continue
    for (const fd of list(path.join(proc, pid, 'fd'))) {
      try {
        const stat = fs.statSync(path.join(proc, pid, 'fd', fd))
        const at = wanted.get(`${stat.dev}:${stat.ino}`)
        if (at !== undefined) found.push({ path: at, pid: Number(pid) })
      } catch {
        // It was closed, or belongs to somebody else.
      }
    }
  }
  return found
}

function list(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}
