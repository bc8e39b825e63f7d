import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { depositStore } from '../../../src/billing/deposits/store.ts'
import { depositWatcher } from '../../../src/billing/deposits/watch.ts'
import { problemsOf } from '../../config/load.ts'
import { fault, promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'
import {
  alice,
  bob,
  type Depositing,
  depositingWorld,
  tomlOf,
  units,
  untilSo,
} from './depositing.ts'
import { type StubChain, stubChain, type Tx, transferLog } from './stub-chain.ts'

setDefaultTimeout(180_000)

const tomlOfTwo = (chain: StubChain, second: StubChain, more = ''): string =>
  tomlOf([chain.url], more).replace('[deposits]', `second_rpc_urls = ["${second.url}"]\n[deposits]`)

let chain: StubChain
let second: StubChain
let w: Depositing

const begin = async (more = '', engine = engines[0]) => {
  chain = stubChain()
  second = stubChain()
  const toml = tomlOfTwo(chain, second, more)
  w = await depositingWorld({ url: chain.url, toml, ...(engine ? { engine } : {}) })
  await w.look()
}
const end = async () => {
  expect(await w.faults()).toEqual([])
  await w.stop()
  await chain.stop()
  await second.stop()
}
/** The second server has the same transactions, unless it `hides` one, and as many blocks. */
const follow = (...hides: Tx[]) => {
  second.latest = chain.latest
  second.txs.splice(0, second.txs.length, ...chain.txs.filter((tx) => !hides.includes(tx)))
}
const reasons = async () => (await w.all()).map(({ status, reason }) => `${status} ${reason}`)
const alerts = () => w.logged.filter(({ event }) => event === 'deposit.disputed')

for (const engine of engines) {
  promise`F8 H: Where a second RPC server is named, what one of the two invents is not credited, nor
    what one of them leaves out.`
  test(`what a second server changes its mind on is credited once, on ${engine}`, async () => {
    await begin('', engine)
    const tx = chain.add([transferLog(alice, units(50))])
    chain.mine(30)
    const other = depositWatcher({
      ...w.deps,
      deposits: depositStore(w.db, { clock: w.deps.clock, node: 'other' }),
    })
    for (let i = 0; i < 6; i++) {
      if (i % 2) follow()
      else follow(tx)
      // Where one process owns the file, each takes the lease from the other.
      await Promise.allSettled([w.look(), other()])
      chain.mine()
    }
    follow(tx)
    w.restart()
    await w.look()
    expect(await reasons()).toEqual(['credited null'])
    expect(await w.balance(alice)).toBe(50)
    expect(w.deps.health.deposits.doubts).toEqual([])
    await end()
  })
}

describe('a second server', () => {
  beforeEach(() => begin())
  afterEach(end)

  test('that agrees: a deposit is credited as soon as without it', async () => {
    chain.add([transferLog(alice, units(50))])
    chain.mine(20)
    follow()
    await w.look()
    expect(await w.states()).toEqual(['credited 50'])
    expect(await w.balance(alice)).toBe(50)
    expect((await w.status()).deposits.status).toBe('ok')
  })

  promise`F8`
  fault`34`
  test('that has none of it: an invented deposit is never credited, however deep', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    for (const blocks of [20, 100, 2000]) {
      chain.mine(blocks)
      follow(tx)
      await w.look()
      expect(await reasons()).toEqual(['confirming second_differs'])
    }
    expect(await w.balance(alice)).toBe(0)
    expect(alerts()).toHaveLength(1)
    expect(w.deps.health.deposits.doubts).toEqual(['second_differs'])
    const { status, deposits } = await w.status()
    expect([status, deposits.status, deposits.reason]).toEqual([
      'degraded',
      'degraded',
      'second_differs',
    ])
  })
})

