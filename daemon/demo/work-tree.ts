import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A workspace of the sample: files in memory while the story is told, a real Git repository on disk. */
export class WorkTree {
  readonly root: string
  private readonly files = new Map<string, string>()
  private readonly written = new Map<string, string>()
  private readonly log: string[] = []

  constructor(root: string) {
    this.root = root
    mkdirSync(root, { recursive: true })
    this.git(['init', '--quiet', '--initial-branch=main'], null)
  }

  absolute(path: string): string {
    return join(this.root, path)
  }

  relative(path: string): string {
    return path.startsWith(`${this.root}/`) ? path.slice(this.root.length + 1) : path
  }

  read(path: string): string | null {
    return this.files.get(path) ?? null
  }

  write(path: string, content: string): void {
    this.files.set(path, content)
  }

  snapshot(): ReadonlyMap<string, string> {
    return new Map(this.files)
  }

  /** Brings the disk to the state in memory. */
  save(): void {
    for (const [path, content] of this.files) {
      if (this.written.get(path) === content) continue
      mkdirSync(dirname(this.absolute(path)), { recursive: true })
      writeFileSync(this.absolute(path), content)
      this.written.set(path, content)
    }
    for (const path of [...this.written.keys()]) {
      if (this.files.has(path)) continue
      rmSync(this.absolute(path))
      this.written.delete(path)
    }
  }

  commit(message: string, at: Date): void {
    this.save()
    this.git(['add', '--all'], at)
    this.git(['commit', '--quiet', '-m', message], at)
    const id = this.git(['rev-parse', '--short=7', 'HEAD'], null).trim()
    this.log.unshift(`${id} ${message}`)
  }

  /** As the runtime shows it at a start, without the vendor's words. */
  status(): string {
    this.save()
    const short = this.git(['status', '--short'], null).trimEnd()
    return `Current branch: main\n\nMain branch: main\n\nGit user: Sample\n\nStatus:\n${short === '' ? '(clean)' : short}\n\nRecent commits:\n${this.log.slice(0, 5).join('\n')}`
  }

  private git(args: readonly string[], at: Date | null): string {
    const date = at === null ? '2026-01-01T00:00:00Z' : at.toISOString()
    return execFileSync('git', ['-C', this.root, '-c', 'gc.auto=0', '-c', 'core.hooksPath=/dev/null', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'Sample',
        GIT_AUTHOR_EMAIL: 'sample@example.com',
        GIT_COMMITTER_NAME: 'Sample',
        GIT_COMMITTER_EMAIL: 'sample@example.com',
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      },
    })
  }
}

/** Writes one file of the sample, folders included; `secret` files get the rights the runtime gives them. */
export function writeSampleFile(path: string, content: string, secret = false): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  if (secret) chmodSync(path, 0o600)
}
