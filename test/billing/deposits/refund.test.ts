import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { assignDeposit } from '../../../src/billing/deposits/claim.ts'
import { refund } from '../../../src/billing/refunds/refund.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines, usd } from '../../support/world.ts'
import { alice, bob, type Depositing, depositingWorld, units } from './depositing.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(60_000)

describe.each(engines)('refunds of deposits on %s', (engine) => {
  let chain: StubChain
  let w: Depositing
  beforeAll(async () => {
    chain = stubChain()
    w = await depositingWorld({ engine, url: chain.url })
    await w.look()
    // Credit that no deposit stands for: it must never leave as a refund of one.
    const gift = { account: alice, amount: 500n * usd, reason: 'test', actor: 'operator' }
    await grantCredit(w.deps, gift)
  })
  afterAll(async () => {
    expect(await w.faults()).toEqual([])
    await w.stop()
    await chain.stop()
  })

  /** A final deposit of Alice. */
  const arrive = async (dollars: number): Promise<string> => {
    const { hash } = chain.add([transferLog(alice, units(dollars))])
    // One look credits it, a later one finds its block final.
    for (const blocks of [20, 980, 1000]) {
      chain.mine(blocks)
      await w.look()
    }
    const found = (await w.all()).find(({ txHash }) => txHash === hash)
    expect(found?.status).toBe('finalized')
    return found?.id ?? ''
  }
  /** Returns what was refunded so far, in dollars, or the type of the refusal. */
  const back = async (account: string, ref: string, dollars: number) => {
    const wish = { account, ref, amount: BigInt(dollars) * usd, reason: 'test', actor: 'operator' }
    try {
      return Number((await refund(w.deps, wish)).refunded / usd)
    } catch (error) {
      return error instanceof Refusal ? error.type : error
    }
  }
  const assign = (id: string) =>
    assignDeposit(w.deps, { id, account: bob, reason: 'test', actor: 'operator' })

  promise`D45 C: All refunds of a deposit together never exceed it, also after it moved to another
    account.`
  test('A hundred refunds at once take no more than the deposit.', async () => {
    const id = await arrive(50)
    const before = await w.balance(alice)
    const all = await Promise.all(Array.from({ length: 100 }, () => back(alice, id, 1)))
    expect(all.filter((one) => one === 'conflict')).toHaveLength(50)
    expect(all.filter((one) => typeof one === 'number').sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, i) => i + 1),
    )
    expect(await w.balance(alice)).toBe(before - 50)
  })

  promise`D45`
  test('An account that a deposit moves to gets only what was not refunded before.', async () => {
    const id = await arrive(100)
    expect(await back(alice, id, 60)).toBe(60)
    const [ofAlice, ofBob] = [await w.balance(alice), await w.balance(bob)]
    expect(await assign(id)).toMatchObject({ account: bob, moved: 40n * usd })
    expect(await w.balance(alice)).toBe(ofAlice - 40)
    expect(await w.balance(bob)).toBe(ofBob + 40)
    expect(await back(alice, id, 1)).toBe('not_found')
    await grantCredit(w.deps, { account: bob, amount: usd, reason: 'test', actor: 'operator' })
    expect(await back(bob, id, 41)).toBe('conflict')
    expect(await back(bob, id, 15)).toBe(15)
    expect(await back(bob, id, 25)).toBe(40)
    expect(await back(bob, id, 1)).toBe('conflict')
  })

  test('A deposit that was refunded whole cannot be moved.', async () => {
    const id = await arrive(30)
    expect(await back(alice, id, 30)).toBe(30)
    const before = await w.balance(alice)
    expect(await outcomeOf(assign(id))).toThrow('spent, held or refunded')
    expect(await w.balance(alice)).toBe(before)
  })
})
