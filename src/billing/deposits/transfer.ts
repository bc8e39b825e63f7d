/** Reads ERC-20 transfers to the treasury from logs. */
import type { ChainLog, LogFilter } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import type { DepositPolicy } from './deposit.ts'

/** A transfer to the treasury. Addresses in lower case. */
export type Transfer = TransferLog & {
  /** Counts the transfers of its transaction with the same token, sender and units, from 0. */
  ordinal: number
}

/** A transfer as its log describes it. */
export type TransferLog = {
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

type DepositTarget = Pick<DepositPolicy, 'treasury' | 'token'>

/** The filter for transfers to the treasury in a range of blocks. */
export const filterOf = (
  { treasury, token }: DepositTarget,
  { from, to }: { from: number; to: number },
): LogFilter => ({
  address: token,
  topics: [transferTopic, null, topicOf(treasury)],
  fromBlock: from,
  toBlock: to,
})

/**
 * Checks each field, because servers may lie: undefined unless the log is a transfer of the token
 * to the treasury. It has three topics and one word of data; an NFT's transfer has four topics. A
 * transfer of 0 units is ignored: anyone can send one in any name.
 */
export function readTransfer(
  log: ChainLog,
  { treasury, token }: DepositTarget,
): TransferLog | undefined {
  const [topic, from, to, ...more] = log.topics
  if (log.removed || log.address !== token || topic !== transferTopic) return undefined
  if (!from || to !== topicOf(treasury) || more.length > 0) return undefined
  if (!from.startsWith(`0x${'0'.repeat(24)}`) || log.data.length !== 66) return undefined
  const units = BigInt(log.data)
  // A transfer from the treasury to itself brings in nothing.
  if (units === 0n || from === to) return undefined
  const { transactionHash: txHash, logIndex, blockNumber, blockHash } = log
  return { txHash, logIndex, blockNumber, blockHash, token, from: `0x${from.slice(26)}`, units }
}

/**
 * The transfers among logs, each once, in chain order. The logs must be those of whole
 * transactions, because the ordinals follow from them.
 */
export function readTransfers(logs: readonly ChainLog[], where: DepositTarget): Transfer[] {
  const found = new Map<string, TransferLog>()
  for (const log of logs) {
    const transfer = readTransfer(log, where)
    if (transfer) found.set(placeOf(transfer), transfer)
  }
  const sorted = [...found.values()].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  )
  const counts = new Map<string, number>()
  return sorted.map((transfer) => {
    const { blockHash, txHash, from, units } = transfer
    const name = `${blockHash} ${txHash} ${from} ${units}`
    const ordinal = counts.get(name) ?? 0
    counts.set(name, ordinal + 1)
    return { ...transfer, ordinal }
  })
}

const placeOf = ({ blockHash, txHash, logIndex }: TransferLog): string =>
  `${blockHash} ${txHash} ${logIndex}`

/** An address as an indexed parameter of an event. */
const topicOf = (address: string): Hex => `0x${'0'.repeat(24)}${address.slice(2)}`
