import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { noAnvil } from '../../contracts/anvil.ts'
import { fault, promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { deployUsd, openUsdChain, type UsdChain } from './anvil-deposits.ts'
import { alice, type Depositing, depositingWorld, units, untilSo } from './depositing.ts'
import { treasury } from './stub-chain.ts'

setDefaultTimeout(60_000)

describe.skipIf(noAnvil)('on a chain with a block every 100 ms', () => {
  let chain: UsdChain
  let w: Depositing
  let stopped = false
  beforeAll(async () => {
    chain = await openUsdChain('--block-time', '0.1')
    w = await depositingWorld({ url: chain.url, toml: `${pricedBuiltins}${chain.toml}` })
    for (const account of chain.accounts.slice(0, 2)) {
      await chain.usd.send(account, 'mint', account, units(1_000_000))
    }
    void watching()
  })
  afterAll(async () => {
    stopped = true
    expect(await w.faults()).toEqual([])
    await w.stop()
    await chain.stop()
  })
  async function watching(): Promise<void> {
    while (!stopped) {
      await w.look().catch(() => {})
      await Bun.sleep(200)
    }
  }
  const [from] = [alice as `0x${string}`]
  const statusOf = async (hash: string) =>
    (await w.all()).filter(({ txHash }) => txHash === hash).map(({ status }) => status)

  test('a transfer is seen, credited and final, and a run is paid from it', async () => {
    const { transactionHash } = await chain.usd.send(from, 'transfer', treasury, units(12.5))
    await untilSo(async () => (await statusOf(transactionHash)).length === 1)
    await untilSo(async () => (await w.balance(alice)) === 12)
    await untilSo(async () => (await statusOf(transactionHash))[0] === 'finalized')
    const { secret } = await w.key()
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    const run = await (await w.call('/v1/runs', { key: secret, json })).json()
    expect(run.status).toBe('succeeded')
    expect(run.cost_nusd).toBeGreaterThan(0)
    const balance = await (await w.call('/v1/balance', { key: secret })).json()
    expect(balance.balance_nusd).toBe(12_500_000_000 - run.cost_nusd)
  })

  test('three transfers of one transaction are three deposits', async () => {
    const values = [units(1), units(1), units(2)]
    const { transactionHash } = await chain.usd.send(from, 'transferAll', treasury, values)
    await untilSo(
      async () => (await statusOf(transactionHash)).join() === 'finalized,finalized,finalized',
    )
    expect(await w.balance(alice)).toBe(16)
  })

  promise`F2`
  test('a token that only looks the same brings nothing', async () => {
    const fake = await deployUsd(chain)
    await fake.send(from, 'mint', from, units(100))
    await fake.send(from, 'transfer', treasury, units(100))
    const { transactionHash } = await chain.usd.send(from, 'transfer', treasury, units(1))
    await untilSo(async () => (await statusOf(transactionHash)).length === 1)
    expect((await w.all()).some(({ tokenAmount }) => tokenAmount === String(units(100)))).toBe(
      false,
    )
  })
})

describe.skipIf(noAnvil)('a reorg of anvil', () => {
  promise`F4`
  fault`34`
  test('that drops a deposit before and after its credit', async () => {
    const chain = await openUsdChain()
    const w = await depositingWorld({ url: chain.url, toml: chain.toml })
    const from = alice as `0x${string}`
    await chain.usd.send(from, 'mint', from, units(1000))
    await w.look()
    await chain.usd.send(from, 'transfer', treasury, units(5))
    await w.look()
    expect(await w.states()).toEqual(['detected 5'])
    await chain.rpc('anvil_reorg', 1, [])
    await chain.rpc('anvil_mine', '0x5')
    await w.look()
    expect(await w.states()).toEqual(['orphaned 5'])
    // Safe after one block, not final before two: credited, and then gone.
    await chain.usd.send(from, 'transfer', treasury, units(7))
    await chain.rpc('anvil_mine', '0x1')
    await w.look()
    expect(await w.balance(alice)).toBe(7)
    await chain.rpc('anvil_reorg', 2, [])
    await chain.rpc('anvil_mine', '0x3')
    await w.look()
    expect(await w.balance(alice)).toBe(0)
    expect(await w.states()).toEqual(['orphaned 5', 'reversed 7'])
    expect(await w.faults()).toEqual([])
    await w.stop()
    await chain.stop()
  })
})
