import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { reportLeak } from '../../../src/access/keys/leak.ts'
import { pauseKey, resumeKey } from '../../../src/access/keys/pause.ts'
import { deliverer } from '../../../src/billing/webhooks/deliver.ts'
import { makeDeliveryQueues } from '../../../src/billing/webhooks/delivery-queues.ts'
import { makeSecret } from '../../../src/billing/webhooks/sign.ts'
import type { DueDelivery } from '../../../src/billing/webhooks/store/outbox.ts'
import { maxWaiting } from '../../../src/billing/webhooks/webhook.ts'
import { createWebhook } from '../../../src/billing/webhooks/webhooks.ts'
import type { DeliveryRow, EventRow, WebhookRow } from '../../../src/storage/db/schema/schema.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import type { AccountEventType } from '../../../src/storage/outbox/event.ts'
import { addEvents } from '../../../src/storage/outbox/store.ts'
import { newAccount } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

describe.each(engines)('endpoints beside those that take long, on %s', (engine) => {
  let w: World
  let tick: ReturnType<typeof deliverer>
  const ending = new AbortController()
  const heard: { path: string; type: string; key: string | undefined }[] = []
  const held = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname: path } = new URL(request.url)
      const { type, data } = (await request.json()) as { type: string; data: { key_id?: string } }
      heard.push({ path, type, key: data.key_id })
      if (path === '/many') await ended.promise
      if (path === '/leak') await held.promise.then(() => Bun.sleep(300))
      return new Response(null, { status: 204 })
    },
  })
  beforeAll(async () => {
    w = await world({ engine, now: Date.now() })
    tick = deliverer(w.deps)
    w.deps.settings.webhookReach = { allowed: [], isLoopbackAllowed: true }
    w.deps.isWebhookTarget = () => true
  })
  afterAll(async () => {
    ended.resolve()
    ending.abort()
    await w.stop()
    await server.stop(true)
  })

  const until = async (isDone: () => unknown) => {
    for (let i = 0; i < 1500; i++) {
      await tick(ending.signal)
      if (await isDone()) return
      await Bun.sleep(10)
    }
    throw new Error('it did not happen')
  }
  const times = (path: string) => heard.filter((one) => one.path === path).length
  const hook = async (account: string, path: string) => {
    const url = `http://127.0.0.1:${server.port}${path}`
    const { row } = await createWebhook(w.deps, { account, actor: 'test' }, { url })
    return row
  }
  const tell = (account: string, subject: string, type: AccountEventType = 'key.rotated') =>
    w.db.write(() => {
      const event = { type, account, subject, data: { key_id: subject } }
      return addEvents(w.db.tables, [event], w.deps.clock.now())
    })

  promise`T11 H: An endpoint hears of its first event within two seconds beside 800 that never
    answer; leaks and pulled brakes come first, in the order of their key.`
  test('An endpoint hears of its first event within two seconds beside 800 that never answer.', async () => {
    // PGlite runs in this process, and is as slow as all of them together.
    const accounts = engine === 'pglite' ? 40 : 100
    const hostile = Array.from({ length: accounts }, () => newAccount())
    const [first = ''] = hostile
    const like = await hook(first, '/many')
    const secret = makeSecret(w.deps.random)
    const rows = hostile.flatMap((accountId) =>
      Array.from({ length: accountId === first ? 7 : 8 }, () => {
        const id = w.deps.ids.make('whk')
        return { ...like, accountId, id, secret: w.deps.webhookSecrets.seal(secret, id) }
      }),
    )
    await w.db.write(() => insert(w.db.tables.webhooks, rows))
    const honest = newAccount()
    await hook(honest, '/honest')
    w.advance(1)
    for (const account of hostile) for (const i of [1, 2, 3]) await tell(account, `key_${i}`)
    await until(() => times('/many') > 100)
    const startedAt = performance.now()
    await tell(honest, 'key_a')
    await until(() => times('/honest') === 1)
    expect(performance.now() - startedAt).toBeLessThan(2000)
    // Each of the others got one event, and no second one.
    await until(() => times('/many') === 8 * accounts)
    for (let i = 0; i < 20; i++) await tick(ending.signal)
    expect(times('/many')).toBe(8 * accounts)
    // Another one is quick, too, while all of them hang.
    const second = performance.now()
    await tell(honest, 'key_b')
    await until(() => times('/honest') === 2)
    expect(performance.now() - second).toBeLessThan(2000)
  })

  promise`T11`
  test('A leak is told before all that waits for an endpoint, after the events of its own key, while another message hangs.', async () => {
    const account = newAccount()
    const { key, secret } = await w.key({ account, balance: 1000n })
    w.advance(1)
    await hook(account, '/leak')
    w.advance(1)
    for (let i = 0; i < 200; i++) await tell(account, `key_${i}`)
    await until(() => times('/leak') === 1)
    await pauseKey(w.deps, { keyId: key.id, actor: 'test' })
    await resumeKey(w.deps, { keyId: key.id, actor: 'test' })
    await tick(ending.signal)
    await reportLeak(w.deps, secret)
    await until(() => times('/leak') === 2)
    const of = () => heard.filter(({ path }) => path === '/leak').slice(1)
    expect(of()).toMatchObject([{ type: 'key.paused', key: key.id }])
    held.resolve()
    await until(() => of().some(({ type }) => type === 'leak.reported'))
    const told = of().filter((one) => one.key === key.id)
    expect(told.map(({ type }) => type)).toEqual(['key.paused', 'key.paused', 'leak.reported'])
    // A few others are sent at once with each of the three.
    expect(of().findIndex(({ type }) => type === 'leak.reported')).toBeLessThan(100)
  })

  test('An endpoint that too many events wait for still hears of a brake, first of all.', async () => {
    const account = newAccount()
    await w.key({ account, balance: 1000n })
    w.advance(1)
    const { id } = await hook(account, '/full')
    const now = w.deps.clock.now() + 1
    w.advance(2)
    const waiting = Array.from({ length: maxWaiting }, (_, i) => ({
      ...deliveryOf({ id: w.deps.ids.make('dlv'), webhookId: id, subject: `run_${i}` }),
      since: now,
      nextAt: now + 3_600_000,
    }))
    await w.db.write(() => insert(w.db.tables.webhookDeliveries, waiting))
    w.advance(1)
    await tell(account, 'key_a')
    await tell(account, 'key_b', 'brake.pulled')
    await until(() => times('/full') === 1)
    const list = { limit: 10, after: undefined }
    const found = async () =>
      (await w.deps.webhooks.deliveries(id, list)).items.find(({ type }) => type === 'brake.pulled')
    await until(async () => (await found())?.status === 'delivered')
    expect((await w.deps.webhooks.find(account, id))?.dropped).toBe(1)
    expect(heard.filter(({ path }) => path === '/full').map(({ type }) => type)).toEqual([
      'brake.pulled',
    ])
  })
})

