import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { resolveOpenClaw } from '../../daemon/runtimes/openclaw/resolve/index.ts'

export interface OpenClawHome {
  /** The user's home; stands for `/home/dev` of the fixtures. */
  readonly home: string
  readonly state: string
  /** Writes below the home, or anywhere with an absolute path. */
  write(file: string, text: string | Uint8Array): void
  link(file: string, target: string): void
  /** A second name for the same file. */
  hardLink(file: string, target: string): void
  folder(file: string): void
  resolve(request?: Partial<ResolveChoice>): Resolution
  remove(): void
}

export interface ResolveChoice {
  readonly state: string
  readonly cwd: string
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Stands for the keyed digest of a secret. */
  readonly keyed: (value: string) => string
}

/** A throw-away home. With `length` its path has exactly that many characters, for what depends on the length of a path. */
export function layOpenClawHome(length?: number): OpenClawHome {
  const home =
    length === undefined ? realpathSync(mkdtempSync(path.join(os.tmpdir(), 'reprise-openclaw-'))) : ofLength(length)
  const state = path.join(home, '.openclaw')
  mkdirSync(path.join(state, 'workspace'), { recursive: true })
  const place = (file: string): string => {
    const full = path.resolve(home, file)
    mkdirSync(path.dirname(full), { recursive: true })
    return full
  }
  return {
    home,
    state,
    write: (file, text) => writeFileSync(place(file), text),
    link: (file, target) => symlinkSync(target, place(file)),
    hardLink: (file, target) => linkSync(path.resolve(home, target), place(file)),
    folder: (file) => void mkdirSync(path.resolve(home, file), { recursive: true }),
    resolve: (choice = {}) =>
      resolveOpenClaw({
        home: choice.state ?? state,
        cwd: choice.cwd ?? path.join(state, 'workspace'),
        flags: choice.flags ?? ['--local'],
        surroundings: {
          platform: process.platform,
          userHome: home,
          env: choice.env ?? {},
          systemRoot: '',
          now: () => new Date('2026-11-30T12:00:00Z'),
        },
        version: '2026.9.6',
        ...(choice.keyed === undefined ? {} : { keyed: choice.keyed }),
      }),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

function ofLength(length: number): string {
  const random = length - '/tmp/'.length
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const home = `/tmp/${Math.random()
      .toString(36)
      .slice(2, 2 + random)
      .padEnd(random, '0')}`
    try {
      mkdirSync(home)
      return home
    } catch {}
  }
  throw new Error(`no free directory with a path of ${length} characters`)
}

/** Pieces of the Project Context in their order, as they go over the wire. */
export function resolvedPieces({
  body,
  order,
  texts,
}: Resolution): { readonly path: string; readonly text: string | null }[] {
  return order.map((uri) => {
    const source = body.instructions.sources.find((one) => one.uri === uri)
    return { path: source?.path ?? uri, text: texts.get(uri)?.text ?? null }
  })
}
