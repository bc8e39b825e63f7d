import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { deliverer } from '../../../src/billing/webhooks/deliver.ts'
import { sendAgain } from '../../../src/billing/webhooks/send-again.ts'
import { maxWebhooks } from '../../../src/billing/webhooks/webhook.ts'
import {
  changeWebhook,
  createWebhook,
  testWebhook,
} from '../../../src/billing/webhooks/webhooks.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { addEvents } from '../../../src/storage/outbox/store.ts'
import { newAccount } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { engines, type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

describe.each(engines)('what may go wrong while events are sent, on %s', (engine) => {
  let w: World
  const ending = new AbortController()
  const heard: string[] = []
  let held = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      heard.push(pathname)
      if (pathname.startsWith('/held')) await held.promise
      return new Response(null, { status: pathname.includes('503') ? 503 : 204 })
    },
  })
  const url = (path: string) => `http://127.0.0.1:${server.port}${path}`
  beforeAll(async () => {
    w = await world({ engine, now: Date.now() })
    w.deps.settings.webhookReach = { allowed: [], isLoopbackAllowed: true }
    w.deps.isWebhookTarget = () => true
  })
  afterAll(async () => {
    held.resolve()
    ending.abort()
    await w.stop()
    await server.stop(true)
  })

  const until = async (tick: (ending: AbortSignal) => Promise<void>, isDone: () => unknown) => {
    for (let i = 0; i < 1500; i++) {
      await tick(ending.signal)
      if (await isDone()) return
      await Bun.sleep(10)
    }
    throw new Error('it did not happen')
  }
  const endpoint = async (path: string, events?: string[]) => {
    const account = newAccount()
    const { key } = await w.key({ account, balance: 1000n })
    w.advance(1)
    const asker = { account, actor: 'test' }
    const { row } = await createWebhook(w.deps, asker, { url: url(path), events })
    const deliveries = async () =>
      (await w.deps.webhooks.deliveries(row.id, { limit: 100, after: undefined })).items
    const tell = (subject: string, n = 0) =>
      w.db.write(() => {
        const event = { type: 'key.rotated' as const, account, subject, data: { n } }
        return addEvents(w.db.tables, [event], w.deps.clock.now())
      })
    const times = () => heard.filter((one) => one === path).length
    return { account, key, asker, id: row.id, deliveries, tell, times }
  }

  promise`E20`
  test('A webhook that is disabled during a try that fails is not tried again.', async () => {
    held = Promise.withResolvers()
    const one = await endpoint('/held/503')
    const tick = deliverer(w.deps)
    await pauseKey(w.deps, { keyId: one.key.id, actor: 'test' })
    await until(tick, () => one.times() === 1)
    await changeWebhook(w.deps, one.asker, one.id, { enabled: false })
    held.resolve()
    await Bun.sleep(100)
    expect((await one.deliveries()).map(({ status }) => status)).toEqual(['failed'])
    for (let i = 0; i < 20; i++) {
      w.advance(3_600_000)
      await tick(ending.signal)
      await Bun.sleep(5)
    }
    expect(one.times()).toBe(1)
  })

  promise`E18`
  test('A delivery that waits behind another is not sent before it by asking to send it again.', async () => {
    const one = await endpoint('/waits/503')
    const tick = deliverer(w.deps)
    await one.tell('key_a', 1)
    w.advance(1)
    await one.tell('key_a', 2)
    await until(tick, async () => (await one.deliveries()).some(({ attempts }) => attempts === 1))
    const second = (await one.deliveries()).find(({ nextAt }) => nextAt === null)
    expect(second).toBeDefined()
    const refused = await rejectionOf(
      sendAgain(w.deps, one.asker, { id: one.id, deliveryId: second?.id ?? '' }),
    )
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({ type: 'conflict' })
    const left = (await one.deliveries()).find(({ id }) => id === second?.id)
    expect(left).toEqual(second)
    // The one in front may go now, before its pause is over.
    const first = (await one.deliveries()).find(({ id }) => id !== second?.id)
    await sendAgain(w.deps, one.asker, { id: one.id, deliveryId: first?.id ?? '' })
    await until(tick, () => one.times() === 2)
    await until(tick, async () => (await one.deliveries()).some(({ attempts }) => attempts === 2))
  })

  promise`E19`
  test('The outcome of a node that slept does not undo what another stored meanwhile.', async () => {
    const one = await endpoint('/slept')
    const { webhooks, clock } = w.deps
    await one.tell('key_a')
    const lease = await webhooks.takeLease()
    if (!lease) throw new Error('no lease')
    while (await webhooks.route(lease, clock.now()));
    const busy = { hooks: new Set<string>(), accounts: new Set<string>() }
    const all = await webhooks.due(clock.now(), { limit: 100, busy })
    const due = all.find(({ webhook }) => webhook.id === one.id)
    if (!due) throw new Error('nothing is due')
    const now = clock.now()
    const took = { httpStatus: 204, error: null, durationMs: 5 }
    const failed = { httpStatus: 503, error: null, durationMs: 5 }
    await webhooks.settle([{ due, tried: took, at: now }], now)
    await webhooks.settle([{ due, tried: failed, at: now }], now)
    expect((await one.deliveries())[0]).toMatchObject({ status: 'delivered', attempts: 1 })
    expect((await webhooks.find(one.account, one.id))?.failingSince).toBeNull()
  })

  promise`E20`
  test('Endpoints that take long do not hold up those of others.', async () => {
    const slow = [await endpoint('/held/1'), await endpoint('/held/2')]
    const tick = deliverer(w.deps)
    // One event at a time until an endpoint answered in time; eight afterwards.
    held.resolve()
    for (const one of slow) await one.tell('key_first')
    await until(tick, () => slow.every((one) => one.times() === 1))
    held = Promise.withResolvers()
    for (const one of slow) for (let i = 0; i < 150; i++) await one.tell(`key_${i}`, i)
    w.advance(1)
    const quick = await endpoint('/quick')
    await until(tick, () => slow.every((one) => one.times() === 9))
    await quick.tell('key_a')
    await until(tick, () => quick.times() === 1)
    expect(slow.map((one) => one.times())).toEqual([9, 9])
    held.resolve()
    for (const one of slow) await changeWebhook(w.deps, one.asker, one.id, { enabled: false })
  })

  promise`E20`
  test('All webhooks of an account together have eight messages on their way.', async () => {
    const events = ['key.rotated']
    const first = await endpoint('/held/all', events)
    const wish = { url: url('/held/all'), events }
    const more = [1, 2, 3].map(() => createWebhook(w.deps, first.asker, wish))
    const hooks = [first.id, ...(await Promise.all(more)).map(({ row }) => row.id)]
    const tick = deliverer(w.deps)
    held.resolve()
    w.advance(1)
    await first.tell('key_first')
    await until(tick, () => first.times() === 4)
    held = Promise.withResolvers()
    for (let i = 0; i < 12; i++) await first.tell(`key_${i}`, i)
    await until(tick, () => first.times() >= 12)
    for (let i = 0; i < 10; i++) await tick(ending.signal)
    expect(first.times()).toBe(12)
    held.resolve()
    for (const id of hooks) await changeWebhook(w.deps, first.asker, id, { enabled: false })
  })

  promise`E18`
  test('A message whose outcome cannot be stored is not sent in a loop.', async () => {
    const one = await endpoint('/unstored')
    let fails = true
    const { settle } = w.deps.webhooks
    const webhooks: typeof w.deps.webhooks = {
      ...w.deps.webhooks,
      settle: (...what) => (fails ? Promise.reject(new Error('no room')) : settle(...what)),
    }
    const tick = deliverer({ ...w.deps, webhooks })
    await one.tell('key_a')
    await until(tick, () => one.times() === 1)
    for (let i = 0; i < 30; i++) {
      await tick(ending.signal)
      await Bun.sleep(10)
    }
    expect(one.times()).toBe(1)
    fails = false
    w.advance(6000)
    await until(tick, async () => (await one.deliveries())[0]?.status === 'delivered')
    expect(one.times()).toBe(2)
  })

  promise`E20`
  test('Of thirty webhooks made at once as many stay as an account may have.', async () => {
    const account = newAccount()
    await w.key({ account, balance: 1000n })
    const asker = { account, actor: 'test' }
    const made = await Promise.allSettled(
      Array.from({ length: 30 }, () => createWebhook(w.deps, asker, { url: url('/many') })),
    )
    const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason.type] : []))
    expect(new Set(refused)).toEqual(new Set(['conflict']))
    const kept = await w.deps.webhooks.list(account)
    expect([kept.length, refused.length]).toEqual([maxWebhooks, 30 - maxWebhooks])
  })

  test('Two tests of a webhook in one millisecond are two events.', async () => {
    const one = await endpoint('/twice', ['key.rotated'])
    const sent = [1, 2].map(() => testWebhook(w.deps, one.asker, one.id))
    expect(new Set((await Promise.all(sent)).map(({ eventId }) => eventId)).size).toBe(2)
  })

  test('A test of a webhook that was disabled is refused.', async () => {
    const one = await endpoint('/off')
    await changeWebhook(w.deps, one.asker, one.id, { enabled: false })
    expect(await rejectionOf(testWebhook(w.deps, one.asker, one.id))).toMatchObject({
      type: 'conflict',
    })
  })
})
