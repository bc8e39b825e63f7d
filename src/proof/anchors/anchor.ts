/** An anchor, a head of the log recorded on the chain, and the rule when one is due. */
import { type Millis, timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import { toHex } from '../../kernel/hex.ts'
import type { AnchorRow } from '../../storage/db/schema/schema.ts'
import type { AnchorAnswer } from './shapes.ts'

/**
 * `pending`: to be sent; `submitted`: signed and sent; `confirmed`: in a block and read back from
 * the registry; `final`: in a final block; `superseded`: the registry already holds a larger head;
 * `failed`: the registry reverted.
 */
export type AnchorStatus = AnchorRow['status']

export type AnchorPolicy = {
  /** New leaves that make an anchor due. */
  minReceipts: number
  /** The longest time a leaf waits. */
  maxDelayMs: number
  /** The least time between two anchors. */
  minIntervalMs: number
}

/** The input of the policy. */
export type Backlog = {
  /** Leaves without an anchor. */
  leaves: number
  /** When the oldest of them was logged, if known. */
  oldestAt: Millis | undefined
  /** When the last anchor was made. */
  lastAt: Millis | undefined
  /** When an immediate anchor was last requested. */
  wantedAt: Millis | undefined
}

/** Whether to make an anchor now. Nothing is anchored twice. */
export function isDue(backlog: Backlog, policy: AnchorPolicy, now: Millis): boolean {
  const { leaves, oldestAt, lastAt, wantedAt } = backlog
  if (leaves < 1) return false
  if (wantedAt !== undefined && wantedAt > (lastAt ?? Number.NEGATIVE_INFINITY)) return true
  if (lastAt !== undefined && now - lastAt < policy.minIntervalMs) return false
  const isOld = oldestAt !== undefined && now - oldestAt >= policy.maxDelayMs
  return isOld || leaves >= policy.minReceipts
}

/** Whether an anchor is later than twice the promised delay. */
export const isLate = (oldestAt: Millis | undefined, { maxDelayMs }: AnchorPolicy, now: Millis) =>
  oldestAt !== undefined && now - oldestAt > 2 * maxDelayMs

/** An anchor as `GET /v1/anchors` shows it. */
export const toAnchorView = (row: AnchorRow): AnchorAnswer => ({
  id: row.id,
  object: 'anchor',
  status: row.status,
  size: row.size,
  prev_size: row.prevSize,
  root: toHex(row.root),
  leaves: row.size - row.prevSize,
  tx_hash: row.txHash,
  block_number: row.blockNumber,
  block_hash: row.blockHash,
  block_time: timeOrNull(row.blockTime),
  finalized_at: timeOrNull(row.finalizedAt),
  created_at: toRfc3339(row.createdAt),
  explorer_url: null,
})
