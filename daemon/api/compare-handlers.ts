import { type Digest, RepriseError } from '../../contract/index.ts'
import { compare } from '../manifest/compare/compare.ts'
import { describeUse } from '../manifest/compare/run-use.ts'
import type { ReadText } from '../manifest/compare/text.ts'
import type { Parts } from '../parts.ts'
import { findPartners } from './compare-partners.ts'
import { findSides } from './compare-targets.ts'
import type { SomeHandlers } from './handlers.ts'
import { loadManifest } from './manifest-handlers.ts'
import { parsePoint } from './references.ts'
import { driftsBetween, lastWriter, manifestsOf, readFacts } from './run-evidence.ts'

export const createCompareHandlers = (parts: Parts) =>
  ({
    'compare.run': async (request) => {
      const { a, b } = await findSides(parts, request)
      return compare(a, b, {
        readText: keptText(parts),
        writer: (file) => lastWriter(parts, file, a.about.at, b.about.at),
        drifts: driftsBetween(parts, b.about.runtime, a.about.at, b.about.at),
      })
    },

    'compare.partners': ({ run }) => findPartners(parts, run),

    'runs.use': async ({ run: reference }) => {
      const index = parts.index()
      const point = parsePoint(reference)
      const row = index.findRun(point.run)
      const { digests, unfrozen } = manifestsOf(index, row.key)
      const wanted = digests.filter(({ n }) => point.stretch === null || n === point.stretch)
      const stretches = await Promise.all(
        wanted.map(async ({ n, digest }) => ({ n, digest, body: await loadManifest(parts, digest as Digest) })),
      )
      const run = index.toRun(row)
      return describeUse({
        id: run.id,
        status: run.status,
        versions: run.runtime_versions,
        events: readFacts(index, row.key, point),
        stretches,
        unfrozen,
      })
    },
  }) satisfies SomeHandlers

/** Longest text of one side that goes into an answer. */
const MOST_CHARACTERS = 1_000_000

const keptText =
  (parts: Parts): ReadText =>
  async (digest) => {
    if (digest === null) return { text: null, why: null }
    try {
      const kept = await parts.store.texts.get(digest as Digest)
      if (kept === null) return { text: null, why: 'only its digest was kept' }
      if (kept.text.length <= MOST_CHARACTERS) return { text: kept.text, why: null }
      return {
        text: kept.text.slice(0, MOST_CHARACTERS),
        why: `cut: ${kept.text.length} characters, ${MOST_CHARACTERS} shown`,
      }
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error
      return { text: null, why: error.message }
    }
  }
