import path from 'node:path'
import {
  type CompareSide,
  type Digest,
  type Manifest,
  type ParsedInput,
  RepriseError,
  type RuntimeName,
} from '../../contract/index.ts'
import type { Compared } from '../manifest/compare/compare.ts'
import { taskId } from '../manifest/complete/complete-body.ts'
import type { Parts } from '../parts.ts'
import type { RunRow } from '../store/index/run-row.ts'
import { readEventContent } from './event-content.ts'
import { findManifest, loadManifest, resolveNow } from './manifest-handlers.ts'
import { looksLikeDigest, parsePoint } from './references.ts'
import { firstMention, mustHaveEvent, readFacts } from './run-evidence.ts'

type Request = ParsedInput<'compare.run'>

/** Both sides of a comparison. `now` takes from the other side what it is not told: agent, home, workspace, flags. */
export const findSides = async (
  parts: Parts,
  request: Request,
): Promise<{ readonly a: Compared; readonly b: Compared }> => {
  if (request.a === 'now' && request.b === 'now') {
    const side = await sideNow(parts, request, null)
    return { a: side, b: side }
  }
  const a = request.a === 'now' ? null : await sideOf(parts, request.a)
  const b = request.b === 'now' ? null : await sideOf(parts, request.b)
  return { a: a ?? (await sideNow(parts, request, b)), b: b ?? (await sideNow(parts, request, a)) }
}

/**
 * Manifests that were just verified and compared: one is looked at against several others in a row, and a large one takes a while to verify.
 * Held for a moment only, the few last ones.
 */
const recent = new Map<string, Manifest>()
const MOST_RECENT = 4
const RECENT_MS = 30_000
let forget: NodeJS.Timeout | null = null

const loadRecent = async (parts: Parts, digest: Digest): Promise<Manifest> => {
  const manifest = recent.get(digest) ?? (await loadManifest(parts, digest))
  recent.delete(digest)
  recent.set(digest, manifest)
  for (const oldest of [...recent.keys()].slice(0, Math.max(0, recent.size - MOST_RECENT))) recent.delete(oldest)
  if (forget) clearTimeout(forget)
  forget = setTimeout(() => recent.clear(), RECENT_MS)
  forget.unref()
  return manifest
}

const sideOf = async (parts: Parts, target: string): Promise<Compared> => {
  const digest = await findManifest(parts, target)
  const manifest = await loadRecent(parts, digest)
  const isManifest = looksLikeDigest(target) && digest.includes(target.replace(/^sha256:/, ''))
  const named = isManifest ? runOfManifest(parts, manifest) : parts.index().findRun(parsePoint(target).run)
  const about = (run: RunRow | null): CompareSide => ({
    target,
    run: run?.id ?? null,
    stretch: manifest.stretch,
    manifest: digest,
    runtime: (run?.runtime ?? manifest.execution.runtime) as RuntimeName,
    runtime_version: manifest.execution.runtime_version,
    workspace: manifest.execution.cwd ?? run?.workspace ?? null,
    at: manifest.created_at,
    title: run?.title ?? null,
    status: run === null ? null : parts.index().toRun(run).status,
    origin: manifest.origin,
    task: manifest.task.id ?? taskId(manifest.task.input_digest),
  })
  if (isManifest || named === null)
    return {
      about: { ...about(null), title: null },
      body: manifest,
      home: named?.home_path ?? guessHome(parts, manifest),
      events: null,
      inputOf: noInput,
      mentions: null,
      notes: [],
    }
  const index = parts.index()
  const point = parsePoint(target)
  if (point.seq !== null) mustHaveEvent(index, named, point.seq)
  const facts = readFacts(index, named.key, point)
  const run = index.toRun(named)
  const others = run.stretches.filter(({ manifest: other }) => other !== null && other !== digest)
  const texts = parts.settings.read().collection !== 'digests'
  return {
    about: about(named),
    body: manifest,
    home: named.home_path,
    events: facts,
    inputOf: (seq) => inputOf(parts, named, seq),
    mentions: texts ? (word) => firstMention(index, named.key, word, facts) : null,
    notes: [
      ...(others.length > 0 && point.stretch === null
        ? [
            `${named.id} was started ${run.stretches.length} times; its configuration is that of start ${manifest.stretch ?? run.stretches.length}, others with ${named.id}#1 to #${run.stretches.length}`,
          ]
        : []),
      ...(run.status === 'running' ? ['the run goes on; what it will still use is not known'] : []),
      ...(run.unreadable_lines > 0 ? [`${run.unreadable_lines} lines of its record could not be read`] : []),
    ],
  }
}

const sideNow = async (parts: Parts, request: Request, other: Compared | null): Promise<Compared> => {
  const runtime = request.runtime ?? other?.about.runtime
  const workspace = request.workspace ?? other?.body.execution.cwd ?? other?.about.workspace
  if (runtime === undefined || workspace === undefined || workspace === null)
    throw new RepriseError(
      'wrong_usage',
      '`now` needs an agent and a directory, and the other side names none',
      'give --runtime and --workspace',
    )
  const home = request.home ?? (other?.about.runtime === runtime ? other.home : null) ?? undefined
  const recorded = other?.body.execution.flags ?? null
  const flags = request.flags ?? recorded ?? []
  const manifest = await resolveNow(parts, {
    runtime,
    workspace: path.resolve(workspace),
    home,
    flags,
    version: 'installed',
  })
  return {
    about: {
      target: 'now',
      run: null,
      stretch: null,
      manifest: manifest.integrity.manifest_digest,
      runtime,
      runtime_version: manifest.execution.runtime_version,
      workspace: manifest.execution.cwd,
      at: manifest.created_at,
      title: null,
      status: null,
      origin: manifest.origin,
      task: null,
    },
    body: manifest,
    home: home ?? guessHome(parts, manifest),
    events: null,
    inputOf: noInput,
    mentions: null,
    notes:
      request.flags === undefined && recorded === null && other !== null
        ? ['resolved without start flags: those of the other side are not known']
        : [],
  }
}

const noInput = async (): Promise<null> => null

/** What a call was given, from wherever its lines are; compared only, never shown. */
const inputOf = async (parts: Parts, run: RunRow, seq: number): Promise<string | null> => {
  try {
    const { content } = await readEventContent(parts, run, seq)
    const inputs = content.parts.filter(({ role }) => role === 'input').map(({ label, text }) => `${label}\n${text}`)
    return inputs.length === 0 ? null : inputs.join('\n')
  } catch (error) {
    if (error instanceof RepriseError) return null
    throw error
  }
}

const runOfManifest = (parts: Parts, { run_id }: Manifest): RunRow | null => {
  if (run_id === null) return null
  try {
    return parts.index().findRun(run_id)
  } catch {
    // Its run may be gone from the index; the manifest stands for itself.
    return null
  }
}

/** The home whose files a manifest names. */
const guessHome = (parts: Parts, { execution, instructions }: Manifest): string | null =>
  parts.homes
    .list()
    .filter(({ runtime }) => runtime === execution.runtime)
    .map(({ path: home }) => ({
      home,
      sources: instructions.sources.filter((source) => source.path?.startsWith(`${home}/`)).length,
    }))
    .filter(({ sources }) => sources > 0)
    .sort((a, b) => b.sources - a.sources)[0]?.home ?? null
