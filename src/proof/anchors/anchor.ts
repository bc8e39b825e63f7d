import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { toHex } from '../../kernel/hex.ts'
import type { AnchorRow } from '../../storage/db/schema.ts'

/**
 * A head of the log on its way to the chain, where nobody can take it back. `pending`: to be sent;
 * `submitted`: signed and sent; `confirmed`: in a block, and read back from the registry; `final`:
 * in a final block. `superseded`: the registry holds a larger head already; `failed`: it refused.
 */
export type AnchorStatus = AnchorRow['status']

/** When an anchor is due. */
export type AnchorPolicy = {
  /** New leaves that call for one. */
  minReceipts: number
  /** The longest that a leaf waits. */
  maxDelayMs: number
  /** The least time between two. */
  minIntervalMs: number
}

/** What the policy is asked about. */
export type Backlog = {
  /** Leaves that no anchor covers. */
  leaves: number
  /** When the oldest of them was logged; undefined while that is not known. */
  oldestAt: Millis | undefined
  /** When the last anchor was made; undefined before the first. */
  lastAt: Millis | undefined
  /** When somebody last asked for one at once; undefined when nobody did. */
  wantedAt: Millis | undefined
}

/** Whether an anchor is to be made now. Nothing is anchored twice. */
export function isDue(backlog: Backlog, policy: AnchorPolicy, now: Millis): boolean {
  const { leaves, oldestAt, lastAt, wantedAt } = backlog
  if (leaves < 1) return false
  if (wantedAt !== undefined && wantedAt > (lastAt ?? Number.NEGATIVE_INFINITY)) return true
  if (lastAt !== undefined && now - lastAt < policy.minIntervalMs) return false
  const isOld = oldestAt !== undefined && now - oldestAt >= policy.maxDelayMs
  return isOld || leaves >= policy.minReceipts
}

/** Whether an anchor is late enough to say so: twice the delay that is promised. */
export const isLate = (oldestAt: Millis | undefined, { maxDelayMs }: AnchorPolicy, now: Millis) =>
  oldestAt !== undefined && now - oldestAt > 2 * maxDelayMs

/** An anchor as `GET /v1/anchors` shows it. */
export const toAnchorView = (row: AnchorRow) => ({
  id: row.id,
  object: 'anchor' as const,
  status: row.status,
  size: row.size,
  prev_size: row.prevSize,
  root: toHex(row.root),
  leaves: row.size - row.prevSize,
  tx_hash: row.txHash,
  block_number: row.blockNumber,
  block_hash: row.blockHash,
  block_time: row.blockTime === null ? null : toRfc3339(row.blockTime),
  finalized_at: row.finalizedAt === null ? null : toRfc3339(row.finalizedAt),
  created_at: toRfc3339(row.createdAt),
  explorer_url: null,
})
