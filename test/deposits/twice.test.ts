import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { result } from '../chain/proxy.ts'
import { alice, bob, type Depositing, depositingWorld, tomlOf, units } from './depositing.ts'
import { type StubChain, stubChain, type Tx, transferLog } from './stub-chain.ts'

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

/** The first server shows every transfer in another block, and receipts without any log. */
const lie = () => {
  const lies = `0x${'17'.repeat(32)}`
  const logs = chain.txs.flatMap((tx) => chain.logsOf(tx))
  const receiptOf = (tx: Tx) => ({
    ...{ transactionHash: tx.hash, status: '0x1', blockHash: chain.hashOf(tx.block) },
    ...{ blockNumber: `0x${tx.block.toString(16)}`, from: alice, to: alice },
    ...{ contractAddress: null, gasUsed: '0x1', logs: [] },
  })
  chain.fault = (method, [asked]) => {
    if (method === 'eth_getLogs') return result(logs.map((log) => ({ ...log, blockHash: lies })))
    const tx = chain.txs.find(({ hash }) => hash === asked)
    return method === 'eth_getTransactionReceipt' && tx ? result(receiptOf(tx)) : undefined
  }
}
/** Looks until nothing more happens, both servers telling the truth. */
const beHonest = async () => {
  chain.fault = undefined
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

describe('a server that denies a finalized deposit for one look', () => {
  test('does not get one deposit credited twice', async () => {
    chain.add([transferLog(alice, units(50))])
    await finalize()
    expect(await w.states()).toEqual(['finalized 50'])
    lie()
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
    lie()
    await w.look()
    w.restart()
    await beHonest()
    expect(await w.all()).toEqual(before)
    expect([await w.balance(alice), await w.balance(bob)]).toEqual([20 * 7, 20 * 2])
  })

  test('changes nothing of it by a rescan of older blocks either', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    await finalize()
    chain.mine(5000)
    follow()
    await w.look()
    await w.deps.deposits.wantRescan(tx.block - 10)
    lie()
    await w.look()
    await w.deps.deposits.wantRescan(tx.block - 10)
    await beHonest()
    expect(await w.states()).toEqual(['finalized 50'])
    expect(await w.balance(alice)).toBe(50)
  })
})
