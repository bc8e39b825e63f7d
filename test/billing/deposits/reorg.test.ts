import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { fault, promise } from '../../support/promise.ts'
import { usd } from '../../support/world.ts'
import { alice, bob, type Depositing, depositingWorld, units } from './depositing.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(60_000)

let chain: StubChain
let w: Depositing
beforeEach(async () => {
  chain = stubChain()
  w = await depositingWorld({ url: chain.url })
  await w.look()
})
afterEach(async () => {
  expect(await w.faults()).toEqual([])
  await w.stop()
  await chain.stop()
})

describe('a reorg before the credit', () => {
  promise`F4 C: A reorganisation credits nothing twice and takes back what is gone.`
  test('that drops a deposit orphans it; nothing is credited', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    await w.look()
    chain.reorg(tx.block, [tx])
    chain.mine(30)
    await w.look()
    expect(await w.states()).toEqual(['orphaned 50'])
    expect(await w.balance(alice)).toBe(0)
  })

  promise`F4`
  test('that moves it to another block and index credits it once, from there', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    await w.look()
    chain.reorg(tx.block)
    Object.assign(tx, { block: tx.block + 3, firstLog: 5 })
    chain.mine(30)
    await w.look()
    await w.look()
    expect(await w.states()).toEqual(['credited 50'])
    const [row] = await w.all()
    expect([row?.blockNumber, row?.logIndex]).toEqual([tx.block, 5])
    expect(await w.balance(alice)).toBe(50)
  })

  test('that brings an orphan back credits it once', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    const { block } = tx
    await w.look()
    chain.reorg(block, [tx])
    chain.mine(5)
    await w.look()
    expect(await w.states()).toEqual(['orphaned 50'])
    tx.block = block + 7
    chain.mine(30)
    await w.look()
    await w.look()
    expect(await w.states()).toEqual(['credited 50'])
    expect(await w.balance(alice)).toBe(50)
  })

  test('that shifts the indices of three transfers over each other keeps them three', async () => {
    const three = [1, 2, 3].map((dollars) => transferLog(alice, units(dollars)))
    const tx = chain.add(three)
    await w.look()
    chain.reorg(tx.block)
    tx.firstLog = 1
    chain.mine(30)
    await w.look()
    await w.look()
    expect(await w.states()).toEqual(['credited 1', 'credited 2', 'credited 3'])
    expect(await w.balance(alice)).toBe(6)
  })
})

describe('a reorg after the credit', () => {
  const credited = async (dollars: number) => {
    const tx = chain.add([transferLog(alice, units(dollars))])
    chain.mine(20)
    await w.look()
    expect(await w.balance(alice)).toBe(dollars)
    return tx
  }
  /** What an account spends goes to where it came from, for all that its balance says. */
  const spend = (account: string, dollars: number) =>
    w.deps.ledger.post({
      account,
      keys: [],
      decide(unit) {
        const row = unit.account(account)
        if (!row) throw new Error('no account')
        row.balance -= BigInt(dollars) * usd
        unit.changed('account', row)
        const amount = BigInt(dollars) * usd
        const move = { kind: 'plan', source: 'user', target: 'plans' } as const
        unit.addTransfer({ accountId: account, ref: 'spent', ...move, amount, at: unit.now })
      },
    })
  const losses = async () => (await w.all()).map(({ loss }) => Number(loss / usd))

  test('takes the whole back while it is there', async () => {
    const tx = await credited(50)
    chain.reorg(tx.block, [tx])
    chain.mine()
    await w.look()
    expect(await w.states()).toEqual(['reversed 50'])
    expect(await w.balance(alice)).toBe(0)
    expect(await losses()).toEqual([0])
  })

  promise`F4`
  test('takes what is available, never what a run holds, and books the rest as a loss', async () => {
    const tx = await credited(50)
    await spend(alice, 45)
    chain.reorg(tx.block, [tx])
    chain.mine()
    await w.look()
    expect(await w.balance(alice)).toBe(0)
    expect(await losses()).toEqual([45])
    expect(w.logged.some(({ event }) => event === 'deposit.reversed')).toBe(true)
  })

  test('only moves it when the transaction is in another block', async () => {
    const tx = await credited(50)
    await spend(alice, 45)
    chain.reorg(tx.block)
    tx.block += 2
    tx.firstLog = 3
    chain.mine()
    await w.look()
    expect(await w.states()).toEqual(['credited 50'])
    expect(await w.balance(alice)).toBe(5)
    chain.mine(1500)
    await w.look()
    expect(await w.states()).toEqual(['finalized 50'])
    expect(await w.balance(alice)).toBe(5)
  })

  test('that brings a reversed one back gives only what was taken', async () => {
    const tx = await credited(50)
    const { block } = tx
    await spend(alice, 45)
    chain.reorg(block, [tx])
    chain.mine()
    await w.look()
    tx.block = block + 30
    chain.mine(60)
    await w.look()
    await w.look()
    expect(await w.states()).toEqual(['credited 50'])
    expect(await w.balance(alice)).toBe(5)
    expect(await losses()).toEqual([0])
  })

  test('is found when its block becomes final, however deep it was', async () => {
    const tx = await credited(50)
    chain.mine(900)
    await w.look()
    chain.reorg(tx.block, [tx])
    chain.mine(200)
    await w.look()
    expect(await w.states()).toEqual(['reversed 50'])
    expect(await w.balance(alice)).toBe(0)
  })

  fault`34`
  test('a server that no longer knows a transaction proves nothing by itself', async () => {
    const tx = await credited(50)
    const hide = (method: string) =>
      method === 'eth_getTransactionReceipt'
        ? Response.json({ jsonrpc: '2.0', id: 1, result: null })
        : method === 'eth_getLogs'
          ? Response.json({ jsonrpc: '2.0', id: 1, result: [] })
          : undefined
    chain.fault = hide
    chain.mine(5)
    await w.look()
    chain.mine(2000)
    await w.look()
    expect(await w.states()).toEqual(['credited 50'])
    chain.fault = undefined
    await w.look()
    expect(await w.states()).toEqual(['finalized 50'])
    expect(tx.block).toBeGreaterThan(0)
  })

  test('other money of the account covers it: its balance is one', async () => {
    await grantCredit(w.deps, { account: alice, amount: 100n * usd, reason: 'test', actor: 'test' })
    const tx = chain.add([transferLog(alice, units(50))])
    chain.add([transferLog(bob, units(1))])
    chain.mine(20)
    await w.look()
    await spend(alice, 120)
    chain.reorg(tx.block, [tx])
    chain.mine()
    await w.look()
    expect(await w.balance(alice)).toBe(0)
    expect(await losses()).toEqual([20, 0])
  })
})
