import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { newAccount, openOffice, pictureOf } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf, rejectionOf } from '../../support/rejection.ts'
import { lookedAgain, secondConnection } from '../../support/second-connection.ts'
import { engines } from '../../support/world.ts'

describe.each(engines)('a revocation on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  const stored = async (id: string) =>
    (await pictureOf(office.db)).keys.find((key) => key.id === id)

  /** An update past every command, as an operator with access to the database could make. */
  const setDirectly = (id: string, values: Partial<KeyRow>, db = office.db) =>
    db.write((q) => {
      const { keys } = db.tables
      return rows(q.update(keys).set(values).where(eq(keys.id, id)).returning())
    })

  promise`A5 C: A revoked key, and every key below it, is refused from the answer on.`
  test('takes the key and all below it, to depth 4, from its commit on', async () => {
    const account = newAccount()
    await office.grant(account, 100n)
    const chain = [await office.key({ account })]
    for (let depth = 1; depth <= 4; depth++) {
      chain.push(await office.key({ account, parentId: chain.at(-1)?.id }))
    }
    const other = await office.key({ account })
    for (const key of chain) await office.hold(key, 1n)
    const [root, ...below] = chain
    if (!root) throw new Error('no root')
    expect(await office.revoke(root)).toEqual({ stopped: 5 })
    for (const key of [root, ...below]) {
      expect(await rejectionOf(office.hold(key, 1n))).toMatchObject({ type: 'key_revoked' })
    }
    await office.hold(other, 1n)
  })

  promise`A5`
  test('is never straddled: of holds that race with it, none is taken after it', async () => {
    const account = newAccount()
    await office.grant(account, 1000n)
    const parent = await office.key({ account })
    const key = await office.key({ account, parentId: parent.id })
    const before = Array.from({ length: 100 }, () => office.hold(key, 1n))
    const revoked = office.revoke(parent)
    const during = Array.from({ length: 100 }, () => office.hold(key, 1n))
    await revoked
    const after = Array.from({ length: 100 }, () => office.hold(key, 1n))
    const taken = async (asked: Promise<unknown>[]) =>
      (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length
    const counts = [await taken(before), await taken(during), await taken(after)]
    expect(counts[2]).toBe(0)
    const { accounts } = await pictureOf(office.db)
    const held = accounts.find(({ id }) => id === account)?.held
    expect(held).toBe(BigInt((counts[0] ?? 0) + (counts[1] ?? 0)))
  })

  test('is said once: revoking again changes nothing', async () => {
    const key = await office.key({ account: newAccount() })
    await office.revoke(key)
    const first = await stored(key.id)
    office.clock.set(office.clock.now() + 1000)
    expect(await office.revoke(key)).toEqual({ stopped: 1 })
    expect(await stored(key.id)).toEqual(first as KeyRow)
  })

  test('of no key is not_found', async () => {
    const key = await office.key({ account: newAccount() })
    const none = office.revoke({ ...key, id: 'key_none' })
    expect(await rejectionOf(none)).toMatchObject({ type: 'not_found' })
  })

  test('is final: the database itself refuses to take it back', async () => {
    const key = await office.key({ account: newAccount() })
    await office.revoke(key)
    const revoked = await stored(key.id)
    for (const revokedAt of [null, 0, (revoked?.revokedAt ?? 0) + 1]) {
      expect(await outcomeOf(setDirectly(key.id, { revokedAt }))).toThrow()
    }
    await setDirectly(key.id, { lastUsedAt: 5 })
    expect(await stored(key.id)).toEqual({ ...revoked, lastUsedAt: 5 } as KeyRow)
  })

  test('cannot be escaped: the database refuses another parent or account for any key', async () => {
    const key = await office.key({ account: newAccount() })
    const child = await office.key({ account: key.accountId, parentId: key.id })
    expect(await outcomeOf(setDirectly(child.id, { parentId: null }))).toThrow()
    expect(await outcomeOf(setDirectly(child.id, { lineage: [child.id] }))).toThrow()
    expect(await outcomeOf(setDirectly(child.id, { accountId: newAccount() }))).toThrow()
    expect(await stored(child.id)).toEqual(child)
  })

  test('of another process is known within milliseconds on a file, and within a second on a server', async () => {
    const key = await office.key({ account: newAccount() })
    const { secrets } = await office.db.snapshot(function* (q) {
      const { keySecrets } = office.db.tables
      return {
        secrets: yield* rows(q.select().from(keySecrets).where(eq(keySecrets.keyId, key.id))),
      }
    })
    const hash = secrets[0]?.hash ?? ''
    const find = async () => (await office.keys.findCaller(hash))?.key.revokedAt
    expect(await find()).toBeNull()
    // Another process revokes, and sends this one no notice.
    const other = secondConnection(office.db)
    await setDirectly(key.id, { revokedAt: 7 }, other.db)
    await other.close()
    if (office.db.exclusive) await lookedAgain()
    else office.clock.set(office.clock.now() + 1000)
    expect(await find()).toBe(7)
    // Its own revocations it knows at once.
    const second = await office.key({ account: newAccount() })
    await office.revoke(second)
    expect((await stored(second.id))?.revokedAt).toBe(office.clock.now())
  })
})
