import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rotateKey } from '../../../src/access/keys/rotate.ts'
import { hashSecret } from '../../../src/access/keys/secret.ts'
import { newAccount, officeOn, openOffice } from '../../ledger/office.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { lookedAgain, secondConnection } from '../../support/second-connection.ts'
import { engines, world } from '../../support/world.ts'

const second = 1000
const week = 604_800

describe.each(engines)('a rotated key on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  const fresh = async () => {
    const key = await office.key({ account: newAccount() })
    return { key, secret: await rotated(key.id, 0) }
  }
  const rotated = async (keyId: string, overlapSeconds: number): Promise<string> =>
    (await rotateKey(office, { keyId, actor: 'test', overlapSeconds })).secret
  const works = async (secret: string, on = office.keys): Promise<boolean> =>
    (await on.findCaller(hashSecret(secret))) !== undefined
  const pass = (ms: number) => office.clock.set(office.clock.now() + ms)

  test('is the same key: id, cap, children and place; only the fingerprint is another', async () => {
    const { key } = await fresh()
    const child = await office.key({ account: key.accountId, parentId: key.id })
    const before = await office.keys.find(key.id)
    const secret = await rotated(key.id, 60)
    const caller = await office.keys.findCaller(hashSecret(secret))
    expect(caller?.key).toEqual({
      ...before,
      fingerprint: hashSecret(secret).slice(0, 12),
    } as typeof key)
    expect((await office.keys.find(child.id))?.lineage).toEqual([child.id, key.id])
  })

  test('takes the old secret until the overlap ends, to the millisecond, and then never', async () => {
    const { key, secret: old } = await fresh()
    const now = await rotated(key.id, 60)
    expect([await works(old), await works(now)]).toEqual([true, true])
    expect((await office.keys.show(key.id, office.clock.now())).overlapUntil).toBe(
      office.clock.now() + 60 * second,
    )
    pass(60 * second - 1)
    expect([await works(old), await works(now)]).toEqual([true, true])
    pass(1)
    expect([await works(old), await works(now)]).toEqual([false, true])
    expect((await office.keys.show(key.id, office.clock.now())).overlapUntil).toBeNull()
  })

  test('remembers the overlap in the database: another process keeps to it', async () => {
    const { key, secret: old } = await fresh()
    await rotated(key.id, week)
    pass(week * second - 1)
    expect(await works(old, officeOn(office.db, office.clock).keys)).toBe(true)
    pass(1)
    expect(await works(old, officeOn(office.db, office.clock).keys)).toBe(false)
  })

  test('without an overlap drops the old secret at once, here and within a second elsewhere', async () => {
    const { key, secret: old } = await fresh()
    const other = secondConnection(office.db)
    const elsewhere = officeOn(other.db, office.clock).keys
    expect([await works(old), await works(old, elsewhere)]).toEqual([true, true])
    const now = await rotated(key.id, 0)
    expect([await works(old), await works(now)]).toEqual([false, true])
    if (office.db.exclusive) await lookedAgain()
    else pass(second)
    expect(await works(old, elsewhere)).toBe(false)
    await other.close()
  })

  test('again during an overlap ends the older one: at most two secrets ever work', async () => {
    const { key, secret: first } = await fresh()
    const next = await rotated(key.id, week)
    const third = await rotated(key.id, 60)
    expect([await works(first), await works(next), await works(third)]).toEqual([false, true, true])
    // A leaked old secret is cut by rotating with 0.
    const last = await rotated(key.id, 0)
    expect([await works(next), await works(third), await works(last)]).toEqual([false, false, true])
  })

  test('by many at once ends with one secret that works and one in its overlap', async () => {
    const { key, secret } = await fresh()
    const made = await Promise.all(Array.from({ length: 20 }, () => rotated(key.id, 60)))
    const all = await Promise.all([secret, ...made].map((one) => works(one)))
    expect(all.filter((one) => one).length).toBe(2)
    expect(all[0]).toBe(false)
    pass(60 * second)
    const later = await Promise.all(made.map((one) => works(one)))
    expect(later.filter((one) => one).length).toBe(1)
  })

  test('is refused for a revoked one, and nothing is changed', async () => {
    const { key, secret } = await fresh()
    await office.revoke(key)
    expect(await rejectionOf(rotated(key.id, 60))).toMatchObject({ type: 'conflict' })
    const caller = await office.keys.findCaller(hashSecret(secret))
    expect(caller?.key.fingerprint).toBe(hashSecret(secret).slice(0, 12))
  })
})

describe('the doors of a rotated key', () => {
  test('take both secrets, say until when, and then answer 401 to the old one', async () => {
    const w = await world({ now: Date.UTC(2026, 6, 15, 12) })
    try {
      const { secret: old } = await w.key({ scopes: ['keys:mint'] })
      const json = { overlap_seconds: 60 }
      const answer = await w.call('/v1/keys/self/rotate', { key: old, json })
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
      const { secret, ...view } = await answer.json()
      expect(view.rotation).toEqual({ overlap_until: '2026-07-15T12:01:00.000Z' })
      const status = async (key: string) => (await w.call('/v1/keys/self', { key })).status
      expect([await status(old), await status(secret)]).toEqual([200, 200])
      w.advance(60_000)
      expect([await status(old), await status(secret)]).toEqual([401, 200])
      const self = await (await w.call('/v1/keys/self', { key: secret })).json()
      expect(self.rotation).toBeNull()
    } finally {
      await w.stop()
    }
  })
})
