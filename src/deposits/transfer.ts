import type { ChainLog, LogFilter } from '../chain/chain.ts'
import type { Hex } from '../verify/hex.ts'
import type { DepositPolicy } from './deposit.ts'

/** A plain ERC-20 transfer to the treasury, as a block holds it. Addresses in lower case. */
export type Transfer = {
  txHash: string
  logIndex: number
  blockNumber: number
  blockHash: string
  token: string
  from: string
  /** Whole units of the token, above 0. */
  units: bigint
}

/** `Transfer(address,address,uint256)`. */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Where = Pick<DepositPolicy, 'treasury' | 'token'>

/** What asks a server for the transfers to the treasury in a range of blocks. */
export const filterOf = (
  { treasury, token }: Where,
  { from, to }: { from: number; to: number },
): LogFilter => ({
  address: token,
  topics: [transferTopic, null, topicOf(treasury)],
  fromBlock: from,
  toBlock: to,
})

/**
 * Reads a log, whatever a server says that it is: undefined unless it is a transfer of the token to
 * the treasury in a block that stands. Three topics and one word of data: an NFT's transfer has
 * four topics. One of nothing is none: anybody can send it in anybody's name.
 */
export function readTransfer(log: ChainLog, { treasury, token }: Where): Transfer | undefined {
  const [topic, from, to, ...more] = log.topics
  if (log.removed || log.address !== token || topic !== transferTopic) return undefined
  if (!from || to !== topicOf(treasury) || more.length > 0) return undefined
  if (!from.startsWith(`0x${'0'.repeat(24)}`) || log.data.length !== 66) return undefined
  const units = BigInt(log.data)
  // Out of the treasury into the treasury brings nothing in.
  if (units === 0n || from === to) return undefined
  const { transactionHash: txHash, logIndex, blockNumber, blockHash } = log
  return { txHash, logIndex, blockNumber, blockHash, token, from: `0x${from.slice(26)}`, units }
}

/** The transfers among logs, each once, in the order of the chain. */
export function readTransfers(logs: readonly ChainLog[], where: Where): Transfer[] {
  const found = new Map<string, Transfer>()
  for (const log of logs) {
    const transfer = readTransfer(log, where)
    if (transfer) found.set(placeOf(transfer), transfer)
  }
  return [...found.values()].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  )
}

/** What a transfer is known by on its chain. */
export const placeOf = ({ txHash, logIndex }: Pick<Transfer, 'txHash' | 'logIndex'>): string =>
  `${txHash}:${logIndex}`

/** An address as an indexed parameter of an event. */
const topicOf = (address: string): Hex => `0x${'0'.repeat(24)}${address.slice(2)}`
