import type { CompareSide, Comparison, Drift, ManifestBody } from '../../contract/index.ts'
import { type Compared, compare } from '../../daemon/manifest/compare/compare.ts'
import type { EventFact } from '../../daemon/manifest/compare/events.ts'

/** An event of a run; a test says what it is about. */
export const event = (seq: number, more: Partial<EventFact>): EventFact => ({
  seq,
  id: `e${seq}`,
  kind: 'note',
  tool: null,
  summary: '',
  ok: null,
  model: null,
  stretch: 1,
  cwd: null,
  subagent: null,
  effects: [],
  ...more,
})

interface SideOptions {
  readonly events?: readonly EventFact[] | null
  readonly home?: string | null
  readonly target?: string
  readonly mentions?: Compared['mentions']
  readonly texts?: Readonly<Record<string, string>>
  readonly inputs?: Readonly<Record<number, string>>
}

const sideOf = (
  letter: 'a' | 'b',
  body: ManifestBody,
  { events = null, home = null, target, mentions, inputs = {} }: SideOptions,
): Compared => ({
  about: {
    target: target ?? `target-${letter}`,
    run: events === null ? null : `r_${letter}`,
    stretch: 1,
    manifest: `sha256:${letter.repeat(64)}`,
    runtime: body.execution.runtime as CompareSide['runtime'],
    runtime_version: body.execution.runtime_version,
    workspace: body.execution.cwd,
    at: body.created_at,
    title: null,
    status: 'done',
    origin: body.origin,
    task: null,
  },
  body,
  home,
  events,
  inputOf: async (seq) => inputs[seq] ?? null,
  mentions: mentions === undefined ? (events === null ? null : () => null) : mentions,
  notes: [],
})

/** The comparison of two bodies, with what a store would give beside them. */
export const compareBodies = (
  a: ManifestBody,
  b: ManifestBody,
  options: {
    readonly a?: SideOptions
    readonly b?: SideOptions
    readonly texts?: Readonly<Record<string, string>>
    readonly writer?: { run: string; seq: number; at: string | null }
    readonly drifts?: readonly Drift[]
  } = {},
): Promise<Comparison> =>
  compare(sideOf('a', a, options.a ?? {}), sideOf('b', b, options.b ?? {}), {
    readText: async (digest) => {
      const text = digest === null ? null : (options.texts?.[digest] ?? null)
      return { text, why: digest !== null && text === null ? 'only its digest was kept' : null }
    },
    writer: () => options.writer ?? null,
    drifts: options.drifts ?? [],
  })

/** The paths that differ, and those that could not be compared. */
export const paths = ({ fields }: Comparison) => ({
  different: fields.filter(({ unknown_on }) => unknown_on === null).map(({ path }) => path),
  unknown: fields
    .filter(({ unknown_on }) => unknown_on !== null)
    .map(({ path, unknown_on }) => `${unknown_on} ${path}`),
})
