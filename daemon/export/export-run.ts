import type { ExportFormat, Manifest } from '../../contract/index.ts'
import { canonicalBytes } from '../manifest/canonical.ts'
import type { Parts } from '../parts.ts'
import type { Passage } from '../secrets/egress.ts'
import { type BundleWriter, openBundle } from './bundle-writer.ts'
import type { ExportFile } from './export-file.ts'
import { HTML_END, htmlEvent, htmlHead } from './render-html.ts'
import { markdownEvent, markdownHead } from './render-markdown.ts'
import {
  type Ask,
  detailsOf,
  eventsOf,
  type Lacking,
  manifestsOf,
  orWhy,
  type RunDetails,
  readUse,
} from './run-material.ts'

export interface ExportParts extends Pick<Parts, 'paths' | 'store' | 'now'> {
  readonly ask: Ask
}

/** Writes one run in the form asked for. Everything goes through `passage`, which counts. */
export async function exportRun(
  parts: ExportParts,
  run: string,
  format: ExportFormat,
  passage: Passage,
  file: ExportFile,
): Promise<void> {
  const { ask } = parts
  const details = await ask('runs.get', { run })
  const { id } = details.run
  const { manifests, lacking } = await manifestsOf(ask, details)
  switch (format) {
    case 'bundle':
      return exportBundle(parts, details, manifests, lacking, passage, file)
    case 'md': {
      await file.write(passage.text(`${markdownHead(details, lacking)}\n`))
      for await (const detail of detailsOf(ask, id)) await file.write(passage.text(`${markdownEvent(detail)}\n`))
      return
    }
    case 'html': {
      await file.write(passage.text(htmlHead(details, lacking)))
      for await (const detail of detailsOf(ask, id)) await file.write(passage.text(htmlEvent(detail)))
      return file.write(passage.text(HTML_END))
    }
    case 'jsonl': {
      const line = (value: unknown) => file.write(passage.text(`${passage.bare(value)}\n`))
      await line({ type: 'run', format: 'reprise-run', version: 1, ...about(details), lacking })
      for (const manifest of manifests) await line({ type: 'manifest', manifest })
      await line({ type: 'use', ...asField('use', await readUse(ask, id)) })
      for await (const detail of detailsOf(ask, id)) await line({ type: 'event', ...detail })
      return
    }
    case 'json': {
      const field = (name: string, value: unknown, end: string) =>
        file.write(passage.text(`${JSON.stringify(name)}:${passage.bare(value)}${end}`))
      await file.write(passage.text('{"format":"reprise-run","version":1,\n'))
      for (const [name, value] of Object.entries({ ...about(details), lacking, manifests }))
        await field(name, value, ',\n')
      for (const [name, value] of Object.entries(asField('use', await readUse(ask, id))))
        await field(name, value, ',\n')
      await file.write(passage.text('"events":[\n'))
      let first = true
      for await (const detail of detailsOf(ask, id)) {
        await file.write(passage.text(`${first ? '' : ',\n'}${passage.bare(detail)}`))
        first = false
      }
      return file.write(passage.text('\n]}\n'))
    }
    default:
      return format satisfies never
  }
}

const about = ({ run, coverage, branches, unreadable }: RunDetails) => ({ run, coverage, branches, unreadable })

const asField = (name: string, got: { readonly value: unknown } | { readonly why: string }) =>
  'why' in got ? { [name]: null, [`${name}_why`]: got.why } : { [name]: got.value }

async function exportBundle(
  parts: ExportParts,
  details: RunDetails,
  manifests: readonly Manifest[],
  lacking: readonly Lacking[],
  passage: Passage,
  file: ExportFile,
): Promise<void> {
  const bundle = await openBundle(parts.paths.dir, passage, parts.now())
  try {
    const missing = [...lacking, ...(await addRun(parts, bundle, '', details, passage))]
    missing.push(...(await addManifests(parts, bundle, manifests, passage)))
    await bundle.pack(
      { kind: 'run', run: details.run.id, lacking: missing },
      [
        `# Run ${details.run.id}`,
        '',
        `One run of ${details.run.runtime}, exported by Reprise. \`run.json\` says what it was and how completely it was captured,`,
        '`events.jsonl` has one event per line with everything it said and changed, `session/` the kept lines of the',
        "agent's own record, `manifests/` the configuration of each stretch in the canonical form that was digested and",
        'signed, `texts/` the instruction texts by the digest the manifests name them with.',
        ...missing.map(({ what, why }) => `\nNot in it: ${what} (${why}).`),
      ],
      file,
    )
  } finally {
    await bundle.remove()
  }
}