promise`F8`
describe('a second server that differs', () => {
  beforeEach(() => begin())
  afterEach(end)

  const twists: [what: string, twist: (tx: Tx) => Partial<Tx>][] = [
    ['by the amount', () => ({ logs: [transferLog(alice, units(49))] })],
    ['by the sender', () => ({ logs: [transferLog(bob, units(50))] })],
    ['by the place in its block', () => ({ firstLog: 1 })],
    ['by the block', (tx) => ({ block: tx.block + 1 })],
    ['by the outcome of the transaction', () => ({ status: 0 })],
    ['by the contract', () => ({ logs: [transferLog(alice, units(50), { address: bob })] })],
  ]
  test.each(twists)('%s keeps the credit back', async (_, twist) => {
    const tx = chain.add([transferLog(alice, units(50))])
    chain.mine(2000)
    follow()
    second.txs[0] = { ...tx, ...twist(tx) }
    await w.look()
    expect(await reasons()).toEqual(['confirming second_differs'])
    follow()
    await w.look()
    expect(await w.balance(alice)).toBe(50)
  })

  test('by the hash of the block keeps the credit back', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    chain.mine(2000)
    follow()
    second.reorg(tx.block)
    await w.look()
    expect(await reasons()).toEqual(['confirming second_differs'])
    expect(await w.balance(alice)).toBe(0)
  })

  test('by how deep the block is: what is not final there is not credited as final', async () => {
    chain.add([transferLog(alice, units(20_000))])
    chain.mine(30)
    chain.finalDepth = 0
    follow()
    await w.look()
    expect(await reasons()).toEqual(['confirming second_behind'])
    chain.mine(1000)
    follow()
    await w.look()
    expect(await w.balance(alice)).toBe(20_000)
  })
})

promise`F8`
describe('a server that leaves something out', () => {
  beforeEach(() => begin())
  afterEach(end)

  test('is it the first, nothing is credited until it tells; then once', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    chain.mine(100)
    follow()
    chain.txs.splice(0)
    await w.look()
    expect(await reasons()).toEqual([])
    chain.txs.push(tx)
    chain.mine(100)
    follow()
    await w.look()
    await w.look()
    expect(await w.balance(alice)).toBe(50)
  })

  test('is it the second and only for now, as one that lags, that is not an alarm', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    chain.mine(40)
    second.latest = tx.block - 1
    await w.look()
    expect(await reasons()).toEqual(['confirming second_behind'])
    follow()
    second.latest = tx.block + 19
    await w.look()
    expect(await reasons()).toEqual(['confirming second_behind'])
    expect((await w.status()).deposits.status).toBe('ok')
    expect(alerts()).toEqual([])
    second.latest++
    await w.look()
    expect(await w.balance(alice)).toBe(50)
  })
})

promise`F8`
describe('a second server that does not answer', () => {
  beforeEach(() => begin('second_above_nusd = 30_000_000_000'))
  afterEach(end)

  const fault = () => new Response('<html>', { status: 502 })
  const faults: [what: string, state: Partial<StubChain>][] = [
    ['is down', { fault }],
    ['is of another chain', { chainId: 1 }],
  ]
  test.each(faults)('%s: what needs it waits, what does not goes on', async (_, state) => {
    chain.add([transferLog(alice, units(90))])
    chain.add([transferLog(alice, units(25))])
    chain.mine(30)
    follow()
    Object.assign(second, state)
    await w.look()
    // A deposit that waits does not use up its account's early credit.
    expect(await w.states()).toEqual(['confirming 90', 'credited 25'])
    expect(await reasons()).toContain('confirming second_down')
    expect((await w.status()).deposits).toMatchObject({ status: 'degraded', reason: 'second_down' })
    expect(w.deps.health.deposits.trouble).toBeNull()
    Object.assign(second, { fault: undefined, chainId: 4663 })
    chain.mine(100)
    follow()
    await untilSo(async () => {
      await w.look()
      return (await w.balance(alice)) === 115
    })
    expect((await w.status()).deposits.status).toBe('ok')
  })

  test('is not asked for what is not above the threshold', async () => {
    await w.look()
    const before = second.asked.length
    chain.add([transferLog(alice, units(30))])
    chain.mine(30)
    await w.look()
    expect(await w.balance(alice)).toBe(30)
    expect(second.asked.length).toBe(before)
  })
})

test('servers that are asked for themselves are refused as the second', () => {
  const url = 'https://rpc.example'
  const fileText = `[chain]\nrpc_urls = ["${url}"]\nsecond_rpc_urls = ["${url}"]\n`
  const [problem = ''] = problemsOf({ fileText })
  expect(problem).toContain('must be other servers')
  expect(problem).not.toContain(url)
})
