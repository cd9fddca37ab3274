import type { ManifestBody, RuntimeName, Writer } from '../../contract/index.ts'
import { formatOf, isStructured } from '../files/structured/format.ts'
import { isRefused } from '../files/structured/key-path.ts'
import { isCredentialFile } from '../secrets/credential-files.ts'
import type { RawFiles } from '../store/states.ts'
import type { Wanted } from './apply.ts'
import { type Areas, type ConfigurationFile, filesOf, isBelow, placeOf } from './configuration-files.ts'
import { type Disk, fromText } from './disk.ts'
import { mergeKey, mergeShared } from './merge-shared.ts'
import { countLines, takeHunks } from './merge-text.ts'
import { parseKey } from './parse-key.ts'
import { digestOf, type PathState, readState, sameState } from './path-state.ts'
import { PlanBuilder, type Planned, shownPath } from './planned.ts'
import type { SharedFile } from './shared-files.ts'

export interface ConfigurationRequest {
  readonly runtime: RuntimeName
  readonly target: ManifestBody
  readonly now: ManifestBody
  readonly areas: Areas
  readonly scope: { readonly home: boolean; readonly project: boolean }
  /** Only these; all of the scope when left out. */
  readonly only: readonly { readonly path: string; readonly key?: string; readonly hunks?: readonly number[] }[] | null
}

export interface ConfigurationParts {
  readonly disk: Disk
  readonly files: Pick<RawFiles, 'get'>
  /** What of a file is configuration, where it is not all of it. */
  readonly sharedFile: (path: string) => SharedFile | null
  /** Folders in which the agent itself appends to files line by line. */
  readonly isSessionFile: (path: string) => boolean
  /** Who last wrote a file, as far as that was seen. */
  readonly lastWriter: (path: string) => Writer
  /** Its text is shown only without this finding something. */
  readonly hasSecret: (text: string) => boolean
}

/** Texts longer than this are not compared line by line. */
const LONGEST_TEXT = 1024 * 1024

/**
 * Path by path, what would bring the configuration back: contents by the digests the target names. A file that is there now and was not then
 * is deleted only if the target was resolved from the disk, so that it would have seen it; whatever is not sure stays (rule 1).
 */
export async function planConfiguration(parts: ConfigurationParts, request: ConfigurationRequest): Promise<Planned> {
  const plan = new PlanBuilder()
  const then = filesOf(request.target)
  const present = filesOf(request.now)
  const asked = request.only
  const inScope = (file: string): boolean => {
    if (asked !== null) return asked.some(({ path }) => path === file || isBelow(file, path))
    const area = placeOf(file, request.areas)?.area
    return area === undefined ? request.scope.home : area === 'home' ? request.scope.home : request.scope.project
  }
  for (const file of [...new Set([...then.keys(), ...present.keys()])].filter(inScope).sort()) {
    const was = then.get(file)
    if (was) await planFile(parts, request, plan, was)
    else await planNewer(parts, request, plan, present.get(file) ?? null)
  }
  for (const { path } of asked ?? [])
    if (![...then.keys(), ...present.keys()].some((file) => file === path || isBelow(file, path)))
      plan.not_restorable.push({ path, area: null, what: path, why: 'the target names no such file' })
  if (asked === null) addExternal(plan, request)
  return plan.build()
}

