import path from 'node:path'
import {
  asRunId,
  type Digest,
  type Manifest,
  RepriseError,
  type RollbackRequest,
  type RollbackTarget,
  type RunId,
  type RuntimeName,
} from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import { findManifest, loadManifest } from './manifest-handlers.ts'
import { parsePin } from './pin-reference.ts'
import { looksLikeDigest, parsePoint } from './references.ts'

export interface FoundTarget {
  readonly target: RollbackTarget
  /** Null: the target stands for files only. */
  readonly manifest: Manifest | null
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** What a TARGET of a rollback means: a run, stretch, point, manifest, pin, change of configuration, or `now-2h`. */
export const findTarget = async (parts: Parts, request: RollbackRequest): Promise<FoundTarget> => {
  const text = request.target.trim()
  const ago = /^now-(\d+)([mhdw])$/.exec(text)
  if (text === 'now')
    throw new RepriseError('wrong_usage', 'target: `now` is what is there', 'name a time before it: now-2h')
  if (ago) return nowMinus(parts, request, text, Number(ago[1]) * UNITS[ago[2] as keyof typeof UNITS])
  const pin = await parsePin(parts, text)
  if (pin !== null) return ofManifest(parts, request, pin, { text, kind: 'pin' })
  if (looksLikeDigest(text) || /^d_[0-9a-f]{4,12}$/.test(text))
    return ofManifest(parts, request, await findManifest(parts, text), { text, kind: 'manifest' })
  return ofRun(parts, request, text)
}

const ofRun = async (parts: Parts, request: RollbackRequest, text: string): Promise<FoundTarget> => {
  const index = parts.index()
  const point = parsePoint(text)
  const row = index.findRun(point.run)
  const run = index.toRun(row)
  const digest = await findManifest(parts, text).catch((error: unknown) => {
    if (error instanceof RepriseError && error.code === 'not_found') return null
    throw error
  })
  const manifest = digest === null ? null : await loadManifest(parts, digest)
  const tip = await parts.store.commits.tip(asRunId(row.id))
  const commit = point.seq === null ? null : await nearestCommit(parts, asRunId(row.id), point.seq)
  return {
    manifest,
    target: {
      text,
      kind: point.seq !== null ? 'point' : point.stretch !== null ? 'stretch' : 'run',
      run: row.id,
      seq: point.seq,
      manifest: digest,
      state: point.seq === null ? (point.stretch === null ? (tip?.tree ?? null) : null) : (commit?.tree ?? null),
      at: commit?.at ?? run.started_at,
      runtime: run.runtime,
      home: request.of !== undefined && isHome(parts, request.of) ? request.of : run.home,
      workspace: manifest?.execution.cwd ?? run.workspace,
    },
  }
}

/** The state after an event is that of the last sealed event up to it. */
const nearestCommit = async (parts: Parts, run: RunId, seq: number) => {
  for (let at = seq; at >= 0; at -= 1) {
    const commit = await parts.store.commits.at(run, at)
    if (commit !== null) return commit
  }
  return null
}

const ofManifest = async (
  parts: Parts,
  request: RollbackRequest,
  digest: Digest,
  named: Pick<RollbackTarget, 'text' | 'kind'>,
): Promise<FoundTarget> => {
  const manifest = await loadManifest(parts, digest)
  const runtime = manifest.execution.runtime as RuntimeName
  return {
    manifest,
    target: {
      ...named,
      run: manifest.run_id,
      seq: null,
      manifest: digest,
      state: null,
      at: manifest.created_at,
      runtime,
      home: homeOf(parts, request, manifest),
      workspace: manifest.execution.cwd,
    },
  }
}

/** The newest configuration that was seen at or before that time. */
const nowMinus = async (parts: Parts, request: RollbackRequest, text: string, ms: number): Promise<FoundTarget> => {
  const at = new Date(parts.now().getTime() - ms).toISOString()
  const of = request.of === undefined ? null : path.resolve(request.of)
  const homes = parts.homes
    .list()
    .filter(
      (home) =>
        (request.runtime === undefined || home.runtime === request.runtime) &&
        (of === null || home.path === of || !isHome(parts, of)),
    )
  if (homes.length !== 1)
    throw new RepriseError(
      'ambiguous',
      `${text} could be of ${homes.length} homes`,
      'name one with --of HOME',
      homes.map((home) => home.path),
    )
  const [home] = homes
  const workspace = of !== null && !isHome(parts, of) ? of : null
  const row = parts
    .index()
    .sql(
      `select json_extract(doc, '$.after') as after from drifts where home = ? and at <= ? and ${workspace === null ? 'workspace is null' : 'workspace = ?'} order by at desc limit 1`,
    )
    .get(home?.id ?? '', at, ...(workspace === null ? [] : [workspace])) as { after: string } | undefined
  if (!row)
    throw new RepriseError(
      'not_found',
      `nothing was known of ${workspace ?? home?.path} at ${at}`,
      'it was not watched yet; `reprise runs` lists other points',
    )
  const found = await ofManifest(parts, request, row.after as Digest, { text, kind: 'now_minus' })
  return { ...found, target: { ...found.target, home: home?.path ?? found.target.home } }
}

const isHome = (parts: Parts, folder: string): boolean =>
  parts.homes.list().some((home) => home.path === path.resolve(folder))

/** The home whose files a manifest names, unless one is asked for. */
const homeOf = (parts: Parts, request: RollbackRequest, { execution, instructions }: Manifest): string | null => {
  if (request.of !== undefined && isHome(parts, request.of)) return path.resolve(request.of)
  const homes = parts.homes.list().filter(({ runtime }) => runtime === execution.runtime)
  const named = homes
    .map((home) => ({
      home: home.path,
      sources: instructions.sources.filter((source) => source.path?.startsWith(`${home.path}/`)).length,
    }))
    .sort((a, b) => b.sources - a.sources)[0]
  return named?.home ?? null
}
