import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import type { Comparison, Run } from '../../../contract/index.ts'
import { startDaemon, type TestDaemon } from '../daemon.ts'
import { makeEmptyHome, root, type TestHome } from '../fixture-home.ts'
import { type Plant, type PlantedRuntime, plantNames, type World } from './plants.ts'

/** Two starts of an agent under a busy machine. */
const WAIT = 180_000

const open: { daemon: TestDaemon; test: TestHome }[] = []
afterEach(async () => {
  for (const { daemon, test } of open.splice(0)) {
    await daemon.stop()
    test.remove()
  }
})

const begin = async (runtime: PlantedRuntime, plant: Plant | null): Promise<{ world: World; daemon: TestDaemon }> => {
  const test = makeEmptyHome()
  const world: World = { test, home: test.home, workspace: path.join(test.home, 'shop') }
  fs.mkdirSync(world.workspace)
  runtime.lay(world)
  plant?.before?.(world)
  const daemon = await startDaemon(test)
  open.push({ daemon, test })
  await daemon.call('sync.now', {})
  return { world, daemon }
}

/** Waits until a session stands on the timeline with the configuration it began under. */
const untilFrozen = async (daemon: TestDaemon, session: string): Promise<Run> => {
  for (let waited = 0; waited < 25_000; waited += 50) {
    const run = (await daemon.call('runs.list', {})).runs.find((one) => one.session === session)
    if (run?.manifest) return run
    await sleep(50)
  }
  throw new Error(`session ${session} got no manifest`)
}

const diff = (test: TestHome, ...args: readonly string[]) =>
  new Promise<{ code: number | null; out: string; note: string }>((resolve) => {
    const child = spawn(process.execPath, [path.join(root, 'bin/reprise.mjs'), 'diff', ...args], { env: test.env })
    let [out, note] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      note += chunk.toString()
    })
    child.once('close', (code) => resolve({ code, out, note }))
  })

const compareRuns = async (runtime: PlantedRuntime, plant: Plant | null, irrelevant: boolean) => {
  const { world, daemon } = await begin(runtime, plant)
  let n = 1
  const a = await untilFrozen(daemon, await runtime.run(world, n, { ending: 'good', ...plant?.first?.(world) }))
  await plant?.plant?.(world, async (other) => {
    n += 1
    const session = await runtime.runWriting(world, n, other)
    await untilFrozen(daemon, session)
    return session
  })
  if (irrelevant) runtime.addIrrelevant(world)
  n += 1
  const b = await untilFrozen(daemon, await runtime.run(world, n, { ending: 'bad', ...plant?.second?.(world) }))
  const told = await diff(world.test, a.id, b.id, '--json')
  expect(told.code, told.note).toBe(0)
  const result = JSON.parse(told.out) as Comparison
  expect(result.a.origin).toBe('captured')
  expect(result.b.origin).toBe('captured')
  return { result, world, a, b }
}

/** What every answer must hold, whatever was found. */
const holds = (result: Comparison): void => {
  expect(result.categories.length).toBe(12)
  for (const { category, state, a, b } of result.categories) {
    if (state === 'different') expect(a, category).not.toBe(b)
    if (state === 'equal' || state === 'partly_compared') expect(a, category).toBe(b)
  }
  expect(result.causes.map(({ rank }) => rank)).toEqual(result.causes.map((_, at) => at + 1))
  const summed = new Set(result.causes.flatMap(({ fields }) => fields))
  expect(
    result.fields
      .filter(({ unknown_on, path: field }) => unknown_on === null && !summed.has(field))
      .map(({ path: field }) => field),
  ).toEqual([])
  for (const cause of result.causes) {
    expect(cause.why.length, cause.title).toBeGreaterThan(10)
    expect(cause.evidence.length, cause.title).toBeGreaterThan(0)
  }
}

/**
 * Two runs under a daemon that watches, one difference between them, and the question why. The real command has to name the difference
 * first, also among others that reach no run; and where nothing was planted it has to say so, with what it rests on.
 */
export const testPlants = (runtime: PlantedRuntime, plants: readonly Plant[] = runtime.plants): void => {
  for (const plant of plants)
    for (const irrelevant of [false, true])
      it(
        `${plant.name}${irrelevant ? ', among three that do not matter' : ''}`,
        async () => {
          expect(plantNames).toContain(plant.name)
          const { result } = await compareRuns(runtime, plant, irrelevant)
          expect(
            result.causes[0],
            JSON.stringify(
              result.causes.map(({ title, why }) => ({ title, why })),
              null,
              1,
            ),
          ).toMatchObject({
            kind: plant.expect.kind,
            class: plant.expect.class,
            title: expect.stringMatching(plant.expect.title),
          })
          expect(result.identical).toBe(false)
          expect(result.steps?.first_difference).not.toBeNull()
          holds(result)
          // Nothing that was not planted may look as if it had reached a run.
          const others = result.causes
            .slice(1)
            .filter(({ class: of, used }) => of !== 'model behaviour' && used !== false)
          expect(others.map(({ title, why }) => `${title}: ${why}`)).toEqual([])
        },
        WAIT,
      )

  for (const irrelevant of [false, true])
    it(
      `nothing planted${irrelevant ? ' but three that do not matter' : ''}`,
      async () => {
        const { result, world, a, b } = await compareRuns(runtime, null, irrelevant)
        expect(result.causes[0], JSON.stringify(result.causes, null, 1)).toMatchObject({
          kind: 'model behaviour',
          class: 'model behaviour',
          title: expect.stringMatching(/what remains is the model$/),
        })
        expect(result.identical).toBe(!irrelevant)
        const words = result.causes[0]?.evidence.map(({ text }) => text) ?? []
        for (const { category } of result.categories)
          expect(
            words.some((text) => text.startsWith(`${category}: `)),
            category,
          ).toBe(true)
        expect(result.causes.length).toBe(irrelevant ? 4 : 1)
        holds(result)
        const text = await diff(world.test, a.id, b.id)
        expect(text.code).toBe(0)
        expect(text.out).toContain('What remains is model behaviour')
        expect((await diff(world.test, a.id, b.id, '--strict')).code).toBe(6)
      },
      WAIT,
    )
}
