import { type CompareSide, type Comparison, type Manifest, type Output, RepriseError } from '../../contract/index.ts'
import type { Passage } from '../secrets/egress.ts'
import { openBundle } from './bundle-writer.ts'
import type { ExportFile } from './export-file.ts'
import { addManifests, addRun, type ExportParts } from './export-run.ts'
import { incidentPage } from './incident-page.ts'
import { type Ask, type Attempt, eventsOf, type Lacking, orWhy, type RunDetails, readUse } from './run-material.ts'

/** One of the two things an incident is about: a run, or a configuration alone. */
export interface IncidentSide {
  readonly target: string
  readonly manifest: Manifest
  readonly details: RunDetails | null
  readonly tests: readonly TestSeen[]
  readonly denied: readonly { readonly seq: number; readonly at: string | null; readonly what: string }[]
  readonly final: Output<'runs.files'> | null
}
export interface TestSeen {
  readonly seq: number
  readonly command: string
  readonly ok: boolean | null
}

/** The evidence of one comparison in one file (R99): manifests, difference, tests, decisions of policy, effects, both trajectories. */
export async function exportIncident(
  parts: ExportParts,
  targets: { readonly a: string; readonly b: string },
  passage: Passage,
  file: ExportFile,
): Promise<void> {
  const { ask } = parts
  const comparison: Attempt<Comparison> = await orWhy(async () =>
    // Covered before the page cuts anything of it.
    passage.value(await ask('compare.run', targets)),
  )
  const compared = 'value' in comparison ? comparison.value : null
  const a = await readSide(ask, targets.a, compared?.a ?? null)
  const b = await readSide(ask, targets.b, compared?.b ?? null)
  const lacking: Lacking[] = []
  if ('why' in comparison) lacking.push({ what: 'comparison.json', why: comparison.why })

  const bundle = await openBundle(parts.paths.dir, passage, parts.now())
  try {
    for (const [name, side] of [
      ['a', a],
      ['b', b],
    ] as const) {
      if (side.details === null) lacking.push({ what: `${name}/`, why: `${side.target} is a configuration, no run` })
      else lacking.push(...(await addRun(parts, bundle, `${name}/`, side.details, passage)))
    }
    lacking.push(...(await addManifests(parts, bundle, [a.manifest, b.manifest], passage)))
    if ('value' in comparison)
      await bundle.add('comparison.json', 'causes, differing fields, use and steps', passage.json(comparison.value, 2))
    const evidence = { a: evidenceOf(a), b: evidenceOf(b) }
    await bundle.add('evidence.json', 'tests seen, decisions of policy, final effects', passage.json(evidence, 2))
    const page = incidentPage({ a, b, comparison, lacking })
    await bundle.add('incident.md', 'the incident, to be read by people', passage.text(page))
    await bundle.pack(
      { kind: 'incident', targets, manifests: [digestOf(a), digestOf(b)], lacking },
      [
        '# Incident',
        '',
        `Two targets side by side, exported by Reprise: \`${targets.a}\` (a) and \`${targets.b}\` (b). Begin with \`incident.md\`.`,
        '`a/` and `b/` hold both runs, `manifests/` both configurations as they were digested and signed, `texts/` the',
        'instruction texts, `comparison.json` every difference with its evidence.',
      ],
      file,
    )
  } finally {
    await bundle.remove()
  }
}

const digestOf = ({ manifest }: IncidentSide) => manifest.integrity.manifest_digest

const evidenceOf = ({ target, manifest, tests, denied, final, details }: IncidentSide) => ({
  target,
  run: details?.run.id ?? null,
  manifest: manifest.integrity.manifest_digest,
  status: details?.run.status ?? null,
  tests,
  policy: { revision: manifest.policy.revision, permissions: manifest.policy.permissions, denied },
  final_effects: final,
})

/** `compared`: what the comparison took the target for; `now` has a manifest only through it. */
async function readSide(ask: Ask, target: string, compared: CompareSide | null): Promise<IncidentSide> {
  const { manifest } = await ask('manifest.get', { target: compared?.manifest ?? target })
  const details = compared === null ? await runOf(ask, target) : await runById(ask, compared.run)
  if (details === null) return { target, manifest, details, tests: [], denied: [], final: null }
  const { id } = details.run
  const denied: { seq: number; at: string | null; what: string }[] = []
  const seen: TestSeen[] = []
  let last = 0
  for await (const { seq, at, kind, tool, summary, ok } of eventsOf(ask, id)) {
    last = seq
    if (kind === 'denied') denied.push({ seq, at, what: summary })
    if (tool !== null && LOOKS_LIKE_TEST.test(summary)) seen.push({ seq, command: summary, ok })
  }
  const use = await readUse(ask, id)
  return {
    target,
    manifest,
    details,
    tests: 'value' in use ? use.value.reconciled.tests : seen,
    denied,
    final: await ask('runs.files', { run: id, seq: last }),
  }
}

/** Commands of test runners, where nothing better says what was a test. */
const LOOKS_LIKE_TEST =
  /(?:^|[\s;&|(])(?:(?:npm|pnpm|yarn|bun|cargo|go|dotnet|mix|swift|gradle|\.\/gradlew|mvn|make|rake|deno) (?:run |-\S+ )*test|vitest|jest|mocha|pytest|python3? -m (?:pytest|unittest)|node --test|rspec|phpunit|ctest|tox)\b/

const runById = async (ask: Ask, run: string | null): Promise<RunDetails | null> =>
  run === null ? null : ask('runs.get', { run })

/** The run a target names; null for a manifest. */
async function runOf(ask: Ask, target: string): Promise<RunDetails | null> {
  try {
    return await ask('runs.get', { run: target })
  } catch (error) {
    if (error instanceof RepriseError && ['not_found', 'wrong_usage'].includes(error.code)) return null
    throw error
  }
}
