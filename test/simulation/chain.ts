import { transferTopic } from '../../src/billing/deposits/transfer.ts'
import type { Block, Chain, ChainLog } from '../../src/kernel/chain.ts'
import { ChainUnavailable } from '../../src/kernel/chain.ts'
import { sha256Hex } from '../../src/kernel/hash.ts'
import type { Hex } from '../../src/kernel/hex.ts'

export const treasury = '0x00000000000000000000000000000000007ea5e2'
export const token = '0x5fc5360d0400a0fd4f2af552add042d716f1d168'
/** How far behind the newest block a block is safe, and final: never replaced. */
const safeDepth = 40
const finalDepth = 120

/** A transfer to the treasury; `block` is null while it is in none. */
export type SimTx = { hash: Hex; from: string; units: bigint; block: number | null }

export type SimChain = ReturnType<typeof simChain>

/** A chain without a network: blocks, forks, and the transfers that are in them. */
export function simChain() {
  let height = 10_000
  let troubles = 0
  const txs: SimTx[] = []
  const forks: { from: number; name: number }[] = [{ from: 0, name: 0 }]
  const hashOf = (number: number): Hex => {
    const fork = forks.findLast(({ from }) => from <= number)
    return `0x${sha256Hex(`${fork?.name} ${number}`)}`
  }
  const timeOf = (number: number): number => 1_790_000_000_000 + number * 60_000
  const blockAt = (number: number): Block => ({
    number,
    hash: hashOf(number),
    timestampMs: timeOf(number),
  })
  const logOf = ({ hash, from, units, block }: SimTx): ChainLog => ({
    address: token,
    topics: [transferTopic, topicOf(from), topicOf(treasury)],
    data: `0x${units.toString(16).padStart(64, '0')}`,
    blockNumber: block ?? 0,
    blockHash: hashOf(block ?? 0),
    transactionHash: hash,
    logIndex: 3,
    removed: false,
  })
  const asked = (): void => {
    if (troubles > 0 && --troubles === 0) throw new ChainUnavailable('unreachable')
  }
  const chain: Partial<Chain> = {
    async block(at) {
      asked()
      if (typeof at === 'number') return blockAt(at)
      return blockAt(at === 'latest' ? height : height - (at === 'safe' ? safeDepth : finalDepth))
    },
    async receipt(hash) {
      asked()
      const tx = txs.find((one) => one.hash === hash)
      if (!tx || tx.block === null) return undefined
      const at = { blockNumber: tx.block, blockHash: hashOf(tx.block) }
      const rest = { from: tx.from, to: token, contractAddress: null, gasUsed: 1n }
      return { hash: tx.hash, status: 'success', ...at, ...rest, logs: [logOf(tx)] }
    },
    async logs({ fromBlock, toBlock }) {
      asked()
      const within = txs.filter(({ block }) => block !== null && block >= fromBlock)
      const found = within.filter(({ block }) => block !== null && block <= toBlock)
      return found.sort((a, b) => (a.block ?? 0) - (b.block ?? 0)).map(logOf)
    },
    code: async () => '0x6001',
    call: async () => `0x${'6'.padStart(64, '0')}`,
    close: () => undefined,
  }
  return {
    port: chain as Chain,
    txs,
    timeOf,
    latest: () => height,
    safe: () => height - safeDepth,
    finalized: () => height - finalDepth,
    mine: (blocks: number): void => {
      height += blocks
    },
    /** A transfer in a block of its own. */
    pay: (from: string, units: bigint): SimTx => {
      const tx: SimTx = { hash: `0x${sha256Hex(`tx ${txs.length}`)}`, from, units, block: ++height }
      txs.push(tx)
      return tx
    },
    /**
     * Other blocks in the place of all from `from` on, and some more: a transfer that was in one of
     * them comes into another block, or into none if it is the one to `drop`.
     */
    reorg: (from: number, drop: SimTx | undefined): void => {
      forks.push({ from, name: forks.length })
      const moved = txs.filter(({ block }) => block !== null && block >= from)
      for (const tx of moved) tx.block = tx === drop ? null : ++height
    },
    /** A transfer that a reorg took out comes back. */
    include: (tx: SimTx): void => {
      tx.block = ++height
    },
    /** The answer after `calls` others fails, once. */
    failAfter: (calls: number): void => {
      troubles = calls + 1
    },
    calm: (): void => {
      troubles = 0
    },
  }
}

const topicOf = (address: string): Hex => `0x${'0'.repeat(24)}${address.slice(2)}`
