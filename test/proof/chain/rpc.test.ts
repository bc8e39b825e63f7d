import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Hex } from 'viem'
import { type Chain, ChainReverted, ChainUnavailable } from '../../../src/kernel/chain.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { rpcChain } from '../../../src/proof/chain/rpc.ts'
import { type Anvil, noAnvil, startAnvil } from '../../contracts/anvil.ts'
import { fault, promise } from '../../support/promise.ts'
import { faults, type RpcProxy, result, rpcError, rpcProxy } from './proxy.ts'

const account = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const secretPath = '/v2/secret-of-the-operator'

describe.skipIf(noAnvil)('chain 4663 over JSON-RPC', () => {
  let anvil: Anvil
  let first: RpcProxy
  let second: RpcProxy
  const opened: Chain[] = []
  /** Milliseconds on the clock of those who ask. */
  let now = 0
  beforeAll(async () => {
    anvil = await startAnvil()
    first = rpcProxy(anvil.url, secretPath)
    second = rpcProxy(anvil.url)
  }, 30_000)
  afterEach(() => {
    for (const proxy of [first, second]) {
      proxy.fault = undefined
      proxy.asked.length = 0
    }
    for (const chain of opened.splice(0)) chain.close()
  })
  afterAll(async () => {
    await first.stop()
    await second.stop()
    await anvil.stop()
  })

  const open = (urls: string[], timeoutMs = 5000): Chain => {
    const chain = rpcChain({
      urls,
      clock: { monotonic: () => now },
      random: systemRandom(),
      timeoutMs,
    })
    opened.push(chain)
    return chain
  }
  const failure = (call: Promise<unknown>): Promise<Error> =>
    call.then(
      () => new Error('it did not fail'),
      (error) => error,
    )

  promise`F5 C: An RPC server of another chain is not believed, and the API goes on.`
  test('a server is asked for its chain once, and only then believed', async () => {
    const chain = open([first.url])
    await chain.block('latest')
    await chain.balance(account)
    expect(first.asked).toEqual(['eth_chainId', 'eth_getBlockByNumber', 'eth_getBalance'])
  })

  promise`F5`
  promise`F10 H: Trouble with the chain is told without a URL and stops nothing else.`
  fault`34: an RPC server is away, busy, sends HTML, is of another chain, lags, forgot, lies, or its
    chain is reorganised → nothing is credited that is not there; what is, is credited once, later`
  test.each(Object.entries(faults))(
    'a server that is %s is told apart, and names no URL',
    async (reason, fault) => {
      first.fault = fault
      const error = await failure(open([first.url]).block('latest'))
      expect(error).toBeInstanceOf(ChainUnavailable)
      expect((error as ChainUnavailable).reason).toBe(reason as ChainUnavailable['reason'])
      expect(Bun.inspect(error)).not.toContain('secret-of-the-operator')
    },
  )

  test('a server that is silent is given up', async () => {
    first.fault = () => Bun.sleep(2000).then(() => undefined)
    const error = await failure(open([first.url], 100).block('latest'))
    expect((error as ChainUnavailable).reason).toBe('timeout')
  })

  test('no one at the address is unreachable', async () => {
    const error = await failure(open(['http://127.0.0.1:1']).block('latest'))
    expect((error as ChainUnavailable).reason).toBe('unreachable')
  })

  test.each(Object.entries(faults))(
    'when the first server is %s the second answers',
    async (_, fault) => {
      first.fault = fault
      const block = await open([first.url, second.url]).block('latest')
      expect(block.number).toBe(0)
    },
  )

  test('a server that failed rests, and is asked for its chain again when it comes back', async () => {
    const chain = open([first.url, second.url])
    await chain.block('latest')
    first.fault = faults['busy']
    await chain.block('latest')
    const before = first.asked.length
    await chain.block('latest')
    expect(first.asked.length).toBe(before)
    first.fault = undefined
    now += 500
    await chain.block('latest')
    expect(first.asked.slice(before)).toEqual(['eth_chainId', 'eth_getBlockByNumber'])
  })

  test("a contract's no is an answer, with its data, and the server stays", async () => {
    const chain = open([first.url, second.url])
    first.fault = (method) =>
      method === 'eth_call' ? rpcError(3, 'execution reverted', '0x08c379a0') : undefined
    const error = await failure(chain.call(account, '0x12345678'))
    expect(error).toBeInstanceOf(ChainReverted)
    expect((error as ChainReverted).data).toBe('0x08c379a0')
    expect(second.asked).toEqual([])
    await chain.block('latest')
    expect(first.asked.at(-1)).toBe('eth_getBlockByNumber')
  })

  test.each([
    ['already known', 'known'],
    ['nonce too low: next nonce 5, tx nonce 4', 'nonce_used'],
    ['replacement transaction underpriced', 'underpriced'],
    ['max fee per gas less than block base fee', 'underpriced'],
    ['insufficient funds for gas * price + value', 'no_funds'],
  ] as const)('of a transaction "%s" means %s', async (said, outcome) => {
    first.fault = (method) =>
      method === 'eth_sendRawTransaction' ? rpcError(-32000, said) : undefined
    expect(await open([first.url]).send('0x02')).toBe(outcome)
  })

  test.each([
    ['a block without a hash', 'eth_getBlockByNumber', { number: '0x1' }],
    ['a number that is none', 'eth_getBalance', 'many'],
    ['a list that is none', 'eth_getLogs', {}],
    ['a receipt that is text', 'eth_getTransactionReceipt', 'yes'],
  ])('An answer with %s is malformed.', async (_, method, value) => {
    first.fault = (asked) => (asked === method ? result(value) : undefined)
    const chain = open([first.url])
    const calls: Record<string, () => Promise<unknown>> = {
      eth_getBlockByNumber: () => chain.block('latest'),
      eth_getBalance: () => chain.balance(account),
      eth_getLogs: () => chain.logs({ address: account, topics: [], fromBlock: 0, toBlock: 1 }),
      eth_getTransactionReceipt: () => chain.receipt(`0x${'11'.repeat(32)}`),
    }
    const error = await failure(calls[method]?.() ?? Promise.resolve())
    expect((error as ChainUnavailable).reason).toBe('malformed')
  })

  test('reads blocks, balances, code, nonces, fees, receipts and logs of a real node', async () => {
    const chain = open([anvil.url])
    expect(await chain.block('finalized')).toMatchObject({ number: 0 })
    expect(await chain.balance(account)).toBe(10_000n * 10n ** 18n)
    expect(await chain.nonce(account)).toBe(0)
    expect(await chain.code(account)).toBe('0x')
    expect((await chain.fees()).maxFeeWei).toBeGreaterThan(0n)
    expect(await chain.receipt(`0x${'22'.repeat(32)}` as Hex)).toBeUndefined()
    const range = { fromBlock: 0, toBlock: 0 }
    expect(await chain.logs({ address: account, topics: [null], ...range })).toEqual([])
    expect((await failure(chain.block(99))) instanceof ChainUnavailable).toBe(true)
  })

  test('closed, it answers no one', async () => {
    const chain = open([anvil.url])
    chain.close()
    const error = await failure(chain.block('latest'))
    expect((error as ChainUnavailable).reason).toBe('closed')
  })
})