async function planFile(
  parts: ConfigurationParts,
  request: ConfigurationRequest,
  plan: PlanBuilder,
  was: ConfigurationFile,
): Promise<void> {
  const place = placeOf(was.path, request.areas)
  const cannot = (why: string): void => {
    plan.not_restorable.push({ path: was.path, area: place?.area ?? null, what: was.path, why })
  }
  const at = fromText(was.path)
  const found = await readState(parts.disk, at)
  if (found !== null && found.digest !== null && found.digest === was.digest && fits(found, was)) return
  if (isCredentialFile(was.path)) {
    if (was.digest !== null || found !== null) cannot('credentials are never copied, so it stays as it is')
    return
  }
  if (place === null) return cannot('it lies in neither the home nor the workspace; whoever manages it must restore it')
  if (was.digest === null) {
    // The target looked for it and found nothing.
    if (found !== null && request.target.origin !== 'inferred' && was.reason !== null)
      await planNewer(parts, request, plan, was)
    else if (found !== null) cannot(`its content then is not known: ${was.reason ?? 'no digest was recorded'}`)
    return
  }
  if (found?.kind === 'link')
    return cannot(
      `it is a link now; nothing is written through it: roll back what it leads to, ${linkTarget(parts, at)}`,
    )
  if (found !== null && found.kind !== 'file') return cannot(`there is a ${found.kind} in its place`)
  const kept = await parts.files.get(was.digest).catch((error: Error) => error)
  if (kept === null) return cannot('its bytes were not kept')
  if (kept instanceof Error) return cannot(kept.message)

  const built = await contentFor(parts, request, was, kept, found)
  if ('why' in built) return cannot(built.why)
  const { content, keeps, key } = built
  const after = {
    kind: 'file' as const,
    digest: digestOf(content),
    mode: was.mode ?? found?.mode ?? 0o644,
    bytes: content.length,
  }
  if (sameState(found, after)) return
  const texts = await textsOf(parts, at, found, content)
  const wanted: Wanted = { side: after, content: () => once(content) }
  const change = { path: at, root: fromText(place.root), before: found, after: wanted }
  plan.changes.set(was.path, { area: place.area, key, change, texts })
  const writer = parts.lastWriter(was.path)
  const lines = texts.disk === null || texts.target === null ? null : countLines(texts.disk, texts.target)
  // What a run wrote after the target is its work, not the configuration's (B03): it is asked for, path by path.
  if (writer.who === 'another run' && found !== null && request.only === null) {
    plan.conflicts.push({
      ...shownPath(at),
      area: place.area,
      expected: was.digest,
      found: found.digest,
      last_writer: writer,
      why: 'a run wrote to it after the target',
      choices: texts.disk === null ? ['disk', 'target'] : ['disk', 'target', 'hunks'],
      after,
    })
    return
  }
  plan.writes.push({
    ...shownPath(at),
    area: place.area,
    change: found === null ? 'add' : found.digest === after.digest ? 'mode' : 'change',
    key,
    before: found,
    after,
    added_lines: lines?.added ?? null,
    removed_lines: lines?.removed ?? null,
    keeps: keeps.map((kept) => ({
      key: kept,
      why: parts.sharedFile(was.path)?.why ?? 'not part of the configuration',
    })),
    warnings: [],
    ticked: true,
  })
}

/** A file of now that the target does not have. */
async function planNewer(
  parts: ConfigurationParts,
  request: ConfigurationRequest,
  plan: PlanBuilder,
  file: ConfigurationFile | null,
): Promise<void> {
  if (file === null) return
  const place = placeOf(file.path, request.areas)
  const at = fromText(file.path)
  const found = await readState(parts.disk, at)
  if (found === null || place === null) return
  const keep = (why: string, deletable: boolean): void => {
    plan.kept.push({ ...shownPath(at), area: place.area, why, deletable })
    if (deletable)
      plan.changes.set(file.path, {
        area: place.area,
        key: null,
        change: { path: at, root: fromText(place.root), before: found, after: null },
        texts: { disk: null, target: null, why: null },
      })
  }
  if (isCredentialFile(file.path)) return keep('credentials are never touched', false)
  if (file.kind === 'state' || parts.sharedFile(file.path) !== null) return keep("the agent's own state", false)
  if (found.kind !== 'file') return keep(`it is a ${found.kind}`, found.kind === 'link')
  if (request.target.origin === 'inferred')
    return keep('the target is known from a record only, which does not say what else was there', true)
  const writer = parts.lastWriter(file.path)
  if (writer.who === 'another run') return keep('a run made it after the target', true)
  const texts = await textsOf(parts, at, found, null)
  plan.changes.set(file.path, {
    area: place.area,
    key: null,
    change: { path: at, root: fromText(place.root), before: found, after: null },
    texts,
  })
  plan.deletes.push({
    ...shownPath(at),
    area: place.area,
    before: found,
    why: 'it was looked for when the target was resolved, and was not there',
    ticked: true,
  })
}

async function contentFor(
  parts: ConfigurationParts,
  request: ConfigurationRequest,
  was: ConfigurationFile,
  kept: Buffer,
  found: PathState,
): Promise<
  | { readonly content: Buffer; readonly keeps: readonly string[]; readonly key: string | null }
  | { readonly why: string }
