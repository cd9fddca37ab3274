import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RollbackRecord } from '../../contract/index.ts'
import { protectPaths } from '../../daemon/capture/protect-paths.ts'
import type { WorkspacePlace } from '../../daemon/capture/workspaces/look.ts'
import { applyChanges, type Change } from '../../daemon/rollback/apply.ts'
import { asBytePath, fromText, realDisk } from '../../daemon/rollback/disk.ts'
import { openJournals } from '../../daemon/rollback/journal.ts'
import { planUndo } from '../../daemon/rollback/plan-undo.ts'
import { planWorkspace } from '../../daemon/rollback/plan-workspace.ts'
import type { Planned } from '../../daemon/rollback/planned.ts'
import { shownPath } from '../../daemon/rollback/planned.ts'
import { createRedactor } from '../../daemon/secrets/create-redactor.ts'
import type { Store } from '../../daemon/store/store.ts'
import { look } from '../kit/rollback-tree.ts'
import { openTestStore, temporaryDirectory } from '../kit/store.ts'
import { memoryVault, testLooks } from '../kit/workspace-looks.ts'

// Trees with links, modes, odd names, nested repositories, ignored files, binary and large files are changed by an agent and by a user; going
// back to a random state and undoing, in any order, must give exactly what was promised: bytes, modes, links, times of what is not touched.

const RUNS = process.env.REPRISE_NIGHTLY === '1' ? 2_000 : 100

const NAMES = [
  'a',
  'b',
  'src/x',
  'src/y',
  'src/deep/z',
  'new\nline',
  '\xff\xfe',
  '-dash',
  'nested/repo/file',
  'build/out',
  'bin/run',
]
const CONTENTS = ['one\n', 'two\n', 'three\r\nlines\n', '', '\x00\x01binary\xff', `sk-ant-api03-${'Zq7'.repeat(31)}-AA`]

interface Written {
  readonly name: string
  readonly to: string | null | { readonly link: string } | { readonly runs: string }
}
type Step =
  | ({ readonly who: 'agent' } & Written)
  | ({ readonly who: 'user' } & Written)
  | { readonly who: 'back'; readonly to: number }
  | { readonly who: 'undo' }

