import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Content, modes and modification times of everything below a folder, one line each: what must be the same before and after. */
export function describeFolder(folder: string): readonly string[] {
  const lines: string[] = []
  const visit = (path: string, shown: string): void => {
    const stat = lstatSync(path, { bigint: true })
    const what = stat.isDirectory()
      ? 'folder'
      : stat.isSymbolicLink()
        ? readlinkSync(path)
        : createHash('sha256').update(readFileSync(path)).digest('hex')
    lines.push(`${shown} ${stat.mode.toString(8)} ${stat.mtimeNs} ${what}`)
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name), `${shown}/${name}`)
  }
  visit(folder, '.')
  return lines
}

/** A user's git, with a configuration of its own; throws when it fails. */
export function userGit(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const done = spawnSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', ...env },
    encoding: 'utf8',
  })
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`)
  return done.stdout
}
