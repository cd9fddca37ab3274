import type { Digest, ManifestBody, RunId } from '../../contract/index.ts'
import { withBesideFiles } from '../manifest/complete/beside-files.ts'
import { type CompletionParts, completeBody } from '../manifest/complete/complete-body.ts'
import { redactBody } from '../manifest/redact-body.ts'
import { scanSources } from '../manifest/scan-sources.ts'
import { withChecks } from '../manifest/with-checks.ts'
import type { RuntimeAdapter, SourceText, StretchEvidence, Surroundings } from '../runtimes/adapter.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Store } from '../store/store.ts'
import type { Collection } from './collection.ts'
import type { KeepOriginals } from './keep-originals.ts'
import type { KeepRawFiles } from './keep-raw-files.ts'
import { keepTexts } from './keep-texts.ts'

export interface FreezeParts {
  readonly store: Store
  readonly redactor: Redactor
  readonly surroundings: Surroundings
  readonly collection: Collection
  readonly originals: KeepOriginals
  readonly rawFiles: KeepRawFiles
  readonly completion: CompletionParts
}

export interface Frozen {
  readonly digest: Digest
  /** The task the stretch began with; null when its record shows no prompt. */
  readonly task: string | null
  readonly problems: readonly string[]
}

/**
 * Makes the manifest of one stretch immutable. A stretch that began while we watched gets what was resolved then, together with what its
 * own record says; an older one what its record still tells, the rest named as unknown.
 */
export const freezeStretch = async (
  parts: FreezeParts,
  adapter: RuntimeAdapter,
  run: RunId,
  evidence: StretchEvidence,
  watched: boolean,
  over: boolean,
): Promise<Frozen> => {
  const { store, redactor, surroundings, completion } = parts
  const inferred = adapter.inferManifest(evidence)
  const problems: string[] = []
  let body: ManifestBody = inferred
  const texts: { digest: Digest; text: string }[] = [...adapter.recordedTexts(evidence)]
  const read = new Map<string, SourceText>()
  if (watched && evidence.cwd !== null) {
    try {
      const resolution = adapter.resolve({
        home: evidence.home,
        cwd: evidence.cwd,
        flags: evidence.flags ?? [],
        surroundings,
        version: evidence.version,
        keyed: redactor.keyed,
      })
      body = adapter.joinManifest(resolution.body, inferred)
      for (const source of resolution.body.instructions.sources) {
        const found = resolution.texts.get(source.uri)
        if (found) read.set(source.uri, found)
        if (source.text_digest !== null && typeof found?.text === 'string')
          texts.push({ digest: source.text_digest as Digest, text: found.text })
      }
      problems.push(
        ...resolution.problems.map(({ path, message }) => (path === null ? message : `${path}: ${message}`)),
      )
    } catch (error) {
      problems.push(`the configuration could not be resolved at the start: ${(error as Error).message}`)
    }
  }
  const asOf = body === inferred ? 'record' : 'now'
  if (asOf === 'now') body = withBesideFiles(body, surroundings)
  body = await completeBody(completion, adapter, evidence.home, body, asOf)
  const place = { home: evidence.home, workspaces: evidence.cwd === null ? [] : [evidence.cwd] }
  await keepTexts(parts, place, texts)
  if (asOf === 'now') await parts.rawFiles.manifest(place, body, (uri) => read.get(uri)?.raw ?? null)
  const shown = new Map(texts.map(({ digest, text }) => [digest as string, text]))
  const scanned = scanSources(
    over ? body : withoutUnused(body),
    ({ uri, text_digest }) => read.get(uri) ?? { text: shown.get(text_digest ?? '') ?? null },
    redactor,
  )
  const frozen = withChecks(redactBody({ ...scanned, run_id: run, stretch: evidence.n }, redactor), redactor)
  problems.push(...frozen.failed)
  const manifest = await store.manifests.put(frozen.body)
  return { digest: manifest.integrity.manifest_digest as Digest, task: manifest.task.id, problems }
}

/** Of a run that goes on nobody can say yet what it will not use: "declared, never used" becomes "not known". */
const withoutUnused = (body: ManifestBody): ManifestBody => {
  const open = <T extends { readonly used: boolean | null }>(items: readonly T[]): T[] =>
    items.map((item) => (item.used === false ? { ...item, used: null } : item))
  const { skills, commands, agents, plugins, hooks, tools } = body.capabilities
  return {
    ...body,
    instructions: { ...body.instructions, sources: open(body.instructions.sources) },
    capabilities: {
      ...body.capabilities,
      skills: open(skills),
      commands: open(commands),
      agents: open(agents),
      plugins: open(plugins),
      hooks: open(hooks),
      tools: open(tools),
    },
  }
}
