import { describe, expect, it } from 'vitest'
import { type EndpointName, endpoints, RepriseError, tagNames } from '../../../contract/index.ts'
import { createDispatch } from '../../../daemon/api/dispatch.ts'
import type { Handlers } from '../../../daemon/api/handlers.ts'
import { createPushHub } from '../../../daemon/api/push-hub.ts'
import { testGate } from '../../kit/secrets.ts'

const caller = { via: 'socket' as const }
const silent = () => undefined
const parts = { changed: silent, log: silent, gate: testGate() }
const withHandlers = (some: Partial<Record<EndpointName, (input: never) => unknown>>) => some as unknown as Handlers

describe('dispatch', () => {
  it('runs mutations one after another and reads beside them', async () => {
    const order: string[] = []
    let release: () => void = silent
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const dispatch = createDispatch(
      withHandlers({
        'store.reindex': async () => {
          order.push('first begins')
          await held
          order.push('first ends')
          return {}
        },
        'homes.forget': () => order.push('second'),
        'settings.get': () => order.push('read'),
      }),
      parts,
    )
    const first = dispatch('store.reindex', {}, caller)
    const second = dispatch('homes.forget', { path: '/x' }, caller)
    await new Promise((resolve) => setImmediate(resolve))
    await dispatch('settings.get', {}, caller)
    release()
    await Promise.all([first, second])
    expect(order).toEqual(['first begins', 'read', 'first ends', 'second'])
  })

  it('goes on after a mutation that failed, and refuses new ones while draining', async () => {
    const dispatch = createDispatch(
      withHandlers({
        'homes.forget': () => {
          throw new RepriseError('not_found', 'path: /x is not read')
        },
        'sync.now': () => ({ done: true }),
      }),
      parts,
    )
    const [failed, done] = await Promise.all([
      dispatch('homes.forget', { path: '/x' }, caller),
      dispatch('sync.now', {}, caller),
    ])
    expect(failed).toMatchObject({ ok: false, error: { code: 'not_found', status: 404 } })
    expect(done).toMatchObject({ ok: true })
    await dispatch.drain()
    expect(await dispatch('sync.now', {}, caller)).toMatchObject({ ok: false, error: { code: 'store_busy' } })
  })

  it('names the field of a wrong input, and an unknown endpoint', async () => {
    const dispatch = createDispatch(withHandlers({}), parts)
    const wrong = await dispatch('runs.list', { limit: -1 }, caller)
    expect(wrong).toMatchObject({
      ok: false,
      error: { code: 'wrong_usage', message: expect.stringContaining('limit') },
    })
    expect(await dispatch('toString', {}, caller)).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  it('turns a fault of ours into a coded failure without its stack', async () => {
    const dispatch = createDispatch(
      withHandlers({
        'settings.get': () => {
          throw new Error('boom')
        },
      }),
      parts,
    )
    const answer = await dispatch('settings.get', {}, caller)
    expect(answer).toMatchObject({ ok: false, error: { code: 'internal', status: 500 } })
    expect(JSON.stringify(answer)).not.toContain('.ts:')
  })

  it('tells windows what a mutation changed', async () => {
    const told: string[][] = []
    const dispatch = createDispatch(withHandlers({ 'settings.set': () => ({}) }), {
      ...parts,
      changed: (tags) => told.push([...tags]),
    })
    await dispatch('settings.set', { theme: 'dark' }, caller)
    expect(told).toEqual([['settings']])
    for (const tag of told.flat()) expect(tagNames).toContain(tag)
  })

  it('knows every endpoint by kind', () => {
    for (const { kind } of Object.values(endpoints)) expect(['read', 'mutation']).toContain(kind)
  })
})

describe('the push hub', () => {
  it('gives a client that was away what it missed, or tells it to start over', () => {
    const hub = createPushHub(testGate())
    for (let n = 0; n < 600; n++) hub.send({ type: 'changed', tags: ['runs'] })
    const heard: number[] = []
    hub.subscribe(598, ({ id }) => heard.push(id))
    expect(heard).toEqual([599, 600])
    const late: string[] = []
    hub.subscribe(3, ({ push }) => late.push(push.type))
    expect(late).toEqual(['reset'])
    const fromAnotherLife: string[] = []
    hub.subscribe(5000, ({ push }) => fromAnotherLife.push(push.type))
    expect(fromAnotherLife).toEqual(['reset'])
  })
})
