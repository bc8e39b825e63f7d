import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { DepositRow } from '../../../src/storage/db/schema/schema.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import { direct } from '../../storage/db/direct.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines } from '../../support/world.ts'
import { alice, bob, type Depositing, depositingWorld, exchange, units } from './depositing.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(120_000)

describe.each(engines)('the journal refuses a second credit of one transfer on %s', (engine) => {
  let chain: StubChain
  let w: Depositing
  beforeAll(async () => {
    chain = stubChain()
    w = await depositingWorld({ engine, url: chain.url })
    await w.look()
  })
  afterAll(async () => {
    expect(await w.faults()).toEqual([])
    await w.stop()
    await chain.stop()
  })
  const events = (event: string) => w.logged.filter((one) => one.event === event).length
  /** A deposit of 50 dollars that is credited, and its transaction. */
  const credited = async (from: string) => {
    const tx = chain.add([transferLog(from, units(50))])
    chain.mine(20)
    await w.look()
    const row = (await w.all()).find(({ txHash }) => txHash === tx.hash)
    if (row?.status !== 'credited') throw new Error('not credited')
    return { tx, row }
  }

  promise`F15`
  test('and takes the credit that follows a reversal, under a reference of its own', async () => {
    const { tx, row } = await credited(alice)
    const { block } = tx
    for (let i = 0; i < 3; i++) {
      chain.reorg(block, [tx])
      chain.mine()
      await w.look()
      expect(await w.balance(alice)).toBe(0)
      tx.block = block
      chain.mine(30)
      await w.look()
      await w.look()
      expect(await w.balance(alice)).toBe(50)
    }
    const [after] = await w.all()
    expect([after?.id, after?.credits, after?.reversals]).toEqual([row.id, 4, 3])
  })

  promise`F1`
  test('that a row which lost its state would bring', async () => {
    const { row } = await credited(bob)
    const set = (what: string) => direct(w.db, `update deposits set ${what} where id = '${row.id}'`)
    await set("status = 'detected'")
    await w.look()
    expect([await w.balance(bob), events('deposit.repeated')]).toEqual([50, 0])
    await set("status = 'detected', credits = 0")
    await w.look()
    expect([await w.balance(bob), events('deposit.repeated')]).toEqual([50, 1])
    await set("status = 'credited', credits = 1")
  })

  promise`F1`
  test('that a second row would bring, also in another account and at another index', async () => {
    const { row } = await credited(exchange)
    const copy = { ...row, id: `dep_${'z'.repeat(26)}`, status: 'detected', credits: 0 } as const
    const store = (more: Partial<DepositRow>) =>
      w.db.write(() => insert(w.db.tables.deposits, [{ ...copy, ...more }]))
    expect(await outcomeOf(store({ logIndex: 9 }))).toThrow()
    await direct(w.db, 'drop index deposits_by_transfer')
    await store({ account: bob })
    chain.add([transferLog(exchange, units(2))])
    chain.mine(20)
    await w.look()
    expect(events('deposit.repeated')).toBe(2)
    // The deposit behind it is credited all the same.
    expect([await w.balance(exchange), await w.balance(bob)]).toEqual([52, 50])
  })
})
