/** The port to chain 4663, and how it fails. */
import type { Millis } from './clock.ts'
import type { Hex } from './hex.ts'

/** The chain that wallets, deposits and anchors are on. */
export const chainId = 4663

/**
 * Access to chain 4663. Every call rejects with {@link ChainUnavailable} without a trustworthy
 * answer; those that run code also with {@link ChainReverted}; with nothing else.
 */
export type Chain = {
  block(at: BlockAt): Promise<Block>
  /**
   * Calls a contract; `0x` without one. At `latest` by default. `to` null simulates a deployment.
   */
  call(to: string | null, data: Hex, at?: BlockAt): Promise<Hex>
  /** The code at an address, `0x` without any. At `latest` by default. */
  code(address: string, at?: BlockAt): Promise<Hex>
  /** How many transactions of a sender are in blocks up to `latest`. */
  nonce(sender: string): Promise<number>
  /** In wei, at `latest`. */
  balance(address: string): Promise<bigint>
  estimateGas(tx: { from: string; to?: string; data: Hex }): Promise<bigint>
  /** The fees that get a transaction into one of the next blocks. */
  fees(): Promise<Fees>
  send(raw: Hex): Promise<SendResult>
  /** The receipt of a mined transaction; undefined until it is in a block. */
  receipt(hash: string): Promise<TxReceipt | undefined>
  /**
   * Logs in the order of the chain. A range that a server finds too large is `refused` or
   * `too_large`: ask for less.
   */
  logs(filter: LogFilter): Promise<ChainLog[]>
  /** Aborts all calls; later ones are `unavailable`. */
  close(): void
}

export type BlockAt = 'latest' | 'safe' | 'finalized' | number

export type Block = { number: number; hash: Hex; timestampMs: Millis }

/** Wei a unit of gas. */
export type Fees = { maxFeeWei: bigint; priorityFeeWei: bigint }

/**
 * The answer of a chain server to a signed transaction. `known`: it waits there already.
 * `nonce_used`: a block has its nonce, in this transaction or another. `underpriced`: it offers
 * less than the one it would replace or than a block takes. `no_funds`: the sender cannot pay.
 */
export type SendResult = 'sent' | 'known' | 'nonce_used' | 'underpriced' | 'no_funds'

export type TxReceipt = {
  hash: Hex
  status: 'success' | 'reverted'
  blockNumber: number
  blockHash: Hex
  /** Lower case. */
  from: string
  /** Lower case; null when it made a contract. */
  to: string | null
  /** Lower case; null unless it made a contract. */
  contractAddress: string | null
  gasUsed: bigint
  logs: ChainLog[]
}

export type LogFilter = {
  address: string
  /** By place; null stands for any, a list for one of several. */
  topics: (Hex | Hex[] | null)[]
  fromBlock: number
  toBlock: number
}

export type ChainLog = {
  /** Lower case. */
  address: string
  topics: Hex[]
  data: Hex
  blockNumber: number
  blockHash: Hex
  transactionHash: Hex
  logIndex: number
  /** Whether the block of this log is no longer in the chain. */
  removed: boolean
}

/**
 * Why there is no answer. `wrong_chain`: not 4663. `malformed`: no JSON-RPC, for instance a page.
 * `busy`: 429 or 503. `refused`: an error of the server, for instance for a block it does not have.
 */
export type ChainTrouble =
  | 'unreachable'
  | 'timeout'
  | 'busy'
  | 'too_large'
  | 'malformed'
  | 'refused'
  | 'wrong_chain'
  | 'closed'

/** The chain cannot be asked now. Names no server: an RPC URL can hold a key. */
export class ChainUnavailable extends Error {
  constructor(readonly reason: ChainTrouble) {
    super(`the chain is unavailable: ${words[reason]}`)
  }
}

const words: Record<ChainTrouble, string> = {
  unreachable: 'no RPC server can be reached',
  timeout: 'the RPC server did not answer in time',
  busy: 'the RPC server takes no more requests now',
  too_large: 'the answer of the RPC server is too large',
  malformed: 'the server does not speak JSON-RPC',
  refused: 'the RPC server answered with an error',
  wrong_chain: `the RPC server is not of chain ${chainId}`,
  closed: 'the program is stopping',
}

/** A contract said no. `data` is its error, to be decoded with its ABI; `0x` when it gave none. */
export class ChainReverted extends Error {
  constructor(readonly data: Hex) {
    super(`the call would revert (${data.slice(0, 10)})`)
  }
}
