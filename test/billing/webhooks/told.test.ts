import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { rotateKey } from '../../../src/access/keys/rotate.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { passesNext } from '../../../src/ledger/spend-alerts.ts'
import { recordShortfall, shortfallOf } from '../../../src/runs/shortfall-event.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { newAccount, type Office, openOffice } from '../../ledger/office.ts'
import { window } from '../../ledger/paper-unit.ts'
import { promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'

setDefaultTimeout(60_000)

describe.each(engines)('what is told on %s', (engine) => {
  let office: Office & { close(): Promise<void> }
  beforeAll(async () => {
    office = await openOffice(engine)
  })
  afterAll(() => office.close())

  const told = (account: string) =>
    office.db.read(function* (q) {
      const { events } = office.db.tables
      const all = yield* rows(q.select().from(events).orderBy(asc(events.place)))
      return all.filter(({ accountId }) => accountId === account)
    })
  const typesOf = async (account: string) => (await told(account)).map(({ type }) => type)
  const spend = async (key: KeyRow, cost: bigint) =>
    office.end(await office.hold(key, cost, office.ledger, true), cost)
  const setLow = (account: string, low: bigint | null) =>
    office.ledger.post({
      account,
      keys: [],
      decide(unit) {
        const row = unit.account(account)
        if (!row) throw new Error('no account')
        row.lowBalance = low
        unit.changed('alerts', row)
      },
    })

  test('A key tells each percentage of its cap once, also after the cap was raised.', async () => {
    const account = newAccount()
    await office.grant(account, 1000n)
    const key = await office.key({ account, capLimit: 100n })
    await spend(key, 49n)
    expect(await typesOf(account)).toEqual(['key.created'])
    await spend(key, 1n)
    await spend(key, 10n)
    await spend(key, 30n)
    await office.ledger.post({
      account,
      keys: [key.id],
      decide(unit) {
        const row = unit.key(key.id)
        if (!row) throw new Error('no key')
        row.capLimit = 200n
        unit.changed('key', row)
      },
    })
    await spend(key, 60n)
    await spend(key, 50n)
    const caps = (await told(account)).filter(({ type }) => type === 'key.cap_reached')
    expect(caps.map(({ data }) => [data.threshold, data.spent_nusd, data.limit_nusd])).toEqual([
      [50, 50, 100],
      [80, 90, 100],
      [100, 200, 200],
    ])
    expect(caps.every(({ subject, data }) => subject === key.id && data.key_id === key.id)).toBe(
      true,
    )
  })

  test('The key above tells its own cap, and one charge may pass several percentages.', async () => {
    const account = newAccount()
    await office.grant(account, 1000n)
    const above = await office.key({ account, capLimit: 100n })
    const below = await office.key({ account, parentId: above.id, capLimit: 100n })
    await spend(below, 85n)
    const caps = (await told(account)).filter(({ type }) => type === 'key.cap_reached')
    expect(caps.map(({ subject, data }) => `${subject} ${data.threshold}`).sort()).toEqual(
      [`${above.id} 50`, `${above.id} 80`, `${below.id} 50`, `${below.id} 80`].sort(),
    )
  })

  test('A balance tells when it falls below the threshold, again after money came, and its end once.', async () => {
    const account = newAccount()
    await office.grant(account, 100n)
    const key = await office.key({ account })
    await setLow(account, 50n)
    await spend(key, 50n)
    expect(await typesOf(account)).toEqual(['key.created'])
    await spend(key, 1n)
    await spend(key, 1n)
    await office.grant(account, 52n)
    await spend(key, 60n)
    await spend(key, 40n)
    await office.grant(account, 10n)
    await spend(key, 10n)
    expect(await typesOf(account)).toEqual([
      'key.created',
      'balance.low',
      'balance.low',
      'balance.exhausted',
      'balance.exhausted',
    ])
  })

  test('A refusal for want of money tells the end of the balance once, until money comes.', async () => {
    const account = newAccount()
    await office.grant(account, 10n)
    const key = await office.key({ account })
    const refuse = async () => {
      const lack = await office.ledger.post({
        account,
        keys: key.lineage,
        decide: (unit) =>
          shortfallOf(unit, account, {
            required: 11n,
            room: { available: 10n, limitedBy: 'balance' },
            key: undefined,
            isOwn: false,
            held: 0n,
            resetsAt: null,
            most: 10n,
            isOnlyHeld: false,
          }),
      })
      const log = { error: (_: string, error: unknown) => Promise.reject(error) }
      if (lack) await recordShortfall({ ...office, log: log as never }, lack)
      return lack !== undefined
    }
    expect([await refuse(), await refuse()]).toEqual([true, false])
    await office.grant(account, 0n + 1n)
    await spend(key, 1n)
    expect(await refuse()).toBe(true)
    expect(await typesOf(account)).toEqual([
      'key.created',
      'balance.exhausted',
      'balance.exhausted',
    ])
  })

  test('Changes of a key are told, a revocation of every key that it ends.', async () => {
    const account = newAccount()
    await office.grant(account, 10n)
    const above = await office.key({ account })
    const below = await office.key({ account, parentId: above.id })
    await rotateKey(office, { keyId: above.id, actor: 'test', overlapSeconds: 0 })
    await pauseKey(office, { keyId: above.id, actor: 'test' })
    await pauseKey(office, { keyId: above.id, actor: 'test' })
    await office.revoke(above)
    await office.revoke(above)
    const all = await told(account)
    expect(all.map(({ type }) => type)).toEqual([
      'key.created',
      'key.created',
      'key.rotated',
      'key.paused',
      'key.revoked',
      'key.revoked',
    ])
    expect(
      all
        .slice(4)
        .map(({ subject }) => subject)
        .sort(),
    ).toEqual([above.id, below.id].sort())
    expect(all[0]?.data).toMatchObject({ key_id: above.id, name: 'test', parent_id: null })
  })

  promise`E17`
  test('A refused grant tells nothing.', async () => {
    const account = newAccount()
    const wish = { account, amount: 0n, reason: 'test', actor: 'test' }
    await grantCredit(office, wish).catch(() => {})
    expect(await typesOf(account)).toEqual([])
  })
})

describe('the percentages of a cap', () => {
  const most = 9_000_000_000_000_000n
  test.each([
    [null, most / 2n - 1n, most, false],
    [null, most / 2n, most, true],
    [50, (most / 5n) * 4n - 1n, most, false],
    [50, (most / 5n) * 4n, most, true],
    [80, most - 1n, most, false],
    [80, most, most, true],
    [100, most, most, false],
    [null, 1n, 3n, false],
    [null, 2n, 3n, true],
    [50, 8n, 10n, true],
    [50, 7n, 9n, false],
  ] as const)('told %s, spent %s of %s: the next is passed: %s', (last, spent, limit, isPassed) => {
    expect(passesNext(window({ told: last, spent, limit }))).toBe(isPassed)
  })
})
