import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newReach, scan } from '../../../src/billing/deposits/scan.ts'
import { depositWatcher } from '../../../src/billing/deposits/watch.ts'
import { type Chain, type ChainTrouble, ChainUnavailable } from '../../../src/kernel/chain.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { result, rpcError } from '../../proof/chain/proxy.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { type World, world } from '../../support/world.ts'
import { alice, tomlOf, units } from './depositing.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(60_000)

let chain: StubChain
let w: World
let monotonic: number
let look: () => Promise<void>
beforeEach(async () => {
  chain = stubChain(10_000)
  monotonic = 0
  w = await world({ toml: tomlOf([chain.url]), monotonic: () => monotonic })
  look = depositWatcher(w.deps)
})
afterEach(async () => {
  await w.stop()
  await chain.stop()
})

const ranges = () =>
  chain.asked
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params }) => params[0] as { fromBlock: string; toBlock: string })
    .map(({ fromBlock, toBlock }) => [Number(fromBlock), Number(toBlock)])
const blocksOf = async () => {
  const { deposits } = w.db.tables
  const all = await w.db.read((q) => rows(q.select().from(deposits)))
  return all.map(({ blockNumber }) => blockNumber).sort((a, b) => a - b)
}
/** What the watcher gives a scan, with something else in the place of the chain or the store. */
async function on(more: { asked?: Partial<Chain>; deposits?: object } = {}) {
  const { chain: asked, depositPolicy: policy, deposits } = w.deps
  const lease = await deposits.takeLease()
  if (!asked || !policy || !lease) throw new Error('no chain')
  return {
    deps: { ...w.deps, deposits: { ...deposits, ...more.deposits } },
    where: { chain: { ...asked, ...more.asked }, policy, lease, latest: chain.latest },
  }
}

describe('after a trouble the watcher rests', () => {
  test('a second, and twice as long after each next one; then all is asked again', async () => {
    chain.fault = () => new Response('<html>', { status: 502 })
    await look()
    expect(w.deps.health.deposits.trouble).toBe('malformed')
    const asked = chain.asked.length
    monotonic = 999
    await look()
    expect(chain.asked.length).toBe(asked)
    monotonic = 1000
    await look()
    expect(chain.asked.length).toBeGreaterThan(asked)
    const again = chain.asked.length
    monotonic = 2999
    await look()
    expect(chain.asked.length).toBe(again)
    chain.fault = undefined
    monotonic = 3000
    await look()
    expect([w.deps.health.deposits.trouble, w.deps.health.deposits.isChecked]).toEqual([null, true])
    expect(ranges().length).toBe(1)
    // And then not at all.
    await look()
    expect(ranges().length).toBe(2)
  })

  test('also where the token is another: nothing is read of its transfers', async () => {
    chain.decimals = 18
    await look()
    expect(w.deps.health.deposits.trouble).toBe('wrong_decimals')
    const asked = chain.asked.length
    monotonic = 999
    await look()
    expect([chain.asked.length, ranges()]).toEqual([asked, []])
    monotonic = 1000
    await look()
    expect(chain.asked.length).toBeGreaterThan(asked)
    expect(ranges()).toEqual([])
  })

  test('where all is right, the token is asked for once', async () => {
    for (let i = 0; i < 3; i++) await look()
    expect(chain.asked.filter(({ method }) => method === 'eth_getCode').length).toBe(1)
    expect(ranges().length).toBe(3)
  })
})

test('without the right to watch it asks for nothing, and has no doubts of its own', async () => {
  const deposits = { ...w.deps.deposits, takeLease: async () => undefined }
  w.deps.health.deposits.doubts = [{}] as unknown as typeof w.deps.health.deposits.doubts
  await depositWatcher({ ...w.deps, deposits })()
  expect([ranges(), w.deps.health.deposits.doubts]).toEqual([[], []])
})

test('without a treasury, or without a chain, it asks for nothing', async () => {
  await depositWatcher({ ...w.deps, depositPolicy: undefined })()
  await depositWatcher({ ...w.deps, chain: undefined })()
  expect([chain.asked, w.deps.health.deposits.trouble]).toEqual([[], null])
})

