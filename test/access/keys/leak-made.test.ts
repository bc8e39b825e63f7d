import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { reportLeak } from '../../../src/access/keys/leak.ts'
import { resumeKey } from '../../../src/access/keys/pause.ts'
import { rotateKey } from '../../../src/access/keys/rotate.ts'
import { hashSecret } from '../../../src/access/keys/secret.ts'
import { changeWebhook, createWebhook } from '../../../src/billing/webhooks/webhooks.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

const day = 86_400_000

type Made = { id: string; secret: string; left_paused?: string[] }

promise`T7 C: A report of a leak contains what the leaked key made, also after it rotated itself.`
describe.each(engines)('what a leaked key made, on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({
      engine,
      now: Date.UTC(2026, 10, 1),
      toml: '[limits]\nkeyless_per_minute = 600',
    })
  }, 60_000)
  afterAll(() => w.stop())

  const all = ['keys:mint', 'keys:read', 'usage:read', 'webhooks:write', 'runs:write'] as const
  const owned = async () => {
    const { key, secret } = await w.key({ balance: usd, scopes: [...all] })
    return { id: key.id, secret }
  }
  const post = async (key: string, path: string, json: object = {}) => {
    const answer = await w.call(`/v1${path}`, { key, method: 'POST', json })
    return { status: answer.status, body: await answer.json() }
  }
  const mint = async (key: string, more: object = {}): Promise<Made> => {
    const wish = { name: 'below', cap: { limit_nusd: 1000 }, scopes: ['keys:mint', 'keys:read'] }
    return (await post(key, '/keys', { ...wish, ...more })).body
  }
  const status = async (key: string) => (await w.call('/v1/plans', { key })).status
  const report = async (secret: string) => {
    await w.call('/leaks', { json: { secret } })
    await reportLeak(w.deps, secret)
  }
  const rowOf = async (id: string) => (await w.deps.keys.find(id)) ?? expect.unreachable()
  /** As in the dashboard. */
  const owner = {
    mint: async (parentId: string) => {
      const { key, secret } = await w.key({ parentId, name: 'of the owner', capLimit: 1000n })
      return { id: key.id, secret }
    },
  }

  test('stays paused when it is resumed, and is listed; what its owner made works again', async () => {
    const leaked = await owned()
    const made = await mint(leaked.secret)
    const below = await mint(made.secret)
    const known = await owner.mint(leaked.id)
    const belowKnown = await owner.mint(known.id)
    await report(leaked.secret)
    for (const { id } of [leaked, made, below]) {
      expect((await rowOf(id)).pausedReason).toBe('leak')
    }
    for (const { secret } of [leaked, made, below, known, belowKnown]) {
      expect(await status(secret)).toBe(403)
    }
    const wish = { keyId: leaked.id, actor: 'owner', overlapSeconds: 0 }
    const { secret } = await rotateKey(w.deps, wish)
    await resumeKey(w.deps, { keyId: leaked.id, actor: 'owner' })
    const statuses = [secret, known.secret, belowKnown.secret, made.secret, below.secret].map(
      status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 403, 403])
    const left = await w.deps.keys.leftPaused(await rowOf(leaked.id))
    expect(left.map(({ id }) => id).sort()).toEqual([made.id, below.id].sort())
    // Its secret is not its owner's: a resume alone is refused.
    expect((await post(secret, `/keys/${made.id}/resume`)).status).toBe(409)
    const turned = await post(secret, `/keys/${made.id}/rotate`)
    const resumed = await post(secret, `/keys/${made.id}/resume`)
    expect([resumed.status, resumed.body.left_paused]).toEqual([200, [below.id]])
    expect(await status(turned.body.secret)).toBe(200)
    // The same report again changes nothing: it was answered.
    await report(leaked.secret)
    expect(await status(secret)).toBe(200)
  })

  test('is also a key below whose secret it rotated, until its owner rotates that', async () => {
    const leaked = await owned()
    const [one, two] = [await owner.mint(leaked.id), await owner.mint(leaked.id)]
    for (const { id } of [one, two]) await post(leaked.secret, `/keys/${id}/rotate`)
    await rotateKey(w.deps, { keyId: two.id, actor: 'owner', overlapSeconds: 0 })
    await report(leaked.secret)
    expect((await rowOf(one.id)).pausedReason).toBe('leak')
    expect((await rowOf(two.id)).pausedReason).toBeNull()
  })

  test('includes webhooks that it chose, whose creation is an event', async () => {
    const [leaked, other] = [await owned(), await owned()]
    const url = 'https://thief.example/hook?token=secret'
    const hook = await post(leaked.secret, '/webhooks', { url })
    expect(hook.status).toBe(201)
    const kept = await post(other.secret, '/webhooks', { url: 'https://own.example/hook' })
    const moved = await post(other.secret, '/webhooks', { url: 'https://own.example/two' })
    const path = `/v1/webhooks/${moved.body.id}`
    await w.call(path, { key: leaked.secret, method: 'PATCH', json: { url } })
    const { events } = w.db.tables
    const found = await w.db.read((q) => rows(q.select().from(events)))
    const told = found.find(({ subject }) => subject === hook.body.id)
    expect([told?.type, told?.data]).toEqual([
      'webhook.created',
      { webhook_id: hook.body.id, host: 'thief.example', format: 'standard', actor: leaked.id },
    ])
    await report(leaked.secret)
    const state = async (id: string) => {
      const view = await (await w.call(`/v1/webhooks/${id}`, { key: other.secret })).json()
      return [view.enabled, view.disabled_reason]
    }
    expect(await state(hook.body.id)).toEqual([false, 'leak'])
    expect(await state(moved.body.id)).toEqual([false, 'leak'])
    expect(await state(kept.body.id)).toEqual([true, null])
    const left = await w.deps.keys.leftPaused(await rowOf(leaked.id))
    expect(left.map(({ object, id }) => [object, id]).sort()).toEqual(
      [hook.body.id, moved.body.id].map((id) => ['webhook', id]).sort(),
    )
  })
})

