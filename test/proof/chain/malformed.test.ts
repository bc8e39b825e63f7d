import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Chain, ChainUnavailable } from '../../../src/kernel/chain.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Hex } from '../../../src/kernel/hex.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import {
  NoRegistry,
  readAnchored,
  readEvidence,
  readHead,
} from '../../../src/proof/anchors/registry.ts'
import { rpcChain } from '../../../src/proof/chain/rpc.ts'
import { readBlock } from '../../../src/proof/chain/rpc-forms.ts'

const registry = `0x${'a1'.repeat(20)}`
const hash: Hex = `0x${'d'.repeat(64)}`

let answer = ''
let server: Bun.Server<undefined>
let chain: Chain
beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const isChain = (await request.text()).includes('eth_chainId')
      return new Response(isChain ? '{"jsonrpc":"2.0","id":1,"result":"0x1237"}' : answer)
    },
  })
})
afterAll(() => server.stop(true))

/** What asking comes to where the server says this. */
async function failureOf(said: string): Promise<unknown> {
  answer = said
  const urls = [`http://127.0.0.1:${server.port}`]
  chain = rpcChain({ urls, clock: systemClock, random: systemRandom() })
  const failed = await chain.balance(registry).catch((error: unknown) => error)
  chain.close()
  return failed
}

const strange: [what: string, said: string, reason: string][] = [
  [
    'an error whose message is an object that turns into no text',
    '{"error":{"message":{"toString":1,"valueOf":1}}}',
    'refused',
  ],
  [
    'an error whose code turns into no number',
    '{"error":{"code":{"toString":1,"valueOf":1}}}',
    'refused',
  ],
  [
    'lists in lists without end',
    `{"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    'malformed',
  ],
  ['lists that never close', `{"result":${'['.repeat(2_000_000)}`, 'malformed'],
]
test.each(strange)('%s: the chain is unavailable, and nothing else', async (_, said, reason) => {
  const failed = await failureOf(said)
  expect(failed).toBeInstanceOf(ChainUnavailable)
  expect(failed).toMatchObject({ reason })
})

test('a block of a time that no calendar has is malformed', () => {
  const block = { number: '0x1', hash, timestamp: '0x7d9c1b2a3f00' }
  expect(() => readBlock(block)).toThrow(ChainUnavailable)
  expect(readBlock({ ...block, timestamp: '0x6740a000' }).timestampMs).toBe(1_732_288_512_000)
})

const words = (...digits: string[]): Hex =>
  `0x${digits.map((one) => one.padStart(64, '0')).join('')}`

const other = (data: Hex) => ({ call: async () => data })
const asked = { registry, owner: registry, origin: 'https://gw.example', signer: registry }

test.each<[string, Hex]>([
  ['one word too few', words('5')],
  ['a number above what its type holds', words('f'.repeat(64), '1', '1')],
])('A contract whose head is %s is not a registry.', async (_, data) => {
  const failed = await readHead(other(data), registry, hash).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(NoRegistry)
})

test('A contract that answers neither yes nor no about a signer is not a registry.', async () => {
  const claim = { ...asked, size: 5n, index: 1n }
  const failed = await readEvidence(other(words('5', '6', '7')), claim).catch(
    (error: unknown) => error,
  )
  expect(failed).toBeInstanceOf(NoRegistry)
})

test('a log that no registry writes is of something else', () => {
  const log = { address: registry, topics: [hash, hash, hash], data: hash }
  expect(() => readAnchored(log)).toThrow(NoRegistry)
})
