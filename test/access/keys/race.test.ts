import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { statusOf } from '../../../src/access/keys/key.ts'
import { newAccount, officeOn, openOffice } from '../../ledger/office.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { engines } from '../../support/world.ts'

describe.each(engines)('a revocation that races with minting on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  test('leaves no usable key below, in 200 rounds', async () => {
    // On PostgreSQL the one revokes and the other mints; SQLite has one server a file.
    const other = engine === 'sqlite' ? office : officeOn(office.db, office.clock)
    let minted = 0
    let refused = 0
    for (let round = 0; round < 200; round++) {
      const account = newAccount()
      const root = await office.key({ account })
      const child = await office.key({ account, parentId: root.id })
      const mint = () => other.key({ account, parentId: child.id })
      const asked = round % 2 ? [mint(), mint()] : [mint()]
      const revoked = round % 3 ? office.revoke(root) : office.revoke(child)
      const outcomes = await Promise.allSettled([...asked, revoked, mint(), mint()])
      for (const one of outcomes) {
        if (one.status === 'rejected') {
          expect(one.reason).toMatchObject({ type: 'key_revoked' })
          refused++
        } else if ('lineage' in one.value) minted++
      }
      const shown = await office.keys.list(account, office.clock.now())
      const below = shown.filter(({ key }) => key.id !== root.id)
      const states = below.map(({ chain }) => statusOf(chain, office.clock.now()))
      expect(new Set(states)).toEqual(new Set(['revoked']))
      // Each is marked itself too: none counts as active, or is listed as such.
      expect(below.filter(({ key }) => key.revokedAt === null)).toEqual([])
    }
    // Both sides of the race were seen.
    expect([minted > 0, refused > 0]).toEqual([true, true])
  }, 120_000)

  test('frees the places of all keys below at once', async () => {
    const account = newAccount()
    const root = await office.key({ account })
    const children = Array.from({ length: 499 }, () => office.key({ account, parentId: root.id }))
    await Promise.all(children)
    expect(await rejectionOf(office.key({ account }))).toMatchObject({ type: 'conflict' })
    expect(await office.revoke(root)).toEqual({ stopped: 500 })
    await office.key({ account })
  }, 60_000)
})