describe.each(engines)('webhooks of a leaked key that a report missed, on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, webhookTargets: true } as never)
  }, 60_000)
  afterAll(() => w.stop())

  test('are disabled by a job; those that the owner enabled since go on', async () => {
    const { key, secret } = await w.key({ scopes: ['webhooks:write'] })
    const asker = { account: key.accountId, actor: key.id, lineage: key.lineage }
    const made = await Promise.all(
      ['one', 'two'].map((name) =>
        createWebhook(w.deps, asker, { url: `https://hook.example/${name}` }),
      ),
    )
    const [missed, owned] = made.map(({ row }) => row.id)
    await reportLeak(w.deps, secret)
    const { webhooks } = w.db.tables
    const sending = { disabledAt: null, disabledReason: null }
    await w.db.write((q) => rows(q.update(webhooks).set(sending).returning()))
    const owner = { account: key.accountId, actor: key.accountId }
    await changeWebhook(w.deps, owner, owned ?? '', { enabled: true })
    await w.deps.webhooks.stopLeaked(w.deps.clock.now())
    const reasonOf = async (id = '') =>
      (await w.deps.webhooks.find(key.accountId, id))?.disabledReason
    expect([await reasonOf(missed), await reasonOf(owned)]).toEqual(['leak', null])
    await expect(
      changeWebhook(w.deps, asker, owned ?? '', { url: 'https://thief.example/' }).catch(
        ({ type }) => type,
      ),
    ).resolves.toBe('key_paused')
  })
})

describe.each(engines)('a thief who rotates before the report, on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({
      engine,
      now: Date.UTC(2026, 10, 1),
      toml: '[limits]\nkeyless_per_minute = 600',
    })
  }, 60_000)
  afterAll(() => w.stop())
  const rotateSelf = (key: string, json: object = {}) =>
    w.call('/v1/keys/self/rotate', { key, method: 'POST', json })
  const statusOf = async (key: string) => (await w.call('/v1/plans', { key })).status

  test('A rotation needs the scope keys:mint.', async () => {
    const { key, secret } = await w.key()
    for (const id of ['self', key.id]) {
      const answer = await w.call(`/v1/keys/${id}/rotate`, { key: secret, method: 'POST' })
      expect([answer.status, (await answer.json()).error.type]).toEqual([403, 'scope_denied'])
    }
    expect(await statusOf(secret)).toBe(200)
  })

  test.each([0, 60])('with it is paused by the old secret, %i s of overlap', async (overlap) => {
    const { secret: stolen } = await w.key({ scopes: ['keys:mint'], expiresAt: Date.UTC(2027, 9) })
    const json = { overlap_seconds: overlap }
    const { secret: next } = await (await rotateSelf(stolen, json)).json()
    const { secret: last } = await (await rotateSelf(next)).json()
    w.advance(89 * day)
    expect(await statusOf(last)).toBe(200)
    await reportLeak(w.deps, stolen)
    expect(await statusOf(last)).toBe(403)
  })

  test('is not paused after 90 days, nor by a secret that its owner rotated away', async () => {
    const { secret: stolen } = await w.key({ scopes: ['keys:mint'], expiresAt: Date.UTC(2027, 9) })
    const { secret: last } = await (await rotateSelf(stolen)).json()
    w.advance(90 * day)
    await reportLeak(w.deps, stolen)
    expect(await statusOf(last)).toBe(200)
    const one = await w.key()
    const wish = { keyId: one.key.id, actor: 'owner', overlapSeconds: 0 }
    const { secret } = await rotateKey(w.deps, wish)
    await reportLeak(w.deps, one.secret)
    expect(await statusOf(secret)).toBe(200)
  })

  test('takes no part in what is decided after the pause: no rotation, key or webhook', async () => {
    const { secret, key } = await w.key({ scopes: ['keys:mint', 'webhooks:write'] })
    // A node that has not heard of the pause yet lets the request in.
    const caller = await w.deps.keys.findCaller(hashSecret(secret))
    await reportLeak(w.deps, secret)
    expect(caller?.chain[0]?.pausedAt).toBeNull()
    const asker = { account: key.accountId, actor: key.id, lineage: key.lineage }
    const late = [
      rotateKey(w.deps, { keyId: key.id, actor: key.id, overlapSeconds: 0 }),
      createWebhook(w.deps, asker, { url: 'https://thief.example/' }),
    ]
    for (const one of await Promise.allSettled(late)) {
      expect(one).toMatchObject({ status: 'rejected', reason: { type: 'key_paused' } })
    }
    expect((await w.deps.keys.find(key.id))?.pausedReason).toBe('leak')
  })
})
