import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { depositStore } from '../../../src/billing/deposits/store.ts'
import { depositWatcher } from '../../../src/billing/deposits/watch.ts'
import { result, rpcError } from '../../proof/chain/proxy.ts'
import { fault, promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'
import { alice, bob, type Depositing, depositingWorld, tomlOf, units } from './depositing.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(120_000)

const ranges = (chain: StubChain) =>
  chain.asked
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params }) => {
      const { fromBlock, toBlock } = params[0] as Record<'fromBlock' | 'toBlock', string>
      return [Number(fromBlock), Number(toBlock)] as const
    })

promise`F7 H: A scan leaves no gap after any answer of a server.`
describe('the ranges that are asked for', () => {
  let chain: StubChain
  let w: Depositing
  beforeEach(async () => {
    chain = stubChain(10_000)
    w = await depositingWorld({ url: chain.url })
    await w.look()
  })
  afterEach(async () => {
    expect(await w.faults()).toEqual([])
    await w.stop()
    await chain.stop()
  })

  test('begin 600 blocks before the first look, and overlap by as many', async () => {
    chain.mine(5)
    await w.look()
    expect(ranges(chain)).toEqual([
      [9401, 10_000],
      [9401, 10_005],
    ])
    expect(await w.deps.deposits.cursor()).toBe(10_005)
  })

  test('are at most 9,000 blocks, without a gap, after a day away; found is all, once', async () => {
    const behind = 864_000
    const txs = [12_000, 19_400, 28_401, 300_000, 800_000].map((block) =>
      chain.add([transferLog(alice, units(1))], { block: 10_000 + block }),
    )
    chain.mine(behind)
    w.restart()
    await w.look()
    const asked = ranges(chain).slice(1)
    expect(Math.max(...asked.map(([from, to]) => to - from + 1))).toBe(9000)
    expect(asked.length).toBe(Math.ceil((behind + 600) / 9000))
    asked.forEach(([from], i) => {
      if (i > 0) expect(from).toBe((asked[i - 1]?.[1] ?? 0) + 1)
    })
    expect((await w.states()).length).toBe(txs.length)
    expect(await w.balance(alice)).toBe(txs.length)
  })

  test('are halved when a server takes less, and grow again', async () => {
    chain.rangeMost = 1000
    chain.add([transferLog(alice, units(1))], { block: 15_000 })
    chain.mine(10_000)
    await w.look()
    expect(await w.deps.deposits.cursor()).toBe(20_000)
    expect((await w.states()).length).toBe(1)
    expect(w.deps.health.deposits.trouble).toBeNull()
  })

  test('of one block that is still too much stop it where it is, and say so', async () => {
    chain.fault = (method) =>
      method === 'eth_getLogs' ? rpcError(-32000, 'query returned too many results') : undefined
    chain.mine(5000)
    await w.look()
    expect(await w.deps.deposits.cursor()).toBe(10_000)
    expect(w.deps.health.deposits.trouble).toBe('refused')
    expect((await w.status()).deposits).toEqual({
      status: 'degraded',
      reason: 'refused',
      block: 10_000,
    })
  })

  test('a server behind the cursor moves nothing', async () => {
    chain.mine(100)
    await w.look()
    chain.latest = 9000
    await w.look()
    expect(await w.deps.deposits.cursor()).toBe(10_100)
    expect(w.deps.health.deposits.trouble).toBeNull()
  })

  fault`34`
  test('what a lagging server left out is found by the overlap', async () => {
    chain.fault = (method) => (method === 'eth_getLogs' ? result([]) : undefined)
    chain.add([transferLog(alice, units(5))])
    await w.look()
    expect(await w.states()).toEqual([])
    chain.fault = undefined
    chain.mine(300)
    await w.look()
    expect(await w.balance(alice)).toBe(5)
  })

  test('a rescan from a block finds what was before the first look, once', async () => {
    chain.add([transferLog(alice, units(5))], { block: 200 })
    await w.deps.deposits.wantRescan(500)
    await w.deps.deposits.wantRescan(100)
    await w.deps.deposits.wantRescan(700)
    await w.look()
    await w.look()
    expect(await w.balance(alice)).toBe(5)
    expect(await w.deps.deposits.rescanFrom()).toBeUndefined()
    expect(await w.deps.deposits.cursor()).toBe(10_000)
  })

  /** Says once that the chain is longer. */
  const lengthen = (blocks: number): void => {
    chain.lie = (method, [tag], truth) => {
      if (method !== 'eth_getBlockByNumber' || tag !== 'latest') return truth
      chain.lie = undefined
      return { ...(truth as object), number: `0x${(chain.latest + blocks).toString(16)}` }
    }
  }

  promise`F16 H: A lie about the length of the chain hides no deposit and keeps no look from its
    end.`
  test('a cursor that a lie pushed past the end of the chain hides no deposit from then on', async () => {
    lengthen(5000)
    await w.look()
    chain.add([transferLog(alice, units(5))])
    chain.mine(30)
    await w.look()
    expect([await w.deps.deposits.cursor(), await w.balance(alice)]).toEqual([15_000, 5])
    const told = w.logged.filter(({ event }) => event === 'deposits.cursor_ahead')
    expect(told.map(({ fields }) => fields)).toEqual([{ blocks: 4969 }])
  })

  promise`F16`
  test('a rescan brings back a cursor that a lie pushed past the end of the chain', async () => {
    lengthen(5000)
    await w.look()
    chain.mine(700)
    chain.add([transferLog(alice, units(5))], { block: 10_050 })
    await w.look()
    expect([await w.deps.deposits.cursor(), await w.balance(alice)]).toEqual([15_000, 0])
    await w.deps.deposits.wantRescan(10_000)
    await w.look()
    chain.add([transferLog(alice, units(2))])
    chain.mine(30)
    await w.look()
    expect([await w.deps.deposits.cursor(), await w.balance(alice)]).toEqual([chain.latest, 7])
  })

  promise`F16`
  test('a lie about the length of the chain is not walked to its end', async () => {
    lengthen(10_000_000)
    await w.look()
    expect(ranges(chain).slice(1)).toEqual([[9401, 18_400]])
    chain.add([transferLog(alice, units(5))])
    chain.mine(30)
    await w.look()
    expect(await w.balance(alice)).toBe(5)
  })

  test('unordered and doubled logs are each one deposit', async () => {
    const txs = [1, 2, 3].map((n) => chain.add([transferLog(alice, units(n))]))
    const all = txs.flatMap((tx) => chain.logsOf(tx))
    const mixed = [...all, ...all].reverse()
    chain.fault = (method) => (method === 'eth_getLogs' ? result(mixed) : undefined)
    await w.look()
    chain.mine(30)
    await w.look()
    expect(await w.states()).toEqual(['credited 1', 'credited 2', 'credited 3'])
    expect(await w.balance(alice)).toBe(6)
  })

  test('10,000 logs of one range are taken in, and each is credited once', async () => {
    for (let i = 0; i < 100; i++) {
      chain.add(Array.from({ length: 100 }, () => transferLog(i % 2 ? alice : bob, units(0.1))))
    }
    const before = performance.now()
    await w.look()
    const took = performance.now() - before
    expect((await w.states()).length).toBe(10_000)
    chain.mine(2000)
    await w.look()
    expect(await w.balance(alice)).toBe(500)
    expect(await w.balance(bob)).toBe(500)
    expect(took).toBeLessThan(60_000)
  })
})