/** Files of one run, below `prefix`. Gives what could not be included, and why. */
export async function addRun(
  { ask, store }: Pick<ExportParts, 'ask' | 'store'>,
  bundle: BundleWriter,
  prefix: string,
  details: RunDetails,
  passage: Passage,
): Promise<readonly Lacking[]> {
  const { id } = details.run
  const lacking: Lacking[] = []
  await bundle.add(`${prefix}run.json`, 'the run, its coverage and its branches', passage.json(about(details), 2))
  const use = await readUse(ask, id)
  if ('why' in use) lacking.push({ what: `${prefix}use.json`, why: use.why })
  else await bundle.add(`${prefix}use.json`, 'what was used of what was declared', passage.json(use.value, 2))

  const events = await bundle.begin(`${prefix}events.jsonl`, 'every event in full, one a line')
  for await (const detail of detailsOf(ask, id)) await events.write(passage.text(`${passage.bare(detail)}\n`))
  await events.close()

  const effects = await bundle.begin(`${prefix}effects.jsonl`, 'every change to a file, one a line')
  for await (const { seq, at, tool, effects: changes } of eventsOf(ask, id))
    for (const effect of changes) await effects.write(passage.text(`${passage.bare({ seq, at, tool, ...effect })}\n`))
  await effects.close()

  const files = await orWhy(() => store.sessions.state(id as never))
  if ('why' in files) lacking.push({ what: `${prefix}session/`, why: files.why })
  else if (files.value.length === 0)
    lacking.push({ what: `${prefix}session/`, why: 'no line of it is kept in the store' })
  else
    for (const [n, { file, generation }] of files.value.entries())
      for (let one = 1; one <= generation; one += 1) {
        const name = `${prefix}session/${n + 1}-${one}-${shortName(file)}`
        const entry = await bundle.begin(name, `kept lines of ${file}${generation > 1 ? `, generation ${one}` : ''}`)
        const read = await orWhy(async () => {
          for await (const { text } of store.sessions.read(id as never, file, one)) {
            const line = Buffer.from(text).toString('utf8')
            await entry.write(passage.text(line.endsWith('\n') ? line : `${line}\n`))
          }
        })
        await entry.close()
        if ('why' in read) lacking.push({ what: `the rest of ${name}`, why: read.why })
      }
  return lacking
}

/** Manifests as they are stored and signed, and the texts they name. */
export async function addManifests(
  { store }: Pick<ExportParts, 'store'>,
  bundle: BundleWriter,
  manifests: readonly Manifest[],
  passage: Passage,
): Promise<readonly Lacking[]> {
  const lacking: Lacking[] = []
  const done = new Set<string>()
  for (const manifest of manifests) {
    const digest = manifest.integrity.manifest_digest
    if (done.has(digest)) continue
    done.add(digest)
    const canonical = canonicalBytes(manifest).toString('utf8')
    const covered = passage.text(canonical)
    if (covered !== canonical)
      lacking.push({
        what: `the signed form of ${digest}`,
        why: 'the gate covered a secret that was found in it only now',
      })
    await bundle.add(
      `manifests/${digest.slice(7)}.json`,
      `manifest of ${manifest.execution.runtime}, canonical form`,
      covered,
    )
    for (const { text_digest: text, path: file, uri } of manifest.instructions.sources) {
      if (text === null || done.has(text)) continue
      done.add(text)
      const kept = await orWhy(() => store.texts.get(text as never))
      if ('why' in kept) lacking.push({ what: `the text of ${file ?? uri}`, why: kept.why })
      else if (kept.value !== null)
        await bundle.add(`texts/${text.slice(7)}.txt`, `text of ${file ?? uri}`, passage.text(kept.value.text))
    }
  }
  return lacking
}

/** A part of a file's name that can stand in an archive; the full one is in the table of contents. */
const shortName = (file: string): string =>
  (file.split(/[\\/]/).at(-1) ?? 'lines').replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(-40)
