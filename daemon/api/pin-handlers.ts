import path from 'node:path'
import {
  asRunId,
  type Digest,
  type ManifestBody,
  type ParsedInput,
  type Pin,
  RepriseError,
  type RuntimeName,
} from '../../contract/index.ts'
import { homeIdOf } from '../capture/run-ids.ts'
import { realPath } from '../homes.ts'
import type { Parts } from '../parts.ts'
import { evaluatePin, type PinEvidence } from '../releases/pins/evaluate-pin.ts'
import { belongsTo } from '../releases/pins/pin-classes.ts'
import { fillParts } from '../releases/pins/pin-parts.ts'
import type { PinRecord, PinRecords } from '../releases/pins/pin-records.ts'
import type { SomeHandlers } from './handlers.ts'
import { findManifest, loadManifest, resolveNow } from './manifest-handlers.ts'
import { parsePoint } from './references.ts'

export const createPinHandlers = (parts: Parts, records: PinRecords) => {
  const find = (name: string): PinRecord => {
    const found = records.data.pins.find((pin) => pin.name === name)
    if (found) return found
    throw new RepriseError(
      'not_found',
      `there is no pin ${name}`,
      '`reprise pins list` lists them',
      records.data.pins.map((pin) => pin.name),
    )
  }

  const evidenceFor = (pin: PinRecord): PinEvidence => {
    const index = parts.index()
    const home = pin.home === null ? '' : homeIdOf(pin.runtime, pin.home)
    return {
      since(part, found) {
        const row =
          part.kind === 'file'
            ? index
                .sql('select min(at) as at from file_versions where home = ? and path = ? and digest is ? and at > ?')
                .get(home, part.name, found, pin.created_at)
            : part.kind === 'binary'
              ? index
                  .sql("select min(at) as at from drifts where home = ? and kind = 'update' and at > ?")
                  .get(home, pin.created_at)
              : index
                  .sql(
                    `select min(drifts.at) as at from drifts, json_each(drifts.doc, '$.changes') as change where drifts.home = ? and drifts.at > ?
                       and instr(?, json_extract(change.value, '$.what')) > 0`,
                  )
                  .get(home, pin.created_at, part.name === '' ? part.kind : part.name)
        return (row as { at: string | null } | undefined)?.at ?? null
      },
      isKept: (digest) => parts.store.files.has(digest as Digest),
      lastModels() {
        const row = index
          .sql("select models from runs where home = ? and models != '[]' order by sort_at desc limit 1")
          .get(home) as { models: string } | undefined
        const models: unknown = row === undefined ? [] : JSON.parse(row.models)
        return Array.isArray(models) ? models.filter((model) => typeof model === 'string') : []
      },
    }
  }

  const toPin = async (pin: PinRecord, now: ManifestBody | { readonly why: string }): Promise<Pin> => {
    const { run: _run, seq: _seq, ...shown } = pin
    if ('why' in now) {
      const why = typeof now.why === 'string' ? now.why : 'it could not be looked at'
      const first = pin.parts[0] ?? { kind: 'manifest' as const, name: '', value: pin.manifest }
      const violation = { ...first, wanted: first.value, found: null, since: null, why, restorable: false }
      const { value: _value, ...rest } = violation
      return {
        ...shown,
        parts: [...pin.parts],
        required_for: [...pin.required_for],
        state: 'unknown',
        violations: [rest],
      }
    }
    const wanted = await parts.store.manifests.get(pin.manifest as Digest)
    if (!wanted) return toPin(pin, { why: `the manifest ${pin.manifest} is not in the store any more` })
    const { state, violations } = await evaluatePin(pin, wanted, now, evidenceFor(pin))
    return { ...shown, parts: [...pin.parts], required_for: [...pin.required_for], state, violations: [...violations] }
  }

  /** What a start would find now; the last look at the place is as good as a new one, as every change of it is looked at. */
  const currentOf = async (pin: PinRecord): Promise<ManifestBody | { readonly why: string }> => {
    if (pin.home !== null) {
      const row = parts
        .index()
        .sql('select manifest from configurations where home = ? and workspace = ?')
        .get(homeIdOf(pin.runtime, pin.home), pin.workspace ?? '') as { manifest: Digest } | undefined
      const looked = row === undefined ? null : await parts.store.manifests.get(row.manifest)
      if (looked) return looked
    }
    return resolved(pin, pin.workspace ?? pin.home, {})
  }

  const resolved = async (
    pin: PinRecord,
    workspace: string | null,
    given: { readonly home?: string | undefined; readonly flags?: readonly string[] | undefined },
  ): Promise<ManifestBody | { readonly why: string }> => {
    if (workspace === null) return { why: 'the pin names no place in which it could be looked at' }
    const home = given.home ?? pin.home ?? undefined
    try {
      return await resolveNow(parts, {
        runtime: pin.runtime,
        workspace,
        version: 'installed',
        ...(home === undefined ? {} : { home }),
        ...(given.flags === undefined ? {} : { flags: [...given.flags] }),
      })
    } catch (error) {
      return { why: error instanceof Error ? error.message : String(error) }
    }
  }

  const targetOf = async (input: ParsedInput<'pins.set'>) => {
    if (input.target === 'now') {
      if (input.runtime === undefined || input.workspace === undefined)
        throw new RepriseError(
          'wrong_usage',
          'target: `now` needs runtime and workspace',
          'give --runtime and --workspace',
        )
      const manifest = await resolveNow(parts, {
        runtime: input.runtime,
        workspace: input.workspace,
        version: 'installed',
      })
      return { digest: manifest.integrity.manifest_digest as Digest, run: null, seq: null, commits: [] }
    }
    const known = records.data.pins.find((pin) => pin.name === input.target)
    if (known) return { digest: known.manifest as Digest, run: known.run, seq: known.seq, commits: [] }
    const digest = await findManifest(parts, input.target)
    const point = /^(d_|sha256:|[0-9a-f]{8,64}$)/.test(input.target) ? null : parsePoint(input.target)
    if (point === null) return { digest, run: null, seq: null, commits: [] }
    const run = asRunId(parts.index().findRun(point.run).id)
    const commit =
      point.seq === null ? await parts.store.commits.tip(run) : await parts.store.commits.at(run, point.seq)
    return { digest, run, seq: point.seq, commits: commit === null ? [] : [commit.commit] }
  }

  return {
    'pins.list': async () => {
      const pins: Pin[] = []
      for (const pin of records.data.pins) pins.push(await toPin(pin, await currentOf(pin)))
      return { pins: pins.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },

    'pins.set': async (input) => {
      const before = records.data.pins.find((pin) => pin.name === input.name)
      if (before && input.replace !== true)
        throw new RepriseError(
          'conflict',
          `there is a pin ${input.name} already, on ${before.manifest.slice(7, 19)}`,
          'drop it, or say that it is to be replaced',
        )
      const target = await targetOf(input)
      const manifest = await loadManifest(parts, target.digest)
      if (manifest.validation?.passed === false)
        throw new RepriseError(
          'refused',
          `the manifest ${target.digest.slice(7, 19)} did not pass its checks: ${manifest.validation.failed[0]?.message ?? ''}`,
          'only a valid configuration can be pinned',
        )
      const run = target.run === null ? null : parts.index().findRun(target.run)
      const workspace = input.workspace ?? run?.workspace ?? manifest.execution.cwd
      const record: PinRecord = {
        name: input.name,
        manifest: target.digest,
        runtime: manifest.execution.runtime as RuntimeName,
        runtime_version: manifest.execution.runtime_version ?? manifest.execution.program?.version ?? null,
        model: manifest.execution.model,
        workspace: workspace === null || workspace === undefined ? null : realPath(path.resolve(workspace)),
        home: homeOf(run?.home ?? null, manifest.execution.runtime as RuntimeName),
        created_at: parts.now().toISOString(),
        note: input.note ?? null,
        parts: [...fillParts(manifest, target.digest, input.parts)],
        required_for: input.required_for ?? [],
        run: target.run,
        seq: target.seq,
      }
      // The store first: what a pin holds is held before anybody is told that it is.
      await parts.worker.call('setPin', record.name, { ...record }, target.commits)
      await records.update((data) => ({
        ...data,
        pins: [
          ...data.pins.filter((pin) => pin.name !== record.name),
          { ...record, parts: [...record.parts], required_for: [...record.required_for] },
        ],
      }))
      return { pin: await toPin(record, await currentOf(record)) }
    },

    'pins.drop': async ({ name, dry_run: dryRun }) => {
      const pin = find(name)
      const loses: string[] = []
      const others = records.data.pins.filter((one) => one.name !== name)
      const used =
        parts.index().sql('select 1 from stretches where manifest = ? limit 1').get(pin.manifest) !== undefined
      if (!used && !others.some((one) => one.manifest === pin.manifest))
        loses.push(`manifest ${pin.manifest.slice(7, 19)} is named by no run and no other pin`)
      if (pin.run !== null && !others.some((one) => one.run === pin.run))
        loses.push(`the states of ${pin.run}${pin.seq === null ? '' : `@${pin.seq}`} may be freed when room is needed`)
      for (const one of pin.required_for) loses.push(`runs of ${describeClass(one)} are not held to it any more`)
      if (dryRun === true) return { dropped: false, loses }
      await parts.worker.call('dropPin', name)
      await records.update((data) => ({ ...data, pins: data.pins.filter((one) => one.name !== name) }))
      return { dropped: true, loses }
    },

    'pins.check': async ({ name, runtime, workspace: given, home, flags }) => {
      const workspace = realPath(path.resolve(given))
      const named = name === undefined ? null : find(name)
      const pins: Pin[] = []
      const bodies = new Map<string, ManifestBody | { readonly why: string }>()
      for (const pin of records.data.pins) {
        if (pin !== named && pin.required_for.length === 0) continue
        const start = { runtime: runtime ?? named?.runtime ?? null, workspace, branch: null }
        if (pin !== named && !pin.required_for.some((one) => belongsTo(start, one))) continue
        const key = `${pin.runtime}\0${home ?? pin.home ?? ''}`
        const now = bodies.get(key) ?? (await resolved(pin, workspace, { home, flags }))
        bodies.set(key, now)
        const branch = 'why' in now ? null : (now.execution.repo?.branch ?? null)
        if (pin !== named && !pin.required_for.some((one) => belongsTo({ ...start, branch }, one))) continue
        if (runtime !== undefined && pin.runtime !== runtime) {
          const why = `the pin is for ${pin.runtime}, the run would be ${runtime}`
          const found = {
            kind: 'binary' as const,
            name: '',
            wanted: pin.runtime,
            found: runtime,
            since: null,
            why,
            restorable: false,
          }
          pins.push({ ...(await toPin(pin, { why })), state: 'cannot', violations: [found] })
        } else pins.push(await toPin(pin, now))
      }
      return { pins, refused: pins.some(({ state }) => state !== 'honoured') }
    },
  } satisfies SomeHandlers

  function homeOf(homeId: string | null, runtime: RuntimeName): string | null {
    const known = parts.homes.list().filter((home) => home.runtime === runtime)
    const own = known.find(({ id }) => id === homeId)
    if (own) return own.path
    const first = parts.adapters.get(runtime)?.findHomes(parts.surroundings)[0]
    return (known.find((home) => first && home.path === realPath(first.path)) ?? known[0])?.path ?? null
  }
}

const describeClass = ({ runtime, workspace, branch }: PinRecord['required_for'][number]): string =>
  [runtime, workspace, branch === undefined ? undefined : `branch ${branch}`]
    .filter((one) => one !== undefined)
    .join(', ') || 'every kind'