describe('who answers', () => {
  fault`34`
  test.each([
    ['another chain', { chainId: 1 }, 'wrong_chain'],
    ['a token of other decimals', { decimals: 18 }, 'wrong_decimals'],
  ] as const)(
    '%s: nothing is credited, the API serves, the status says why',
    async (_, wrong, why) => {
      const chain = stubChain()
      Object.assign(chain, wrong)
      const w = await depositingWorld({ url: chain.url })
      chain.add([transferLog(alice, units(5))])
      chain.mine(2000)
      await w.look()
      expect(await w.states()).toEqual([])
      const status = await w.status()
      expect([status.status, status.deposits.status, status.deposits.reason]).toEqual([
        'degraded',
        'degraded',
        why,
      ])
      expect((await w.call('/v1/models')).status).toBe(200)
      Object.assign(chain, { chainId: 4663, decimals: 6 })
      await Bun.sleep(1100)
      await w.look()
      expect((await w.status()).deposits.status).toBe('ok')
      await w.stop()
      await chain.stop()
    },
  )

  promise`F5`
  test('the chain and the decimals are asked again after every failure', async () => {
    const chain = stubChain()
    const w = await depositingWorld({ url: chain.url })
    await w.look()
    chain.fault = () => new Response('<html>', { status: 502 })
    await w.look()
    expect(w.deps.health.deposits.trouble).toBe('malformed')
    chain.fault = undefined
    chain.decimals = 18
    chain.add([transferLog(alice, units(5))])
    chain.mine(2000)
    await Bun.sleep(1100)
    await w.look()
    expect(w.deps.health.deposits.trouble).toBe('wrong_decimals')
    expect(await w.states()).toEqual([])
    await w.stop()
    await chain.stop()
  })

  test('without a treasury or a chain deposits are disabled', async () => {
    const w = await depositingWorld({ url: '', toml: tomlOf([]) })
    await w.look()
    expect((await w.status()).deposits).toEqual({ status: 'disabled' })
    await w.stop()
  })
})

for (const engine of engines) {
  promise`F1 C: A transfer on the chain is credited once, however often watchers read it.`
  fault`35: two watchers find the same deposit → one credit`
  test(`each log read 100 times by two watchers is credited once, on ${engine}`, async () => {
    const chain = stubChain()
    const w = await depositingWorld({ engine, url: chain.url })
    const other = {
      ...w.deps,
      deposits: depositStore(w.db, { clock: w.deps.clock, node: 'other' }),
    }
    const second = depositWatcher(other)
    await w.look()
    for (let i = 0; i < 5; i++)
      chain.add([transferLog(alice, units(1)), transferLog(bob, units(2))])
    chain.mine(30)
    for (let i = 0; i < 100; i++) {
      // Where one process owns the file, each takes the lease from the other.
      await Promise.allSettled([w.look(), second()])
    }
    w.restart()
    await w.look()
    expect((await w.states()).length).toBe(10)
    expect([await w.balance(alice), await w.balance(bob)]).toEqual([5, 10])
    expect(await w.faults()).toEqual([])
    await w.stop()
    await chain.stop()
  })
}
