import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { noAnvil } from '../../contracts/anvil.ts'
import { type RpcProxy, rpcProxy } from '../../proof/chain/proxy.ts'
import { promise } from '../../support/promise.ts'
import { openUsdChain, type UsdChain } from './anvil-deposits.ts'
import { alice, type Depositing, depositingWorld, units } from './depositing.ts'
import { denial, lies } from './lies.ts'
import { treasury } from './stub-chain.ts'

setDefaultTimeout(60_000)

const from = alice as `0x${string}`

/** Lies that make up no transfer. */
const omissions = Object.keys(lies).filter(
  (name) => !/twice|once more|another (sender|amount)/.test(name),
)

describe.skipIf(noAnvil).each([
  ['alone', false],
  ['beside an honest second one', true],
])('a lying RPC server in front of anvil, %s', (_, hasSecond) => {
  let chain: UsdChain
  let proxy: RpcProxy
  let w: Depositing
  beforeAll(async () => {
    chain = await openUsdChain()
    proxy = rpcProxy(chain.url)
    const second = hasSecond ? `second_rpc_urls = ["${chain.url}"]\n` : ''
    const toml = chain.toml
      .replace(chain.url, proxy.url)
      .replace('[deposits]', `${second}[deposits]`)
    w = await depositingWorld({ url: proxy.url, toml })
    await chain.usd.send(from, 'mint', from, units(1000))
    await w.look()
    for (const dollars of [5, 7]) await chain.usd.send(from, 'transfer', treasury, units(dollars))
    await chain.usd.send(from, 'transferAll', treasury, [units(1), units(1), units(2)])
    await looking(3)
  })
  afterAll(async () => {
    expect(await w.faults()).toEqual([])
    await w.stop()
    await proxy.stop()
    await chain.stop()
  })
  /** Final after two blocks. */
  const looking = async (times: number) => {
    for (let i = 0; i < times; i++) {
      await chain.rpc('anvil_mine', '0x2')
      w.advance(60_000)
      await w.look()
    }
  }
  const final = [5, 7, 1, 1, 2].map((dollars) => `finalized ${dollars}`)

  promise`F15`
  test('that denies finalized deposits for one look changes nothing', async () => {
    expect(await w.states()).toEqual(final)
    const before = await w.all()
    proxy.lie = denial
    await looking(1)
    expect(w.logged.some(({ event }) => event === 'deposit.final_denied')).toBe(true)
    proxy.lie = undefined
    await looking(3)
    expect(await w.all()).toEqual(before)
    expect(await w.balance(alice)).toBe(16)
  })

  // Alone it is believed what it makes up: nothing else knows the chain.
  test.each(hasSecond ? Object.keys(lies) : omissions)(
    'and tells for one look: %s',
    async (name) => {
      proxy.lie = lies[name]
      await looking(1)
      proxy.lie = undefined
      await looking(2)
      const live = (await w.states()).filter((state) => /^(credited|finalized)/.test(state))
      expect(live).toEqual(final)
      expect(await w.balance(alice)).toBe(16)
    },
  )

  test('gets a deposit that comes while it lies credited once', async () => {
    await chain.usd.send(from, 'transfer', treasury, units(3))
    proxy.lie = denial
    await looking(2)
    proxy.lie = undefined
    await looking(3)
    const live = (await w.states()).filter((state) => /^(credited|finalized)/.test(state))
    expect(live).toEqual([...final, 'finalized 3'])
    expect(await w.balance(alice)).toBe(19)
  })
})