describe('places', () => {
  const answered = { httpStatus: 204, error: null, durationMs: 5 }

  test('Endpoints that never answered share a quarter of the places and give them back after 250 ms; those that did have the rest.', () => {
    let now = 0
    const lanes = makeDeliveryQueues(() => now)
    const take = (account: string, isFunded = false) => {
      lanes.add(dueOf(account, { isFunded }))
      return lanes.queued().flatMap((lane) => lanes.take(lane) ?? [])
    }
    // One answers in time, and is quick from now on.
    const [first] = take('quick')
    if (!first) throw new Error('there is no place')
    lanes.close(lanes.land(first.due, first.flight, answered))
    for (let i = 0; i < 400; i++) take(`slow-${i}`)
    expect(lanes.flying).toBe(256)
    lanes.add(dueOf('quick', {}))
    const quick = lanes.queued().find(({ webhook }) => webhook.id === 'whk_quick')
    expect(quick && lanes.take(quick)).toBeDefined()
    // An account with money is the next; the rest waits for places.
    lanes.add(dueOf('paying', { isFunded: true }))
    expect(lanes.queued()[0]?.webhook.id).toBe('whk_paying')
    now = 200
    expect(lanes.hasRoom() && lanes.queued().flatMap((lane) => lanes.take(lane) ?? [])).toEqual([])
    now = 251
    expect(lanes.hasRoom()).toBe(true)
    expect(lanes.queued().flatMap((lane) => lanes.take(lane) ?? [])).toHaveLength(145)
    // At most 1,024 linger; then places stay taken until attempts end.
    for (let i = 0; i < 1500; i++) {
      now += 1
      lanes.hasRoom()
      take(`more-${i}`)
    }
    expect(lanes.flying).toBe(1024 + 256)
    const urgent = dueOf('urgent', { type: 'leak.reported' })
    lanes.add(urgent)
    expect(lanes.queued()[0]?.webhook.id).toBe('whk_urgent')
    expect(lanes.queued().flatMap((lane) => lanes.take(lane) ?? [])).toMatchObject([
      { due: { delivery: { type: 'leak.reported' } } },
    ])
  })

  test('An endpoint that was quick gets one event at a time as soon as one of its messages takes two seconds.', () => {
    let now = 0
    const lanes = makeDeliveryQueues(() => now)
    const launch = () => lanes.queued().flatMap((lane) => lanes.take(lane) ?? [])
    lanes.add(dueOf('a', {}))
    const [first] = launch()
    if (!first) throw new Error('there is no place')
    lanes.land(first.due, first.flight, answered)
    for (let i = 0; i < 3; i++) lanes.add(dueOf('a', {}))
    const flights = launch().length + launch().length + launch().length
    expect(flights).toBe(3)
    now = 2001
    expect(lanes.add(dueOf('a', {}))).toBe(false)
    expect(launch()).toEqual([])
  })
})

function dueOf(account: string, { type = 'key.rotated', isFunded = false }): DueDelivery {
  const id = `whk_${account}`
  const webhook = { id, accountId: account, failingSince: null, disabledAt: null } as WebhookRow
  const delivery = { ...deliveryOf({ id: `dlv_${account}`, webhookId: id, subject: 's' }), type }
  return { delivery, event: {} as EventRow, webhook, isFunded }
}

const deliveryOf = (about: Pick<DeliveryRow, 'id' | 'webhookId' | 'subject'>): DeliveryRow => ({
  ...about,
  eventId: 'evt_1',
  type: 'run.ended',
  place: 1,
  status: 'pending',
  attempts: 0,
  since: 0,
  nextAt: 0,
  triedAt: null,
  httpStatus: null,
  durationMs: null,
  error: null,
  tries: [],
  doneAt: null,
})
