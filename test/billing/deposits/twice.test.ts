import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { promise } from '../../support/promise.ts'
import { alice, bob, type Depositing, depositingWorld, tomlOf, units } from './depositing.ts'
import { denial } from './lies.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(120_000)

let chain: StubChain
let second: StubChain
let w: Depositing
beforeEach(async () => {
  chain = stubChain()
  second = stubChain()
  const toml = tomlOf([chain.url])
  const both = toml.replace('[deposits]', `second_rpc_urls = ["${second.url}"]\n[deposits]`)
  w = await depositingWorld({ url: chain.url, toml: both })
})
afterEach(async () => {
  expect(await w.faults()).toEqual([])
  await w.stop()
  await chain.stop()
  await second.stop()
})

/** Looks until nothing more happens, both servers telling the truth. */
const beHonest = async () => {
  chain.lie = undefined
  for (let i = 0; i < 3; i++) {
    chain.mine()
    follow()
    await w.look()
  }
}
const follow = () => {
  second.latest = chain.latest
  second.txs.splice(0, second.txs.length, ...chain.txs)
}
const finalize = async () => {
  chain.finalDepth = 30
  second.finalDepth = 30
  chain.mine(31)
  follow()
  await w.look()
  await w.look()
}

promise`F15 C: A transfer is credited once after any answers of two RPC servers in any order: a final
  deposit stays as it is, and the journal takes one credit for each transfer.`
describe('a server that denies a finalized deposit for one look', () => {
  test('The deposit is credited once after a server denied it for one look.', async () => {
    chain.add([transferLog(alice, units(50))])
    await finalize()
    expect(await w.states()).toEqual(['finalized 50'])
    chain.lie = denial
    await w.look()
    expect(await w.states()).toEqual(['finalized 50'])
    await beHonest()
    expect(await w.states()).toEqual(['finalized 50'])
    expect(await w.balance(alice)).toBe(50)
  })

  test('does not get any deposit of the last 600 blocks credited twice', async () => {
    for (let i = 0; i < 20; i++) {
      chain.add([transferLog(alice, units(1)), transferLog(bob, units(2))])
      chain.add([transferLog(alice, units(3)), transferLog(alice, units(3))])
    }
    await finalize()
    const before = await w.all()
    expect(before.every(({ status }) => status === 'finalized')).toBe(true)
    chain.lie = denial
    await w.look()
    w.restart()
    await beHonest()
    expect(await w.all()).toEqual(before)
    expect([await w.balance(alice), await w.balance(bob)]).toEqual([20 * 7, 20 * 2])
  })

  test('A rescan of older blocks does not change the deposit either.', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    await finalize()
    chain.mine(5000)
    follow()
    await w.look()
    await w.deps.deposits.wantRescan(tx.block - 10)
    chain.lie = denial
    await w.look()
    await w.deps.deposits.wantRescan(tx.block - 10)
    await beHonest()
    expect(await w.states()).toEqual(['finalized 50'])
    expect(await w.balance(alice)).toBe(50)
  })
})
