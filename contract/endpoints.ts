import { z } from 'zod'
import { comparisonSchema } from './compare.ts'
import { configurationHitSchema, driftSchema } from './drift.ts'
import { exportFormatSchema } from './export.ts'
import {
  agentFileSchema,
  blamedLineSchema,
  fileContentSchema,
  fileEffectSchema,
  fileProblemSchema,
  fileVersionSchema,
  hookPlanSchema,
  hookStatusSchema,
  keyEditSchema,
  savedFileSchema,
} from './files.ts'
import { gapSchema, homeSchema, settingsSchema, statusSchema } from './home.ts'
import { instructionPieceSchema, manifestSchema } from './manifest.ts'
import { pinClassSchema, pinNameSchema, pinPartSchema, pinSchema } from './pins.ts'
import {
  planPathSchema,
  rollbackApplySchema,
  rollbackPlanSchema,
  rollbackRecordSchema,
  rollbackRequestSchema,
  rollbackStates,
} from './rollback.ts'
import {
  contextSchema,
  coverageSchema,
  eventDetailSchema,
  eventSchema,
  runSchema,
  runtimeNameSchema,
  unreadableSchema,
} from './run.ts'
import { searchResultSchema, timelineFilterSchema, timelinePageSchema } from './timeline.ts'
import { useSchema } from './use.ts'
import { blameChangeSchema, fileAtSchema, pruneResultSchema, storeSizesSchema, workspaceSchema } from './workspace.ts'

/**
 * The one table of what the daemon can be asked. The HTTP layer, the command, the window and the tests are all made from it; an
 * entry without a handler or without tags does not compile (`daemon/api/handlers.ts`, `contract/tags.ts`).
 */
interface Endpoint<K extends 'read' | 'mutation', I extends z.ZodType, O extends z.ZodType> {
  /** Reads run freely; mutations one after another in the daemon's queue. */
  readonly kind: K
  readonly input: I
  readonly output: O
}
const read = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Endpoint<'read', I, O> => ({
  kind: 'read',
  input,
  output,
})
const mutation = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Endpoint<'mutation', I, O> => ({
  kind: 'mutation',
  input,
  output,
})

const nothing = z.object({})
const done = z.object({ ok: z.literal(true) })
const page = { after: z.number().int().min(0).optional(), limit: z.number().int().min(1).max(1000).optional() }

