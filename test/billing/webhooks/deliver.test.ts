import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { and, eq, isNotNull } from 'drizzle-orm'
import { pauseKey, resumeKey } from '../../../src/access/keys/pause.ts'
import { deliverer } from '../../../src/billing/webhooks/deliver.ts'
import { sendAgain } from '../../../src/billing/webhooks/send-again.ts'
import { maxKept, maxTries, maxWaiting } from '../../../src/billing/webhooks/webhook.ts'
import {
  changeWebhook,
  createWebhook,
  rotateWebhook,
  testWebhook,
} from '../../../src/billing/webhooks/webhooks.ts'
import { insert, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { addEvents } from '../../../src/storage/outbox/store.ts'
import { newAccount } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'
import { receivers } from './receivers.ts'

setDefaultTimeout(60_000)

const { receive, stop } = receivers()
afterAll(stop)

describe.each(engines)('deliveries on %s', (engine) => {
  let w: World
  let tick: ReturnType<typeof deliverer>
  const ending = new AbortController()
  beforeAll(async () => {
    w = await world({ engine, now: Date.now() })
    tick = deliverer(w.deps)
    w.deps.settings.webhookReach = { allowed: [], isLoopbackAllowed: true }
  })
  afterAll(async () => {
    ending.abort()
    await w.stop()
  })

  const until = async (isDone: () => boolean | Promise<boolean>) => {
    for (let i = 0; i < 1500; i++) {
      await tick(ending.signal)
      if (await isDone()) return
      await Bun.sleep(10)
    }
    throw new Error('it did not happen')
  }
  /** An endpoint of a new account, at a receiver that knows its secret. */
  const endpoint = async (wish: { path?: string; events?: string[] } = {}) => {
    const account = newAccount()
    const { key } = await w.key({ account, balance: 1000n })
    w.advance(1)
    const asker = { account, actor: 'test' }
    const url = 'http://127.0.0.1:9/'
    const { row, secret } = await createWebhook(w.deps, asker, { url, events: wish.events })
    const receiver = await receive(secret)
    await changeWebhook(w.deps, asker, row.id, { url: `${receiver.origin}${wish.path ?? '/'}` })
    const deliveries = async () =>
      (await w.deps.webhooks.deliveries(row.id, { limit: 100, after: undefined })).items
    const triesOf = async (delivery = '') =>
      (await w.deps.webhooks.deliveryOf(row.id, delivery))?.delivery.tries
    return { account, key, asker, id: row.id, secret, receiver, deliveries, triesOf }
  }

  promise`E10 C: A webhook is signed, and an empty secret does not start.`
  test('A receiver in another process checks the signature with the public library, and after a rotation with either secret.', async () => {
    const { key, asker, id, receiver, deliveries, triesOf } = await endpoint()
    await pauseKey(w.deps, { keyId: key.id, actor: 'test' })
    await until(() => receiver.messages().length === 1)
    const [first] = receiver.messages()
    expect(first?.verified).toBe(true)
    const event = JSON.parse(first?.body ?? '')
    expect(event).toMatchObject({ type: 'key.paused', id: first?.id, data: { key_id: key.id } })
    expect(Date.parse(event.timestamp)).toBeGreaterThan(0)
    await until(async () => (await deliveries())[0]?.status === 'delivered')
    const [row] = await deliveries()
    expect(row).toMatchObject({ attempts: 1, httpStatus: 204, error: null })
    const { host } = new URL(receiver.origin)
    const to = { host, format: 'standard', agent: `Counterfoil/${w.deps.version.version}` }
    const tried = { at: row?.triedAt, status: 204, ms: row?.durationMs, error: null }
    expect<unknown>(await triesOf(row?.id)).toEqual([{ ...tried, answer: '', to }])
    const { secret } = await rotateWebhook(w.deps, asker, { id })
    const newer = await receive(secret)
    await resumeKey(w.deps, { keyId: key.id, actor: 'test' })
    await pauseKey(w.deps, { keyId: key.id, actor: 'test' })
    await until(() => receiver.messages().length === 2)
    await changeWebhook(w.deps, asker, id, { url: `${newer.origin}/` })
    await testWebhook(w.deps, asker, id)
    await until(() => newer.messages().length === 1)
    expect([...receiver.messages(), ...newer.messages()].every(({ verified }) => verified)).toBe(
      true,
    )
    w.advance(86_400_001)
    await changeWebhook(w.deps, asker, id, { url: `${receiver.origin}/` })
    await testWebhook(w.deps, asker, id)
    await until(() => receiver.messages().length === 3)
    expect(receiver.messages().at(-1)?.verified).toBe(false)
  })

  test('Only events that the endpoint asked for go out, and run.ended costs the account nothing until it did.', async () => {
    const { account, asker, id, key, receiver } = await endpoint({ events: ['key.revoked'] })
    await pauseKey(w.deps, { keyId: key.id, actor: 'test' })
    await testWebhook(w.deps, asker, id)
    await until(() => receiver.messages().length === 1)
    expect(JSON.parse(receiver.messages()[0]?.body ?? '').type).toBe('webhook.test')
    expect((await w.deps.accounts.find(account))?.tellsRuns).toBe(false)
    await changeWebhook(w.deps, asker, id, { events: ['run.ended'] })
    expect((await w.deps.accounts.find(account))?.tellsRuns).toBe(true)
    await changeWebhook(w.deps, asker, id, { enabled: false })
    expect((await w.deps.accounts.find(account))?.tellsRuns).toBe(false)
  })

  promise`E18`
  test('A failed event is tried again with the same id, the next of its subject waits, and others go on.', async () => {
    const { account, asker, id, receiver, deliveries, triesOf } = await endpoint({
      path: '/status/503',
    })
    const tell = (subject: string, n: number) =>
      w.db.write(() => {
        const event = { type: 'key.rotated' as const, account, subject, data: { n } }
        return addEvents(w.db.tables, [event], w.deps.clock.now())
      })
    await tell('key_a', 1)
    w.advance(1)
    await tell('key_a', 2)
    await until(async () => (await deliveries()).some(({ attempts }) => attempts === 1))
    expect((await deliveries()).map(({ attempts }) => attempts).sort()).toEqual([0, 1])
    await changeWebhook(w.deps, asker, id, { url: `${receiver.origin}/` })
    await tell('key_b', 3)
    await until(async () => (await deliveries()).some(({ status }) => status === 'delivered'))
    w.advance(6000)
    await until(async () => (await deliveries()).every(({ status }) => status === 'delivered'))
    const told = receiver.messages().map(({ body, id }) => ({ id, n: JSON.parse(body).data.n }))
    expect(told.map(({ n }) => n)).toEqual([1, 3, 1, 2])
    expect(told[0]?.id).toBe(told[2]?.id ?? '')
    const first = (await deliveries()).find(({ attempts }) => attempts > 1)
    expect((await triesOf(first?.id))?.map(({ status }) => status)).toEqual([503, 204])
    const [last] = await deliveries()
    if (!last) throw new Error('no delivery')
    await sendAgain(w.deps, asker, { id, deliveryId: last.id })
    await until(() => receiver.messages().length === 5)
    expect(receiver.messages().at(-1)?.id).toBe(last.eventId)
  })

  promise`E20`
  test('An endpoint that fails for three days is disabled; what waits for it ends.', async () => {
    const { key, asker, id, deliveries, triesOf } = await endpoint({ path: '/status/500' })
    await pauseKey(w.deps, { keyId: key.id, actor: 'test' })
    let tries = 0
    for (; tries < 40; tries++) {
      const before = tries
      await until(async () => (await deliveries())[0]?.attempts === before + 1)
      const [row] = await deliveries()
      if (row?.status === 'failed') break
      w.advance((row?.nextAt ?? 0) - w.deps.clock.now())
    }
    const found = await w.deps.webhooks.find(asker.account, id)
    expect(found).toMatchObject({ disabledReason: 'failing' })
    const [failed] = await deliveries()
    expect(failed?.attempts).toBeGreaterThan(10)
    expect((await triesOf(failed?.id))?.length).toBe(maxTries)
    expect(w.logged.some(({ event }) => event === 'webhook.disabled')).toBe(true)
  })

  test('Redirects are not followed, and what an endpoint says is gone disables it.', async () => {
    const there = await endpoint({ path: '/redirect' })
    await testWebhook(w.deps, there.asker, there.id)
    await until(async () => (await there.deliveries())[0]?.error === 'redirect')
    expect(there.receiver.messages().map(({ path }) => path)).toEqual(['/redirect'])
    const gone = await endpoint({ path: '/status/410' })
    await testWebhook(w.deps, gone.asker, gone.id)
    await until(async () => (await gone.deliveries())[0]?.status === 'failed')
    const { disabledAt } = (await w.deps.webhooks.find(gone.account, gone.id)) ?? {}
    expect(disabledAt).not.toBeNull()
  })

  promise`E20 H: A dead or slow endpoint holds up no other, and holds a bounded number of events.`
  test('A dead endpoint holds a bounded number of events and counts the rest; old deliveries go.', async () => {
    const { account, id } = await endpoint({ path: '/status/503' })
    const { webhookDeliveries } = w.db.tables
    const now = w.deps.clock.now()
    const plain = {
      webhookId: id,
      eventId: 'evt_x',
      type: 'key.paused',
      subject: 'key_x',
      place: 0,
    }
    const rest = { attempts: 0, since: now, nextAt: null, triedAt: null, httpStatus: null }
    const more = { durationMs: null, error: null, tries: [] }
    const make = (i: number, done: boolean) => ({
      ...{ ...plain, ...rest, ...more, id: `dlv_${done ? 0 : 1}${String(i).padStart(9, '0')}` },
      status: done ? ('delivered' as const) : ('pending' as const),
      doneAt: done ? now : null,
    })
    const waiting = Array.from({ length: maxWaiting - 1 }, (_, i) => make(i, false))
    const done = Array.from({ length: maxKept + 50 }, (_, i) => make(i, true))
    for (let at = 0; at < waiting.length; at += 1000) {
      await w.db.write(() => insert(webhookDeliveries, waiting.slice(at, at + 1000)))
    }
    await w.db.write(() => insert(webhookDeliveries, done))
    const told = Array.from({ length: 5 }, (_, n) => ({
      ...{ type: 'key.paused' as const, account, subject: 'key_y', data: { n } },
    }))
    await w.db.write(() => addEvents(w.db.tables, told, now))
    await until(async () => (await w.deps.webhooks.find(account, id))?.dropped === 4)
    expect(await w.deps.webhooks.waiting(id)).toBe(maxWaiting)
    await w.deps.webhooks.prune(now)
    const ended = await w.db.read((q) =>
      rows(
        q
          .select()
          .from(webhookDeliveries)
          .where(and(eq(webhookDeliveries.webhookId, id), isNotNull(webhookDeliveries.doneAt))),
      ),
    )
    expect(ended.length).toBe(maxKept)
  })
})