describe('a scan', () => {
  test('reads the newest blocks of a server that is behind the cursor, which stays', async () => {
    chain.mine(100)
    await look()
    chain.latest -= 1
    await look()
    expect(ranges()).toEqual([
      [9501, 10_100],
      [9500, 10_099],
    ])
    expect(await w.deps.deposits.cursor()).toBe(10_100)
  })

  test('reads the last block too, where it is alone in a range', async () => {
    chain.add([transferLog(alice, units(1))], { block: 10_000 })
    const { deps, where } = await on()
    await scan(deps, where, { blocks: 599 })
    expect(ranges()).toEqual([
      [9401, 9999],
      [10_000, 10_000],
    ])
    expect(await blocksOf()).toEqual([10_000])
  })

  test('takes what is in the blocks that it asked for, both ends with them, and nothing else', async () => {
    const add = (block: number) => chain.add([transferLog(alice, units(1))], { block })
    const all = [9400, 9401, 10_000].map(add).flatMap((tx) => chain.logsOf(tx))
    chain.latest = 10_001
    const beyond = chain.logsOf(add(10_001))
    chain.latest = 10_000
    chain.fault = (method) => (method === 'eth_getLogs' ? result([...all, ...beyond]) : undefined)
    await look()
    expect(await blocksOf()).toEqual([9401, 10_000])
  })

  test('stops where it lost the right to write', async () => {
    chain.add([transferLog(alice, units(1))], { block: 10_000 })
    const { deps, where } = await on({ deposits: { takeLease: async () => undefined } })
    await scan(deps, where, newReach())
    expect([ranges(), await blocksOf(), await w.deps.deposits.cursor()]).toEqual([
      [],
      [],
      undefined,
    ])
  })

  test.each([
    ['refused', 14, 1],
    ['too_large', 14, 1],
    ['timeout', 1, 4500],
    ['malformed', 1, 9000],
    ['unreachable', 1, 9000],
  ] as [ChainTrouble, number, number][])(
    'of which the server says %s is asked for %p times, down to %p blocks',
    async (reason, times, blocks) => {
      let tried = 0
      const logs = async () => {
        tried++
        throw new ChainUnavailable(reason)
      }
      await w.deps.deposits.wantRescan(0)
      const { deps, where } = await on({ asked: { logs } })
      const reach = newReach()
      expect(await outcomeOf(scan(deps, where, reach))).toThrow(ChainUnavailable)
      expect([tried, reach.blocks]).toEqual([times, blocks])
    },
  )

  test('A scan that breaks in our own code is not counted as trouble of the chain.', async () => {
    const logs = async () => {
      throw new Error('a bug')
    }
    const { deps, where } = await on({ asked: { logs } })
    const reach = newReach()
    expect(await outcomeOf(scan(deps, where, reach))).toThrow('a bug')
    expect(reach.blocks).toBe(9000)
  })
})

describe('a rescan', () => {
  /** Lets so many ranges through and refuses the next. */
  const failAfter = (count: number) => {
    const before = ranges().length
    chain.fault = (method) =>
      method === 'eth_getLogs' && ranges().length > before + count
        ? rpcError(-32603, 'internal error')
        : undefined
  }

  test.each([
    ['goes on where it was broken off', 100, 20_000, 9100],
    ['is over once it reached what every look reads', 402, 10_000, undefined],
    ['is over also where there is more to read behind that', 9000, 20_000, undefined],
  ] as const)('The rescan %s.', async (_, wanted, latest, next) => {
    await look()
    await w.deps.deposits.wantRescan(wanted)
    chain.latest = latest
    failAfter(1)
    await look()
    expect(ranges().at(1)).toEqual([wanted, wanted + 8999])
    expect(w.deps.health.deposits.trouble).not.toBeNull()
    expect(await w.deps.deposits.rescanFrom()).toBe(next)
    chain.fault = undefined
    monotonic += 60_000
    await look()
    expect(await w.deps.deposits.rescanFrom()).toBeUndefined()
    expect(await w.deps.deposits.cursor()).toBe(latest)
  })
})
