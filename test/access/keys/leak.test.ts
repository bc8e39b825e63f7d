import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fingerprintOf, hashSecret, makeSecret } from '../../../src/access/keys/secret.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { errorType } from '../../docs/answers.ts'
import { noted } from '../../front/admin/admin.ts'
import { promise } from '../../support/promise.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'

describe.each(engines)('a leak report on %s', (engine) => {
  let w: World
  let parent: string
  beforeAll(async () => {
    w = await world({ engine, toml: '[limits]\nkeyless_per_minute = 60' })
    parent = (await w.key({ balance: usd, scopes: ['keys:mint', 'keys:read'] })).secret
  }, 60_000)
  afterAll(() => w.stop())

  const report = (secret: string) => w.call('/leaks', { json: { secret } })
  const mint = async () => {
    const wish = { name: 'below', cap: { limit_nusd: 1000 } }
    return (await w.call('/v1/keys', { key: parent, json: wish })).json()
  }
  const ask = (key: string) => w.call('/v1/keys/self', { key, method: 'GET' })
  const balanceOf = (key: string) => w.call('/v1/plans', { key })

  promise`E23 C: A report of a leak pauses the key of that very secret and tells its sender
    nothing.`
  test('Every text is answered alike: status, body and headers.', async () => {
    const { secret } = await w.key()
    const revoked = await mint()
    await w.call(`/v1/keys/${revoked.id}/revoke`, { key: parent, method: 'POST' })
    const texts = [secret, secret, makeSecret(systemRandom()), revoked.secret, 'sk-service-', '']
    const answers = await Promise.all(texts.map(report))
    const told = await Promise.all(
      answers.map(async (one) => {
        const headers = [...one.headers].filter(([name]) => !/^(x-request-id|date)$/.test(name))
        return JSON.stringify([one.status, headers, await one.text()])
      }),
    )
    expect(answers[0]?.status).toBe(202)
    expect(new Set(told).size).toBe(1)
  })

  promise`E23`
  test('A live secret is paused, its owner told, and resumed after a rotation alone.', async () => {
    const made = await mint()
    expect((await balanceOf(made.secret)).status).toBe(200)
    await report(made.secret)
    const refused = await balanceOf(made.secret)
    const { error } = await refused.json()
    expect([refused.status, error.type]).toEqual([403, 'key_paused'])
    expect(error.metadata).toEqual({ paused_reason: 'leak', blocking_key_id: made.id })
    expect(await (await ask(made.secret)).json()).toMatchObject({ paused_reason: 'leak' })
    const { events } = w.db.tables
    const found = await w.db.read((q) => rows(q.select().from(events)))
    const own = found.filter(({ subject }) => subject === made.id).map(({ type }) => type)
    expect(own).toEqual(['key.created', 'key.paused', 'leak.reported'])
    const entry = (await noted(w)).find(({ action }) => action === 'key.pause')
    expect(entry).toMatchObject({ actor: 'leak report', accountId: testAccount, subject: made.id })
    const path = `/v1/keys/${made.id}`
    const early = await w.call(`${path}/resume`, { key: parent, method: 'POST' })
    expect([early.status, await errorType(early)]).toEqual([409, 'conflict'])
    const lasting = { key: parent, json: { overlap_seconds: 60 } }
    expect((await w.call(`${path}/rotate`, lasting)).status).toBe(409)
    const self = await w.call('/v1/keys/self/rotate', { key: made.secret, method: 'POST' })
    expect(self.status).toBe(403)
    const turned = await (await w.call(`${path}/rotate`, { key: parent, method: 'POST' })).json()
    expect(turned).toMatchObject({ status: 'paused', paused_reason: null })
    await w.call(`${path}/resume`, { key: parent, method: 'POST' })
    expect((await balanceOf(turned.secret)).status).toBe(200)
    expect((await balanceOf(made.secret)).status).toBe(401)
  })

  promise`E23`
  test('The secret is stored and logged nowhere, whatever happens to the report.', async () => {
    const { secret } = await mint()
    await report(secret)
    await w.call('/leaks', { json: { secret, more: 1 } })
    await w.call('/leaks', { json: [secret] })
    const { events } = w.db.tables
    const stored = await w.db.read((q) => rows(q.select().from(events)))
    const text = JSON.stringify([stored, await noted(w), w.logged])
    expect(text).not.toContain(secret.slice(11, 40))
  })

  test('What is known of a key without its secret pauses nothing, nor do parts of the secret.', async () => {
    const one = await mint()
    const { secret, id } = one
    const hash = hashSecret(secret)
    const texts = [
      ...[id, hash, hash.toUpperCase(), fingerprintOf(hash), `sk-service-${hash}`],
      ...[secret.slice(0, -1), ` ${secret}`, secret.toUpperCase(), `${secret}%00`, `%${secret}%`],
    ]
    for (const text of texts) {
      const { status } = await report(text)
      expect([text === secret, status === 202 || status === 400]).toEqual([false, true])
    }
    await Bun.sleep(100)
    expect((await ask(secret)).status).toBe(200)
  })

  promise`E23`
  test('Reports are limited by network.', async () => {
    const all = await Promise.all(Array.from({ length: 70 }, () => report('x')))
    expect(all.filter(({ status }) => status === 429).length).toBeGreaterThan(5)
  })
})
