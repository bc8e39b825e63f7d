import { sha256Hex } from '../../../src/kernel/hash.ts'
import { type Lie, result, rpcError } from '../../proof/chain/proxy.ts'

export const treasury = '0x00000000000000000000000000000000007ea5e2'
export const token = '0x5fc5360d0400a0fd4f2af552add042d716f1d168'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Log = { address: string; topics: string[]; data: string; removed?: boolean }
export type Tx = { hash: string; block: number; status: number; logs: Log[]; firstLog: number }
type Fault = (
  method: string,
  params: unknown[],
) => Response | undefined | Promise<Response | undefined>

export type StubChain = ReturnType<typeof stubChain>

/**
 * A chain made of nothing but what a test says, behind JSON-RPC: its length, how much of it is safe
 * and final, which transactions are in which block, and when blocks are replaced by others.
 */
export function stubChain(latest = 10_000) {
  const state = {
    latest,
    /** How far behind the newest block a block is safe and final. */
    safeDepth: 100,
    finalDepth: 1000,
    chainId: 4663,
    decimals: 6,
    rangeMost: 10_000,
    fault: undefined as Fault | undefined,
    lie: undefined as Lie | undefined,
    asked: [] as { method: string; params: unknown[] }[],
    txs: [] as Tx[],
  }
  const forks: { from: number; name: string }[] = [{ from: 0, name: 'first' }]
  const hashOf = (number: number): string => {
    const fork = forks.findLast(({ from }) => from <= number)
    return `0x${sha256Hex(`${fork?.name} ${number}`)}`
  }
  const inChain = (tx: Tx): boolean => tx.block >= 0 && tx.block <= state.latest
  const logsOf = (tx: Tx) =>
    tx.logs.map((log, i) => ({
      ...log,
      blockNumber: hex(tx.block),
      blockHash: hashOf(tx.block),
      transactionHash: tx.hash,
      logIndex: hex(tx.firstLog + i),
      removed: log.removed ?? false,
    }))
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { method, params } = (await request.json()) as { method: string; params: unknown[] }
      state.asked.push({ method, params })
      const fault = await state.fault?.(method, params)
      if (fault) return fault
      const answer = answers[method]?.(params) ?? rpcError(-1, '?')
      const { lie } = state
      if (!lie) return answer
      const told = (await answer.json()) as { result?: unknown }
      return 'result' in told ? result(lie(method, params, told.result)) : Response.json(told)
    },
  })
  const numberOf = (tag: unknown): number =>
    tag === 'latest'
      ? state.latest
      : tag === 'safe'
        ? state.latest - state.safeDepth
        : tag === 'finalized'
          ? state.latest - state.finalDepth
          : Number(tag)
  const answers: Record<string, (params: unknown[]) => Response> = {
    eth_chainId: () => result(hex(state.chainId)),
    eth_getCode: () => result('0x6001'),
    eth_call: () => result(word(BigInt(state.decimals))),
    eth_getBlockByNumber: ([tag]) => {
      const number = numberOf(tag)
      if (number > state.latest || number < 0) return result(null)
      const timestamp = hex(1_800_000_000 + Math.floor(number / 10))
      return result({ number: hex(number), hash: hashOf(number), timestamp })
    },
    eth_getLogs: ([filter]) => {
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
      const [from, to] = [Number(fromBlock), Number(toBlock)]
      if (to - from + 1 > state.rangeMost) return rpcError(-32005, 'query exceeds max block range')
      const found = state.txs.filter((tx) => inChain(tx) && tx.block >= from && tx.block <= to)
      return result(found.filter(({ status }) => status === 1).flatMap(logsOf))
    },
    eth_getTransactionReceipt: ([hash]) => {
      const tx = state.txs.find((one) => one.hash === hash)
      if (!tx || !inChain(tx)) return result(null)
      const shown = { transactionHash: tx.hash, status: hex(tx.status) }
      const at = { blockNumber: hex(tx.block), blockHash: hashOf(tx.block) }
      const rest = { from: token, to: token, contractAddress: null, gasUsed: '0x1' }
      return result({ ...shown, ...at, ...rest, logs: tx.status === 1 ? logsOf(tx) : [] })
    },
  }
  return Object.assign(state, {
    url: `http://127.0.0.1:${server.port}`,
    hashOf,
    logsOf,
    mine: (count = 1): void => {
      state.latest += count
    },
    /** A transaction in a block; in the next one unless told. */
    add: (logs: Log[], more: Partial<Tx> = {}): Tx => {
      const hash = `0x${sha256Hex(`tx ${state.txs.length} ${server.port}`)}`
      if (more.block === undefined) state.latest++
      const tx = { hash, block: state.latest, status: 1, logs, firstLog: 0, ...more }
      state.txs.push(tx)
      return tx
    },
    /** Other blocks stand in the place of all from `from` on; `drop` takes transactions out. */
    reorg: (from: number, drop: Tx[] = []): void => {
      forks.push({ from, name: `fork ${forks.length}` })
      for (const tx of drop) tx.block = -1
    },
    /** The blocks that the last reorg replaced are the chain again. */
    restore: (): void => void forks.pop(),
    stop: () => server.stop(true),
  })
}

const hex = (value: number): string => `0x${value.toString(16)}`
const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`
const topic = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`

/** The log of a transfer to the treasury, with what a test wants different. */
export const transferLog = (from: string, units: bigint, more: Partial<Log> = {}): Log => ({
  address: token,
  topics: [transferTopic, topic(from), topic(treasury)],
  data: word(units),
  ...more,
})

/** Topics of a transfer from someone to someone, as an NFT has them with its id. */
export const topicsOf = (from: string, to: string, ...more: bigint[]): string[] => [
  transferTopic,
  topic(from),
  topic(to),
  ...more.map(word),
]
