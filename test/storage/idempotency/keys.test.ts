import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { type Browser, browser, signInWith, wallet } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

// Two hundred at once take their time on a busy machine.
setDefaultTimeout(60_000)

type Made = Record<string, unknown> & { id: string; secret: string | null; fingerprint: string }

describe.each(engines)('keys with an Idempotency-Key, on %s', (engine) => {
  let w: World
  let own: Browser
  let minter: string
  beforeAll(async () => {
    w = await world({ engine, now: Date.UTC(2026, 10, 22, 12) })
    own = browser(w)
    await signInWith(own, wallet)
    const account = wallet.address.toLowerCase()
    const scopes = ['keys:mint', 'keys:read', 'runs:write'] as const
    minter = (await w.key({ account, scopes: [...scopes], balance: usd })).secret
  }, 60_000)
  afterAll(() => w.stop())

  let count = 0
  const fresh = () => `call ${++count}`
  const wish = { name: 'child', cap: { limit_nusd: 1000 } }
  const byKey = (path: string, call: string, json: object) =>
    w.call(path, { key: minter, json, headers: { 'idempotency-key': call } })
  const byPortal = (path: string, call: string, json: object) =>
    own.call(path, { json, headers: { 'idempotency-key': call } })
  const keyCount = async () =>
    (await w.db.read((q) => rows(q.select().from(w.db.tables.keys)))).length

  const doors = [
    ['POST /v1/keys', byKey, '/v1/keys'],
    ['POST /api/portal/keys', byPortal, '/api/portal/keys'],
  ] as const

  describe.each(doors)('%s', (_, post, path) => {
    test('makes one key of two calls; the second is told without the secret', async () => {
      const call = fresh()
      const first = await post(path, call, wish)
      expect(first.status).toBe(201)
      const made = (await first.json()) as Made
      expect(made.secret).toMatch(/^sk-service-/)
      const keys = await keyCount()
      const second = await post(path, call, wish)
      expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
      expect(await second.json()).toEqual({ ...made, secret: null })
      expect(await keyCount()).toBe(keys)
    })

    test('50 at once make one key, and its secret is told once', async () => {
      const call = fresh()
      const keys = await keyCount()
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(path, call, wish)))
      const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as Made[]
      expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
      const made = bodies.filter((_, i) => answers[i]?.status === 201)
      expect(new Set(made.map(({ id }) => id)).size).toBe(1)
      expect(made.filter(({ secret }) => secret !== null)).toHaveLength(1)
      expect(await keyCount()).toBe(keys + 1)
    })

    test('another body is 422; a refusal frees the key', async () => {
      const call = fresh()
      expect((await post(path, call, { ...wish, cap: { limit_nusd: 0 } })).status).toBe(400)
      expect((await post(path, call, wish)).status).toBe(201)
      const other = await post(path, call, { ...wish, name: 'other' })
      expect([other.status, (await other.json()).error.type]).toEqual([422, 'idempotency_mismatch'])
    })

    test('rotates once, and the secret that came of it works on', async () => {
      const call = fresh()
      const { id } = (await (await post(path, fresh(), wish)).json()) as Made
      const first = (await (await post(`${path}/${id}/rotate`, call, {})).json()) as Made
      const second = await post(`${path}/${id}/rotate`, call, {})
      expect(second.headers.get('idempotent-replayed')).toBe('true')
      expect(await second.json()).toEqual({ ...first, secret: null })
      expect((await w.call('/v1/keys/self', { key: String(first.secret) })).status).toBe(200)
      const late = { overlap_seconds: 60 }
      const third = (await (await post(`${path}/${id}/rotate`, fresh(), late)).json()) as Made
      expect(third.fingerprint).not.toBe(first.fingerprint)
    })

    test('20 at once rotate once, and the secret is told once', async () => {
      const call = fresh()
      const { id, fingerprint } = (await (await post(path, fresh(), wish)).json()) as Made
      const ask = () => post(`${path}/${id}/rotate`, call, {})
      const answers = await Promise.all(Array.from({ length: 20 }, ask))
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
      const done = answers.filter(({ status }) => status === 200)
      const made = (await Promise.all(done.map((answer) => answer.json()))) as Made[]
      const fingerprints = new Set(made.map((one) => one.fingerprint))
      expect([fingerprints.size, fingerprints.has(fingerprint)]).toEqual([1, false])
      const secrets = made.flatMap(({ secret }) => secret ?? [])
      expect(secrets).toHaveLength(1)
      expect((await w.call('/v1/keys/self', { key: String(secrets[0]) })).status).toBe(200)
    })

    test.each([1, 3600])('an overlap of %d s is told again as it was', async (seconds) => {
      const call = fresh()
      const { id } = (await (await post(path, fresh(), wish)).json()) as Made
      const ask = { overlap_seconds: seconds }
      const first = (await (await post(`${path}/${id}/rotate`, call, ask)).json()) as Made
      const second = (await (await post(`${path}/${id}/rotate`, call, ask)).json()) as Made
      expect(second).toEqual({ ...first, secret: null })
      expect(second['rotation']).toMatchObject({ overlap_until: expect.any(String) })
    })
  })

  promise`A2`
  test('no secret stands in the table, also not sealed', async () => {
    const call = fresh()
    const made = (await (await byKey('/v1/keys', call, wish)).json()) as Made
    const { idempotentCalls } = w.db.tables
    const stored = await w.db.read((q) => rows(q.select().from(idempotentCalls)))
    for (const row of stored) {
      if (row.reply === null) continue
      const known = { scope: row.scope, fingerprint: row.fingerprint }
      const { body } = w.deps.replies.answerOf(row, known)
      expect(body).not.toContain('sk-service-')
      expect(body).toContain('"secret":null')
    }
    expect(JSON.stringify(stored)).not.toContain(String(made.secret))
  })
})