const name = fc.constantFrom(...NAMES)
const target = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...CONTENTS) },
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom('a', '../outside', 'src').map((link) => ({ link })) },
  { weight: 1, arbitrary: fc.constantFrom('#!/bin/sh\n', 'run\n').map((runs) => ({ runs })) },
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ who: fc.constant('agent' as const), name, to: target }) },
  { weight: 2, arbitrary: fc.record({ who: fc.constant('user' as const), name, to: target }) },
  { weight: 2, arbitrary: fc.record({ who: fc.constant('back' as const), to: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.constant({ who: 'undo' as const }) },
)

let folder: ReturnType<typeof temporaryDirectory>
let store: Store
const vault = memoryVault()
let number = 0
beforeAll(async () => {
  folder = temporaryDirectory('round-trips')
  store = (await openTestStore(path.join(folder.path, 'store'), { vault })).store
})
afterAll(async () => {
  await store.close()
  folder.remove()
})

const bytes = (latin1: string): Buffer => Buffer.from(latin1, 'latin1')

/** Does what a step says, as far as the tree allows: nothing is forced where a folder or a file is in the way. */
const write = (root: string, { name: where, to }: Written): boolean => {
  const at = bytes(`${root}/${where}`)
  try {
    const found = fs.lstatSync(at, { throwIfNoEntry: false })
    if (found?.isDirectory()) return false
    if (to === null) {
      if (!found) return false
      fs.unlinkSync(at)
      return true
    }
    fs.mkdirSync(bytes(path.posix.dirname(`${root}/${where}`)), { recursive: true })
    if (found) fs.unlinkSync(at)
    if (typeof to === 'string') fs.writeFileSync(at, bytes(to))
    else if ('link' in to) fs.symlinkSync(to.link, at)
    else fs.writeFileSync(at, to.runs, { mode: 0o755 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR' || code === 'EEXIST') return false
    throw error
  }
}

const timesOf = (root: string): Map<string, number> => {
  const times = new Map<string, number>()
  for (const relative of Object.keys(look(root)))
    times.set(relative, fs.lstatSync(bytes(`${root}/${relative}`)).mtimeMs)
  return times
}

const record = (id: string, root: string, planned: Planned, chosen: readonly string[]): RollbackRecord => ({
  v: 1,
  id,
  at: new Date().toISOString(),
  target: {
    text: id,
    kind: 'point',
    run: null,
    seq: null,
    manifest: null,
    state: null,
    at: null,
    runtime: null,
    home: null,
    workspace: root,
  },
  scope: { workspace: true },
  is_rollback: false,
  reason: null,
  state: 'applied',
  paths: chosen.flatMap((one) => {
    const change = planned.changes.get(one)?.change
    if (!change) return []
    return [
      {
        ...shownPath(change.path),
        area: 'workspace' as const,
        key: null,
        change: change.after === null ? ('delete' as const) : ('change' as const),
        before: change.before?.digest ?? null,
        after: change.after?.side.digest ?? null,
        verified: true,
        result: 'done' as const,
        why: null,
      },
    ]
  }),
  not_restorable: [],
  undo_of: null,
  undone_by: null,
  verification: null,
  not_reproducible: null,
  error: null,
})

it(`bytes, modes, links and times are as promised, in ${RUNS} random orders`, { timeout: RUNS * 1000 }, async () => {
  const disk = realDisk()
  const redactor = createRedactor(Buffer.alloc(32, 7))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      number += 1
      const base = path.join(folder.path, `w${number}`)
      const root = path.join(base, 'home/shop')
      fs.mkdirSync(path.join(root, 'nested/repo/.git'), { recursive: true })
      fs.writeFileSync(path.join(root, 'nested/repo/.git/HEAD'), 'ref: refs/heads/main\n')
      fs.writeFileSync(path.join(root, '.gitignore'), 'build/\n')
      const test = testLooks(base, { states: store.states, large: store.large, vault })
      const place: WorkspacePlace = test.looks.identify(root)
      const journals = openJournals(path.join(base, 'journal'))
      /** Per state: the tree as it looks, and which paths an agent changed to get there. */
      const states: { tree: string; seen: Record<string, string | null>; agent: Set<string> }[] = []
      const capture = async (agent: Set<string>) => {
        const { state } = await test.look(place)
        states.push({ tree: state.tree, seen: look(root), agent })
        return state
      }
      let newest = await capture(new Set())
      const applied: { record: RollbackRecord; before: Record<string, string | null> }[] = []

      const apply = async (planned: Planned, id: string, undoing: boolean) => {
        const chosen = [...planned.writes, ...planned.deletes].map((one) => one.path)
        const changes: Change[] = chosen.flatMap((one) => planned.changes.get(one)?.change ?? [])
        const told = record(id, root, planned, chosen)
        const before = look(root)
        const times = timesOf(root)
        await protectPaths(
          { safety: store.safety, large: store.large, vault, redactor, now: () => new Date() },
          told,
          changes.map(({ path: at, before: was }) => ({ path: at, digest: was?.digest ?? null })),
        )
        const outcome = await applyChanges({ disk, journals }, id, changes)
        if (outcome.outcome === 'conflict') {
          // A path of the user's is in the way of a folder that should be a file, or the other way round: then nothing is done.
          expect(look(root)).toEqual(before)
          return null
        }
        expect(outcome).toMatchObject({ outcome: 'done', left: null })
        const touched = new Set(
          changes.map(({ path: at }) => at.slice(Buffer.from(root).toString('latin1').length + 1)),
        )
        for (const [relative, at] of timesOf(root))
          if (!touched.has(relative as never) && look(root)[relative] !== null && before[relative] !== undefined)
            expect(at).toBe(times.get(relative))
        expect(journals.list()).toEqual({ journals: [], unreadable: [] })
        if (!undoing) applied.push({ record: told, before })
        return { before, touched }
      }

      for (const [index, one] of steps.entries()) {
        if (one.who === 'agent' || one.who === 'user') {
          const done = write(root, one)
          if (one.who === 'agent' && done) newest = await capture(new Set([one.name]))
          continue
        }
        const id = `b_${createHash('sha256').update(`${number}.${index}`).digest('hex').slice(0, 12)}`
        if (one.who === 'undo') {
          const last = applied.pop()
          if (!last) continue
          const now = look(root)
          const planned = await planUndo(disk, last.record, await store.safety.paths(last.record.id))
          const undone = await apply(planned, id, true)
          if (undone === null) continue
          // Where nobody wrote since, everything is as before; where somebody did, it is as they left it.
          const conflicts = new Set(planned.conflicts.map(({ path: at }) => at))
          for (const [relative, content] of Object.entries(last.before)) {
            if (content === null || !isOf(last.record, root, relative)) continue
            expect(look(root)[relative]).toBe(conflicts.has(shown(root, relative)) ? now[relative] : content)
          }
          newest = (await test.look(place)).state
          continue
        }
        const wanted = states[one.to % states.length]
        if (!wanted) continue
        newest = (await test.look(place)).state
        const since = states.slice((one.to % states.length) + 1)
        const before = look(root)
        const planned = await planWorkspace(
          {
            disk,
            states: store.states,
            lastWriter: (file) => {
              const relative = Buffer.from(file)
                .toString('latin1')
                .slice(Buffer.from(root).toString('latin1').length + 1)
              const mine = since.some(({ agent }) =>
                [...agent].some(
                  (name2) => Buffer.from(Buffer.from(name2, 'latin1').toString('utf8')).toString('latin1') === relative,
                ),
              )
              if (!mine) return null
              return { writer: { who: 'shell', run: 'r', seq: 1, at: null }, own: true, created: true }
            },
            hasSecret: () => false,
          },
          { root, target: wanted.tree as never, now: newest, only: null },
        )
        const done = await apply(planned, id, false)
        if (done === null) continue
        const after = look(root)
        const conflicts = new Set(planned.conflicts.map(({ path: at }) => at))
        const kept = new Set(planned.kept.map(({ path: at }) => at))
        for (const relative of NAMES) {
          if (relative.startsWith('build/')) {
            // Ignored: never captured, never touched.
            expect(after[relative]).toBe(before[relative])
            continue
          }
          const at = shown(root, relative)
          if (conflicts.has(at) || kept.has(at)) expect(after[relative]).toBe(before[relative])
          else expect(after[relative]).toBe(wanted.seen[relative] ?? undefined)
        }
        expect(fs.readFileSync(path.join(root, 'nested/repo/.git/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n')
      }
      fs.rmSync(base, { recursive: true, force: true })
    }),
    { numRuns: RUNS },
  )
})

const shown = (root: string, relative: string): string => shownPath(asBytePath(`${fromText(root)}/${relative}`)).path
const isOf = (told: RollbackRecord, root: string, relative: string): boolean =>
  told.paths.some(({ path: at }) => at === shown(root, relative))