> {
  const asked = request.only?.find(({ path }) => path === was.path)
  const format = formatOf(was.path, request.runtime)
  const now = found === null ? null : Buffer.concat(await collect(parts.disk, was.path)).toString('utf8')
  const end = (text: string): Buffer =>
    Buffer.from(parts.isSessionFile(was.path) && text !== '' && !text.endsWith('\n') ? `${text}\n` : text)
  if (asked?.key !== undefined) {
    if (!isStructured(format)) return { why: `single keys can be taken from JSON, TOML and YAML only` }
    const merged = mergeKey(now ?? '{}\n', kept.toString('utf8'), format, parseKey(asked.key))
    return isRefused(merged) ? { why: merged.refused } : { content: end(merged.text), keeps: [], key: asked.key }
  }
  if (asked?.hunks !== undefined && now !== null)
    return { content: end(takeHunks(now, kept.toString('utf8'), asked.hunks)), keeps: [], key: null }
  const shared = parts.sharedFile(was.path)
  if (shared !== null && isStructured(format)) {
    const merged = mergeShared({ now, target: kept.toString('utf8') }, format, shared.rule)
    return isRefused(merged)
      ? { why: `its configuration cannot be put into what is there: ${merged.refused}` }
      : { content: end(merged.text), keeps: merged.keeps, key: null }
  }
  const closed = parts.isSessionFile(was.path) && kept.length > 0 && kept.at(-1) !== 0x0a
  return { content: closed ? Buffer.concat([kept, Buffer.from('\n')]) : kept, keeps: [], key: null }
}

async function textsOf(
  parts: ConfigurationParts,
  at: ReturnType<typeof fromText>,
  found: PathState,
  target: Buffer | null,
) {
  const none = (why: string) => ({ disk: null, target: null, why })
  if ((found?.bytes ?? 0) > LONGEST_TEXT || (target?.length ?? 0) > LONGEST_TEXT)
    return none('it is too long to be shown')
  const disk = found?.kind === 'file' ? Buffer.concat(await collectAt(parts.disk, at)) : null
  for (const side of [disk, target]) {
    if (side === null) continue
    const text = side.toString('utf8')
    if (side.includes(0) || !Buffer.from(text).equals(side)) return none('it is no text')
    if (parts.hasSecret(text)) return none('it holds a secret')
  }
  return {
    disk: disk?.toString('utf8') ?? (found === null ? '' : null),
    target: target?.toString('utf8') ?? '',
    why: null,
  }
}

const collect = (disk: Disk, path: string): Promise<Uint8Array[]> => collectAt(disk, fromText(path))
async function collectAt(disk: Disk, at: ReturnType<typeof fromText>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of disk.read(at)) chunks.push(chunk)
  return chunks
}

const fits = (found: PathState, was: ConfigurationFile): boolean => was.mode === null || found?.mode === was.mode
const linkTarget = (parts: ConfigurationParts, at: ReturnType<typeof fromText>): string =>
  parts.disk.readlink(at).toString('utf8')

/** What no file brings back: the program, its model, servers, variables, flags (R108). */
function addExternal(plan: PlanBuilder, { target, now }: ConfigurationRequest): void {
  const differs = (what: string, was: string | null, is: string | null, why: string): void => {
    if (was !== null && was !== is)
      plan.not_restorable.push({
        path: null,
        area: null,
        what: `${what} ${was}`,
        why: `${why}; now it is ${is ?? 'not known'}`,
      })
  }
  differs(
    'program',
    target.execution.runtime_version,
    now.execution.runtime_version,
    'programs are installed by whoever installed them',
  )
  const servers = new Map(now.capabilities.mcp_servers.map((server) => [server.name, server.package_version]))
  for (const { name, package_version } of target.capabilities.mcp_servers)
    if (servers.has(name))
      differs(
        `MCP server ${name}`,
        package_version,
        servers.get(name) ?? null,
        'its package is fetched by its own command',
      )
  const variables = new Map(now.execution.environment.map(({ name, digest }) => [name, digest]))
  for (const { name, digest } of target.execution.environment)
    if (variables.get(name) !== digest)
      plan.not_restorable.push({
        path: null,
        area: null,
        what: `variable ${name}`,
        why: variables.has(name) ? 'it has another value where Reprise runs' : 'it is not set where Reprise runs',
      })
}

async function* once(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield content
}
