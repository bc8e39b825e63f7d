import { describe, expect, test } from 'bun:test'
import { sumLedger } from '../../src/ledger/store/sums.ts'
import { engines } from '../support/world.ts'
import { newAccount, openOffice } from './office.ts'

describe.each(engines)('the sums of a ledger on %s', (engine) => {
  test('The sums of an empty ledger are zero.', async () => {
    const office = await openOffice(engine)
    expect(await sumLedger(office.db)).toEqual({ balance: 0n, held: 0n, sides: {} })
    await office.close()
  })

  test('are what all accounts have and hold, and what moved from side to side', async () => {
    const office = await openOffice(engine)
    const [rich, poor] = [newAccount(), newAccount()]
    await office.grant(rich, 100n)
    await office.grant(poor, 5n)
    await office.grant(poor, 2n)
    const key = await office.key({ account: rich })
    const [first, second] = [await office.hold(key, 40n), await office.hold(key, 20n)]
    await office.hold(key, 3n)
    await office.end(first, 30n)
    await office.end(second, 1n)
    expect(await sumLedger(office.db)).toEqual({
      balance: 76n,
      held: 3n,
      sides: { grants: -107n, user: 76n, revenue: 31n },
    })
    await office.close()
  })
})
