/** The rules of deposits: amounts, the depth before a credit, and the view. */
import { type Millis, timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import { maxNusd, type Nusd, toJsonInteger } from '../../kernel/money.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import type { DepositAnswer } from './shapes.ts'

/** The configuration of deposits. Addresses in lower case. */
export type DepositPolicy = {
  treasury: string
  token: string
  /** The value that the token's `decimals()` must return. */
  decimals: number
  minNusd: Nusd
  /** The most credited early, per account and day. */
  softLimitNusd: Nusd
  /** A deposit above this waits until its block is final. */
  finalAboveNusd: Nusd
  /** A second server, if configured, must agree to a deposit above this. */
  secondAboveNusd: Nusd
  /** Between scans, in ms. */
  pollMs: number
}

/** Blocks that stand behind a small deposit before it is credited. */
export const softDepth = 20

/** The heads of the chain, as block numbers. */
export type Heads = { latest: number; safe: number; finalized: number }

/**
 * Units of a token in nano-USD, at one dollar per token, rounded down. Undefined above the most a
 * balance can hold.
 */
export function toNusd(units: bigint, decimals: number): Nusd | undefined {
  const amount =
    decimals <= 9 ? units * 10n ** BigInt(9 - decimals) : units / 10n ** BigInt(decimals - 9)
  return amount <= maxNusd ? amount : undefined
}

/** The first status of a transfer, and why it is never credited if it is ignored. */
export function judgeAmount(
  amount: Nusd | undefined,
  { minNusd }: Pick<DepositPolicy, 'minNusd'>,
): Pick<DepositRow, 'status' | 'reason'> {
  if (amount === undefined) return { status: 'ignored', reason: 'above_bounds' }
  if (amount < minNusd || amount === 0n) return { status: 'ignored', reason: 'below_minimum' }
  return { status: 'detected', reason: null }
}

/**
 * Whether a deposit is deep enough to be credited: a small one 20 blocks deep, while its account's
 * credits of that day stay within the soft limit; a larger one in a safe block, a very large one
 * in a final block. `today`: what the account was credited that day before.
 */
export function isDeepEnough(
  { amount, blockNumber, today }: { amount: Nusd; blockNumber: number; today: Nusd },
  heads: Heads,
  policy: Pick<DepositPolicy, 'softLimitNusd' | 'finalAboveNusd'>,
): boolean {
  if (blockNumber <= heads.finalized) return true
  if (amount > policy.finalAboveNusd) return false
  if (blockNumber <= heads.safe) return true
  return blockNumber <= heads.latest - softDepth && today + amount <= policy.softLimitNusd
}

/** The UTC day of a time. */
export const dayOf = (at: Millis): Millis => at - (at % 86_400_000)

/** A deposit as every door shows it. */
export const toDepositView = (row: DepositRow): DepositAnswer => ({
  id: row.id,
  object: 'deposit',
  status: row.status,
  reason: row.reason,
  chain_id: row.chainId,
  token: toChecksumAddress(row.token),
  token_amount: row.tokenAmount,
  amount_nusd: row.amount === null ? null : toJsonInteger(row.amount),
  from: toChecksumAddress(row.from),
  account: toChecksumAddress(row.account),
  tx_hash: row.txHash,
  log_index: row.logIndex,
  block_number: row.blockNumber,
  created_at: toRfc3339(row.seenAt),
  credited_at: timeOrNull(row.creditedAt),
  finalized_at: timeOrNull(row.finalizedAt),
})
