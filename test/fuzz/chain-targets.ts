import { encodeAbiParameters } from 'viem'
import { contractWallets } from '../../src/access/accounts/contract-wallet.ts'
import { checkToken } from '../../src/billing/deposits/token.ts'
import { readTransfers, transferTopic } from '../../src/billing/deposits/transfer.ts'
import type { Json } from '../../src/kernel/canonical.ts'
import { ChainReverted, ChainUnavailable } from '../../src/kernel/chain.ts'
import { systemClock, toRfc3339 } from '../../src/kernel/clock.ts'
import type { Hex } from '../../src/kernel/hex.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import {
  anchoredTopics,
  NoRegistry,
  readAnchored,
  readEvidence,
  readHead,
  registryErrorOf,
} from '../../src/proof/anchors/registry.ts'
import { rpcChain } from '../../src/proof/chain/rpc.ts'
import {
  readBlock,
  readFees,
  readLog,
  readQuantity,
  readReceipt,
} from '../../src/proof/chain/rpc-forms.ts'
import { isRefusal, must, type Target } from './run.ts'

const word = (digit: string): Hex => `0x${digit.repeat(64)}`
const treasury = `0x${'a1'.repeat(20)}`
const token = `0x${'b2'.repeat(20)}`
const log = {
  address: token,
  topics: [
    transferTopic,
    `0x${'0'.repeat(24)}${'c3'.repeat(20)}`,
    `0x${'0'.repeat(24)}${'a1'.repeat(20)}`,
  ],
  data: `0x${'0'.repeat(58)}0f4240`,
  blockNumber: '0x10',
  blockHash: word('d'),
  transactionHash: word('e'),
  logIndex: '0x3',
  removed: false,
}
const receipt = {
  transactionHash: word('e'),
  status: '0x1',
  blockNumber: '0x10',
  blockHash: word('d'),
  from: treasury,
  to: token,
  contractAddress: null,
  gasUsed: '0x5208',
  logs: [log],
}
const block = { number: '0x10', hash: word('d'), timestamp: '0x6740a000', baseFeePerGas: '0x7' }

/** What a chain may say: that it cannot, or that a contract refused. */
const isNo = (error: unknown): boolean =>
  error instanceof ChainUnavailable ||
  error instanceof ChainReverted ||
  error instanceof NoRegistry ||
  isRefusal(error)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An RPC server that answers no matter what it is told to, after it said which chain it is of. */
function startServer() {
  let answer = ''
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const isChainId = (await request.text()).includes('eth_chainId')
      return new Response(isChainId ? '{"jsonrpc":"2.0","id":1,"result":"0x1237"}' : answer)
    },
  })
  server.unref()
  return {
    url: `http://127.0.0.1:${server.port}`,
    say: (text: string) => {
      answer = text
    },
  }
}

let rpc: ReturnType<typeof startServer> | undefined

/** A chain over one server that answers with a text. */
function chainThatSays(text: string) {
  rpc ??= startServer()
  rpc.say(text)
  return rpcChain({ urls: [rpc.url], clock: systemClock, random: systemRandom(), timeoutMs: 5000 })
}

const result = (value: unknown) =>
  JSON.parse(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }))
const failure = (error: { [member: string]: Json }): Json => ({ jsonrpc: '2.0', id: 1, error })

const filter = { address: token, topics: [], fromBlock: 1, toBlock: 2 }

/** A chain whose contracts answer with a text of hex. */
const callsThatSay = (data: string) => ({
  call: async () => data as Hex,
  code: async () => '0x60' as Hex,
})
const hexOf = (text: string): string =>
  /^0x([0-9a-fA-F]{2})*$/.test(text) ? text : `0x${Buffer.from(text).toString('hex')}`
const words = (...digits: string[]): string =>
  `0x${digits.map((one) => one.padStart(64, '0')).join('')}`

/** What RPC servers and contracts answer. */
export const chainTargets: readonly Target[] = [
  {
    name: 'logs of a token',
    isNo,
    goodJson: [log, { ...log, removed: true }, { ...log, logIndex: '0x4' }],
    read(text) {
      const read = readLog(parsed(text))
      for (const transfer of readTransfers([read, read], { treasury, token })) {
        must(transfer.units > 0n && /^0x[0-9a-f]{40}$/.test(transfer.from), 'a transfer')
        must(Number.isSafeInteger(transfer.blockNumber + transfer.logIndex), 'a place')
      }
    },
  },
  {
    name: 'receipt of a transaction',
    isNo,
    goodJson: [receipt],
    read: (text) => must(Number.isSafeInteger(readReceipt(parsed(text)).blockNumber), 'a place'),
  },
  {
    name: 'block',
    isNo,
    goodJson: [block],
    read(text) {
      must(toRfc3339(readBlock(parsed(text)).timestampMs) !== '', 'a time')
      readFees(parsed(text), 1n)
    },
  },
  {
    name: 'quantity',
    isNo,
    goodJson: ['0x10', '0x0'],
    read: (text) => must(readQuantity(parsed(text)) >= 0n, 'not below nothing'),
  },
  {
    name: 'answer of an RPC server',
    isNo,
    goodJson: [result('0x10'), result([log])],
    badJson: [
      failure({ code: 3, message: 'execution reverted', data: '0x08c379a0' }),
      failure({ code: -32005, message: 'limit exceeded' }),
      failure({ code: -32000, message: 'nonce too low' }),
    ],
    async read(text, prng) {
      const chain = chainThatSays(text)
      const short = [
        () => chain.balance(treasury),
        () => chain.nonce(treasury),
        () => chain.send('0x00'),
        () => chain.call(token, '0x'),
      ]
      const asks: (() => Promise<unknown>)[] = text.includes('[')
        ? [() => chain.logs(filter)]
        : short
      await prng
        .pick(asks)()
        .finally(() => chain.close())
    },
  },
  {
    name: 'answer of a registry',
    isNo,
    good: [words('5', 'f'.repeat(16), '1')],
    async read(text, prng) {
      const chain = callsThatSay(hexOf(text))
      const name = { registry: treasury, owner: token, origin: 'https://gw.example' }
      const signer = `0x${'c3'.repeat(20)}`
      if (prng.below(2) === 0) await readHead(chain, treasury, word('d'))
      else await readEvidence(chain, { ...name, size: 5n, signer, index: 1n })
    },
  },
  {
    name: 'error and log of a registry',
    isNo,
    good: [
      encodeAbiParameters(
        [{ type: 'bytes32' }, { type: 'uint64' }, { type: 'uint32' }],
        [word('d'), 4n, 1],
      ),
    ],
    read(text) {
      registryErrorOf(hexOf(text) as Hex)
      const topics = anchoredTopics(word('d'), 5n).flatMap((topic) => topic ?? [])
      readAnchored({ address: treasury, topics, data: hexOf(text) as Hex })
    },
  },
  {
    name: 'answer of a token or a wallet',
    isNo,
    good: [words('6'), `0x1626ba7e${'0'.repeat(56)}`, '0x'],
    async read(text) {
      const chain = callsThatSay(hexOf(text))
      await checkToken(chain, { token, decimals: 6 })
      const signature = `0x${'5c'.repeat(65)}`
      const isSigned = await contractWallets(chain)({ address: treasury, message: 'x', signature })
      must(!isSigned || text === `0x1626ba7e${'0'.repeat(56)}`, 'one yes')
    },
  },
]
