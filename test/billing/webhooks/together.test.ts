import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { count, eq } from 'drizzle-orm'
import { deliverer } from '../../../src/billing/webhooks/deliver.ts'
import { secretsOf } from '../../../src/billing/webhooks/secrets.ts'
import { maxKept } from '../../../src/billing/webhooks/webhook.ts'
import { createWebhook, rotateWebhook } from '../../../src/billing/webhooks/webhooks.ts'
import { makeCheckedPost } from '../../../src/models/upstream/checked-post.ts'
import type { DeliveryRow } from '../../../src/storage/db/schema/schema.ts'
import { first, insert } from '../../../src/storage/db/sql/query-steps.ts'
import { addEvents } from '../../../src/storage/outbox/store.ts'
import { newAccount } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

const events = 400

describe.each(engines)('many deliveries on %s', (engine) => {
  let w: World
  const ending = new AbortController()
  let connections = 0
  const ids: string[] = []
  const server = createServer((request, response) => {
    ids.push(String(request.headers['webhook-id']))
    request.resume().on('end', () => response.writeHead(204).end())
  })
  server.on('connection', () => void connections++)
  beforeAll(async () => {
    w = await world({ engine, now: Date.now() })
    w.deps.settings.webhookReach = { allowed: [], isLoopbackAllowed: true }
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up))
  })
  afterAll(async () => {
    ending.abort()
    await w.stop()
    server.closeAllConnections()
    server.close()
  })

  const endpoint = async () => {
    const account = newAccount()
    await w.key({ account, balance: 1000n })
    w.advance(1)
    const asker = { account, actor: 'test' }
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { row } = await createWebhook(w.deps, asker, { url })
    return { account, asker, id: row.id, webhook: row }
  }
  const ended = (id: string) =>
    w.db.read(function* (q) {
      const { webhookDeliveries: all } = w.db.tables
      const found = q
        .select({ count: count(all.doneAt) })
        .from(all)
        .where(eq(all.webhookId, id))
      return (yield* first(found))?.count ?? 0
    })

  promise`E20`
  test('They are read in pages, stored together, and use few connections; each arrives once.', async () => {
    const one = await endpoint()
    const told = Array.from({ length: events }, (_, n) => {
      const about = { account: one.account, subject: `key_${n}`, data: { n } }
      return { type: 'key.rotated' as const, ...about }
    })
    await w.db.write(() => addEvents(w.db.tables, told, w.deps.clock.now()))
    let pages = 0
    let commits = 0
    const { due, settle } = w.deps.webhooks
    const webhooks: typeof w.deps.webhooks = {
      ...w.deps.webhooks,
      due: (...what) => {
        pages++
        return due(...what)
      },
      settle: (...what) => {
        commits++
        return settle(...what)
      },
    }
    const tick = deliverer({ ...w.deps, webhooks })
    // A new endpoint gets one event first; the next look finds that it is fast.
    for (let i = 0; i < 40 && (await ended(one.id)) < events; i++) {
      await tick(ending.signal)
      await Bun.sleep(250)
    }
    expect(await ended(one.id)).toBe(events)
    expect([ids.length, new Set(ids).size]).toEqual([events, events])
    // One that waits for each message would need as many of each.
    expect(pages).toBeLessThan(events / 8)
    expect(commits).toBeLessThan(events / 2)
    expect(connections).toBeLessThanOrEqual(16)
  })

  promise`E20`
  test('Of an endpoint that many ended for the newest are kept.', async () => {
    const { id } = await endpoint()
    const now = w.deps.clock.now()
    const row = (n: number): DeliveryRow => ({
      ...{ id: `dlv_${String(n).padStart(9, '0')}`, webhookId: id, eventId: `evt_${n}` },
      ...{ type: 'key.paused', subject: 'key_x', place: n, status: 'delivered', attempts: 1 },
      ...{ since: now, nextAt: null, triedAt: now, httpStatus: 204, durationMs: 1, error: null },
      ...{ tries: [], doneAt: now },
    })
    const rows = Array.from({ length: maxKept + 30 }, (_, n) => row(n))
    await w.db.write(() => insert(w.db.tables.webhookDeliveries, rows))
    expect(await w.deps.webhooks.trim([id])).toBe(false)
    expect(await ended(id)).toBe(maxKept)
    const { items } = await w.deps.webhooks.deliveries(id, { limit: 1, after: undefined })
    expect(items[0]?.place).toBe(maxKept + 29)
  })

  promise`E10`
  test('Of two rotations at once each secret that was shown signs; the later one may be refused.', async () => {
    const { asker, id, account, webhook } = await endpoint()
    const both = await Promise.allSettled([1, 2].map(() => rotateWebhook(w.deps, asker, { id })))
    const row = await w.deps.webhooks.find(account, id)
    const signing = row ? secretsOf(w.deps, row, w.deps.clock.now()) : []
    for (const one of both) {
      if (one.status === 'fulfilled') expect(signing).toContain(one.value.secret)
      else expect(one.reason.type).toBe('conflict')
    }
    expect(both.some(({ status }) => status === 'fulfilled')).toBe(true)
    // What was read before the others changed it changes nothing.
    const { clock, ids: makes } = w.deps
    const about = { actor: 'test', action: 'webhook.rotate', accountId: account, subject: id }
    const audit = { id: makes.make('req'), at: clock.now(), ...about, detail: {} }
    expect(await w.deps.webhooks.rotate(webhook, webhook.secret, audit)).toBe(false)
    expect(await w.deps.webhooks.find(account, id)).toEqual(row)
  })
})

promise`E18`
test('A message that a kept connection lost is sent again over a new one.', async () => {
  let connections = 0
  // Each connection serves one request, and closes at the next one.
  const server = createTcpServer((socket) => {
    connections++
    let heard = 0
    socket.on('error', () => {})
    socket.on('data', () => {
      if (heard++ === 0) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      else socket.destroy()
    })
  })
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up))
  const post = makeCheckedPost(() => ({ allowed: [], isLoopbackAllowed: true }))
  const { signal } = new AbortController()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const message = { from: 'whk_1', url, headers: {}, body: '{}', signal }
  const taken = { status: 204, answer: '' }
  expect([await post(message), await post(message)]).toEqual([taken, taken])
  expect(connections).toBe(2)
  server.close()
})
