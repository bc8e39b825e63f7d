import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'
import { alice, bob, type Depositing, depositingWorld, tomlOf, units } from './depositing.ts'
import { type StubChain, stubChain, topicsOf, transferLog, treasury } from './stub-chain.ts'

setDefaultTimeout(60_000)

for (const engine of engines) {
  describe(`a deposit, on ${engine}`, () => {
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

    promise`F3 C: A deposit is credited only at the depth that its amount requires.`
    test('small: detected, credited 20 blocks later, finalized when its block is', async () => {
      chain.add([transferLog(alice, units(50))])
      await w.look()
      expect(await w.states()).toEqual(['detected 50'])
      chain.mine(19)
      await w.look()
      expect(await w.balance(alice)).toBe(0)
      chain.mine()
      await w.look()
      expect(await w.states()).toEqual(['credited 50'])
      expect(await w.balance(alice)).toBe(50)
      chain.mine(980)
      await w.look()
      expect(await w.states()).toEqual(['finalized 50'])
      expect(await w.balance(alice)).toBe(50)
    })

    promise`F3`
    promise`F8`
    test('over the soft limit of a day it waits for a safe block, over the hard one for a final one', async () => {
      chain.add([transferLog(bob, units(60))])
      chain.mine(20)
      await w.look()
      // Counted from what is stored, and from the time of blocks: the clock here is another.
      chain.add([transferLog(bob, units(60))])
      chain.add([transferLog(bob, units(10_001))])
      chain.mine(30)
      await w.look()
      expect((await w.states()).slice(1)).toEqual([
        'credited 60',
        'confirming 60',
        'confirming 10001',
      ])
      chain.mine(80)
      await w.look()
      expect((await w.states()).slice(1)).toEqual([
        'credited 60',
        'credited 60',
        'confirming 10001',
      ])
      expect(await w.balance(bob)).toBe(120)
      chain.mine(1000)
      await w.look()
      expect((await w.states()).slice(1)).toEqual([
        'finalized 60',
        'finalized 60',
        'credited 10001',
      ])
      expect(await w.balance(bob)).toBe(10_121)
      await w.look()
      expect((await w.states()).at(-1)).toBe('finalized 10001')
    })
  })
}

describe('what a block holds', () => {
  let chain: StubChain
  let w: Depositing
  beforeAll(async () => {
    chain = stubChain()
    w = await depositingWorld({ url: chain.url })
    await w.look()
  })
  afterAll(async () => {
    expect(await w.faults()).toEqual([])
    await w.stop()
    await chain.stop()
  })
  const settled = async () => {
    await w.look()
    chain.mine(1001)
    await w.look()
    await w.look()
  }

  test('three transfers of one transaction are three deposits', async () => {
    const log = transferLog(alice, units(1))
    chain.add([log, log, log], { firstLog: 7 })
    await settled()
    expect((await w.states()).length).toBe(3)
    expect(await w.balance(alice)).toBe(3)
  })

  promise`F2 C: Only a transfer of our token to our treasury, in a block that stands, is a deposit.`
  promise`F9`
  test.each([
    ['of another token', transferLog(bob, units(20), { address: alice })],
    ['to another address', transferLog(bob, units(20), { topics: topicsOf(bob, alice) })],
    [
      'of an NFT, with its id as a fourth topic',
      transferLog(bob, 0n, { topics: topicsOf(bob, treasury, 20_000_000n), data: '0x' }),
    ],
    [
      'with four topics and data',
      transferLog(bob, units(20), { topics: topicsOf(bob, treasury, 1n) }),
    ],
    ['with short data', transferLog(bob, 0n, { data: '0x1312d00' })],
    ['with long data', transferLog(bob, 0n, { data: `0x${'00'.repeat(63)}ff` })],
    [
      'with an address that is none',
      transferLog(bob, units(20), {
        topics: [
          topicsOf(bob, treasury)[0] ?? '',
          `0x${'11'.repeat(32)}`,
          topicsOf(bob, treasury)[2] ?? '',
        ],
      }),
    ],
    ['marked as removed', transferLog(bob, units(20), { removed: true })],
    ['of nothing', transferLog(bob, 0n)],
    ['from the treasury to itself', transferLog(treasury, units(20))],
  ])('A log %s is not a deposit.', async (_, log) => {
    const before = (await w.states()).length
    // Half a byte of data is not valid JSON-RPC: the whole answer is then refused.
    if (log.data.length % 2 === 1) log.data = '0x01312d00'
    chain.add([log])
    await settled()
    expect((await w.states()).length).toBe(before)
    expect(await w.balance(bob)).toBe(0)
  })

  test.each([
    [0.009999, 'below_minimum'],
    [9_000_000.000001, 'above_bounds'],
  ])('%d dollars are kept for the audit and ignored: %s', async (dollars, reason) => {
    chain.add([transferLog(bob, units(dollars))])
    await settled()
    const row = (await w.all()).find((one) => one.tokenAmount === units(dollars).toString())
    expect([row?.status, row?.reason]).toEqual(['ignored', reason as 'below_minimum'])
    expect(await w.balance(bob)).toBe(0)
  })

  promise`F6 C: Amounts of the chain are exact, at every size, with the decimals of the contract.`
  test('2^256 - 1 units are kept as they are and ignored', async () => {
    chain.add([transferLog(bob, 2n ** 256n - 1n)])
    await settled()
    const row = (await w.all()).find(({ tokenAmount }) => tokenAmount === String(2n ** 256n - 1n))
    expect([row?.status, row?.reason, row?.amount]).toEqual(['ignored', 'above_bounds', null])
  })

  promise`F2`
  test('A failed transaction credits nothing, even if a server shows logs of it.', async () => {
    const tx = chain.add([transferLog(bob, units(20))], { status: 0 })
    chain.fault = (method) =>
      method === 'eth_getLogs'
        ? Response.json({ jsonrpc: '2.0', id: 1, result: chain.logsOf(tx) })
        : undefined
    await settled()
    chain.fault = undefined
    await settled()
    expect(await w.balance(bob)).toBe(0)
    expect((await w.all()).find(({ txHash }) => txHash === tx.hash)?.status).not.toBe('credited')
  })

  promise`D5`
  test('a deposit that would pass the most an account can hold waits until there is room', async () => {
    chain.add([transferLog(bob, units(8_999_999))])
    chain.add([transferLog(bob, units(15))])
    await settled()
    const row = (await w.all()).find(({ tokenAmount }) => tokenAmount === String(units(15)))
    expect([row?.status, row?.reason]).toEqual(['confirming', 'balance_full'])
    expect(await w.balance(bob)).toBe(8_999_999)
  })

  promise`F11 H: No float stands between the units of a token and our amounts, which round down.`
  test('tokens of more than nine decimals are rounded down to nano-dollars', async () => {
    const other = stubChain()
    other.decimals = 18
    const toml = tomlOf([other.url]).replace('[deposits]', 'token_decimals = 18\n[deposits]')
    const fine = await depositingWorld({ url: other.url, toml })
    await fine.look()
    other.add([transferLog(alice, 12_345_678_900_999_999_999n)])
    other.mine(2000)
    await fine.look()
    expect((await fine.deps.accounts.find(alice))?.balance).toBe(12_345_678_900n)
    await fine.stop()
    await other.stop()
  })
})
