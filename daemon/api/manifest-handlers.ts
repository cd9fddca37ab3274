import fs from 'node:fs'
import path from 'node:path'
import {
  type Digest,
  driftSchema,
  type InstructionPiece,
  isDigest,
  type Manifest,
  type ParsedInput,
  RepriseError,
} from '../../contract/index.ts'
import { homeIdOf } from '../capture/run-ids.ts'
import { realPath } from '../homes.ts'
import { scanSources } from '../manifest/scan-sources.ts'
import type { Parts } from '../parts.ts'
import type { SomeHandlers } from './handlers.ts'
import { looksLikeDigest, parsePoint } from './references.ts'

export const createManifestHandlers = (parts: Parts) =>
  ({
    'manifest.get': async ({ target }) => {
      const digest = await findManifest(parts, target)
      const manifest = await loadManifest(parts, digest)
      const damage = await missingTexts(parts, manifest)
      return { manifest, intact: true, damage }
    },

    'manifest.resolve': async (request) => ({ manifest: await resolveNow(parts, { ...request, version: null }) }),

    'manifest.instructions': async ({ target, all }) => {
      const manifest = await loadManifest(parts, await findManifest(parts, target))
      const { effective_digest, sources } = manifest.instructions
      const entering = sources
        .filter((source) => source.position !== null)
        .sort((a, b) => (a.position ?? 0) - (b.position ?? 0))
      const instructive = new Set(['instructions', 'rule', 'import', 'memory'])
      const shown = all
        ? [...entering, ...sources.filter((source) => source.position === null && instructive.has(source.kind))]
        : entering
      const pieces: InstructionPiece[] = []
      for (const source of shown) {
        const kept = source.text_digest === null ? null : await parts.store.texts.get(source.text_digest as Digest)
        const { path: file, uri, scope, label, status, reason, text_digest } = source
        pieces.push({
          path: file,
          uri,
          scope,
          label,
          status,
          reason,
          text_digest,
          text: kept?.text ?? null,
          redactions: kept?.redactions ?? 0,
        })
      }
      return { effective_digest, pieces }
    },
  }) satisfies SomeHandlers

/** What would be in force for a start now, frozen. `installed`: under the rules of the program that is there, where it can be found. */
export const resolveNow = async (
  parts: Parts,
  {
    runtime,
    workspace,
    home,
    flags,
    version,
  }: ParsedInput<'manifest.resolve'> & { readonly version: 'installed' | null },
): Promise<Manifest> => {
  const adapter = parts.adapters.get(runtime)
  if (!adapter) throw new RepriseError('refused', `${runtime} cannot be resolved yet`, 'claude-code can')
  const cwd = path.resolve(workspace)
  if (!isDirectory(cwd))
    throw new RepriseError('not_found', `workspace: ${cwd} is no directory`, 'give an existing directory')
  const homePath = home === undefined ? defaultHome(parts, runtime) : realPath(path.resolve(home))
  // An absent home would resolve to a configuration that is empty for no reason anybody could see.
  if (!isDirectory(homePath))
    throw new RepriseError(
      'not_found',
      `home: ${homePath} is no directory`,
      home === undefined
        ? `it is the known home of ${runtime}, and is gone: name another one with --home`
        : `give the directory in which ${runtime} keeps its configuration`,
    )
  const resolution = adapter.resolve({
    home: homePath,
    cwd,
    flags: flags ?? [],
    surroundings: parts.surroundings,
    version: version === null ? null : (adapter.findProgram(homePath, parts.surroundings)?.version ?? null),
    keyed: parts.redactor.keyed,
  })
  const texts = resolution.body.instructions.sources.flatMap((source) => {
    const text = resolution.texts.get(source.uri)?.text
    return source.text_digest === null || typeof text !== 'string' ? [] : [{ digest: source.text_digest, text }]
  })
  const body = scanSources(resolution.body, ({ uri }) => resolution.texts.get(uri), parts.redactor)
  return parts.worker.call('freeze', { runtime, path: homePath }, body, texts)
}

/** A manifest by digest or unique prefix, or that of a run, a point or a stretch. */
export const findManifest = async (parts: Parts, target: string): Promise<Digest> => {
  if (isDigest(target)) return target
  // A change of configuration stands for what it led to.
  if (/^d_[0-9a-f]{4,12}$/.test(target)) {
    const [one, other] = parts.index().sql(`select doc from drifts where id like ? || '%' limit 2`).all(target) as {
      doc: string
    }[]
    if (one && !other) return driftSchema.parse(JSON.parse(one.doc)).after as Digest
  }
  if (looksLikeDigest(target)) {
    const found = await parts.store.manifests.find(target.replace(/^sha256:/, ''))
    if (found.length === 1) return found[0] as Digest
    if (found.length > 1)
      throw new RepriseError(
        'ambiguous',
        `${found.length} manifests begin with ${target}`,
        'give more of the digest',
        found.slice(0, 10),
      )
  }
  const index = parts.index()
  const point = parsePoint(target)
  const row = index.findRun(point.run)
  const stretch =
    point.stretch ??
    (point.seq === null
      ? null
      : ((
          index
            .sql('select stretch from events where run = ? and seq <= ? order by seq desc limit 1')
            .get(row.key, Math.max(1, point.seq)) as { stretch: number } | undefined
        )?.stretch ?? null))
  const found = (
    stretch === null
      ? index.sql('select manifest from stretches where run = ? order by n desc limit 1').get(row.key)
      : index.sql('select manifest from stretches where run = ? and n = ?').get(row.key, stretch)
  ) as { manifest: Digest | null } | undefined
  if (!found)
    throw new RepriseError(
      'not_found',
      stretch === null ? `${row.id} has no stretch` : `${row.id} has no stretch ${stretch}`,
    )
  if (found.manifest === null)
    throw new RepriseError(
      'not_found',
      `no manifest was made for this stretch of ${row.id}`,
      'its record says nothing of its configuration, or it has only just begun',
    )
  return found.manifest
}

export const loadManifest = async (parts: Parts, digest: Digest): Promise<Manifest> => {
  const manifest = await parts.store.manifests.get(digest)
  if (!manifest) throw new RepriseError('not_found', `there is no manifest ${digest}`)
  return manifest
}

/** Texts a manifest names that the store should hold and cannot give back. */
const missingTexts = async (parts: Parts, manifest: Manifest): Promise<string[]> => {
  const damage: string[] = []
  for (const { text_digest, path: file, uri } of manifest.instructions.sources) {
    if (text_digest === null) continue
    try {
      await parts.store.texts.get(text_digest as Digest)
    } catch (error) {
      damage.push(`${file ?? uri}: ${(error as Error).message}`)
    }
  }
  return damage
}

const defaultHome = (parts: Parts, runtime: Parameters<Parts['adapters']['get']>[0]): string => {
  const homes = parts.homes.list().filter((home) => home.runtime === runtime)
  const first = parts.adapters.get(runtime)?.findHomes(parts.surroundings)[0]
  const preferred = first && homes.find((home) => home.id === homeIdOf(runtime, realPath(first.path)))
  const home = preferred ?? homes[0]
  if (home) return home.path
  if (first) return realPath(first.path)
  throw new RepriseError('not_found', `no home of ${runtime} is known`, 'name one with --home')
}

const isDirectory = (dir: string): boolean => {
  try {
    return fs.statSync(dir).isDirectory()
  } catch {
    return false
  }
}
