/** Reads JSON-RPC answers strictly; an unexpected form is `malformed`. */
import {
  type Block,
  type BlockAt,
  type ChainLog,
  ChainUnavailable,
  type Fees,
  type TxReceipt,
} from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Hex } from '../../kernel/hex.ts'

export const toParameter = (at: BlockAt): string =>
  typeof at === 'number' ? `0x${at.toString(16)}` : at

/** `0x` and hex digits, as a number. */
export function readQuantity(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) malformed()
  return BigInt(value)
}

export function readHex(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(value)) malformed()
  return value.toLowerCase() as Hex
}

export function readList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : malformed()
}

/** A block that a server does not have is `refused`: others may, or it will later. */
export function readBlock(value: unknown): Block {
  if (value === null) throw new ChainUnavailable('refused')
  const block = readObject(value)
  return {
    number: readNumber(block['number']),
    hash: readHash(block['hash']),
    timestampMs: readTime(block['timestamp']),
  }
}

/**
 * From the newest block and the tip that the server suggests: twice the base fee lasts through six
 * full blocks. Unused fees are not charged.
 */
export function readFees(latest: unknown, priorityFeeWei: bigint): Fees {
  const baseFee = readQuantity(readObject(latest)['baseFeePerGas'])
  return { maxFeeWei: baseFee * 2n + priorityFeeWei, priorityFeeWei }
}

export function readReceipt(value: unknown): TxReceipt {
  const receipt = readObject(value)
  return {
    hash: readHash(receipt['transactionHash']),
    status: readQuantity(receipt['status']) === 1n ? 'success' : 'reverted',
    blockNumber: readNumber(receipt['blockNumber']),
    blockHash: readHash(receipt['blockHash']),
    from: readHex(receipt['from']),
    to: readMaybe(receipt['to']),
    contractAddress: readMaybe(receipt['contractAddress']),
    gasUsed: readQuantity(receipt['gasUsed']),
    logs: readList(receipt['logs']).map(readLog),
  }
}

export function readLog(value: unknown): ChainLog {
  const log = readObject(value)
  return {
    address: readHex(log['address']),
    topics: readList(log['topics']).map(readHash),
    data: readHex(log['data']),
    blockNumber: readNumber(log['blockNumber']),
    blockHash: readHash(log['blockHash']),
    transactionHash: readHash(log['transactionHash']),
    logIndex: readNumber(log['logIndex']),
    removed: log['removed'] === true,
  }
}

function readObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) malformed()
  return value as Record<string, unknown>
}

function readNumber(value: unknown): number {
  const number = Number(readQuantity(value))
  return Number.isSafeInteger(number) ? number : malformed()
}

/** Seconds as milliseconds, of a time that a calendar has. */
function readTime(value: unknown): Millis {
  const at = readNumber(value) * 1000
  return at <= lastTime ? at : malformed()
}

/** The last time that there is a date for (ECMA-262 §21.4.1.1), in ms. */
const lastTime = 8_640_000_000_000_000

function readHash(value: unknown): Hex {
  const hash = readHex(value)
  return hash.length === 66 ? hash : malformed()
}

const readMaybe = (value: unknown): Hex | null =>
  value === null || value === undefined ? null : readHex(value)

function malformed(): never {
  throw new ChainUnavailable('malformed')
}