export const endpoints = {
  'daemon.handshake': read(
    nothing,
    z.object({ version: z.string(), contract: z.number().int(), pid: z.number().int(), nonce: z.string() }),
  ),
  'daemon.stop': mutation(nothing, done),
  'browser.open': mutation(nothing, z.object({ url: z.string(), page: z.string(), port: z.number().int() })),
  'browser.close': mutation(nothing, done),
  'status.get': read(nothing, statusSchema),
  'homes.watch': mutation(z.object({ runtime: runtimeNameSchema, path: z.string() }), z.object({ home: homeSchema })),
  'homes.forget': mutation(z.object({ path: z.string() }), z.object({ forgotten: z.array(z.string()) })),
  'folders.complete': read(z.object({ prefix: z.string() }), z.object({ folders: z.array(z.string()) })),
  'sync.now': mutation(
    z.object({ home: z.string().optional() }),
    z.object({
      sessions: z.number().int(),
      events: z.number().int(),
      unreadable: z.array(unreadableSchema),
      seconds: z.number(),
    }),
  ),
  'timeline.page': read(
    z.object({
      filter: timelineFilterSchema.optional(),
      cursor: z.string().optional(),
      limit: z.number().int().min(1).max(500).optional(),
      density_buckets: z.number().int().min(0).max(400).optional(),
    }),
    timelinePageSchema,
  ),
  'runs.list': read(
    z.object({
      runtime: runtimeNameSchema.optional(),
      workspace: z.string().optional(),
      since: z.string().optional(),
      until: z.string().optional(),
      limit: z.number().int().min(1).max(100_000).optional(),
    }),
    z.object({ runs: z.array(runSchema) }),
  ),
  'runs.get': read(
    z.object({ run: z.string() }),
    z.object({
      run: runSchema,
      /** Sequence number the reference named (`RUN@SEQ`), if it did. */
      at: z.number().int().nullable(),
      /** Stretch the reference named (`RUN#N`), if it did. */
      stretch: z.number().int().nullable(),
      coverage: coverageSchema,
      branches: z.array(runSchema),
      files: z.array(
        z.object({ path: z.string(), bytes: z.number().int(), state: z.string(), lines: z.number().int() }),
      ),
      unreadable: z.array(unreadableSchema),
    }),
  ),
  'runs.events': read(
    z.object({ run: z.string(), ...page }),
    z.object({ events: z.array(eventSchema), total: z.number().int(), next: z.number().int().nullable() }),
  ),
  'runs.event': read(
    z.object({ run: z.string(), seq: z.number().int().min(1), whole: z.boolean().optional() }),
    eventDetailSchema,
  ),
  /**
   * What the model was given for the reply at a point, or for the next one after it, or for the last one before it. The point is `seq`, or
   * what the reference names (`RUN@SEQ`); without either the end of the run.
   */
  'runs.context': read(
    z.object({ run: z.string(), seq: z.number().int().min(0).optional(), whole: z.boolean().optional() }),
    contextSchema,
  ),
  /** One small tick per event, for the scrubber: what it was, whether it failed, whether it changed something. */
  'runs.ticks': read(
    z.object({ run: z.string() }),
    z.object({
      seqs: z.array(z.number().int()),
      kinds: z.array(z.string()),
      failed: z.array(z.boolean()),
      changed: z.array(z.boolean()),
      captured: z.array(z.boolean()),
    }),
  ),
  /** Files touched up to a point, with the event that last changed each. */
  'runs.files': read(
    z.object({ run: z.string(), seq: z.number().int().min(0) }),
    z.object({
      files: z.array(
        z.object({ path: z.string(), change: z.string(), last_seq: z.number().int(), deleted: z.boolean() }),
      ),
      complete: z.boolean(),
      why: z.string().nullable(),
    }),
  ),
  'runs.recover': read(z.object({ run: z.string() }), z.object({ lines: z.number().int(), text: z.string() })),
  'manifest.get': read(
    z.object({ target: z.string() }),
    z.object({ manifest: manifestSchema, intact: z.boolean(), damage: z.array(z.string()) }),
  ),
  'manifest.resolve': mutation(
    z.object({
      runtime: runtimeNameSchema,
      workspace: z.string(),
      home: z.string().optional(),
      flags: z.array(z.string()).optional(),
    }),
    z.object({ manifest: manifestSchema }),
  ),
  'manifest.instructions': read(
    z.object({ target: z.string(), all: z.boolean().optional() }),
    z.object({ effective_digest: z.string().nullable(), pieces: z.array(instructionPieceSchema) }),
  ),
  /** Two TARGETs side by side. `now` needs `runtime` and `workspace`, or takes them from the other side. */
  'compare.run': mutation(
    z.object({
      a: z.string(),
      b: z.string(),
      runtime: runtimeNameSchema.optional(),
      workspace: z.string().optional(),
      home: z.string().optional(),
      flags: z.array(z.string()).optional(),
    }),
    comparisonSchema,
  ),
  /** Runs worth comparing one with, best first, each with the rule by which it was chosen; and the other runs of the same task (R100). */
  'compare.partners': read(
    z.object({ run: z.string() }),
    z.object({ partners: z.array(z.object({ run: runSchema, rule: z.string() })), task: z.string().nullable() }),
  ),
  /** Everything known of one change of configuration: both manifests, and the fields. */
  'drift.get': read(z.object({ id: z.string() }), driftSchema),
  /** States a home's configuration was seen in, newest first. */
  'drift.list': read(
    z.object({ home: z.string().optional(), path: z.string().optional(), ...page }),
    z.object({ changes: z.array(driftSchema), total: z.number().int() }),
  ),
  /** Looks at the configuration now; resolves when what changed is on the timeline. */
  'drift.look': mutation(z.object({ home: z.string().optional() }), z.object({ changes: z.number().int() })),
  'search.configuration': read(
    z.object({
      text: z.string(),
      runtime: runtimeNameSchema.optional(),
      limit: z.number().int().min(1).max(200).optional(),
    }),
    z.object({ hits: z.array(configurationHitSchema), total: z.number().int() }),
  ),
  /** Writes a file on the daemon's side, through the egress gate. Refuses to replace a file unless told to. */
  'export.run': mutation(
    z.object({ run: z.string(), format: exportFormatSchema, file: z.string(), replace: z.boolean().optional() }),
    z.object({ file: z.string(), bytes: z.number().int(), redactions: z.number().int() }),
  ),
  /** The evidence of one comparison in one file: both manifests, their difference, tests seen, decisions of policy, final effects (R99). */
  'export.incident': mutation(
    z.object({ a: z.string(), b: z.string(), file: z.string(), replace: z.boolean().optional() }),
    z.object({ file: z.string(), bytes: z.number().int(), redactions: z.number().int() }),
  ),
  /** What was used of what a manifest declares, and where the run differs from it (R92–R98). */
  'runs.use': read(z.object({ run: z.string() }), useSchema),
  'search.run': read(
    z.object({
      text: z.string(),
      runtime: runtimeNameSchema.optional(),
      run: z.string().optional(),
      limit: z.number().int().min(1).max(200).optional(),
      cursor: z.string().optional(),
    }),
    searchResultSchema,
  ),
  'health.gaps': read(
    z.object({ limit: z.number().int().min(1).max(1000).optional() }),
    z.object({ gaps: z.array(gapSchema), total: z.number().int() }),
  ),
  'health.unreadable': read(
    z.object({ limit: z.number().int().min(1).max(1000).optional() }),
    z.object({ unreadable: z.array(unreadableSchema), total: z.number().int() }),
  ),
  'health.facts': read(
    nothing,
    z.object({
      facts: z.array(
        z.object({
          runtime: runtimeNameSchema,
          area: z.string(),
          fact: z.string(),
          status: z.enum(['verified', 'documented', 'unknown']),
          versions: z.array(z.string()),
        }),
      ),
    }),
  ),
  'settings.get': read(nothing, settingsSchema),
  'settings.set': mutation(settingsSchema.omit({ version: true, homes: true }).partial(), settingsSchema),
  /**
   * What a covered place hides (`ref` of a hidden span), or `text:<digest>`, the whole original of a source. Each opening needs a reason and
   * is on record, with it, before it is answered (R75, R76).
   */
  'sensitive.reveal': mutation(
    z.object({ ref: z.string(), reason: z.string().trim().min(3).max(500) }),
    z.object({ text: z.string().nullable(), why: z.string().nullable() }),
  ),
  'sensitive.reads': read(
    z.object({ limit: z.number().int().min(1).max(1000).optional() }),
    z.object({
      reads: z.array(
        z.object({
          at: z.string(),
          ref: z.string(),
          family: z.string(),
          where: z.string(),
          /** How the question came: `socket`, `loopback`, `process`. */
          by: z.string(),
          /** Account of the system; null in entries of earlier versions, as is `reason`. */
          who: z.string().nullable(),
          reason: z.string().nullable(),
        }),
      ),
      total: z.number().int(),
      /** Lines of the record that cannot be read any more. */
      unreadable: z.number().int(),
    }),
  ),
  'store.check': read(
    nothing,
    z.object({
      ok: z.boolean(),
      objects: z.number().int(),
      damaged: z.array(z.string()),
      quarantined: z.array(z.string()),
      /** What the check does not cover. */
      note: z.string(),
    }),
  ),
  'store.reindex': mutation(
    nothing,
    z.object({ runs: z.number().int(), events: z.number().int(), seconds: z.number() }),
  ),
  /** Sets damaged parts aside, fetches again what the homes or other copies still hold, and says what is lost. */
  'store.repair': mutation(
    nothing,
    z.object({
      ok: z.boolean(),
      objects: z.number().int(),
      damaged: z.array(z.string()),
      quarantined: z.array(z.string()),
      repaired: z.array(z.string()),
      lost: z.array(z.string()),
      note: z.string(),
    }),
  ),
  'store.sizes': read(z.object({ runs: z.number().int().min(0).max(1000).optional() }), storeSizesSchema),
  /** Gives space back down to the cap: oldest first, never what a pin, a case or an open rollback needs. */
  'store.prune': mutation(
    z.object({ dry_run: z.boolean().optional(), cap_bytes: z.number().int().min(0).optional() }),
    pruneResultSchema,
  ),

  'workspaces.list': read(
    z.object({ path: z.string().optional() }),
    z.object({ workspaces: z.array(workspaceSchema) }),
  ),
  /** Takes a state of a workspace now; resolves when it is durable. */
  'workspaces.capture': mutation(z.object({ path: z.string() }), z.object({ workspace: workspaceSchema })),
  /** One path as it was before or after an event. */
  'runs.file': read(
    z.object({
      run: z.string(),
      seq: z.number().int().min(0),
      path: z.string(),
      side: z.enum(['before', 'after']),
      whole: z.boolean().optional(),
    }),
    fileAtSchema,
  ),
  /** Which event last changed a path, or a line of it as it stands at `seq` (default: the end), and every earlier one, across runs. */
  'runs.blame': read(
    z.object({
      run: z.string(),
      path: z.string(),
      line: z.number().int().min(1).optional(),
      seq: z.number().int().min(0).optional(),
    }),
    z.object({ changes: z.array(blameChangeSchema), complete: z.boolean(), why: z.string().nullable() }),
  ),

  /** Changes nothing but, perhaps, storing a manifest of what is there now. */
  'rollback.plan': mutation(rollbackRequestSchema, z.object({ plan: rollbackPlanSchema })),
  /** One path of a plan in full. */
  'rollback.path': mutation(rollbackRequestSchema.extend({ path: z.string() }), planPathSchema),
  /** Safety snapshot, then the change, whole or not at all. `waiting`: it begins when the agent has ended. */
  'rollback.apply': mutation(rollbackApplySchema, z.object({ plan: rollbackPlanSchema, record: rollbackRecordSchema })),
  /** The plan that takes a rollback back: of the last one not undone, unless another is named. */
  'rollback.undo_plan': mutation(
    z.object({ id: z.string().optional() }),
    z.object({ of: z.string(), plan: rollbackPlanSchema }),
  ),
  'rollback.undo': mutation(
    z.object({
      id: z.string().optional(),
      plan: z.string().optional(),
      choices: rollbackApplySchema.shape.choices,
      while_running: rollbackApplySchema.shape.while_running,
    }),
    z.object({ plan: rollbackPlanSchema, record: rollbackRecordSchema }),
  ),
  /** What a crash interrupted: finish it, or take it back. A rollback that waits can only be cancelled (`take_back`). */
  'rollback.resume': mutation(
    z.object({ id: z.string(), how: z.enum(['finish', 'take_back']) }),
    z.object({ record: rollbackRecordSchema }),
  ),
  'rollback.list': read(
    z.object({ state: z.array(z.enum(rollbackStates)).optional(), ...page }),
    z.object({ rollbacks: z.array(rollbackRecordSchema), total: z.number().int() }),
  ),
  'rollback.get': read(z.object({ id: z.string() }), z.object({ record: rollbackRecordSchema })),

  'pins.list': read(nothing, z.object({ pins: z.array(pinSchema) })),
  'pins.set': mutation(
    z.object({
      name: pinNameSchema,
      target: z.string(),
      parts: z.array(pinPartSchema).optional(),
      required_for: z.array(pinClassSchema).optional(),
      note: z.string().max(500).optional(),
      /** Replaces a pin of that name. */
      replace: z.boolean().optional(),
      runtime: runtimeNameSchema.optional(),
      workspace: z.string().optional(),
    }),
    z.object({ pin: pinSchema }),
  ),
  /** `loses`: what nothing else keeps once the pin is gone. */
  'pins.drop': mutation(
    z.object({ name: z.string(), dry_run: z.boolean().optional() }),
    z.object({ dropped: z.boolean(), loses: z.array(z.string()) }),
  ),
  /** Whether a run in `workspace` now would be what the pin says, and every pin that is required for it. */
  'pins.check': mutation(
    z.object({
      name: z.string().optional(),
      runtime: runtimeNameSchema.optional(),
      workspace: z.string(),
      home: z.string().optional(),
      flags: z.array(z.string()).optional(),
    }),
    z.object({ pins: z.array(pinSchema), refused: z.boolean() }),
  ),

  'files.list': mutation(
    z.object({ home: z.string(), workspace: z.string().optional() }),
    z.object({ files: z.array(agentFileSchema), workspaces: z.array(z.string()), running: z.boolean() }),
  ),
  'files.get': read(
    z.object({ home: z.string(), path: z.string(), version: z.string().optional() }),
    fileContentSchema,
  ),
  /** What a text would mean, without writing it: problems, and what would change in each workspace seen. */
  'files.check': mutation(
    z.object({
      home: z.string(),
      path: z.string(),
      text: z.string().optional(),
      edits: z.array(keyEditSchema).optional(),
      workspace: z.string().optional(),
    }),
    z.object({ problems: z.array(fileProblemSchema), effects: z.array(fileEffectSchema), text: z.string().nullable() }),
  ),
  'files.save': mutation(
    z.object({
      home: z.string(),
      path: z.string(),
      /** The whole new text, in which only what differs is written; or edits of single keys. */
      text: z.string().optional(),
      edits: z.array(keyEditSchema).optional(),
      /** Digest of what the editor began with; null: the file must not be there. Differs: a conflict, and nothing is written. */
      expected: z.string().nullable(),
      note: z.string().max(500).optional(),
      name: z.string().max(100).optional(),
      /** A secret was found, seen and wanted. */
      with_secret: z.boolean().optional(),
      /** The link itself stays; its target is written. */
      through_link: z.boolean().optional(),
    }),
    savedFileSchema,
  ),
  'files.versions': read(
    z.object({ home: z.string(), path: z.string(), key: z.string().optional() }),
    z.object({ versions: z.array(fileVersionSchema) }),
  ),
  'files.blame': read(
    z.object({ home: z.string(), path: z.string() }),
    z.object({ lines: z.array(blamedLineSchema), complete: z.boolean(), why: z.string().nullable() }),
  ),
  'files.name': mutation(
    z.object({
      version: z.string(),
      name: z.string().max(100).nullable(),
      note: z.string().max(500).nullable().optional(),
    }),
    z.object({ version: fileVersionSchema }),
  ),

  'hooks.status': read(nothing, z.object({ hooks: z.array(hookStatusSchema) })),
  'hooks.plan': read(
    z.object({ runtime: runtimeNameSchema, home: z.string().optional(), action: z.enum(['install', 'remove']) }),
    z.object({ plans: z.array(hookPlanSchema) }),
  ),
  'hooks.apply': mutation(
    z.object({ runtime: runtimeNameSchema, home: z.string().optional(), action: z.enum(['install', 'remove']) }),
    z.object({ hooks: z.array(hookStatusSchema) }),
  ),
  /**
   * An agent's own hook tells of an action about to begin or just ended. A `read`, so that it never waits behind a mutation: the state is
   * taken by the capturing thread, within `limit_ms`, and the agent goes on whatever comes of it.
   */
  'hooks.event': read(
    z.object({
      runtime: runtimeNameSchema,
      home: z.string().optional(),
      when: z.enum(['before', 'after', 'start', 'end']),
      session: z.string().nullable(),
      tool_use_id: z.string().nullable(),
      tool: z.string().nullable(),
      cwd: z.string().nullable(),
      limit_ms: z.number().int().min(0).max(10_000),
    }),
    z.object({ captured: z.boolean(), why: z.string().nullable(), ms: z.number() }),
  ),
} as const satisfies Record<string, Endpoint<'read' | 'mutation', z.ZodType, z.ZodType>>

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints
export type Input<N extends EndpointName> = z.input<Endpoints[N]['input']>
export type ParsedInput<N extends EndpointName> = z.output<Endpoints[N]['input']>
export type Output<N extends EndpointName> = z.output<Endpoints[N]['output']>
export type MutationName = { [N in EndpointName]: Endpoints[N]['kind'] extends 'mutation' ? N : never }[EndpointName]
